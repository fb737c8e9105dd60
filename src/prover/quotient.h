/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_QUOTIENT_H
#define CUZK_PROVER_QUOTIENT_H
/* prover/quotient: from the witness to the scalars of the H query: evaluate a = A w, b = B w,
 * c = a b on the domain; then what the key's convention asks for (design of the two: see
 * docs/architecture.md). In: witness. Out: one vector. Knows nothing of points.
 *
 * Where it happens is the plan's choice: all on the device; a and b on the host, whose rows
 * cross the bus while later ones are computed; or with one vector on the device at a time.
 * c never crosses unless it must make room. */
#include "prover/proof_run.h"

/* Queued in run->main; run->h becomes a secret buffer of domain-size elements, Montgomery
 * form, natural order, to be read in that queue; the H query goes with its first key->h.n.
 * Begins the stage `quotient`. FORMAT: a bad coefficient in the key. CANCELLED, NOMEM,
 * DEVICE. */
CUZK_MUST_CHECK cuzk_status quotient_compute(proof_run *run, cuzk_err *err);

#endif
