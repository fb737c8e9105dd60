/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_MULTIPLES_H
#define CUZK_BACKEND_CUDA_MULTIPLES_H
/* backend/cuda/multiples: many multiples of a generator. The host makes a table of its windowed
 * multiples (math/group/multiples_table.h); a thread a scalar adds one point of each window;
 * then the sums become affine, many with one inversion. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MULTIPLES_WINDOW_BITS 8u /* divides a word; 32 windows cover a scalar */

/* All in device memory. table: [windows][2^MULTIPLES_WINDOW_BITS] affine points. */
typedef struct multiples_piece {
    const uint32_t *table;
    const uint32_t *k; /* Montgomery */
    uint32_t *sums;    /* work space: n sums */
    uint32_t *out;     /* packed affine */
    uint32_t n;
} multiples_piece;

/* multiples_g1_8.cu ... multiples_g2_12.cu: one for each group and width of its base field. */
typedef cuzk_status multiples_fn(const curve *c, const multiples_piece *piece,
                                 cudaStream_t stream, cuzk_err *err);
multiples_fn multiples_g1_8, multiples_g1_12, multiples_g2_8, multiples_g2_12;

/* multiples.c */
cuzk_status cuda_multiples(cuzk_queue *queue, const cuzk_multiples_job *job, cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
