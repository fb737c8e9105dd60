/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench_host: what one thread of the host does: field arithmetic, additions, pairing. */
#include "api/bench.h"
#include "base/alloc.h"
#include "math/pairing/pairing.h"

#include <stdio.h>

#define VECTOR     1024u /* elements or pairs */
#define MUL_ROUNDS 16u

/* ---- arithmetic ---- */
typedef struct vectors {
    const field *f;
    uint64_t *a, *b, *out;
} vectors;

static cuzk_status vectors_init(vectors *v, const field *f, cuzk_err *err) {
    const size_t n_words = (size_t)VECTOR * f->m.n_limbs;
    v->f = f;
    CUZK_TRY(cuzk_alloc(&v->a, 3 * n_words, sizeof *v->a, err));
    v->b = v->a + n_words;
    v->out = v->b + n_words;
    bench_fill_random(f, v->a, 2 * (size_t)VECTOR);
    return CUZK_OK;
}

static void vectors_fini(vectors *v) { cuzk_free(v->a); }

static cuzk_status run_mul(void *arg, cuzk_err *err) {
    const vectors *v = arg;
    (void)err;
    for (unsigned i = 0; i < MUL_ROUNDS; i++) {
        v->f->ops->vec_mul(v->out, v->a, v->b, VECTOR, &v->f->m);
    }
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
        bench_run_fn *run;
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
        if (bench_wants(b, m.id)) status = bench_measure_host(b, &m, kinds[i].run, &v);
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

static limb_batch_add *batch_add_of(const curve *c, group_id g) {
    return g == GROUP_G1 ? c->fq.ops->batch_add1 : c->fq.ops->batch_add2;
}

/* points[i] = [i + 1] G */
static void fill_points(const curve *c, group_id g, uint64_t *points, size_t n) {
    const size_t n_words = point_packed_bytes(c, g) / sizeof(uint64_t);
    point generator, sum;
    point_set_generator(c, g, &generator);
    sum = generator;
    for (size_t i = 0; i < n; i++) {
        point_store_packed(c, g, (uint8_t *)(points + i * n_words), &sum);
        point_add(c, g, &sum, &sum, &generator);
    }
}

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
    if (!bench_wants(b, m.id)) return CUZK_OK;

    const size_t n_words = VECTOR * point_packed_bytes(c, g) / sizeof(uint64_t);
    const size_t n_scratch = limb_batch_add_scratch(c->fq.m.n_limbs, g, VECTOR);
    additions a = {.c = c, .group = g};
    CUZK_TRY(cuzk_alloc(&a.points, 3 * n_words * sizeof(uint64_t) + n_scratch, 1, b->err));
    a.out = a.points + 2 * n_words;
    a.scratch = a.out + n_words;
    fill_points(c, g, a.points, 2 * (size_t)VECTOR);
    const cuzk_status status = bench_measure_host(b, &m, run_additions, &a);
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
    return bench_wants(b, m.id) ? bench_measure_host(b, &m, run_pairing, (void *)(uintptr_t)c)
                                : CUZK_OK;
}

/* ---- all of them ---- */
cuzk_status bench_host(const bench *b, const curve *c) {
    CUZK_TRY(bench_field(b, c, &c->fr, "fr"));
    CUZK_TRY(bench_field(b, c, &c->fq, "fq"));
    for (int g = GROUP_G1; g <= GROUP_G2; g++) CUZK_TRY(bench_additions(b, c, (group_id)g));
    return bench_pairing(b, c);
}
