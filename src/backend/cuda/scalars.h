/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_SCALARS_H
#define CUZK_BACKEND_CUDA_SCALARS_H
/* backend/cuda/scalars: scalar sets. A set is kept as |k| with its sign in the top bit, k taken
 * between -r/2 and r/2, and counted by the length of |k|: all that a plan has to know, because
 * the zero digits of short scalars cost nothing. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

cuzk_status cuda_scalars_open(cuzk_scalars **out, cuzk_queue *queue, const field *fr,
                              cuzk_slice values, size_t n, bool montgomery, cuzk_err *err);
void cuda_scalars_close(cuzk_scalars *scalars);

/* Of the contract: of a set, and of the work space while it is opened. */
uint64_t cuda_scalars_bytes(size_t n);

/* scalars.cu. All on the device. */
typedef struct cuda_classes {
    uint32_t *values;              /* n, as kept */
    unsigned long long *n_by_bits; /* CUDA_SCALAR_LENGTHS */
    uint32_t *units;               /* up to n: index and MSM_SIGN of those that are 1 or -1 */
    uint32_t *n_units;             /* one word */
} cuda_classes;
cuzk_status cuda_scalars_classify(const field *fr, const uint32_t *values, bool montgomery,
                                  size_t n, const cuda_classes *out, cudaStream_t stream,
                                  cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
