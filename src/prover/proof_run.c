/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/proof_run.h"
#include "base/alloc.h"
#include "base/clock.h"

static const char *const stage_names[N_STAGES] = {"evaluate", "quotient", "multiexp",
                                                  "assemble", "check"};

/* ---- stages ---- */
void progress_end(prove_progress *p) {
    groth16_report *r = p->report;
    uint64_t *const times[N_STAGES] = {&r->evaluate_ns, &r->quotient_ns, &r->multiexp_ns,
                                       &r->assemble_ns, &r->check_ns};
    const uint64_t now = cuzk_clock_ns();
    if (p->at == N_STAGES) return;
    *times[p->at] += now - p->since_ns;
    cuzk_trace_add(p->options->trace,
                   &(cuzk_span_record){"host", stage_names[p->at], p->since_ns, now, 0});
    p->at = N_STAGES;
}

cuzk_status progress_begin(prove_progress *p, prove_stage stage, cuzk_err *err) {
    const groth16_options *o = p->options;
    progress_end(p);
    if (o->stage && o->stage(o->stage_arg, stage_names[stage], stage, N_STAGES))
        return cuzk_fail(err, CUZK_ERR_CANCELLED, "prover.groth16",
                         "cancelled before stage '%s'", stage_names[stage]);
    p->at = stage;
    p->since_ns = cuzk_clock_ns();
    return CUZK_OK;
}

/* ---- a run ---- */
cuzk_status proof_run_open(proof_run *out, const proving_key *key, const proof_plan *plan,
                           const uint8_t *witness, prove_progress *progress, cuzk_err *err) {
    const cuzk_backend *be = key->backend;
    cuzk_trace *trace = progress->options->trace;
    groth16_report *report = progress->report;
    proof_run run = {.key = key, .plan = plan, .witness = witness, .progress = progress};
    cuzk_status st = key_lease_acquire(&run.lease, key, plan_key_parts(plan),
                                       plan->proof_bytes, plan->in_place, trace, err);
    if (st == CUZK_OK) {
        report->wait_ns += run.lease.wait_ns;
        report->key_ns += run.lease.load_ns;
        report->key_uploaded_bytes += run.lease.uploaded_bytes;
        st = be->queue_open(&run.main, key->device, "main", trace, err);
    }
    run.side = run.main;
    if (st == CUZK_OK && plan->overlaps)
        st = be->queue_open(&run.side, key->device, "side", trace, err);
    if (st == CUZK_OK)
        *out = run;
    else
        proof_run_close(&run);
    return st;
}

cuzk_status proof_run_wait(proof_run *run, cuzk_status st, cuzk_err *err) {
    const cuzk_backend *be = run->key->backend;
    cuzk_status waited = be->queue_wait(run->main, st == CUZK_OK ? err : NULL);
    if (st == CUZK_OK) st = waited;
    if (run->side == run->main) return st;
    waited = be->queue_wait(run->side, st == CUZK_OK ? err : NULL);
    return st == CUZK_OK ? waited : st;
}

void proof_run_drop_spare(proof_run *run) {
    for (unsigned i = 0; i < 2; i++) {
        if (run->spare[i]) run->key->backend->buf_free(run->spare[i]);
        run->spare[i] = NULL;
    }
    key_lease_drop_own(&run->lease);
}

/* Operands go when the queues that use them are done, sets of scalars before their queue. */
void proof_run_close(proof_run *run) {
    const cuzk_backend *be = run->key->backend;
    if (run->main) (void)be->queue_wait(run->main, NULL);
    if (run->side) (void)be->queue_wait(run->side, NULL);
    if (run->w_scalars) be->scalars_close(run->w_scalars);
    if (run->h_scalars) be->scalars_close(run->h_scalars);
    if (run->side && run->side != run->main) be->queue_close(run->side);
    if (run->main) be->queue_close(run->main);
    proof_run_drop_spare(run);
    if (run->h) be->buf_free(run->h);
    if (run->w) be->buf_free(run->w);
    staging_release(&run->packed_memory);
    key_lease_release(&run->lease);
}

/* ---- memory and copies ---- */
cuzk_status proof_run_stage(staging *out, proof_run *run, size_t n_bytes, cuzk_err *err) {
    device_memory *m = run->key->memory;
    CUZK_TRY(staging_acquire(out, m, n_bytes, true, err));
    if (m->pool && !out->is_pinned) run->progress->report->n_heap_fallbacks++;
    return CUZK_OK;
}

cuzk_status proof_run_alloc(cuzk_buf **out, proof_run *run, size_t n_bytes, cuzk_err *err) {
    return run->key->backend->buf_alloc(out, run->key->device, CUZK_SPACE_DEVICE, n_bytes,
                                        true, err);
}

cuzk_status proof_run_upload(proof_run *run, cuzk_queue *queue, cuzk_slice to,
                             const void *from, size_t n_bytes, cuzk_err *err) {
    run->progress->report->uploaded_bytes += n_bytes;
    return run->key->backend->upload(queue, to, from, n_bytes, err);
}

cuzk_status proof_run_download(proof_run *run, cuzk_queue *queue, void *to, cuzk_slice from,
                               size_t n_bytes, cuzk_err *err) {
    run->progress->report->downloaded_bytes += n_bytes;
    return run->key->backend->download(queue, to, from, n_bytes, err);
}

static cuzk_status pack_witness(proof_run *run, cuzk_err *err) {
    cuzk_exec *exec = run->key->memory->exec;
    packed_draft draft = {0};
    CUZK_TRY(packed_draft_init(&draft, run->witness, run->key->n_vars, exec, err));
    const cuzk_status st = proof_run_stage(&run->packed_memory, run, draft.n_bytes, err);
    if (st == CUZK_OK) packed_draft_pack(&run->packed, run->packed_memory.data, &draft, exec);
    packed_draft_fini(&draft);
    return st;
}

cuzk_status proof_run_send_witness(proof_run *run, cuzk_queue *queue, cuzk_err *err) {
    const proving_key *key = run->key;
    const cuzk_backend *be = key->backend;
    const size_t n = key->n_vars, n_bytes = n * key->curve->fr.n_bytes;
    if (run->plan->in_place)
        return be->buf_wrap(&run->w, key->device, run->witness, n_bytes, err);
    CUZK_TRY(pack_witness(run, err));
    CUZK_TRY(proof_run_alloc(&run->w, run, n_bytes, err));
    run->progress->report->uploaded_bytes += run->packed.n_bytes;
    return be->unpack(queue, (cuzk_slice){run->w, 0}, &run->packed, err);
}
