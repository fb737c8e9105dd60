/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_SETUP_SCALARS_H
#define CUZK_PROVER_SETUP_SCALARS_H
/* prover/setup_scalars: the discrete logarithms of a key's points: polynomials at tau, in parallel.
 * Montgomery form, one element a point. */
#include "prover/setup.h"

/* With u_i, v_i, w_i the polynomials of variable i at tau: */
typedef struct setup_columns {
    uint64_t *a, *b; /* u_i, v_i */
    uint64_t *ic_l;  /* beta u_i + alpha v_i + w_i, over delta where i is private */
} setup_columns;

/* NOMEM. */
CUZK_MUST_CHECK cuzk_status setup_columns_make(setup_columns *out, const curve *c,
                                               const setup_circuit *circuit,
                                               const setup_trapdoor *t, quotient_kind kind,
                                               unsigned log_domain, cuzk_exec *exec,
                                               cuzk_err *err);
void setup_columns_fini(setup_columns *columns); /* a zeroed one is fine */

CUZK_INLINE size_t setup_h_count(quotient_kind kind, unsigned log_domain) {
    return ((size_t)1 << log_domain) - (kind == QUOTIENT_MONOMIAL ? 1 : 0);
}
/* *out: setup_h_count() elements; owner: caller. NOMEM. */
CUZK_MUST_CHECK cuzk_status setup_h_make(uint64_t **out, const curve *c,
                                         const setup_trapdoor *t, quotient_kind kind,
                                         unsigned log_domain, cuzk_exec *exec, cuzk_err *err);

#endif
