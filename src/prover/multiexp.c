/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/multiexp.h"

enum { N_WITNESS_SUMS = 4, N_SUMS = 5 };

static cuzk_status open_witness_scalars(proof_run *run, cuzk_err *err) {
    return run->key->backend->scalars_open(&run->w_scalars, run->side, &run->key->curve->fr,
                                           (cuzk_slice){run->w, 0}, run->key->n_vars, false,
                                           err);
}

static cuzk_status open_h_scalars(proof_run *run, cuzk_err *err) {
    return run->key->backend->scalars_open(&run->h_scalars, run->main, &run->key->curve->fr,
                                           (cuzk_slice){run->h, 0}, run->key->h.n, true, err);
}

static void describe_witness_sums(cuzk_msm_job jobs[N_WITNESS_SUMS], sums *out,
                                  const proof_run *run) {
    const curve *c = run->key->curve;
    const key_lease *k = &run->lease;
    const cuzk_scalars *w = run->w_scalars;
    const size_t first_private = (size_t)run->key->n_public + 1;
    jobs[0] = (cuzk_msm_job){c, GROUP_G2, k->b2.points, w, 0, k->b2.n, &out->b2};
    jobs[1] = (cuzk_msm_job){c, GROUP_G1, k->a.points, w, 0, k->a.n, &out->a};
    jobs[2] = (cuzk_msm_job){c, GROUP_G1, k->b1.points, w, 0, k->b1.n, &out->b1};
    jobs[3] = (cuzk_msm_job){c, GROUP_G1, k->l.points, w, first_private, k->l.n, &out->l};
}

static cuzk_msm_job describe_h_sum(sums *out, const proof_run *run) {
    const key_lease *k = &run->lease;
    return (cuzk_msm_job){run->key->curve, GROUP_G1, k->h.points, run->h_scalars, 0,
                          k->h.n,          &out->h};
}

/* ---- by pieces ---- */

/* Two pieces take turns: one is filled and crosses the bus while the sum of the other runs. */
typedef struct stream {
    proof_run *run;
    staging_ring ring;
    cuzk_buf *pieces[2];
    point partial[2];
    const cuzk_msm_job *of[2]; /* whose sum the piece belongs to; NULL = none */
} stream;

/* What the piece gave joins its sum, once its queue is done. */
static void collect(stream *s, unsigned half) {
    const cuzk_msm_job *job = s->of[half];
    if (job) point_add(job->curve, job->group, job->result, job->result, &s->partial[half]);
    s->of[half] = NULL;
}

/* job->points are those of the key, which lie in its image. */
static cuzk_status stream_piece(stream *s, const cuzk_msm_job *job, size_t at, size_t n,
                                cuzk_err *err) {
    const size_t point_bytes = point_packed_bytes(job->curve, job->group);
    const uint8_t *from = s->run->key->image.p + job->points.offset + at * point_bytes;
    unsigned half;
    CUZK_TRY(staging_ring_next(&half, &s->ring, err));
    collect(s, half);
    const cuzk_slice to = {s->pieces[half], 0};
    CUZK_TRY(staging_ring_put(&s->ring, half, to, from, n * point_bytes, err));
    s->run->progress->report->uploaded_bytes += n * point_bytes;
    const cuzk_msm_job part = {job->curve, job->group,       to, job->scalars, job->first + at,
                               n,          &s->partial[half]};
    CUZK_TRY(s->run->key->backend->msm(s->ring.queues[half], &part, 1, err));
    s->of[half] = job;
    return CUZK_OK;
}

static cuzk_status stream_job(stream *s, const cuzk_msm_job *job, cuzk_err *err) {
    const size_t n_piece =
        s->run->plan->piece_bytes / point_packed_bytes(job->curve, job->group);
    point_set_infinity(job->curve, job->group, job->result);
    for (size_t at = 0; at < job->n; at += n_piece) {
        const size_t left = job->n - at;
        CUZK_TRY(stream_piece(s, job, at, left < n_piece ? left : n_piece, err));
    }
    return CUZK_OK;
}

static cuzk_status stream_all(stream *s, cuzk_queue *after, const cuzk_msm_job *jobs,
                              size_t n_jobs, cuzk_err *err) {
    for (unsigned i = 0; i < 2; i++) {
        CUZK_TRY(s->run->key->backend->queue_after(s->ring.queues[i], after, err));
        CUZK_TRY(s->run->key->backend->buf_alloc(&s->pieces[i], s->run->key->device,
                                                 CUZK_SPACE_DEVICE, s->run->plan->piece_bytes,
                                                 false, err));
    }
    for (size_t i = 0; i < n_jobs; i++) CUZK_TRY(stream_job(s, &jobs[i], err));
    CUZK_TRY(staging_ring_wait(&s->ring, err));
    for (unsigned i = 0; i < 2; i++) collect(s, i);
    return CUZK_OK;
}

static cuzk_status stream_jobs(proof_run *run, cuzk_queue *after, const cuzk_msm_job *jobs,
                               size_t n_jobs, cuzk_err *err) {
    stream s = {.run = run};
    CUZK_TRY(staging_ring_open(&s.ring, run->key->memory, run->plan->piece_bytes,
                               run->progress->options->trace, err));
    const cuzk_status st = stream_all(&s, after, jobs, n_jobs, err);
    staging_ring_close(&s.ring);
    for (unsigned i = 0; i < 2; i++)
        if (s.pieces[i]) run->key->backend->buf_free(s.pieces[i]);
    return st;
}

/* ---- all ---- */

static cuzk_status add_up(proof_run *run, cuzk_queue *queue, const cuzk_msm_job *jobs,
                          size_t n_jobs, cuzk_err *err) {
    if (run->plan->streams_key) return stream_jobs(run, queue, jobs, n_jobs, err);
    return run->key->backend->msm(queue, jobs, n_jobs, err);
}

cuzk_status multiexp_witness(sums *out, proof_run *run, cuzk_err *err) {
    cuzk_msm_job jobs[N_WITNESS_SUMS];
    CUZK_TRY(open_witness_scalars(run, err));
    describe_witness_sums(jobs, out, run);
    return add_up(run, run->side, jobs, N_WITNESS_SUMS, err);
}

cuzk_status multiexp_h(sums *out, proof_run *run, cuzk_err *err) {
    CUZK_TRY(open_h_scalars(run, err));
    const cuzk_msm_job job = describe_h_sum(out, run);
    return add_up(run, run->main, &job, 1, err);
}

cuzk_status multiexp_all(sums *out, proof_run *run, cuzk_err *err) {
    cuzk_msm_job jobs[N_SUMS];
    CUZK_TRY(open_witness_scalars(run, err));
    CUZK_TRY(open_h_scalars(run, err));
    describe_witness_sums(jobs, out, run);
    jobs[N_WITNESS_SUMS] = describe_h_sum(out, run);
    return run->key->backend->msm(run->main, jobs, N_SUMS, err);
}
