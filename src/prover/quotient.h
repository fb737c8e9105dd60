/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_QUOTIENT_H
#define CUZK_PROVER_QUOTIENT_H
/* prover/quotient: from the witness to the scalars of the H query: evaluate a = A w, b = B w,
 * c = a b on the domain; then what the key's convention asks for (design of the two: see
 * docs/architecture.md). In: witness. Out: one vector. Knows nothing of points. */
#include "keys/proving_key.h"

/* Told before each step; a status other than OK stops. */
typedef cuzk_status quotient_step_fn(void *arg, const char *stage, cuzk_err *err);

/* *out: a secret buffer of domain-size elements, Montgomery form, natural order; the H query
 * goes with its first key->h.n. Owner: caller. w: canonical witness, n_vars values.
 * FORMAT: a bad coefficient in the key. NOMEM, DEVICE. */
CUZK_MUST_CHECK cuzk_status quotient_compute(cuzk_buf **out, const proving_key *key,
                                             cuzk_queue *queue, cuzk_slice w,
                                             quotient_step_fn *step, void *step_arg,
                                             cuzk_err *err);

#endif
