/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_EVALUATE_H
#define CUZK_BACKEND_CUDA_EVALUATE_H
/* backend/cuda/evaluate: a = A w and b = B w. */
#include "backend/cuda/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* evaluate.c */
cuzk_status cuda_evaluate(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err);

/* evaluate_kernels.cu. carries: work space, n_slices elements. */
cuzk_status cuda_rows_times(const cuda_rows *rows, const field *fr, const uint32_t *w,
                            uint32_t *a, uint32_t *b, uint32_t *carries, cudaStream_t stream,
                            cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
