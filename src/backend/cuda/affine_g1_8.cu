/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/affine_g1_8: G1 over a base field of 8 words. */
#include "backend/cuda/affine.cuh"

extern "C" cuzk_status affine_add_g1_8(const field *fq, const uint32_t *points,
                                       const affine_runs *runs, size_t n_longest,
                                       affine_space *space, uint32_t *slots,
                                       cudaStream_t stream, cuzk_err *err) {
    return affine_op<coord1<8>>::add_runs(fq, points, runs, n_longest, space, slots, stream,
                                          err);
}
