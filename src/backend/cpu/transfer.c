/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/transfer: the way to the device and back, where the device is this machine. One
 * thread can't saturate its memory. */
#include "backend/cpu/cpu.h"

#include <string.h>

#define PIECE_BYTES ((size_t)4 << 20)

typedef struct copying {
    uint8_t *to;
    const uint8_t *from;
    size_t n_bytes;
} copying;

static void copy_piece(void *arg, size_t item, unsigned slot) {
    const copying *c = arg;
    const size_t begin = item * PIECE_BYTES, left = c->n_bytes - begin;
    (void)slot;
    memcpy(c->to + begin, c->from + begin, left < PIECE_BYTES ? left : PIECE_BYTES);
}

static void copy(const cuzk_queue *queue, void *to, const void *from, size_t n_bytes) {
    copying c = {to, from, n_bytes};
    const size_t n_pieces = n_bytes / PIECE_BYTES + (n_bytes % PIECE_BYTES != 0);
    cuzk_exec_for(queue->dev->exec, n_pieces, copy_piece, &c);
}

cuzk_status cpu_upload(cuzk_queue *queue, cuzk_slice to, const void *from, size_t n_bytes,
                       cuzk_err *err) {
    uint8_t *p = NULL;
    CUZK_TRY(cpu_slice_written(&p, to, n_bytes, 1, "to", err));
    copy(queue, p, from, n_bytes);
    return CUZK_OK;
}

cuzk_status cpu_download(cuzk_queue *queue, void *to, cuzk_slice from, size_t n_bytes,
                         cuzk_err *err) {
    const uint8_t *p = NULL;
    CUZK_TRY(cpu_slice_bytes(&p, from, n_bytes, 1, "from", err));
    copy(queue, to, p, n_bytes);
    return CUZK_OK;
}
