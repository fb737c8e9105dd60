/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CIRCUIT_MATRIX_H
#define CUZK_CIRCUIT_MATRIX_H
/* circuit/matrix: the constraint matrices A and B as a prover needs them: a view of packed
 * triplets, in place, never copied. A zkey holds exactly this; another front-end may build it. */
#include "base/bytes.h"

/* One triplet: LE32 matrix (0 = A, 1 = B), LE32 row, LE32 column, then an Fr value v R^2 mod r,
 * little-endian (so that one Montgomery product with a canonical witness value gives v w R). */
#define MATRIX_TRIPLET_BYTES 44u

typedef struct matrix_view {
    const uint8_t *triplets; /* unaligned; n_triplets * MATRIX_TRIPLET_BYTES */
    uint64_t n_triplets;
    uint64_t n_rows;    /* domain size: rows beyond the last constraint are zero */
    uint32_t n_columns; /* witness values */
} matrix_view;

#endif
