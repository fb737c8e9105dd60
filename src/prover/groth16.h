/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_GROTH16_H
#define CUZK_PROVER_GROTH16_H
/* prover/groth16: one proof, in order: evaluate -> quotient -> multiexp -> assemble -> check
 * (Groth 2016, section 3.2, eprint 2016/260). In: an opened key and a witness. Out: a proof that
 * verifies, or an error. */
#include "format/circom/snarkjs_json.h"
#include "keys/proving_key.h"
#include "prover/blinders.h"

/* What a verifier needs, whatever it came from. ic: packed G1, n_public + 1. */
typedef struct verifying_key {
    const curve *curve;
    g1_affine alpha1;
    g2_affine beta2, gamma2, delta2;
    key_query ic;
} verifying_key;

verifying_key groth16_verifying_key(const proving_key *key);

/* Stages of a proof, in order. Called before each; nonzero stops with CANCELLED. */
typedef int groth16_stage_fn(void *arg, const char *stage, unsigned done, unsigned total);

typedef struct groth16_options {
    bool skip_check;         /* return the proof unverified */
    const blinders *fixed;   /* tests only: NULL draws them */
    groth16_stage_fn *stage; /* may be NULL */
    void *stage_arg;
} groth16_options;

/* witness: key->n_vars canonical values of 32 bytes, little-endian, already checked to be below r,
 * 8-byte aligned, not changing meanwhile. WITNESS: the finished proof does not verify, so the
 * witness does not satisfy the circuit (or the key is damaged). FORMAT: the key is damaged.
 * CANCELLED, NOMEM, IO, DEVICE. */
CUZK_MUST_CHECK cuzk_status groth16_prove(groth16_proof *out, const proving_key *key,
                                          const uint8_t *witness,
                                          const groth16_options *options, cuzk_err *err);

/* e(A, B) = e(alpha, beta) e(sum ic_i x_i, gamma) e(C, delta). statement: the constant 1, then the
 * public signals: vk->ic.n canonical values of 32 bytes below r (the head of a witness is one).
 * Also checks that A, B, C lie in their groups. OK, or INVALID with the reason; NOMEM, DEVICE. */
CUZK_MUST_CHECK cuzk_status groth16_verify(const verifying_key *vk,
                                           const cuzk_backend *backend, cuzk_device *device,
                                           const groth16_proof *proof,
                                           const uint8_t *statement, cuzk_err *err);

#endif
