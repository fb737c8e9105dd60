/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_EVALUATE_H
#define CUZK_BACKEND_CUDA_EVALUATE_H
/* backend/cuda/evaluate: a = A w and b = B w. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* evaluate.c */
cuzk_status cuda_matrix_open(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                             const matrix_view *view, cuzk_err *err);
void cuda_matrix_close(cuzk_matrix *matrix);
cuzk_status cuda_evaluate(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err);

/* evaluate_kernels.cu. Of packed triplets on the device, keys[i] = matrix n_rows + row and
 * order[i] = i; *first_bad, which starts as all ones, becomes the first faulty index. */
cuzk_status cuda_triplet_keys(const field *fr, const uint32_t *triplets, uint32_t n,
                              uint32_t n_rows, uint32_t n_columns, uint32_t *keys,
                              uint32_t *order, uint32_t *first_bad, cudaStream_t stream,
                              cuzk_err *err);
/* out[key] = sum over order[begin[key]] .. order[end[key]] of value w[column]. */
cuzk_status cuda_sum_triplets(const field *fr, const uint32_t *triplets, const uint32_t *order,
                              const uint32_t *begin, const uint32_t *end, uint32_t n_rows,
                              const uint32_t *w, uint32_t *a, uint32_t *b, cudaStream_t stream,
                              cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
