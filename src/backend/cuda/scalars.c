/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/scalars: see scalars.h. */
#include "backend/cuda/scalars.h"

#include "backend/cuda/queue.h"
#include "base/alloc.h"

#define COUNT_BYTES (CUDA_SCALAR_LENGTHS * sizeof(unsigned long long))

uint64_t cuda_scalars_bytes(size_t n) {
    return (uint64_t)n * (CUDA_FR_BYTES + sizeof(uint32_t)) + COUNT_BYTES +
           4096; /* rounding */
}

static cuzk_status classify(cuzk_scalars *set, cuzk_queue *queue, cuzk_slice values,
                            bool montgomery, cuda_scratch *s, cuzk_err *err) {
    cuda_operand in;
    cuda_classes out;
    CUZK_TRY(
        cuda_operand_open(&in, s, values, set->n, CUDA_FR_BYTES, CUDA_READ, "scalars", err));
    CUZK_TRY(cuda_scratch_take(s, &out.n_by_bits, 1, COUNT_BYTES, false, err));
    CUZK_TRY(cuda_scratch_take(s, &out.n_units, 1, sizeof *out.n_units, false, err));
    CUZK_TRY(cuda_memory_take_queued(&set->values, queue, set->n * CUDA_FR_BYTES, err));
    CUZK_TRY(cuda_memory_take_queued(&set->units, queue, set->n * sizeof *set->units, err));
    out.values = set->values;
    out.units = set->units;
    CUZK_TRY(
        cuda_scalars_classify(set->fr, in.p, montgomery, set->n, &out, queue->stream, err));
    CUDA_TRY(cudaMemcpyAsync(set->n_by_bits, out.n_by_bits, COUNT_BYTES,
                             cudaMemcpyDeviceToHost, queue->stream),
             err);
    CUDA_TRY(cudaStreamSynchronize(queue->stream), err);
    return CUZK_OK;
}

cuzk_status cuda_scalars_open(cuzk_scalars **out, cuzk_queue *queue, const field *fr,
                              cuzk_slice values, size_t n, bool montgomery, cuzk_err *err) {
    if (fr->n_bytes != CUDA_FR_BYTES || n > INT32_MAX) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda",
                         "%zu scalars of %u bytes; sets hold at most %ld, of %u bytes", n,
                         fr->n_bytes, (long)INT32_MAX, CUDA_FR_BYTES);
    }
    CUZK_TRY(cuda_use(queue->dev, err));
    cuzk_scalars *set;
    CUZK_TRY(cuzk_zalloc(&set, 1, sizeof *set, err));
    set->queue = queue;
    set->fr = fr;
    set->n = n;
    cuda_scratch scratch = {.queue = queue};
    const cuzk_status status = classify(set, queue, values, montgomery, &scratch, err);
    cuda_scratch_drop(&scratch);
    if (status != CUZK_OK) {
        cuda_scalars_close(set);
        return status;
    }
    *out = set;
    return CUZK_OK;
}

void cuda_scalars_close(cuzk_scalars *set) {
    if (!set) return;
    cuda_memory_give_queued(set->queue, set->values, set->n * CUDA_FR_BYTES, true);
    cuda_memory_give_queued(set->queue, set->units, set->n * sizeof *set->units, true);
    cuzk_free_secret(set, sizeof *set);
}
