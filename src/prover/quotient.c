/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/quotient.h"
#include "circuit/sparse.h"

enum { A, B, C, N_VECTORS };

/* What both ways share. */
typedef struct quotient {
    proof_run *run;
    const cuzk_backend *be;
    const field *fr;
    size_t n, n_bytes; /* of a vector */
    fe k;              /* of CUZK_POINTWISE_QUOTIENT */
} quotient;

/* 1 / Z(g x) for x in the domain: Z(g x) = g^n - 1, the same everywhere. */
static fe vanishing_inverse(const field *fr, const fe *g, unsigned log_n) {
    fe z = *g, one;
    field_set_one(fr, one.l);
    for (unsigned i = 0; i < log_n; i++) field_sqr(fr, z.l, z.l);
    field_sub(fr, z.l, z.l, one.l);
    field_inv(fr, z.l, z.l);
    return z;
}

static quotient quotient_of(proof_run *run) {
    const proving_key *key = run->key;
    const key_roots roots = proving_key_roots(key);
    quotient q = {.run = run,
                  .be = key->backend,
                  .fr = &key->curve->fr,
                  .n = (size_t)1 << key->log_domain};
    q.n_bytes = q.n * q.fr->n_bytes;
    if (roots.is_odd_coset)
        field_set_one(q.fr, q.k.l);
    else
        q.k = vanishing_inverse(q.fr, &roots.coset, key->log_domain);
    return q;
}

static cuzk_status transform(const quotient *q, cuzk_buf *v, cuzk_ntt_kind kind, bool brp,
                             cuzk_err *err) {
    const cuzk_ntt_job job = {q->run->lease.domain, kind, brp, {v, 0}};
    return q->be->ntt(q->run->main, &job, err);
}

static cuzk_status to_coset(const quotient *q, cuzk_buf *v, cuzk_err *err) {
    CUZK_TRY(transform(q, v, CUZK_NTT_INVERSE, true, err));
    return transform(q, v, CUZK_NTT_COSET_FORWARD, true, err);
}

static cuzk_status multiply(const quotient *q, cuzk_slice out, cuzk_slice a, cuzk_slice b,
                            size_t n, cuzk_err *err) {
    const cuzk_pointwise_job job = {
        .fr = q->fr, .kind = CUZK_POINTWISE_MUL, .n = n, .out = out, .a = a, .b = b};
    return q->be->pointwise(q->run->main, &job, err);
}

static cuzk_status divide(const quotient *q, cuzk_slice out, cuzk_slice a, cuzk_slice b,
                          cuzk_slice c, size_t n, cuzk_err *err) {
    const cuzk_pointwise_job job = {q->fr, CUZK_POINTWISE_QUOTIENT, n, out, a, b, c, q->k};
    return q->be->pointwise(q->run->main, &job, err);
}

/* The quotient's values are in v; a MONOMIAL key wants its coefficients. */
static cuzk_status finish(const quotient *q, cuzk_buf *v, cuzk_err *err) {
    if (q->run->key->quotient != QUOTIENT_MONOMIAL) return CUZK_OK;
    return transform(q, v, CUZK_NTT_COSET_INVERSE, false, err);
}

/* ---- a and b from the host ---- */

typedef struct row_sender {
    const quotient *q;
    cuzk_queue *copy;
    uint8_t *host[2]; /* a, b */
    cuzk_buf **device;
} row_sender;

static cuzk_status send_rows(void *arg, uint64_t first_row, uint64_t end_row, cuzk_err *err) {
    const row_sender *s = arg;
    const size_t at = (size_t)first_row * s->q->fr->n_bytes,
                 n_bytes = (size_t)(end_row - first_row) * s->q->fr->n_bytes;
    for (unsigned i = 0; i < 2; i++)
        CUZK_TRY(proof_run_upload(s->q->run, s->copy, (cuzk_slice){s->device[i], at},
                                  s->host[i] + at, n_bytes, err));
    return CUZK_OK;
}

static cuzk_status evaluate_to(const quotient *q, uint8_t *a, uint8_t *b,
                               sparse_rows_fn *rows_done, void *arg, cuzk_err *err) {
    const proving_key *key = q->run->key;
    return sparse_evaluate((uint64_t *)(void *)a, (uint64_t *)(void *)b, q->fr, &key->matrix,
                           q->run->witness, key->memory->exec, rows_done, arg, err);
}

/* The host's vectors go back to the pool as soon as the device has them. */
static cuzk_status evaluate_on_host(const quotient *q, cuzk_buf *v[N_VECTORS], cuzk_err *err) {
    const proving_key *key = q->run->key;
    staging host = {0};
    row_sender sender = {.q = q, .device = v};
    CUZK_TRY(proof_run_stage(&host, q->run, 2 * q->n_bytes, err));
    sender.host[0] = host.data;
    sender.host[1] = sender.host[0] + q->n_bytes;
    cuzk_status st = q->be->queue_open(&sender.copy, key->device, "copy",
                                       q->run->progress->options->trace, err);
    if (st == CUZK_OK) {
        st = evaluate_to(q, sender.host[0], sender.host[1], send_rows, &sender, err);
        const cuzk_status waited = q->be->queue_wait(sender.copy, st == CUZK_OK ? err : NULL);
        if (st == CUZK_OK) st = waited;
        q->be->queue_close(sender.copy);
    }
    staging_release(&host);
    return st;
}

/* ---- with three vectors on the device ---- */

static cuzk_status evaluate(const quotient *q, cuzk_buf *v[N_VECTORS], cuzk_err *err) {
    if (q->run->plan->evaluates_on_host) {
        CUZK_TRY(evaluate_on_host(q, v, err));
    } else {
        const cuzk_evaluate_job job = {
            q->run->lease.matrix, {q->run->w, 0}, {v[A], 0}, {v[B], 0}};
        CUZK_TRY(q->be->evaluate(q->run->main, &job, err));
    }
    return multiply(q, (cuzk_slice){v[C], 0}, (cuzk_slice){v[A], 0}, (cuzk_slice){v[B], 0},
                    q->n, err);
}

static cuzk_status run_with_three(const quotient *q, cuzk_buf *v[N_VECTORS], cuzk_err *err) {
    CUZK_TRY(evaluate(q, v, err));
    CUZK_TRY(progress_begin(q->run->progress, STAGE_QUOTIENT, err));
    for (unsigned i = 0; i < N_VECTORS; i++) CUZK_TRY(to_coset(q, v[i], err));
    const cuzk_slice a = {v[A], 0};
    CUZK_TRY(divide(q, a, a, (cuzk_slice){v[B], 0}, (cuzk_slice){v[C], 0}, q->n, err));
    return finish(q, v[A], err);
}

/* ---- with one, the others on the host ---- */

typedef struct one_at_a_time {
    quotient q;
    cuzk_buf *v, *pieces; /* room for two pieces */
    uint8_t *host[N_VECTORS];
    size_t piece_bytes;
} one_at_a_time;

static cuzk_status send(const one_at_a_time *o, cuzk_slice to, const uint8_t *from,
                        size_t n_bytes, cuzk_err *err) {
    return proof_run_upload(o->q.run, o->q.run->main, to, from, n_bytes, err);
}

typedef cuzk_status piece_fn(const one_at_a_time *o, size_t at, size_t n_bytes, cuzk_err *err);

static cuzk_status each_piece(const one_at_a_time *o, piece_fn *fn, cuzk_err *err) {
    for (size_t at = 0; at < o->q.n_bytes; at += o->piece_bytes) {
        const size_t left = o->q.n_bytes - at;
        CUZK_TRY(fn(o, at, left < o->piece_bytes ? left : o->piece_bytes, err));
    }
    return CUZK_OK;
}

/* v = a b */
static cuzk_status multiply_piece(const one_at_a_time *o, size_t at, size_t n_bytes,
                                  cuzk_err *err) {
    const cuzk_slice v = {o->v, at}, b = {o->pieces, 0};
    CUZK_TRY(send(o, v, o->host[A] + at, n_bytes, err));
    CUZK_TRY(send(o, b, o->host[B] + at, n_bytes, err));
    return multiply(&o->q, v, v, b, n_bytes / o->q.fr->n_bytes, err);
}

/* v = (a v - c) k */
static cuzk_status divide_piece(const one_at_a_time *o, size_t at, size_t n_bytes,
                                cuzk_err *err) {
    const cuzk_slice v = {o->v, at}, a = {o->pieces, 0}, c = {o->pieces, o->piece_bytes};
    CUZK_TRY(send(o, a, o->host[A] + at, n_bytes, err));
    CUZK_TRY(send(o, c, o->host[C] + at, n_bytes, err));
    return divide(&o->q, v, a, v, c, n_bytes / o->q.fr->n_bytes, err);
}

static cuzk_status come_back(const one_at_a_time *o, uint8_t *to, cuzk_err *err) {
    return proof_run_download(o->q.run, o->q.run->main, to, (cuzk_slice){o->v, 0},
                              o->q.n_bytes, err);
}

/* c first, for it needs a and b as they are; b last, for it may stay. All in one queue, so
 * that each step finds what the one before left, and the pieces are reused safely. */
static cuzk_status run_with_one(one_at_a_time *o, cuzk_err *err) {
    const cuzk_slice v = {o->v, 0};
    CUZK_TRY(evaluate_to(&o->q, o->host[A], o->host[B], NULL, NULL, err));
    CUZK_TRY(each_piece(o, multiply_piece, err));
    CUZK_TRY(progress_begin(o->q.run->progress, STAGE_QUOTIENT, err));
    CUZK_TRY(to_coset(&o->q, o->v, err));
    CUZK_TRY(come_back(o, o->host[C], err));
    CUZK_TRY(send(o, v, o->host[A], o->q.n_bytes, err));
    CUZK_TRY(to_coset(&o->q, o->v, err));
    CUZK_TRY(come_back(o, o->host[A], err));
    CUZK_TRY(send(o, v, o->host[B], o->q.n_bytes, err));
    CUZK_TRY(to_coset(&o->q, o->v, err));
    CUZK_TRY(each_piece(o, divide_piece, err));
    return finish(&o->q, o->v, err);
}

static cuzk_status compute_with_one(const quotient *q, cuzk_err *err) {
    proof_run *run = q->run;
    one_at_a_time o = {.q = *q, .piece_bytes = run->plan->piece_bytes};
    staging host = {0};
    cuzk_status st = proof_run_alloc(&o.v, run, q->n_bytes, err);
    if (st == CUZK_OK) st = proof_run_alloc(&o.pieces, run, 2 * o.piece_bytes, err);
    if (st == CUZK_OK) st = proof_run_stage(&host, run, N_VECTORS * q->n_bytes, err);
    if (st == CUZK_OK) {
        for (unsigned i = 0; i < N_VECTORS; i++)
            o.host[i] = (uint8_t *)host.data + i * q->n_bytes;
        st = proof_run_wait(run, run_with_one(&o, err), err);
    }
    staging_release(&host);
    if (o.pieces) q->be->buf_free(o.pieces);
    if (st == CUZK_OK)
        run->h = o.v;
    else if (o.v)
        q->be->buf_free(o.v);
    return st;
}

static cuzk_status compute_with_three(const quotient *q, cuzk_err *err) {
    proof_run *run = q->run;
    cuzk_buf *v[N_VECTORS] = {NULL, NULL, NULL};
    cuzk_status st = CUZK_OK;
    for (unsigned i = 0; i < N_VECTORS && st == CUZK_OK; i++)
        st = proof_run_alloc(&v[i], run, q->n_bytes, err);
    if (st == CUZK_OK) st = run_with_three(q, v, err);
    run->h = v[A];
    run->spare[0] = v[B];
    run->spare[1] = v[C];
    return st;
}

cuzk_status quotient_compute(proof_run *run, cuzk_err *err) {
    const quotient q = quotient_of(run);
    return run->plan->one_vector ? compute_with_one(&q, err) : compute_with_three(&q, err);
}
