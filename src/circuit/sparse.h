/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CIRCUIT_SPARSE_H
#define CUZK_CIRCUIT_SPARSE_H
/* circuit/sparse: a = A w and b = B w on the host, from triplets in any order, written straight
 * to where they are wanted (pinned memory, say). */
#include "base/executor.h"
#include "circuit/matrix.h"
#include "math/field/field.h"

/* Called, in order and from the calling thread, when rows [first, end) of a and b are final, so
 * that their copy to a device can begin. Nonzero status stops. May be NULL. */
typedef cuzk_status sparse_rows_fn(void *arg, uint64_t first_row, uint64_t end_row,
                                   cuzk_err *err);

/* w: canonical little-endian, n_columns * 32 bytes, any alignment. a, b: n_rows * 4 words,
 * Montgomery. FORMAT when a triplet names a matrix, row or column that does not exist, or its value
 * is not below r: the first such index is in the message. NOMEM, or what rows_done answers. */
CUZK_MUST_CHECK cuzk_status sparse_evaluate(uint64_t *a, uint64_t *b, const field *fr,
                                            const matrix_view *m, const uint8_t *w,
                                            cuzk_exec *exec, sparse_rows_fn *rows_done,
                                            void *rows_arg, cuzk_err *err);

#endif
