/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_SETUP_H
#define CUZK_PROVER_SETUP_H
/* prover/setup: a Groth16 key whose trapdoor is KNOWN to whoever runs this: tests and benchmarks
 * only. In: a constraint system and a trapdoor. Out: the packed vectors of a key, in memory. */
#include "circuit/matrix.h"
#include "format/circom/r1cs.h"
#include "keys/proving_key.h"

typedef struct setup_trapdoor {
    fe tau, alpha, beta, delta; /* gamma = 1, as in snarkjs */
} setup_trapdoor;

/* The same seed gives the same trapdoor, on any machine; seed NULL draws it. */
CUZK_MUST_CHECK cuzk_status setup_trapdoor_make(setup_trapdoor *out, const field *fr,
                                                const char *seed, cuzk_err *err);

/* Everything a key consists of; packed points, all owned. */
typedef struct setup_key {
    const curve *curve;
    uint32_t n_vars, n_public;
    unsigned log_domain;
    uint32_t n_triplets;
    uint8_t *triplets;                 /* circuit/matrix.h */
    uint8_t *g1_constants;             /* alpha, beta, delta */
    uint8_t *g2_constants;             /* beta, gamma, delta */
    uint8_t *ic, *a, *b1, *b2, *l, *h; /* as in zkey.h; h has n_h points */
    size_t n_h;
} setup_key;

/* Called as each stage begins and many times in it; nonzero stops. */
typedef int setup_stage_fn(void *arg, const char *stage, unsigned done, unsigned total);

/* FORMAT (a damaged constraint, more wires than the file stands for, more rows than the field has
 * domains for), NOMEM, CANCELLED. */
CUZK_MUST_CHECK cuzk_status setup_run(setup_key *out, const curve *c, const r1cs_view *r1cs,
                                      const setup_trapdoor *t, quotient_kind kind,
                                      cuzk_exec *exec, setup_stage_fn *stage, void *stage_arg,
                                      cuzk_err *err);
void setup_key_fini(setup_key *key); /* a zeroed one is fine */

#endif
