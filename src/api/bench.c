/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench: cuzk_bench_kernels, the parts of a proof measured alone.
 *
 * A measurement runs one thing n_runs times and reports medians. Small things are repeated
 * within a run until the clock can see them. For transforms and multiexponentiations the line
 * also tells the floor: the multiplications that its algorithm can't do without, at the speed
 * that this machine multiplies vectors of the same field, and how far above it we are. */
#include "api/runtime.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cuzk/tools.h"
#include "math/pairing/pairing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FR_BYTES     32u
#define VECTOR       1024u /* elements or pairs in the arithmetic measurements */
#define DEFAULT_RUNS 5u
#define LOG_STEP     2u /* from one size to the next */
#define MUL_ROUNDS   16u
#define WINDOW_MAX   24u

typedef struct bench {
    cuzk_runtime *rt;
    cuzk_queue *queue;
    const char *filter;
    unsigned n_runs;
    cuzk_bench_fn *fn;
    void *fn_arg;
    cuzk_err *err;
} bench;

/* ---- random vectors ---- */
/* splitmix64: benchmarks must see the same numbers every time. */
static uint64_t next_u64(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* n elements uniform below p, which are as good in Montgomery form as canonical. */
static void fill_random(const field *f, uint64_t *out, size_t n) {
    const unsigned n_limbs = f->m.n_limbs, n_top_bits = f->m.n_bits - 64 * (n_limbs - 1);
    uint64_t state = f->m.p[0];
    for (size_t i = 0; i < n;) {
        uint64_t *e = out + i * n_limbs;
        for (unsigned k = 0; k < n_limbs; k++) e[k] = next_u64(&state);
        e[n_limbs - 1] &= UINT64_MAX >> (64 - n_top_bits);
        unsigned k = n_limbs - 1;
        while (k > 0 && e[k] == f->m.p[k]) k--;
        if (e[k] < f->m.p[k]) i++;
    }
}

typedef struct vectors {
    const field *f;
    uint64_t *a, *b, *out;
} vectors;

static void multiply(const vectors *v) {
    for (unsigned i = 0; i < MUL_ROUNDS; i++) {
        v->f->ops->vec_mul(v->out, v->a, v->b, VECTOR, &v->f->m);
    }
}

static cuzk_status vectors_init(vectors *v, const field *f, cuzk_err *err) {
    const size_t n_words = (size_t)VECTOR * f->m.n_limbs;
    v->f = f;
    CUZK_TRY(cuzk_alloc(&v->a, 3 * n_words, sizeof *v->a, err));
    v->b = v->a + n_words;
    v->out = v->b + n_words;
    fill_random(f, v->a, 2 * (size_t)VECTOR);
    return CUZK_OK;
}

static void vectors_fini(vectors *v) { cuzk_free(v->a); }

/* ---- measuring ---- */
typedef struct times {
    double cpu_s, wall_s;
    double mul_s; /* of one multiplication in the floor's field, meanwhile */
} times;

typedef struct measurement {
    char id[64];
    double n_times;     /* that a run does the thing; the seconds are for one */
    double n_ops;       /* butterflies or points in one; the nanoseconds are for one of them */
    unsigned n_threads; /* that a run may use */
    double floor_muls;  /* multiplications in floor_field that one can't do without */
    const field *floor_field; /* NULL = no floor is known */
} measurement;

typedef cuzk_status run_fn(void *arg, cuzk_err *err);

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned n) {
    qsort(values, n, sizeof *values, compare_doubles);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

static double seconds_since(uint64_t now_ns, uint64_t then_ns) {
    return (double)(now_ns - then_ns) * 1e-9;
}

static double time_mul(const vectors *v) {
    const uint64_t cpu_ns = cuzk_clock_cpu_ns();
    multiply(v);
    return seconds_since(cuzk_clock_cpu_ns(), cpu_ns) / (VECTOR * MUL_ROUNDS);
}

/* One run before the first that counts fills caches and page tables. Multiplications are timed
 * between the runs, so that a machine that slows down does it to both. v NULL = none are. */
static cuzk_status time_runs(times *out, unsigned n_runs, run_fn *run, void *arg,
                             const vectors *v, cuzk_err *err) {
    double *samples;
    CUZK_TRY(cuzk_alloc(&samples, 3 * (size_t)n_runs, sizeof *samples, err));
    double *cpu_s = samples, *wall_s = cpu_s + n_runs, *mul_s = wall_s + n_runs;
    cuzk_status status = run(arg, err);
    for (unsigned i = 0; i < n_runs && status == CUZK_OK; i++) {
        mul_s[i] = v ? time_mul(v) : 0;
        const uint64_t cpu_ns = cuzk_clock_cpu_ns(), wall_ns = cuzk_clock_ns();
        status = run(arg, err);
        cpu_s[i] = seconds_since(cuzk_clock_cpu_ns(), cpu_ns);
        wall_s[i] = seconds_since(cuzk_clock_ns(), wall_ns);
    }
    if (status == CUZK_OK) {
        out->cpu_s = median(cpu_s, n_runs);
        out->wall_s = median(wall_s, n_runs);
        out->mul_s = median(mul_s, n_runs);
    }
    cuzk_free(samples);
    return status;
}

static bool is_wanted(const bench *b, const char *id) {
    return !b->filter || strstr(id, b->filter);
}

static void report(const bench *b, const measurement *m, const times *t) {
    const double cpu_s = t->cpu_s / m->n_times, floor_s = m->floor_muls * t->mul_s;
    char line[400], floor[80] = "";
    if (m->floor_field) {
        (void)snprintf(floor, sizeof floor, ",\"floor_s\":%.6g,\"ratio_to_floor\":%.3f",
                       floor_s, cpu_s / floor_s);
    }
    (void)snprintf(line, sizeof line,
                   "{\"id\":\"%s\",\"cpu_s\":%.6g,\"wall_s\":%.6g,\"ns_per_op\":%.5g,"
                   "\"n_runs\":%u,\"n_threads\":%u,\"cpu\":\"%s\"%s}",
                   m->id, cpu_s, t->wall_s / m->n_times, cpu_s / m->n_ops * 1e9, b->n_runs,
                   m->n_threads, cuzk_cpu_level_name(b->rt->cpu), floor);
    b->fn(b->fn_arg, line);
}

static cuzk_status measure(const bench *b, const measurement *m, run_fn *run, void *arg) {
    times t;
    vectors v = {0};
    if (m->floor_field) CUZK_TRY(vectors_init(&v, m->floor_field, b->err));
    cuzk_status status =
        time_runs(&t, b->n_runs, run, arg, m->floor_field ? &v : NULL, b->err);
    vectors_fini(&v);
    if (status == CUZK_OK) report(b, m, &t);
    return status;
}

/* ---- points ---- */
static limb_batch_add *batch_add_of(const curve *c, group_id g) {
    return g == GROUP_G1 ? c->fq.ops->batch_add1 : c->fq.ops->batch_add2;
}

/* points[i] = [i + 1] G for i < n, in rounds that double how many there are. Distinct, and no
 * harder or easier to add than any others. */
static cuzk_status fill_points(const curve *c, group_id g, uint64_t *points, size_t n,
                               cuzk_err *err) {
    const size_t n_words = point_packed_bytes(c, g) / sizeof(uint64_t);
    uint64_t *step, *scratch;
    CUZK_TRY(cuzk_alloc(&step, VECTOR * n_words, sizeof *step, err));
    cuzk_status status =
        cuzk_alloc(&scratch, limb_batch_add_scratch(c->fq.m.n_limbs, g, VECTOR), 1, err);
    if (status != CUZK_OK) {
        cuzk_free(step);
        return status;
    }
    point doubled;
    point_set_generator(c, g, &doubled);
    point_store_packed(c, g, (uint8_t *)points, &doubled);
    for (size_t have = 1; have < n; have *= 2) {
        const size_t n_new = n - have < have ? n - have : have;
        point_store_packed(c, g, (uint8_t *)step, &doubled); /* [have] G */
        for (size_t i = 1; i < VECTOR; i++) {
            memcpy(step + i * n_words, step, n_words * sizeof *step);
        }
        for (size_t i = 0; i < n_new; i += VECTOR) {
            const size_t n_now = n_new - i < VECTOR ? n_new - i : VECTOR;
            batch_add_of(c, g)(points + (have + i) * n_words, points + i * n_words, step,
                               n_now, scratch, &c->fq.m);
        }
        point_double(c, g, &doubled, &doubled);
    }
    cuzk_free(scratch);
    cuzk_free(step);
    return CUZK_OK;
}

/* ---- arithmetic ---- */
static cuzk_status run_mul(void *arg, cuzk_err *err) {
    (void)err;
    multiply(arg);
    return CUZK_OK;
}

static cuzk_status run_sqr(void *arg, cuzk_err *err) {
    const vectors *v = arg;
    (void)err;
    const size_t n_limbs = v->f->m.n_limbs;
    for (unsigned i = 0; i < MUL_ROUNDS; i++) {
        for (size_t j = 0; j < VECTOR; j++) {
            field_sqr(v->f, v->out + j * n_limbs, v->a + j * n_limbs);
        }
    }
    return CUZK_OK;
}

static cuzk_status run_inv(void *arg, cuzk_err *err) {
    const vectors *v = arg;
    (void)err;
    const size_t n_limbs = v->f->m.n_limbs;
    for (size_t j = 0; j < VECTOR; j++) {
        field_inv(v->f, v->out + j * n_limbs, v->a + j * n_limbs);
    }
    return CUZK_OK;
}

static cuzk_status bench_field(const bench *b, const curve *c, const field *f,
                               const char *name) {
    static const struct {
        const char *name;
        run_fn *run;
        double n_times;
    } kinds[] = {{"mul", run_mul, VECTOR * MUL_ROUNDS},
                 {"sqr", run_sqr, VECTOR * MUL_ROUNDS},
                 {"inv", run_inv, VECTOR}};
    vectors v;
    CUZK_TRY(vectors_init(&v, f, b->err));
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == CUZK_OK; i++) {
        measurement m = {.n_times = kinds[i].n_times, .n_ops = 1, .n_threads = 1};
        (void)snprintf(m.id, sizeof m.id, "%s/%s/%s", kinds[i].name, c->params->name, name);
        if (is_wanted(b, m.id)) status = measure(b, &m, kinds[i].run, &v);
    }
    vectors_fini(&v);
    return status;
}

/* ---- batched additions ---- */
typedef struct additions {
    const curve *c;
    group_id group;
    uint64_t *points, *out, *scratch; /* 2 VECTOR points, VECTOR sums */
} additions;

static cuzk_status run_additions(void *arg, cuzk_err *err) {
    const additions *a = arg;
    (void)err;
    const size_t n_words = point_packed_bytes(a->c, a->group) / sizeof(uint64_t);
    batch_add_of(a->c, a->group)(a->out, a->points, a->points + VECTOR * n_words, VECTOR,
                                 a->scratch, &a->c->fq.m);
    return CUZK_OK;
}

static cuzk_status bench_additions(const bench *b, const curve *c, group_id g) {
    measurement m = {.n_times = VECTOR, .n_ops = 1, .n_threads = 1};
    (void)snprintf(m.id, sizeof m.id, "batch_add/%s/g%u", c->params->name, (unsigned)g);
    if (!is_wanted(b, m.id)) return CUZK_OK;

    const size_t n_words = VECTOR * point_packed_bytes(c, g) / sizeof(uint64_t);
    const size_t n_scratch = limb_batch_add_scratch(c->fq.m.n_limbs, g, VECTOR);
    additions a = {.c = c, .group = g};
    CUZK_TRY(cuzk_alloc(&a.points, 3 * n_words * sizeof(uint64_t) + n_scratch, 1, b->err));
    a.out = a.points + 2 * n_words;
    a.scratch = a.out + n_words;
    cuzk_status status = fill_points(c, g, a.points, 2 * (size_t)VECTOR, b->err);
    if (status == CUZK_OK) status = measure(b, &m, run_additions, &a);
    cuzk_free(a.points);
    return status;
}

/* ---- pairing ---- */
static cuzk_status run_pairing(void *arg, cuzk_err *err) {
    const curve *c = arg;
    fe12 r;
    (void)err;
    pairing_product(c, &r, &c->g1, &c->g2, 1);
    return CUZK_OK;
}

static cuzk_status bench_pairing(const bench *b, const curve *c) {
    measurement m = {.n_times = 1, .n_ops = 1, .n_threads = 1};
    (void)snprintf(m.id, sizeof m.id, "pairing/%s", c->params->name);
    return is_wanted(b, m.id) ? measure(b, &m, run_pairing, (void *)(uintptr_t)c) : CUZK_OK;
}

/* ---- transforms ---- */
/* Also after an error: what was queued before it may still use its operands. */
static cuzk_status wait_for(const bench *b, cuzk_status status, cuzk_err *err) {
    const cuzk_status waited =
        b->rt->backend->queue_wait(b->queue, status == CUZK_OK ? err : NULL);
    return status == CUZK_OK ? waited : status;
}

typedef struct transforms {
    const bench *b;
    const cuzk_domain *domain;
    cuzk_buf *data;
} transforms;

/* As a proof does them: to coefficients and on to the coset. */
static cuzk_status run_transforms(void *arg, cuzk_err *err) {
    const transforms *t = arg;
    const cuzk_backend *be = t->b->rt->backend;
    const cuzk_ntt_job there = {t->domain, CUZK_NTT_INVERSE, true, {t->data, 0}};
    const cuzk_ntt_job back = {t->domain, CUZK_NTT_COSET_FORWARD, true, {t->data, 0}};
    cuzk_status status = be->ntt(t->b->queue, &there, err);
    if (status == CUZK_OK) status = be->ntt(t->b->queue, &back, err);
    return wait_for(t->b, status, err);
}

/* The device's memory takes contents only from an operation, so: the product of the random
 * values with themselves. */
static cuzk_status random_device_buf(cuzk_buf **out, const bench *b, const field *fr,
                                     size_t n) {
    const cuzk_backend *be = b->rt->backend;
    uint64_t *values;
    cuzk_buf *host = NULL, *data = NULL;
    CUZK_TRY(cuzk_alloc(&values, n, FR_BYTES, b->err));
    fill_random(fr, values, n);
    cuzk_status status = be->buf_wrap(&host, b->rt->device, values, n * FR_BYTES, b->err);
    if (status == CUZK_OK) {
        status = be->buf_alloc(&data, b->rt->device, CUZK_SPACE_DEVICE, n * FR_BYTES, false,
                               b->err);
    }
    if (status == CUZK_OK) {
        const cuzk_pointwise_job job = {.fr = fr,
                                        .kind = CUZK_POINTWISE_MUL,
                                        .n = n,
                                        .out = {data, 0},
                                        .a = {host, 0},
                                        .b = {host, 0}};
        status = be->pointwise(b->queue, &job, b->err);
        status = wait_for(b, status, b->err);
    }
    if (status == CUZK_OK)
        *out = data;
    else
        be->buf_free(data);
    be->buf_free(host);
    cuzk_free(values);
    return status;
}

static cuzk_status bench_ntt(const bench *b, const curve *c, unsigned log_n) {
    const cuzk_backend *be = b->rt->backend;
    const field *fr = &c->fr;
    const size_t n = (size_t)1 << log_n;
    measurement m = {.n_times = 2, .n_ops = (double)n / 2 * log_n};
    m.n_threads = cuzk_exec_n_threads(b->rt->exec);
    (void)snprintf(m.id, sizeof m.id, "ntt/%s/2^%u/%s", c->params->name, log_n, be->name);
    if (!is_wanted(b, m.id) || log_n >= fr->two_adicity) return CUZK_OK;

    transforms t = {.b = b};
    cuzk_domain *domain = NULL;
    cuzk_status status = random_device_buf(&t.data, b, fr, n);
    if (status == CUZK_OK) {
        status = be->domain_open(&domain, b->rt->device, fr, log_n, field_least_nonresidue(fr),
                                 NULL, b->err);
    }
    if (status == CUZK_OK) {
        t.domain = domain;
        m.floor_muls = m.n_ops;
        m.floor_field = fr;
        status = measure(b, &m, run_transforms, &t);
    }
    if (domain) be->domain_close(domain);
    if (t.data) be->buf_free(t.data);
    return status;
}

/* ---- multiexponentiations ---- */
typedef struct multiexp {
    const bench *b;
    const curve *c;
    group_id group;
    size_t n;
    cuzk_buf *points, *values;
} multiexp;

/* With the classification of the scalars, which every proof pays for. */
static cuzk_status run_msm(void *arg, cuzk_err *err) {
    const multiexp *x = arg;
    const cuzk_backend *be = x->b->rt->backend;
    cuzk_queue *queue = x->b->queue;
    cuzk_scalars *scalars;
    point result;
    CUZK_TRY(be->scalars_open(&scalars, queue, &x->c->fr, (cuzk_slice){x->values, 0}, x->n,
                              false, err));
    const cuzk_msm_job job = {.curve = x->c,
                              .group = x->group,
                              .points = {x->points, 0},
                              .scalars = scalars,
                              .n = x->n,
                              .result = &result};
    cuzk_status status = be->msm(queue, &job, 1, err);
    status = wait_for(x->b, status, err);
    be->scalars_close(scalars);
    return status;
}

/* Multiplications in Fq of the bucket method with signed windows, at its best width: n
 * additions a window and two for each bucket. An affine addition is 5 multiplications and a
 * squaring when its inversion is shared; over Fq2 these are 3 and 2 multiplications in Fq. */
static double msm_multiplications(unsigned n_bits, size_t n, group_id g) {
    const double per_addition = g == GROUP_G1 ? 6 : 5 * 3 + 2;
    double best = 0;
    for (unsigned width = 2; width <= WINDOW_MAX; width++) {
        const unsigned n_windows = (n_bits + width) / width;
        const double n_buckets = (double)((size_t)1 << (width - 1));
        const double cost = n_windows * ((double)n + 2 * n_buckets) * per_addition;
        if (best == 0 || cost < best) best = cost;
    }
    return best;
}

static cuzk_status measure_msm(const bench *b, measurement *m, multiexp *x, uint64_t *points,
                               uint64_t *values) {
    const cuzk_backend *be = b->rt->backend;
    const size_t point_bytes = point_packed_bytes(x->c, x->group);
    m->floor_field = &x->c->fq;
    m->floor_muls = msm_multiplications(x->c->fr.m.n_bits, x->n, x->group);
    fill_random(&x->c->fr, values, x->n);
    CUZK_TRY(fill_points(x->c, x->group, points, x->n, b->err));
    CUZK_TRY(be->buf_wrap(&x->points, b->rt->device, points, x->n * point_bytes, b->err));
    cuzk_status status =
        be->buf_wrap(&x->values, b->rt->device, values, x->n * FR_BYTES, b->err);
    if (status == CUZK_OK) {
        status = measure(b, m, run_msm, x);
        be->buf_free(x->values);
    }
    be->buf_free(x->points);
    return status;
}

static cuzk_status bench_msm(const bench *b, const curve *c, group_id g, unsigned log_n) {
    multiexp x = {.b = b, .c = c, .group = g, .n = (size_t)1 << log_n};
    measurement m = {.n_times = 1, .n_ops = (double)x.n};
    m.n_threads = cuzk_exec_n_threads(b->rt->exec);
    (void)snprintf(m.id, sizeof m.id, "msm/%s/g%u/2^%u/%s", c->params->name, (unsigned)g,
                   log_n, b->rt->backend->name);
    if (!is_wanted(b, m.id)) return CUZK_OK;

    uint64_t *points, *values;
    CUZK_TRY(cuzk_alloc(&points, x.n, point_packed_bytes(c, g), b->err));
    cuzk_status status = cuzk_alloc(&values, x.n, FR_BYTES, b->err);
    if (status == CUZK_OK) {
        status = measure_msm(b, &m, &x, points, values);
        cuzk_free(values);
    }
    cuzk_free(points);
    return status;
}

/* ---- all of them ---- */
typedef struct sizes {
    unsigned min, max;
} sizes;

/* What the caller left open comes from the default; one that was given wins over it. */
static sizes choose_sizes(const cuzk_bench_options *o, sizes s) {
    if (o->min_log_n) {
        s.min = o->min_log_n;
        if (s.max < s.min) s.max = s.min;
    }
    if (o->max_log_n) {
        s.max = o->max_log_n;
        if (s.min > s.max) s.min = s.max;
    }
    return s;
}

static cuzk_status bench_curve(const bench *b, const curve *c, sizes ntt, sizes msm) {
    CUZK_TRY(bench_field(b, c, &c->fr, "fr"));
    CUZK_TRY(bench_field(b, c, &c->fq, "fq"));
    for (int g = GROUP_G1; g <= GROUP_G2; g++) CUZK_TRY(bench_additions(b, c, (group_id)g));
    CUZK_TRY(bench_pairing(b, c));
    for (unsigned i = ntt.min; i <= ntt.max; i += LOG_STEP) CUZK_TRY(bench_ntt(b, c, i));
    for (int g = GROUP_G1; g <= GROUP_G2; g++) {
        for (unsigned i = msm.min; i <= msm.max; i += LOG_STEP) {
            CUZK_TRY(bench_msm(b, c, (group_id)g, i));
        }
    }
    return CUZK_OK;
}

static cuzk_status check_arguments(const cuzk_runtime *rt, const cuzk_bench_options *o,
                                   cuzk_bench_fn *fn, cuzk_err *err) {
    const unsigned max_log_n =
        8 * sizeof(size_t) - 12; /* bytes of 2^log_n points still count */
    if (!rt || !fn) return cuzk_fail(err, CUZK_ERR_ARG, "api.bench", "a NULL argument");
    if (o->struct_bytes != sizeof *o) {
        return cuzk_fail(
            err, CUZK_ERR_ARG, "api.bench",
            "options of %zu bytes, expected %zu: start from CUZK_BENCH_OPTIONS_INIT",
            o->struct_bytes, sizeof *o);
    }
    if (o->min_log_n > max_log_n || o->max_log_n > max_log_n) {
        return cuzk_fail(err, CUZK_ERR_ARG, "api.bench",
                         "sizes from 2^%u to 2^%u, expected at most 2^%u", o->min_log_n,
                         o->max_log_n, max_log_n);
    }
    if (o->max_log_n && o->min_log_n > o->max_log_n) {
        return cuzk_fail(err, CUZK_ERR_ARG, "api.bench", "sizes from 2^%u down to 2^%u",
                         o->min_log_n, o->max_log_n);
    }
    return CUZK_OK;
}

cuzk_status cuzk_bench_kernels(cuzk_runtime *rt, const cuzk_bench_options *options,
                               cuzk_bench_fn *fn, void *arg, cuzk_err *err) {
    const cuzk_bench_options defaults = CUZK_BENCH_OPTIONS_INIT;
    if (!options) options = &defaults;
    CUZK_TRY(check_arguments(rt, options, fn, err));
    bench b = {.rt = rt, .filter = options->filter, .fn = fn, .fn_arg = arg, .err = err};
    b.n_runs = options->n_runs ? options->n_runs : DEFAULT_RUNS;
    CUZK_TRY(rt->backend->queue_open(&b.queue, rt->device, "bench", NULL, err));

    const sizes ntt = choose_sizes(options, (sizes){16, 20});
    const sizes msm = choose_sizes(options, (sizes){16, 16});
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < CURVE_COUNT && status == CUZK_OK; i++) {
        status = bench_curve(&b, &rt->curves[i], ntt, msm);
    }
    rt->backend->queue_close(b.queue);
    return status;
}
