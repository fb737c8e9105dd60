/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/scalars: see scalars.h. */
#include "backend/cuda/scalars.h"

#include "backend/cuda/queue.h"
#include "base/alloc.h"

static cuzk_status classify(cuzk_scalars *set, cuzk_queue *queue, cuzk_slice values,
                            bool montgomery, cuda_scratch *s, cuzk_err *err) {
    cuda_operand in;
    unsigned long long *counts;
    const size_t count_bytes = CUDA_SCALAR_LENGTHS * sizeof *counts;
    CUZK_TRY(
        cuda_operand_open(&in, s, values, set->n, CUDA_FR_BYTES, CUDA_READ, "scalars", err));
    CUZK_TRY(cuda_scratch_take(s, &counts, CUDA_SCALAR_LENGTHS, sizeof *counts, false, err));
    CUDA_TRY(cudaMemsetAsync(counts, 0, count_bytes, queue->stream), err);
    CUDA_TRY(cudaMallocAsync((void **)&set->values, set->n * CUDA_FR_BYTES + 1, queue->stream),
             err);
    CUZK_TRY(cuda_scalars_classify(set->fr, in.p, set->values, set->n, montgomery, counts,
                                   queue->stream, err));
    CUDA_TRY(cudaMemcpyAsync(set->n_by_bits, counts, count_bytes, cudaMemcpyDeviceToHost,
                             queue->stream),
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
    if (set->values) {
        (void)cudaMemsetAsync(set->values, 0, set->n * CUDA_FR_BYTES, set->queue->stream);
        (void)cudaFreeAsync(set->values, set->queue->stream);
    }
    cuzk_free_secret(set, sizeof *set);
}
