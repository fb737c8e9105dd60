/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench_transforms: one transform, and the whole quotient by both conventions. */
#include "api/bench.h"

enum { N_VECTORS = 3 };

typedef struct transforms {
    const bench *b;
    const field *fr;
    size_t n;
    cuzk_domain *domain;
    cuzk_buf *data[N_VECTORS]; /* as many as the measurement needs */
} transforms;

static cuzk_status transform(const transforms *t, unsigned i, cuzk_ntt_kind kind, bool brp,
                             cuzk_err *err) {
    const cuzk_ntt_job job = {t->domain, kind, brp, {t->data[i], 0}};
    return t->b->rt->backend->ntt(t->b->queue, &job, err);
}

/* As a proof does them: to coefficients and on to the coset. */
static cuzk_status to_coset(const transforms *t, unsigned i, cuzk_err *err) {
    CUZK_TRY(transform(t, i, CUZK_NTT_INVERSE, true, err));
    return transform(t, i, CUZK_NTT_COSET_FORWARD, true, err);
}

static cuzk_status run_transforms(void *arg, cuzk_err *err) {
    const transforms *t = arg;
    return bench_wait(t->b, to_coset(t, 0, err), err);
}

static cuzk_status pointwise(const transforms *t, cuzk_pointwise_kind kind, unsigned out,
                             cuzk_err *err) {
    const cuzk_pointwise_job job = {
        t->fr,           kind, t->n, {t->data[out], 0}, {t->data[0], 0}, {t->data[1], 0},
        {t->data[2], 0}, {{1}}};
    return t->b->rt->backend->pointwise(t->b->queue, &job, err);
}

/* c = a b, all three to the coset, (a b - c) k there. */
static cuzk_status quotient_on_coset(const transforms *t, cuzk_err *err) {
    CUZK_TRY(pointwise(t, CUZK_POINTWISE_MUL, 2, err));
    for (unsigned i = 0; i < N_VECTORS; i++) CUZK_TRY(to_coset(t, i, err));
    return pointwise(t, CUZK_POINTWISE_QUOTIENT, 0, err);
}

static cuzk_status run_circom(void *arg, cuzk_err *err) {
    const transforms *t = arg;
    return bench_wait(t->b, quotient_on_coset(t, err), err);
}

static cuzk_status run_filecoin(void *arg, cuzk_err *err) {
    const transforms *t = arg;
    cuzk_status status = quotient_on_coset(t, err);
    if (status == CUZK_OK) status = transform(t, 0, CUZK_NTT_COSET_INVERSE, false, err);
    return bench_wait(t->b, status, err);
}

static cuzk_status measure_transforms(const bench *b, measurement *m, const curve *c,
                                      unsigned log_n, unsigned n_vectors, bench_run_fn *run) {
    const cuzk_backend *be = b->rt->backend;
    const field *fr = &c->fr;
    transforms t = {.b = b, .fr = fr, .n = (size_t)1 << log_n};
    cuzk_status status = be->domain_open(&t.domain, b->rt->device, fr, log_n,
                                         field_least_nonresidue(fr), NULL, b->err);
    for (unsigned i = 0; i < n_vectors && status == CUZK_OK; i++) {
        status = bench_values(&t.data[i], b, fr, t.n, bench_fill_random);
    }
    m->floor_field = fr;
    if (status == CUZK_OK) status = bench_measure(b, m, run, &t);
    for (unsigned i = 0; i < n_vectors; i++) bench_free(b, t.data[i]);
    if (t.domain) be->domain_close(t.domain);
    return status;
}

static cuzk_status bench_ntt(const bench *b, const curve *c, unsigned log_n) {
    measurement m = bench_measurement(b, "ntt", c, NULL, log_n);
    const double n = m.n_ops;
    if (!bench_wants(b, m.id)) return CUZK_OK;
    m.n_times = 2;
    m.n_ops = m.n_muls = n / 2 * log_n;
    m.n_bytes = 2 * n * BENCH_FR_BYTES;
    return measure_transforms(b, &m, c, log_n, 1, run_transforms);
}

/* n_transforms: of each convention. The pointwise steps have 3 multiplications for each row. */
static cuzk_status bench_quotient(const bench *b, const curve *c, unsigned log_n,
                                  const char *name, unsigned n_transforms, bench_run_fn *run) {
    measurement m = bench_measurement(b, "quotient", c, name, log_n);
    if (!bench_wants(b, m.id)) return CUZK_OK;
    m.n_muls = m.n_ops * (n_transforms / 2.0 * log_n + 3);
    m.n_bytes = m.n_ops * BENCH_FR_BYTES * (2 * n_transforms + 7);
    return measure_transforms(b, &m, c, log_n, N_VECTORS, run);
}

cuzk_status bench_transforms(const bench *b, const curve *c, bench_sizes s) {
    for (unsigned i = s.min; i <= s.max && i < c->fr.two_adicity; i += BENCH_LOG_STEP) {
        CUZK_TRY(bench_ntt(b, c, i));
        CUZK_TRY(bench_quotient(b, c, i, "circom", 6, run_circom));
        CUZK_TRY(bench_quotient(b, c, i, "filecoin", 7, run_filecoin));
    }
    return CUZK_OK;
}
