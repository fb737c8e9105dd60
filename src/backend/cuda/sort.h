/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_SORT_H
#define CUZK_BACKEND_CUDA_SORT_H
/* backend/cuda/sort: sorting and counting in device memory, on CUB. Where `work` is NULL the
 * call only answers in *work_bytes how much work space it needs. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By the low n_bits of key[0]; stable. key[1] and value[1] are work space; the two arrays of a
 * pair are exchanged so that the results are in [0]. */
cuzk_status cuda_sort_pairs(uint32_t *key[2], uint32_t *value[2], size_t n, unsigned n_bits,
                            bool falling, void *work, size_t *work_bytes, cudaStream_t stream,
                            cuzk_err *err);
/* data[i] = sum of data[j] for j < i. */
cuzk_status cuda_exclusive_sum(uint32_t *data, size_t n, void *work, size_t *work_bytes,
                               cudaStream_t stream, cuzk_err *err);
/* Of sorted keys: where each group below n_groups begins and ends; 0, 0 when it does not occur.
 * Keys from n_groups on are in no group. */
cuzk_status cuda_group_bounds(const uint32_t *key, size_t n, uint32_t *begin, uint32_t *end,
                              size_t n_groups, cudaStream_t stream, cuzk_err *err);
unsigned cuda_bits_of(uint32_t v);
/* No step here needs more work space than this, for n items or fewer. */
size_t cuda_sort_work_most(size_t n);

#ifdef __cplusplus
}
#endif
#endif
