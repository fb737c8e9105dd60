/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/multiples_g1_12: G1 over a base field of 12 words. */
#include "backend/cuda/multiples_group.cuh"

extern "C" cuzk_status multiples_g1_12(const curve *c, const multiples_piece *piece,
                                       cudaStream_t stream, cuzk_err *err) {
    return make_multiples<coord1<12>>(c, piece, stream, err);
}
