/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/unpack: a packed witness as canonical values, block by block. */
#include "backend/cpu/cpu.h"

typedef struct unpacking {
    uint8_t *to;
    const packed_witness *w;
} unpacking;

static void unpack_block(void *arg, size_t block, unsigned slot) {
    const unpacking *k = arg;
    const size_t first = block * PACKED_BLOCK, left = k->w->n - first;
    (void)slot;
    packed_witness_unpack(k->to + first * CPU_FR_BYTES, k->w, first,
                          left < PACKED_BLOCK ? left : PACKED_BLOCK);
}

cuzk_status cpu_unpack(cuzk_queue *queue, cuzk_slice to, const packed_witness *w,
                       cuzk_err *err) {
    uint64_t *out;
    CUZK_TRY(cpu_slice_fr(&out, to, w->n, CPU_WRITE, "unpacked witness", err));
    unpacking k = {.to = (uint8_t *)out, .w = w};
    cuzk_exec_for(queue->dev->exec, (w->n + PACKED_BLOCK - 1) / PACKED_BLOCK, unpack_block,
                  &k);
    return CUZK_OK;
}
