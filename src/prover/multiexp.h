/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_MULTIEXP_H
#define CUZK_PROVER_MULTIEXP_H
/* prover/multiexp: the five sums of a proof over the queries of its key, which lie on the
 * device, or go through it by pieces. In: scalars. Out: points. Knows nothing of what they
 * mean. */
#include "prover/proof_run.h"

/* Before the key's constants and the blinders join them. Tell about the witness: wipe. */
typedef struct sums {
    point a, b1, b2, l, h;
} sums;

/* Queued in run->side: b2, a, b1, l. Needs run->w. *out is written by the next wait. */
CUZK_MUST_CHECK cuzk_status multiexp_witness(sums *out, proof_run *run, cuzk_err *err);
/* Queued in run->main: h. Needs run->h. */
CUZK_MUST_CHECK cuzk_status multiexp_h(sums *out, proof_run *run, cuzk_err *err);
/* All five in one operation, so that they share the threads of a processor evenly. */
CUZK_MUST_CHECK cuzk_status multiexp_all(sums *out, proof_run *run, cuzk_err *err);

#endif
