/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench_multiexps: classifying scalars, and multiexponentiations over distinct random points
 * by scalars of several kinds. */
#include "api/bench.h"

#include <string.h>

#define WINDOW_MAX 24u

/* ---- scalars ---- */
/* What the prover meets in the witness of a hash: nothing but bits. */
static void fill_bits(const field *fr, uint64_t *out, size_t n) {
    uint64_t state = fr->m.p[0];
    memset(out, 0, n * BENCH_FR_BYTES);
    for (size_t i = 0; i < n; i++) out[4 * i] = bench_next_u64(&state) >> 63;
}

/* Half of them one and the same wide value, a quarter 1, the rest random: a few buckets hold nearly
 * everything. */
static void fill_skewed(const field *fr, uint64_t *out, size_t n) {
    bench_fill_random(fr, out, n);
    for (size_t i = 0; i < n; i++) {
        if (i % 2) memcpy(out + 4 * i, out, BENCH_FR_BYTES);
        if (i % 4 == 2) memcpy(out + 4 * i, (const uint64_t[4]){1}, BENCH_FR_BYTES);
    }
}

/* ---- runs ---- */
typedef struct multiexp {
    const bench *b;
    const curve *c;
    group_id group;
    size_t n;
    cuzk_buf *points, *values;
} multiexp;

static cuzk_status run_scalars(void *arg, cuzk_err *err) {
    const multiexp *x = arg;
    const cuzk_backend *be = x->b->rt->backend;
    cuzk_scalars *scalars = NULL;
    cuzk_status status = be->scalars_open(&scalars, x->b->queue, &x->c->fr,
                                          (cuzk_slice){x->values, 0}, x->n, false, err);
    status = bench_wait(x->b, status, err);
    if (scalars) be->scalars_close(scalars);
    return status;
}

/* With the classification of the scalars, which every proof pays for. */
static cuzk_status run_msm(void *arg, cuzk_err *err) {
    const multiexp *x = arg;
    const cuzk_backend *be = x->b->rt->backend;
    cuzk_scalars *scalars;
    point result;
    CUZK_TRY(be->scalars_open(&scalars, x->b->queue, &x->c->fr, (cuzk_slice){x->values, 0},
                              x->n, false, err));
    const cuzk_msm_job job = {.curve = x->c,
                              .group = x->group,
                              .points = {x->points, 0},
                              .scalars = scalars,
                              .n = x->n,
                              .result = &result};
    const cuzk_status status = bench_wait(x->b, be->msm(x->b->queue, &job, 1, err), err);
    be->scalars_close(scalars);
    return status;
}

/* ---- floors ---- */
/* An affine addition is 5 multiplications and a squaring when its inversion is shared; over Fq2
 * these are 3 and 2 multiplications in Fq. */
static double muls_of_addition(group_id g) { return g == GROUP_G1 ? 6 : 5 * 3 + 2; }

/* Multiplications in Fq of the bucket method with signed windows, at its best width: n
 * additions a window and two for each bucket. */
static double muls_of_msm(unsigned n_bits, size_t n, group_id g) {
    double best = 0;
    for (unsigned width = 2; width <= WINDOW_MAX; width++) {
        const unsigned n_windows = (n_bits + width) / width;
        const double n_buckets = (double)((size_t)1 << (width - 1));
        const double cost = n_windows * ((double)n + 2 * n_buckets) * muls_of_addition(g);
        if (best == 0 || cost < best) best = cost;
    }
    return best;
}

/* ---- measurements ---- */
typedef struct kind {
    const char *name;
    bench_fill_fn *fill;
    bool only_g1;
    double
        n_points; /* that take part in bulk additions, for each scalar; 0: the bucket method */
} kind;

static const kind kinds[] = {
    {"msm", bench_fill_random, false, 0},
    {"msm_ones", fill_bits, true, 0.5},
    {"msm_skewed", fill_skewed, true, 0},
};

static const char *name_of(group_id g) { return g == GROUP_G1 ? "g1" : "g2"; }

static cuzk_status measure(multiexp *x, const kind *k, unsigned log_n) {
    const bench *b = x->b;
    measurement m = bench_measurement(b, k->name, x->c, name_of(x->group), log_n);
    if (!bench_wants(b, m.id)) return CUZK_OK;
    x->n = (size_t)1 << log_n;
    m.floor_field = &x->c->fq;
    m.n_muls = k->n_points > 0 ? k->n_points * m.n_ops * muls_of_addition(x->group)
                               : muls_of_msm(x->c->fr.m.n_bits, x->n, x->group);
    m.n_bytes = m.n_ops * (double)(point_packed_bytes(x->c, x->group) + BENCH_FR_BYTES);
    CUZK_TRY(bench_values(&x->values, b, &x->c->fr, x->n, k->fill));
    const cuzk_status status = bench_measure(b, &m, run_msm, x);
    bench_free(b, x->values);
    return status;
}

static bool wants_any(const bench *b, const curve *c, group_id g, bench_sizes s) {
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (unsigned i = s.min; i <= s.max; i += BENCH_LOG_STEP) {
            if (kinds[k].only_g1 && g != GROUP_G1) continue;
            if (bench_wants(b, bench_measurement(b, kinds[k].name, c, name_of(g), i).id))
                return true;
        }
    }
    return false;
}

/* Distinct points, as many as the largest size takes. */
static cuzk_status make_points(cuzk_buf **out, const bench *b, const curve *c, group_id g,
                               size_t n) {
    cuzk_buf *k = NULL;
    CUZK_TRY(bench_values(&k, b, &c->fr, n, bench_fill_random));
    cuzk_status status = bench_alloc(out, b, n * point_packed_bytes(c, g));
    if (status == CUZK_OK) {
        const cuzk_multiples_job job = {c, g, n, {k, 0}, {*out, 0}};
        status = b->rt->backend->multiples(b->queue, &job, b->err);
        status = bench_wait(b, status, b->err);
    }
    bench_free(b, k);
    return status;
}

static unsigned largest(bench_sizes s) { return s.max - (s.max - s.min) % BENCH_LOG_STEP; }

static cuzk_status bench_group(const bench *b, const curve *c, group_id g, bench_sizes s) {
    multiexp x = {.b = b, .c = c, .group = g};
    if (!wants_any(b, c, g, s)) return CUZK_OK;
    cuzk_status status = make_points(&x.points, b, c, g, (size_t)1 << largest(s));
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (kinds[k].only_g1 && g != GROUP_G1) continue;
        for (unsigned i = s.min; i <= s.max && status == CUZK_OK; i += BENCH_LOG_STEP) {
            status = measure(&x, &kinds[k], i);
        }
    }
    bench_free(b, x.points);
    return status;
}

static cuzk_status bench_scalars(const bench *b, const curve *c, unsigned log_n) {
    measurement m = bench_measurement(b, "scalars", c, NULL, log_n);
    multiexp x = {.b = b, .c = c, .n = (size_t)1 << log_n};
    if (!bench_wants(b, m.id)) return CUZK_OK;
    m.n_bytes = m.n_ops * BENCH_FR_BYTES;
    CUZK_TRY(bench_values(&x.values, b, &c->fr, x.n, bench_fill_random));
    const cuzk_status status = bench_measure(b, &m, run_scalars, &x);
    bench_free(b, x.values);
    return status;
}

cuzk_status bench_multiexps(const bench *b, const curve *c, bench_sizes s) {
    for (unsigned i = s.min; i <= s.max; i += BENCH_LOG_STEP) CUZK_TRY(bench_scalars(b, c, i));
    for (int g = GROUP_G1; g <= GROUP_G2; g++) CUZK_TRY(bench_group(b, c, (group_id)g, s));
    return CUZK_OK;
}
