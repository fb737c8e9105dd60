/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/affine_g1_12: G1 over a base field of 12 words. */
#include "backend/cuda/affine.cuh"

extern "C" cuzk_status affine_add_g1_12(const field *fq, const uint32_t *points,
                                        const affine_runs *runs, size_t n_longest,
                                        affine_space *space, uint32_t *slots,
                                        cudaStream_t stream, cuzk_err *err) {
    return affine_op<coord1<12>>::add_runs(fq, points, runs, n_longest, space, slots, stream,
                                           err);
}
