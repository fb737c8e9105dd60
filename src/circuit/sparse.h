/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CIRCUIT_SPARSE_H
#define CUZK_CIRCUIT_SPARSE_H
/* circuit/sparse: a = A w and b = B w on the host, from triplets in any order, written
 * straight to where they are wanted (pinned memory, say). */
#include "base/executor.h"
#include "circuit/matrix.h"
#include "math/field/field.h"

/* Called from the calling thread, in order from row 0 to the last, when rows [first, end) of a
 * and b are done, so that their copy to a device can begin. Nonzero status stops. When the
 * triplets turn out not to be in order of their rows, it begins anew: one last call tells of
 * all rows, whatever was told before. */
typedef cuzk_status sparse_rows_fn(void *arg, uint64_t first_row, uint64_t end_row,
                                   cuzk_err *err);

/* w: canonical little-endian, n_columns * 32 bytes, any alignment. a, b: n_rows * 4 words,
 * Montgomery. FORMAT when a triplet names a matrix, row or column that does not exist, or its
 * value is not below r: the first such index is in the message. NOMEM, or what rows_done
 * answers. rows_done may be NULL. */
CUZK_MUST_CHECK cuzk_status sparse_evaluate(uint64_t *a, uint64_t *b, const field *fr,
                                            const matrix_view *m, const uint8_t *w,
                                            cuzk_exec *exec, sparse_rows_fn *rows_done,
                                            void *rows_arg, cuzk_err *err);

/* The FORMAT error of triplet i, which is known to be wrong: says what is. */
cuzk_status sparse_fail_triplet(const matrix_view *m, uint64_t i, cuzk_err *err);

#endif
