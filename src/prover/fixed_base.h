/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_FIXED_BASE_H
#define CUZK_PROVER_FIXED_BASE_H
/* prover/fixed_base: many multiples of one generator, by a table of its windowed multiples and
 * batched affine additions. */
#include "base/executor.h"
#include "math/group/group.h"

typedef struct fixed_base fixed_base; /* Thread: immutable once made */

/* Of the generator of the group. n_hint: how many multiples will be asked for (window size). */
CUZK_MUST_CHECK cuzk_status fixed_base_create(fixed_base **out, const curve *c, group_id g,
                                              size_t n_hint, cuzk_err *err);
void fixed_base_destroy(fixed_base *fb); /* NULL is fine */
/* packed[i] = [k[i]] G for i < n. k: packed Fr, Montgomery, 4 limbs each. */
CUZK_MUST_CHECK cuzk_status fixed_base_mul(const fixed_base *fb, uint8_t *packed,
                                           const uint64_t *k, size_t n, cuzk_exec *exec,
                                           cuzk_err *err);

#endif
