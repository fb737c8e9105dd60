/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_GROTH16_H
#define CUZK_PROVER_GROTH16_H
/* prover/groth16: one proof, in order: evaluate -> quotient -> multiexp -> assemble ->
 * check (Groth 2016, section 3.2, eprint 2016/260). In: an opened key and a witness. Out: a
 * proof that verifies, or an error. */
#include "format/circom/snarkjs_json.h"
#include "keys/proving_key.h"
#include "prover/blinders.h"
#include "prover/plan.h"

/* What a verifier needs, whatever it came from. ic: packed G1, n_public + 1. */
typedef struct verifying_key {
    const curve *curve;
    g1_affine alpha1;
    g2_affine beta2, gamma2, delta2;
    key_query ic;
} verifying_key;

verifying_key groth16_verifying_key(const proving_key *key);

/* Stages of a proof, in order. Called before each, and anew when something is tried again;
 * nonzero stops with CANCELLED. A device works on while the host goes ahead, so the spans of a
 * trace say what took how long. */
typedef int groth16_stage_fn(void *arg, const char *stage, unsigned done, unsigned total);

/* How a proof went; filled also when it fails. */
typedef struct groth16_report {
    char plan[PLAN_TEXT_BYTES]; /* of the last attempt */
    proof_plan chosen;
    uint64_t uploaded_bytes, downloaded_bytes; /* by this proof, its key's copy left out */
    uint64_t key_uploaded_bytes, key_ns;       /* 0 when the key was on the device already */
    uint64_t wait_ns;                          /* for memory of the device that others had */
    uint64_t evaluate_ns, quotient_ns, multiexp_ns, assemble_ns, check_ns; /* of the host */
    unsigned n_replans;        /* the device's memory was full after all: a smaller plan */
    unsigned n_heap_fallbacks; /* copies that started from memory that is not pinned */
    unsigned n_device_faults;  /* the device's proof did not verify, the CPU's did */
} groth16_report;

typedef struct groth16_options {
    bool skip_check;         /* return the proof unverified */
    const blinders *fixed;   /* tests only: NULL draws them */
    groth16_stage_fn *stage; /* may be NULL */
    void *stage_arg;
    cuzk_trace *trace;      /* what the host and the queues do; may be NULL */
    groth16_report *report; /* may be NULL */
    const proof_plan *plan; /* tests only: instead of the planner's first choice */
} groth16_options;

/* witness: key->n_vars canonical values of 32 bytes, little-endian, already checked to be
 * below r, 8-byte aligned, not changing meanwhile. A proof of a device that does not verify
 * is made once more on the CPU. WITNESS: nor does that one (or it was the CPU's, or the key
 * lies on the device alone), so the witness does not satisfy the circuit (or the key is
 * damaged). FORMAT: the key is damaged. BUDGET: the device is too small for any plan.
 * CANCELLED, NOMEM, IO, DEVICE. */
CUZK_MUST_CHECK cuzk_status groth16_prove(groth16_proof *out, const proving_key *key,
                                          const uint8_t *witness,
                                          const groth16_options *options, cuzk_err *err);

/* e(A, B) = e(alpha, beta) e(sum ic_i x_i, gamma) e(C, delta). statement: the constant 1,
 * then the public signals: vk->ic.n canonical values of 32 bytes below r (the head of a
 * witness is one). Also checks that A, B, C lie in their groups. OK, or INVALID with the
 * reason; NOMEM, DEVICE. */
CUZK_MUST_CHECK cuzk_status groth16_verify(const verifying_key *vk,
                                           const cuzk_backend *backend, cuzk_device *device,
                                           const groth16_proof *proof,
                                           const uint8_t *statement, cuzk_err *err);

#endif
