/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: full
 * Sums of products on the cuda backend against the cpu backend: sizes around powers of two,
 * scalars that make few, full and equal digits, points that collide, and the device memory that
 * a sum takes against its bound. Skipped without the backend or a device; with CUZK_TEST_SMALL
 * short, for tools that slow kernels down a hundredfold. */
#include "backend/backend.h"
#include "backendside.h"
#include "base/alloc.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N_POOL = 1 << 12, /* different points */
    FR_BYTES = 32,
    FR_WORDS = 4,
    /* From about this size on the device adds buckets in rounds of affine additions. */
    N_ROUNDS = (1 << 20) + 1
};

typedef struct setting {
    curve c;
    testrand rnd;
    cuzk_exec *exec;
    side cpu, gpu;
    uint8_t *pool[2]; /* of G1, G2: the multiples 1, 2, ... of the generator, then the same
                         points negated */
} setting;

/* ---- points ---- */
typedef enum points_kind {
    POINTS_ANY,
    POINTS_EQUAL,    /* every addition is a doubling */
    POINTS_OPPOSITE, /* P, -P, P, -P: partial sums are infinity */
    POINTS_REPEATED, /* three different ones, either sign: collisions in every round */
    POINTS_HOLES,    /* a third is infinity */
    POINTS_INFINITY,
    POINTS_KINDS
} points_kind;

static void fill_pool(setting *s, group_id g) {
    const size_t n_bytes = point_packed_bytes(&s->c, g);
    point *p;
    assert_int_equal(cuzk_alloc(&p, 2 * N_POOL, sizeof *p, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&s->pool[g - 1], 2 * N_POOL, n_bytes, NULL), CUZK_OK);
    point_set_generator(&s->c, g, &p[0]);
    for (size_t i = 1; i < N_POOL; i++) point_add(&s->c, g, &p[i], &p[i - 1], &p[0]);
    for (size_t i = 0; i < N_POOL; i++) point_neg(&s->c, g, &p[N_POOL + i], &p[i]);
    assert_int_equal(point_store_packed_many(&s->c, g, s->pool[g - 1], p, 2 * N_POOL, NULL),
                     CUZK_OK);
    cuzk_free(p);
}

static void set_point(setting *s, group_id g, points_kind kind, size_t i, uint8_t *out) {
    const size_t n_bytes = point_packed_bytes(&s->c, g);
    size_t which = testrand_below(&s->rnd, 2 * N_POOL);
    bool is_infinity = false;
    switch (kind) {
    case POINTS_EQUAL:
        which = 6;
        break;
    case POINTS_OPPOSITE:
        which = 6 + i % 2 * N_POOL;
        break;
    case POINTS_REPEATED:
        which = which % 3 + (which & 4 ? N_POOL : 0);
        break;
    case POINTS_HOLES:
        is_infinity = i % 3 == 1;
        break;
    case POINTS_INFINITY:
        is_infinity = true;
        break;
    default:
        break;
    }
    memcpy(out, s->pool[g - 1] + which * n_bytes, n_bytes);
    if (is_infinity) memset(out, 0, n_bytes);
}

/* ---- scalars ---- */
typedef enum scalars_kind {
    SCALARS_ANY,
    SCALARS_ZERO,
    SCALARS_ONE,
    SCALARS_MINUS_ONE,
    SCALARS_UNITS, /* 1 and -1 */
    SCALARS_BITS,
    SCALARS_EQUAL, /* one bucket a window has everything */
    SCALARS_SMALL,
    SCALARS_EDGES,   /* 2^i - 1, 2^i, r/2 and its neighbours: carries through digits */
    SCALARS_WITNESS, /* mostly bits, as circuits have them */
    SCALARS_KINDS
} scalars_kind;

static void negate(const field *fr, uint64_t *k) { /* r - k, k not 0 */
    uint64_t borrow = 0;
    for (unsigned i = 0; i < FR_WORDS; i++) {
        const uint64_t p = fr->m.p[i], d = p - k[i] - borrow;
        borrow = p < k[i] || (p == k[i] && borrow);
        k[i] = d;
    }
}

static void set_edge(setting *s, uint64_t *k) {
    const field *fr = &s->c.fr;
    const uint64_t bit = testrand_below(&s->rnd, fr->m.n_bits - 1);
    if (testrand_below(&s->rnd, 4) == 0) { /* r is odd: (r - 1)/2, the next, the one before */
        for (unsigned i = 0; i < FR_WORDS; i++)
            k[i] = fr->m.p[i] >> 1 | (i + 1 < FR_WORDS ? fr->m.p[i + 1] << 63 : 0);
        k[0] += testrand_below(&s->rnd, 3) - 1;
        return;
    }
    k[bit / 64] = UINT64_C(1) << bit % 64;
    if (testrand_below(&s->rnd, 2)) { /* all bits below it instead */
        for (uint64_t i = 0; i < bit / 64; i++) k[i] = UINT64_MAX;
        k[bit / 64]--;
    }
    if (testrand_below(&s->rnd, 2) && (k[0] | k[1] | k[2] | k[3])) negate(fr, k);
}

static void set_scalar(setting *s, scalars_kind kind, uint64_t *k) { /* canonical */
    const field *fr = &s->c.fr;
    memset(k, 0, FR_BYTES);
    switch (kind) {
    case SCALARS_ANY:
        testrand_fe(&s->rnd, fr, k); /* any value below r is one */
        break;
    case SCALARS_ONE:
        k[0] = 1;
        break;
    case SCALARS_MINUS_ONE:
    case SCALARS_UNITS:
        k[0] = 1;
        if (kind == SCALARS_MINUS_ONE || testrand_below(&s->rnd, 2)) negate(fr, k);
        break;
    case SCALARS_BITS:
        k[0] = testrand_below(&s->rnd, 2);
        break;
    case SCALARS_EQUAL:
        memcpy(k, fr->m.r2, FR_BYTES);
        break;
    case SCALARS_SMALL:
        k[0] = testrand_u64(&s->rnd) >> testrand_below(&s->rnd, 64);
        break;
    case SCALARS_EDGES:
        set_edge(s, k);
        break;
    case SCALARS_WITNESS:
        set_scalar(s, testrand_below(&s->rnd, 8) ? SCALARS_BITS : SCALARS_ANY, k);
        break;
    default:
        break;
    }
}

/* ---- one sum ---- */
typedef struct operands {
    uint8_t *points;
    uint64_t *scalars;
    size_t first, n; /* scalars before the sum's first, and its length */
} operands;

static void make_operands(setting *s, operands *o, group_id g, scalars_kind scalars,
                          points_kind points) {
    const size_t n_bytes = point_packed_bytes(&s->c, g);
    assert_int_equal(cuzk_alloc(&o->points, o->n, n_bytes, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&o->scalars, o->first + o->n, FR_BYTES, NULL), CUZK_OK);
    for (size_t i = 0; i < o->n; i++) set_point(s, g, points, i, o->points + i * n_bytes);
    for (size_t i = 0; i < o->first + o->n; i++)
        set_scalar(s, scalars, o->scalars + i * FR_WORDS);
}

static void compute(setting *s, side *a, const operands *o, group_id g, point *out) {
    const size_t n_bytes = point_packed_bytes(&s->c, g);
    cuzk_buf *points, *values;
    cuzk_scalars *scalars;
    assert_int_equal(a->be->buf_wrap(&points, a->dev, o->points, o->n * n_bytes, NULL),
                     CUZK_OK);
    assert_int_equal(
        a->be->buf_wrap(&values, a->dev, o->scalars, (o->first + o->n) * FR_BYTES, NULL),
        CUZK_OK);
    assert_int_equal(a->be->scalars_open(&scalars, a->queue, &s->c.fr, (cuzk_slice){values, 0},
                                         o->first + o->n, false, NULL),
                     CUZK_OK);
    const cuzk_msm_job job = {&s->c, g, {points, 0}, scalars, o->first, o->n, out};
    assert_int_equal(a->be->msm(a->queue, &job, 1, NULL), CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
    a->be->scalars_close(scalars);
    a->be->buf_free(points);
    a->be->buf_free(values);
}

static void check_sum(setting *s, group_id g, size_t first, size_t n, scalars_kind scalars,
                      points_kind points) {
    operands o = {.first = first, .n = n};
    point expected, got;
    make_operands(s, &o, g, scalars, points);
    compute(s, &s->cpu, &o, g, &expected);
    compute(s, &s->gpu, &o, g, &got);
    if (!point_equal(&s->c, g, &expected, &got)) {
        fail_msg("%s G%d: %zu points of kind %d, scalars of kind %d from %zu on",
                 s->c.params->name, (int)g, n, (int)points, (int)scalars, first);
    }
    cuzk_free(o.points);
    cuzk_free(o.scalars);
}

/* ---- both curves ---- */
typedef void setting_check(setting *s, group_id g);

static void each_group(setting_check *check) {
    for (int id = 0; id < CURVE_COUNT; id++) {
        setting s = {.exec = NULL};
        cuzk_cpu_level level;
        assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
        assert_int_equal(cuzk_exec_create(&s.exec, 0, NULL), CUZK_OK);
        curve_init(&s.c, (curve_id)id, level);
        testrand_init(&s.rnd);
        side_open(&s.cpu, "cpu", s.exec);
        side_open(&s.gpu, "cuda", s.exec);
        for (int g = GROUP_G1; g <= GROUP_G2; g++) {
            fill_pool(&s, (group_id)g);
            check(&s, (group_id)g);
            cuzk_free(s.pool[g - 1]);
        }
        side_close(&s.cpu);
        side_close(&s.gpu);
        cuzk_exec_destroy(s.exec);
    }
}

/* ---- the tests ---- */
static void check_kinds(setting *s, group_id g) {
    static const size_t sizes[] = {0, 1, 2, 3, 33, 511, 512, 513, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int scalars = 0; scalars < SCALARS_KINDS; scalars++) {
            for (int points = 0; points < POINTS_KINDS; points++) {
                /* small: every third pair of kinds of each size */
                if (side_is_small() && ((size_t)(scalars + points) + i) % 3) continue;
                check_sum(s, g, sizes[i] / 3, sizes[i], (scalars_kind)scalars,
                          (points_kind)points);
            }
        }
    }
}

static void test_cuda_msm__equals_the_cpu_for_scalars_and_points_of_all_kinds(void **state) {
    (void)state;
    each_group(check_kinds);
}

static void check_sizes(setting *s, group_id g) {
    for (unsigned log = 4; log <= (side_is_small() ? 10 : 16); log++) {
        for (int off = -1; off <= 1; off++) {
            check_sum(s, g, 0, ((size_t)1 << log) + (size_t)off,
                      (scalars_kind)(log % 2 ? SCALARS_ANY : SCALARS_EDGES), POINTS_ANY);
        }
    }
}

static void test_cuda_msm__equals_the_cpu_around_powers_of_two(void **state) {
    (void)state;
    each_group(check_sizes);
}

/* So many entries that buckets are added in rounds. */
static void check_rounds(setting *s, group_id g) {
    static const struct {
        size_t first, n;
        scalars_kind scalars;
        points_kind points;
    } cases[] = {
        {0, N_ROUNDS, SCALARS_ANY, POINTS_HOLES},
        {7, N_ROUNDS, SCALARS_EQUAL, POINTS_REPEATED},
        {0, N_ROUNDS, SCALARS_ANY, POINTS_OPPOSITE},
        {N_ROUNDS / 2, N_ROUNDS, SCALARS_EQUAL, POINTS_ANY},
        {0, N_ROUNDS, SCALARS_ANY, POINTS_EQUAL},
        {0, 8 * N_ROUNDS, SCALARS_WITNESS, POINTS_ANY},
        {N_ROUNDS, 15 * N_ROUNDS, SCALARS_UNITS, POINTS_HOLES},
        {0, 4 * N_ROUNDS, SCALARS_ANY, POINTS_ANY},
    };
    const size_t n_cases = side_is_small() ? 2 : sizeof cases / sizeof *cases;
    if (g == GROUP_G2) return; /* has no rounds */
    for (size_t i = 0; i < n_cases; i++)
        check_sum(s, g, cases[i].first, cases[i].n, cases[i].scalars, cases[i].points);
}

static void test_cuda_msm__equals_the_cpu_when_buckets_are_added_in_rounds(void **state) {
    (void)state;
    each_group(check_rounds);
}

/* A range of a set whose units lie elsewhere. */
static void check_units_elsewhere(setting *s, group_id g) {
    const size_t n = side_is_small() ? 1000 : 2 * N_ROUNDS, first = 15 * (size_t)N_ROUNDS;
    operands o = {.first = side_is_small() ? 1000 : first, .n = n};
    point expected, got;
    make_operands(s, &o, g, SCALARS_ANY, POINTS_ANY);
    for (size_t i = 0; i < o.first; i++)
        set_scalar(s, SCALARS_UNITS, o.scalars + i * FR_WORDS);
    compute(s, &s->cpu, &o, g, &expected);
    compute(s, &s->gpu, &o, g, &got);
    assert_true(point_equal(&s->c, g, &expected, &got));
    cuzk_free(o.points);
    cuzk_free(o.scalars);
}

static void test_cuda_msm__equals_the_cpu_when_the_units_are_in_another_range(void **state) {
    (void)state;
    each_group(check_units_elsewhere);
}

/* Points and scalars lie on the host here, and are copied for the time of an operation. */
static void check_bytes(setting *s, group_id g) {
    static const scalars_kind kinds[] = {SCALARS_ANY, SCALARS_EQUAL, SCALARS_WITNESS,
                                         SCALARS_SMALL, SCALARS_UNITS};
    const size_t n = side_is_small() ? 5000 : N_ROUNDS;
    const uint64_t n_copied = n * (point_packed_bytes(&s->c, g) + FR_BYTES);
    const uint64_t bound = s->gpu.be->msm_bytes(&s->c, g, n) + s->gpu.be->scalars_bytes(n);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cuzk_device_info before, after;
        operands o = {.n = n};
        point got;
        make_operands(s, &o, g, kinds[i], POINTS_ANY);
        s->gpu.be->device_info_reset(s->gpu.dev);
        s->gpu.be->device_info(s->gpu.dev, &before);
        compute(s, &s->gpu, &o, g, &got);
        s->gpu.be->device_info(s->gpu.dev, &after);
        assert_true(after.peak_bytes - before.used_bytes <= bound + n_copied);
        assert_int_equal(after.used_bytes, before.used_bytes);
        cuzk_free(o.points);
        cuzk_free(o.scalars);
    }
}

static void test_cuda_msm__takes_no_more_memory_than_it_says(void **state) {
    (void)state;
    each_group(check_bytes);
}

int main(void) {
    const cuzk_backend *be;
    int score;
    unsigned n_devices;
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK ||
        be->probe(&score, &n_devices, NULL) != CUZK_OK || n_devices == 0)
        return 77; /* skipped */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_msm__equals_the_cpu_for_scalars_and_points_of_all_kinds),
        cmocka_unit_test(test_cuda_msm__equals_the_cpu_around_powers_of_two),
        cmocka_unit_test(test_cuda_msm__equals_the_cpu_when_buckets_are_added_in_rounds),
        cmocka_unit_test(test_cuda_msm__equals_the_cpu_when_the_units_are_in_another_range),
        cmocka_unit_test(test_cuda_msm__takes_no_more_memory_than_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
