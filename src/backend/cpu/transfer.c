/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/transfer: the way to the device and back, where the device is this machine. */
#include "backend/cpu/cpu.h"

cuzk_status cpu_upload(cuzk_queue *queue, cuzk_slice to, const void *from, size_t n_bytes,
                       cuzk_err *err) {
    uint8_t *p = NULL;
    CUZK_TRY(cpu_slice_written(&p, to, n_bytes, 1, "to", err));
    cuzk_exec_copy(queue->dev->exec, p, from, n_bytes);
    return CUZK_OK;
}

cuzk_status cpu_download(cuzk_queue *queue, void *to, cuzk_slice from, size_t n_bytes,
                         cuzk_err *err) {
    const uint8_t *p = NULL;
    CUZK_TRY(cpu_slice_bytes(&p, from, n_bytes, 1, "from", err));
    cuzk_exec_copy(queue->dev->exec, to, p, n_bytes);
    return CUZK_OK;
}
