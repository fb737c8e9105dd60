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

/* ---- what a key is made of ---- */
/* Triplets as in circuit/matrix.h. The last n_public + 1 of A and B are the rows that follow the
 * constraints, one a public value, which keep its polynomials independent. C lies apart (as
 * matrix 2): a prover has no use for it. */
typedef struct setup_circuit {
    uint32_t n_vars, n_public, n_constraints;
    uint32_t n_triplets;
    uint8_t *triplets; /* owned, both */
    uint64_t n_c_triplets;
    uint8_t *c_triplets;
} setup_circuit;

/* n_vars, n_public and n_constraints are set. Makes room for n_ab triplets of the constraints in A
 * and B and n_c of C, and writes the rows of the public values. FORMAT: more than a key can hold.
 * NOMEM. */
CUZK_MUST_CHECK cuzk_status setup_circuit_alloc(setup_circuit *circuit, const field *fr,
                                                uint64_t n_ab, uint64_t n_c, cuzk_err *err);
void setup_circuit_fini(setup_circuit *circuit); /* a zeroed one is fine */
/* Triplet i of either list; value in Montgomery form. */
void setup_circuit_put(uint8_t *triplets, uint64_t i, uint32_t matrix, uint32_t row,
                       uint32_t column, const field *fr, const uint64_t *value);

/* ---- the key ---- */
/* Everything a key consists of. All packed points lie in `points`, in the order of the pointers
 * into it. */
typedef struct setup_key {
    const curve *curve;
    quotient_kind quotient;
    uint32_t n_vars, n_public;
    unsigned log_domain;
    uint32_t n_triplets;
    uint8_t *triplets; /* owned; circuit/matrix.h */
    uint8_t *points;   /* owned */
    size_t n_point_bytes;
    uint8_t *g1_constants;             /* alpha, beta, delta */
    uint8_t *g2_constants;             /* beta, gamma, delta */
    uint8_t *ic, *a, *b1, *b2, *l, *h; /* as in zkey.h; h has n_h points */
    size_t n_h;
} setup_key;

/* Called as each stage begins and many times in it; nonzero stops. */
typedef int setup_stage_fn(void *arg, const char *stage, unsigned done, unsigned total);

typedef struct setup_options {
    quotient_kind quotient;
    const cuzk_backend *backend; /* makes the points */
    cuzk_device *device;
    cuzk_exec *exec;       /* makes the scalars */
    setup_stage_fn *stage; /* may be NULL */
    void *stage_arg;
    cuzk_trace *trace; /* spans of the queue "setup"; may be NULL */
} setup_options;

/* Takes the triplets of A and B over when it succeeds. FORMAT (more rows than the field has
 * domains for), NOMEM, DEVICE, CANCELLED. */
CUZK_MUST_CHECK cuzk_status setup_make(setup_key *out, const curve *c, setup_circuit *circuit,
                                       const setup_trapdoor *t, const setup_options *options,
                                       cuzk_err *err);
/* The same from a file. Also FORMAT: a damaged constraint, more wires than the file stands for. */
CUZK_MUST_CHECK cuzk_status setup_run(setup_key *out, const curve *c, const r1cs_view *r1cs,
                                      const setup_trapdoor *t, const setup_options *options,
                                      cuzk_err *err);
void setup_key_fini(setup_key *key); /* a zeroed one is fine */

/* A key to prove with, on the memory of `key`, which must stay until close. NOMEM. */
CUZK_MUST_CHECK cuzk_status setup_key_open(proving_key *out, const setup_key *key,
                                           const cuzk_backend *backend, cuzk_device *device,
                                           cuzk_err *err);

#endif
