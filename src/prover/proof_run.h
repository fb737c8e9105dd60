/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_PROOF_RUN_H
#define CUZK_PROVER_PROOF_RUN_H
/* prover/proof_run: one attempt at a proof, by one plan: what its steps share. Knows who
 * owns what until the device is done; knows nothing of what the steps compute. */
#include "keys/residency.h"
#include "keys/staging.h"
#include "prover/groth16.h"

typedef enum prove_stage {
    STAGE_EVALUATE,
    STAGE_QUOTIENT,
    STAGE_MULTIEXP,
    STAGE_ASSEMBLE,
    STAGE_CHECK,
    N_STAGES
} prove_stage; /* N_STAGES: none */

/* The stages of a proof as its caller sees them; they begin anew when something is tried
 * again. */
typedef struct prove_progress {
    const groth16_options *options;
    groth16_report *report; /* never NULL */
    prove_stage at;         /* the one that runs */
    uint64_t since_ns;
} prove_progress;

/* CANCELLED when the caller says so. */
CUZK_MUST_CHECK cuzk_status progress_begin(prove_progress *p, prove_stage stage,
                                           cuzk_err *err);
void progress_end(prove_progress *p); /* of the stage that runs; none is fine */

typedef struct proof_run { /* Thread: owned */
    const proving_key *key;
    const proof_plan *plan;
    const uint8_t *witness; /* canonical, of the caller */
    prove_progress *progress;
    key_lease lease;
    cuzk_queue *main, *side; /* the same unless the plan overlaps */
    cuzk_buf *w;             /* the witness where the device reads it */
    packed_witness packed;   /* on its way there, in: */
    staging packed_memory;
    cuzk_buf *h;        /* the quotient */
    cuzk_buf *spare[2]; /* what it was made from, in use until the queue has been waited for */
    cuzk_scalars *w_scalars, *h_scalars;
} proof_run;

CUZK_MUST_CHECK cuzk_status proof_run_open(proof_run *out, const proving_key *key,
                                           const proof_plan *plan, const uint8_t *witness,
                                           prove_progress *progress, cuzk_err *err);
/* Both queues; after a failure too, before anything that they use goes. st: what is known
 * so far, and comes back unless it was OK. */
CUZK_MUST_CHECK cuzk_status proof_run_wait(proof_run *run, cuzk_status st, cuzk_err *err);
/* After a wait: gives back what the quotient no longer needs. */
void proof_run_drop_spare(proof_run *run);
void proof_run_close(proof_run *run); /* waits */

/* Brings the witness to the device, in `queue`. */
CUZK_MUST_CHECK cuzk_status proof_run_send_witness(proof_run *run, cuzk_queue *queue,
                                                   cuzk_err *err);

/* Host memory for copies, of the key's pool; counted in the report when it is not pinned. */
CUZK_MUST_CHECK cuzk_status proof_run_stage(staging *out, proof_run *run, size_t n_bytes,
                                            cuzk_err *err);
/* Memory of the device for a secret. */
CUZK_MUST_CHECK cuzk_status proof_run_alloc(cuzk_buf **out, proof_run *run, size_t n_bytes,
                                            cuzk_err *err);
/* The operation, counted in the report. */
CUZK_MUST_CHECK cuzk_status proof_run_upload(proof_run *run, cuzk_queue *queue, cuzk_slice to,
                                             const void *from, size_t n_bytes, cuzk_err *err);
CUZK_MUST_CHECK cuzk_status proof_run_download(proof_run *run, cuzk_queue *queue, void *to,
                                               cuzk_slice from, size_t n_bytes, cuzk_err *err);

#endif
