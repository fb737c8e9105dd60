/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/multiples_g2_8: G2 over a base field of 8 words. */
#include "backend/cuda/multiples_group.cuh"

extern "C" cuzk_status multiples_g2_8(const curve *c, const multiples_piece *piece,
                                      cudaStream_t stream, cuzk_err *err) {
    return make_multiples<coord2<8>>(c, piece, stream, err);
}
