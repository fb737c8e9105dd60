/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/groth16.h"
#include "base/alloc.h"
#include "prover/assemble.h"
#include "prover/multiexp.h"
#include "prover/quotient.h"

/* ---- one attempt ---- */

/* A processor: everything in turn, the five sums together. */
static cuzk_status sum_in_place(sums *out, proof_run *run, cuzk_err *err) {
    CUZK_TRY(proof_run_send_witness(run, run->main, err));
    CUZK_TRY(quotient_compute(run, err));
    CUZK_TRY(proof_run_wait(run, CUZK_OK, err));
    proof_run_drop_spare(run);
    CUZK_TRY(progress_begin(run->progress, STAGE_MULTIEXP, err));
    return multiexp_all(out, run, err);
}

/* Room for one thing after the other: what a step leaves goes before the next begins. */
static cuzk_status sum_in_turn(sums *out, proof_run *run, cuzk_err *err) {
    const cuzk_backend *be = run->key->backend;
    const bool is_late =
        run->plan->evaluates_on_host; /* the witness is wanted for sums only */
    if (!is_late) CUZK_TRY(proof_run_send_witness(run, run->main, err));
    CUZK_TRY(quotient_compute(run, err));
    CUZK_TRY(proof_run_wait(run, CUZK_OK, err));
    proof_run_drop_spare(run);
    CUZK_TRY(progress_begin(run->progress, STAGE_MULTIEXP, err));
    CUZK_TRY(multiexp_h(out, run, err));
    CUZK_TRY(proof_run_wait(run, CUZK_OK, err));
    be->scalars_close(run->h_scalars);
    run->h_scalars = NULL;
    be->buf_free(run->h);
    run->h = NULL;
    if (is_late) CUZK_TRY(proof_run_send_witness(run, run->main, err));
    return multiexp_witness(out, run, err);
}

/* Two queues: the witness's sums need nothing from the quotient. What the host does itself
 * comes after what the device can begin with. */
static cuzk_status sum_side_by_side(sums *out, proof_run *run, cuzk_err *err) {
    const bool is_host_busy = run->plan->evaluates_on_host;
    CUZK_TRY(proof_run_send_witness(run, run->main, err));
    CUZK_TRY(run->key->backend->queue_after(run->side, run->main, err));
    if (is_host_busy) CUZK_TRY(multiexp_witness(out, run, err));
    CUZK_TRY(quotient_compute(run, err));
    if (!is_host_busy) CUZK_TRY(multiexp_witness(out, run, err));
    CUZK_TRY(progress_begin(run->progress, STAGE_MULTIEXP, err));
    return multiexp_h(out, run, err);
}

static cuzk_status queue_sums(sums *out, proof_run *run, cuzk_err *err) {
    if (run->plan->in_place) return sum_in_place(out, run, err);
    if (run->plan->overlaps) return sum_side_by_side(out, run, err);
    return sum_in_turn(out, run, err);
}

static cuzk_status attempt(groth16_proof *out, const proving_key *key, const proof_plan *plan,
                           const uint8_t *witness, prove_progress *progress, cuzk_err *err) {
    proof_run run;
    sums s;
    blinding b;
    plan_describe(progress->report->plan, plan);
    progress->report->chosen = *plan;
    CUZK_TRY(progress_begin(progress, STAGE_EVALUATE, err));
    CUZK_TRY(proof_run_open(&run, key, plan, witness, progress, err));
    cuzk_status st = queue_sums(&s, &run, err);
    if (st == CUZK_OK) st = blinding_make(&b, key, progress->options->fixed, err);
    st = proof_run_wait(&run, st, err);
    proof_run_close(&run);
    if (st == CUZK_OK) st = progress_begin(progress, STAGE_ASSEMBLE, err);
    if (st == CUZK_OK) assemble(out, key, &s, &b);
    cuzk_wipe(&s, sizeof s); /* without blinders they tell about the witness */
    blinding_wipe(&b);
    return st;
}

/* ---- as many as it takes ---- */

/* A device whose memory is full after all (others use it too, or it is in pieces) is asked
 * for less: first what idle keys hold, then a smaller plan. */
static cuzk_status make(groth16_proof *out, const proving_key *key, const uint8_t *witness,
                        prove_progress *progress, cuzk_err *err) {
    const groth16_options *o = progress->options;
    const uint64_t limit_bytes = key->memory ? key->memory->limit_bytes : 0;
    unsigned step = 0;
    proof_plan plan;
    if (o->plan && key->memory)
        plan = *o->plan;
    else
        CUZK_TRY(plan_choose(&plan, &step, key, limit_bytes, err));
    for (;;) {
        cuzk_err why;
        const cuzk_status st = attempt(out, key, &plan, witness, progress, &why);
        if (st == CUZK_OK) return st;
        const bool is_full = st == CUZK_ERR_NOMEM && !plan.in_place;
        const bool can_repeat = is_full && device_memory_evict(key->memory, UINT64_MAX) &&
                                !progress->report->n_replans;
        step += !can_repeat;
        if (!is_full || (!can_repeat && (o->plan || plan_choose(&plan, &step, key, limit_bytes,
                                                                NULL) != CUZK_OK)))
            return cuzk_fail(err, st, why.where, "%s", why.text);
        progress->report->n_replans++;
    }
}

/* ---- check ---- */

/* A device's key on a processor, which judges the device's proofs. */
typedef struct cpu_twin {
    proving_key key;
    cuzk_buf *ic;
} cpu_twin;

static void twin_close(cpu_twin *t) {
    const cuzk_backend *be = t->key.backend;
    if (t->ic) be->buf_free(t->ic);
    if (t->key.buf) be->buf_free(t->key.buf);
    be->close(t->key.device);
}

static cuzk_status twin_open(cpu_twin *out, const proving_key *key, cuzk_err *err) {
    const cuzk_backend *be = &cuzk_backend_cpu;
    cpu_twin t = {.key = *key};
    proving_key *k = &t.key;
    k->backend = be;
    k->memory = NULL;
    k->copy = NULL;
    k->buf = NULL;
    CUZK_TRY(be->open(&k->device, &(cuzk_device_options){0},
                      key->memory ? key->memory->exec : NULL, err));
    cuzk_status st = be->buf_wrap(&k->buf, k->device, key->image.p, key->image.n_bytes, err);
    if (st == CUZK_OK)
        st = be->buf_wrap(&t.ic, k->device, key->ic_packed,
                          key->ic.n * curve_g1_bytes(key->curve), err);
    if (st != CUZK_OK) {
        twin_close(&t);
        return st;
    }
    key_query *const queries[] = {&k->a, &k->b1, &k->b2, &k->l, &k->h};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        queries[i]->points.buf = k->buf;
    k->ic.points = (cuzk_slice){t.ic, 0};
    *out = t;
    return CUZK_OK;
}

/* INVALID: the proof is none. */
static cuzk_status verify(const proving_key *key, const groth16_proof *proof,
                          const uint8_t *witness, cuzk_err *err) {
    const verifying_key vk = groth16_verifying_key(key);
    const cuzk_status st =
        groth16_verify(&vk, key->backend, key->device, proof, witness, NULL);
    if (st == CUZK_ERR_INVALID || st == CUZK_OK) return st;
    return cuzk_fail(err, st, "prover.groth16", "the finished proof could not be checked");
}

/* A device may have failed unnoticed, so a proof that is none is made again by the processor,
 * which decides. */
static cuzk_status check_on_cpu(groth16_proof *proof, const proving_key *key,
                                const uint8_t *witness, prove_progress *progress,
                                cuzk_err *err) {
    cpu_twin twin;
    CUZK_TRY(twin_open(&twin, key, err));
    cuzk_status st = verify(&twin.key, proof, witness, err);
    if (st == CUZK_ERR_INVALID && key->image.n_bytes) {
        st = make(proof, &twin.key, witness, progress, err);
        if (st == CUZK_OK) st = progress_begin(progress, STAGE_CHECK, err);
        if (st == CUZK_OK) st = verify(&twin.key, proof, witness, err);
        progress->report->n_device_faults += st == CUZK_OK;
    }
    twin_close(&twin);
    return st;
}

static cuzk_status check(groth16_proof *proof, const proving_key *key, const uint8_t *witness,
                         prove_progress *progress, cuzk_err *err) {
    CUZK_TRY(progress_begin(progress, STAGE_CHECK, err));
    const cuzk_status st = key->backend == &cuzk_backend_cpu
                               ? verify(key, proof, witness, err)
                               : check_on_cpu(proof, key, witness, progress, err);
    if (st != CUZK_ERR_INVALID) return st;
    return cuzk_fail(err, CUZK_ERR_WITNESS, "prover.groth16",
                     "the witness does not satisfy the circuit (the finished proof does "
                     "not verify)");
}

verifying_key groth16_verifying_key(const proving_key *key) {
    return (verifying_key){key->curve,  key->alpha1, key->beta2,
                           key->gamma2, key->delta2, key->ic};
}

cuzk_status groth16_prove(groth16_proof *out, const proving_key *key, const uint8_t *witness,
                          const groth16_options *options, cuzk_err *err) {
    groth16_report unread, *report = options->report ? options->report : &unread;
    prove_progress progress = {.options = options, .report = report, .at = N_STAGES};
    groth16_proof proof = {0};
    *report = (groth16_report){0};
    cuzk_status st = make(&proof, key, witness, &progress, err);
    if (st == CUZK_OK && !options->skip_check)
        st = check(&proof, key, witness, &progress, err);
    progress_end(&progress);
    if (st == CUZK_OK) *out = proof;
    return st;
}
