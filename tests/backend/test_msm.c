/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/msm: against the sum of single multiplications, and, because all points are
 * known multiples of the generator, against one multiplication by the sum of k_i m_i. */
#include "backend/cpu/msm_plan.h"
#include "base/alloc.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POOL = 2048, UNALIGNED = 4 }; /* keys hold points at any address */

typedef enum scalar_kind {
    SCALARS_ZERO,
    SCALARS_ONE,
    SCALARS_MINUS_ONE,
    SCALARS_TWO,
    SCALARS_BITS,
    SCALARS_EQUAL,
    SCALARS_TINY,
    SCALARS_WORDS,
    SCALARS_POWERS, /* around powers of two: the ends of windows */
    SCALARS_HALF,   /* around r/2, where the sign changes */
    SCALARS_RANDOM,
    SCALARS_MIXED,
    SCALARS_KINDS
} scalar_kind;

typedef enum point_kind {
    POINTS_DISTINCT,
    POINTS_EQUAL,
    POINTS_OPPOSITE, /* P, -P, P, -P ... */
    POINTS_HOLES,    /* every third is infinity */
    POINTS_INFINITY,
    POINTS_KINDS
} point_kind;

/* Points [m]G with known m, for one curve and group. */
typedef struct fixture {
    curve curve;
    group_id group;
    size_t point_bytes;
    cuzk_device dev;
    cuzk_queue queue;
    testrand rnd;
    uint8_t *pool; /* [m]G for m = 1 .. POOL */
    uint8_t *memory, *points;
    fe *multiple; /* of each point; Montgomery */
    uint64_t (*scalars)[CPU_FR_LIMBS];
    size_t n_max;
} fixture;

static void setup(fixture *f, curve_id id, group_id group, cuzk_cpu_level level,
                  size_t n_max) {
    memset(f, 0, sizeof *f);
    curve_init(&f->curve, id, level);
    testrand_init(&f->rnd);
    f->group = group;
    f->n_max = n_max;
    f->point_bytes = point_packed_bytes(&f->curve, group);
    f->queue.dev = &f->dev;
    point *multiples, generator;
    assert_int_equal(cuzk_alloc(&multiples, POOL, sizeof *multiples, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&f->pool, POOL, f->point_bytes, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&f->memory, n_max * f->point_bytes + UNALIGNED, 1, NULL),
                     CUZK_OK);
    assert_int_equal(cuzk_zalloc(&f->multiple, n_max, sizeof *f->multiple, NULL), CUZK_OK);
    assert_int_equal(cuzk_zalloc(&f->scalars, n_max, CPU_FR_BYTES, NULL), CUZK_OK);
    f->points = f->memory + UNALIGNED;
    point_set_generator(&f->curve, group, &generator);
    multiples[0] = generator;
    for (size_t i = 1; i < POOL; i++) {
        point_add(&f->curve, group, &multiples[i], &multiples[i - 1], &generator);
    }
    assert_int_equal(point_store_packed_many(&f->curve, group, f->pool, multiples, POOL, NULL),
                     CUZK_OK);
    cuzk_free(multiples);
}

static void teardown(fixture *f) {
    cuzk_free(f->pool);
    cuzk_free(f->memory);
    cuzk_free(f->multiple);
    cuzk_free(f->scalars);
}

static void set_point(fixture *f, size_t i, uint64_t m, bool negative) {
    const field *fq = &f->curve.fq;
    uint8_t *out = f->points + i * f->point_bytes;
    memset(out, 0, f->point_bytes);
    field_set_u64(&f->curve.fr, f->multiple[i].l, m);
    if (m == 0) return;
    memcpy(out, f->pool + (m - 1) * f->point_bytes, f->point_bytes);
    if (!negative) return;
    field_neg(&f->curve.fr, f->multiple[i].l, f->multiple[i].l);
    for (size_t at = f->point_bytes / 2; at < f->point_bytes; at += fq->n_bytes) {
        fe y;
        memcpy(y.l, out + at, fq->n_bytes);
        field_neg(fq, y.l, y.l);
        memcpy(out + at, y.l, fq->n_bytes);
    }
}

static void set_points(fixture *f, point_kind kind, size_t n) {
    for (size_t i = 0; i < n; i++) {
        switch (kind) {
        case POINTS_DISTINCT:
            set_point(f, i, 1 + i % POOL, false);
            break;
        case POINTS_EQUAL:
            set_point(f, i, 7, false);
            break;
        case POINTS_OPPOSITE:
            set_point(f, i, 9, i % 2);
            break;
        case POINTS_HOLES:
            set_point(f, i, i % 3 ? 1 + testrand_below(&f->rnd, POOL) : 0, i % 5 == 0);
            break;
        default:
            set_point(f, i, 0, false);
            break;
        }
    }
}

static void negate(const field *fr, uint64_t *k) {
    fe m;
    fr->ops->to_mont(m.l, k, &fr->m);
    field_neg(fr, m.l, m.l);
    fr->ops->from_mont(k, m.l, &fr->m);
}

static void set_scalar(fixture *f, scalar_kind kind, uint64_t *k) {
    const field *fr = &f->curve.fr;
    testrand *rnd = &f->rnd;
    memset(k, 0, CPU_FR_BYTES);
    switch (kind) {
    case SCALARS_ZERO:
        break;
    case SCALARS_MINUS_ONE:
        k[0] = 1;
        negate(fr, k);
        break;
    case SCALARS_ONE:
        k[0] = 1;
        break;
    case SCALARS_TWO:
        k[0] = 2;
        break;
    case SCALARS_BITS:
        k[0] = testrand_below(rnd, 2);
        break;
    case SCALARS_EQUAL:
        memcpy(k, fr->m.r2, CPU_FR_BYTES);
        break;
    case SCALARS_TINY:
        k[0] = testrand_below(rnd, 65536);
        if (testrand_u64(rnd) & 1) negate(fr, k);
        break;
    case SCALARS_WORDS:
        k[0] = testrand_u64(rnd) >> testrand_below(rnd, 64);
        break;
    case SCALARS_POWERS: {
        uint64_t bit = testrand_below(rnd, fr->m.n_bits - 1);
        k[bit / 64] = (uint64_t)1 << bit % 64;
        uint64_t step = testrand_below(rnd, 3); /* 2^bit, 2^bit + 1, 2^bit - 1 */
        if (step == 1) k[0] |= 1;
        for (unsigned i = 0; step == 2 && k[i]-- == 0; i++) {}
        if (testrand_u64(rnd) & 1) negate(fr, k);
        break;
    }
    case SCALARS_HALF:
        for (unsigned i = 0; i < CPU_FR_LIMBS; i++) {
            k[i] = fr->m.p[i] >> 1 | (i + 1 < CPU_FR_LIMBS ? fr->m.p[i + 1] << 63 : 0);
        }
        k[testrand_below(rnd, CPU_FR_LIMBS)] += testrand_below(rnd, 3) - 1;
        break;
    case SCALARS_RANDOM:
        testrand_fe(rnd, fr, k);
        break;
    default:
        set_scalar(f, (scalar_kind)testrand_below(rnd, SCALARS_MIXED), k);
        break;
    }
}

static void set_scalars(fixture *f, scalar_kind kind, size_t n) {
    for (size_t i = 0; i < n; i++) set_scalar(f, kind, f->scalars[i]);
}

/* sum of [k_i]P_i for i in [first, first + n) with point i - first: by the known multiples. */
static void expected_sum(fixture *f, point *out, size_t first, size_t n) {
    const field *fr = &f->curve.fr;
    fe sum = {0}, k;
    for (size_t i = 0; i < n; i++) {
        fr->ops->to_mont(k.l, f->scalars[first + i], &fr->m);
        field_mul(fr, k.l, k.l, f->multiple[i].l);
        field_add(fr, sum.l, sum.l, k.l);
    }
    point_set_generator(&f->curve, f->group, out);
    point_mul_fr(&f->curve, f->group, out, out, &sum);
}

static void expected_sum_one_by_one(fixture *f, point *out, size_t n) {
    point_set_infinity(&f->curve, f->group, out);
    for (size_t i = 0; i < n; i++) {
        point p;
        assert_true(
            point_load_packed(&f->curve, f->group, &p, f->points + i * f->point_bytes));
        point_mul_vt(&f->curve, f->group, &p, &p, f->scalars[i], CPU_FR_LIMBS);
        point_add(&f->curve, f->group, out, out, &p);
    }
}

static cuzk_scalars *open_scalars(fixture *f, size_t n) {
    cuzk_buf buf = {.p = (uint8_t *)f->scalars, .n_bytes = n * CPU_FR_BYTES};
    cuzk_slice slice = {.buf = &buf};
    cuzk_scalars *scalars;
    assert_int_equal(
        cpu_scalars_open(&scalars, &f->queue, &f->curve.fr, slice, n, false, NULL), CUZK_OK);
    return scalars;
}

static void run_msm(fixture *f, point *out, const cuzk_scalars *scalars, size_t first,
                    size_t n) {
    cuzk_buf buf = {.p = f->memory, .n_bytes = f->n_max * f->point_bytes + UNALIGNED};
    cuzk_msm_job job = {.curve = &f->curve,
                        .group = f->group,
                        .points = {.buf = &buf, .offset = UNALIGNED},
                        .scalars = scalars,
                        .first = first,
                        .n = n,
                        .result = out};
    assert_int_equal(cpu_msm(&f->queue, &job, 1, NULL), CUZK_OK);
}

static void check_msm(fixture *f, size_t n) {
    point expected, got;
    cuzk_scalars *scalars = open_scalars(f, n);
    run_msm(f, &got, scalars, 0, n);
    cpu_scalars_close(scalars);
    expected_sum(f, &expected, 0, n);
    assert_true(point_equal(&f->curve, f->group, &got, &expected));
}

typedef void config_check(fixture *f);

/* Every curve and group at every CPU level that this processor has. */
/* $CUZK_TEST_SHORT (sanitizers are slow): only the best level; the tables have their own tests. */
static void each_config(config_check *check, size_t n_max) {
    static const char *const names[] = {"ifma", "adx", "portable"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cuzk_cpu_level level, best;
        cuzk_err err;
        if (cuzk_cpu_select(&level, names[i], &err) != CUZK_OK) continue;
        if (getenv("CUZK_TEST_SHORT") && cuzk_cpu_select(&best, NULL, &err) == CUZK_OK &&
            level != best)
            continue;
        for (int id = 0; id < CURVE_COUNT; id++) {
            for (int g = GROUP_G1; g <= GROUP_G2; g++) {
                fixture f;
                setup(&f, (curve_id)id, (group_id)g, level, n_max);
                check(&f);
                teardown(&f);
            }
        }
    }
}

static void with_threads(fixture *f, unsigned n_threads, config_check *check) {
    assert_int_equal(cuzk_exec_create(&f->dev.exec, n_threads, NULL), CUZK_OK);
    check(f);
    cuzk_exec_destroy(f->dev.exec);
    f->dev.exec = NULL;
}

static void check_small_sizes(fixture *f) {
    for (size_t n = 0; n <= 5; n++) {
        for (int kind = 0; kind < SCALARS_KINDS; kind++) {
            point expected, got;
            set_points(f, POINTS_HOLES, n);
            set_scalars(f, (scalar_kind)kind, n);
            cuzk_scalars *scalars = open_scalars(f, n);
            run_msm(f, &got, scalars, 0, n);
            cpu_scalars_close(scalars);
            expected_sum_one_by_one(f, &expected, n);
            assert_true(point_equal(&f->curve, f->group, &got, &expected));
        }
    }
}

static void test_msm__is_the_sum_of_products_when_small(void **state) {
    (void)state;
    each_config(check_small_sizes, 8);
}

static const size_t sizes[] = {1, 2, 3, 31, 32, 33, 127, 511, 512, 513};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void check_scalar_kinds(fixture *f) {
    set_points(f, POINTS_DISTINCT, f->n_max);
    for (int kind = 0; kind < SCALARS_KINDS; kind++) {
        for (size_t i = 0; i < N_SIZES; i++) {
            set_scalars(f, (scalar_kind)kind, sizes[i]);
            check_msm(f, sizes[i]);
        }
    }
}

static void test_msm__is_right_for_every_kind_of_scalar(void **state) {
    (void)state;
    each_config(check_scalar_kinds, 513);
}

static void check_point_kinds(fixture *f) {
    for (int kind = 0; kind < POINTS_KINDS; kind++) {
        for (size_t i = 0; i < N_SIZES; i++) {
            set_points(f, (point_kind)kind, sizes[i]);
            set_scalars(f, SCALARS_MIXED, sizes[i]);
            check_msm(f, sizes[i]);
            set_scalars(f, SCALARS_EQUAL, sizes[i]);
            check_msm(f, sizes[i]);
        }
    }
}

static void test_msm__is_right_for_every_kind_of_point(void **state) {
    (void)state;
    each_config(check_point_kinds, 513);
}

/* One bucket that spans several chunks, as a tree of doublings and of P + (-P). */
static void check_skew(fixture *f) {
    static const scalar_kind scalar_kinds[] = {SCALARS_ONE, SCALARS_EQUAL, SCALARS_BITS};
    static const point_kind point_kinds[] = {POINTS_EQUAL, POINTS_OPPOSITE, POINTS_HOLES};
    for (size_t i = 0; i < 3; i++) {
        for (size_t n = f->n_max - 1; n <= f->n_max; n++) {
            set_points(f, point_kinds[i], n);
            set_scalars(f, scalar_kinds[i], n);
            check_msm(f, n);
        }
    }
}

static void check_skew_on_threads(fixture *f) {
    if (strcmp(f->curve.fq.ops->name, "portable") == 0 && f->group == GROUP_G2) return;
    check_skew(f);
    with_threads(f, 2, check_skew);
}

static void test_msm__is_right_when_one_bucket_holds_everything(void **state) {
    (void)state;
    each_config(check_skew_on_threads, 2 * 8192 + 3);
}

static void check_large(fixture *f) {
    set_points(f, POINTS_HOLES, f->n_max);
    set_scalars(f, SCALARS_RANDOM, f->n_max);
    check_msm(f, f->n_max);
    set_scalars(f, SCALARS_MIXED, f->n_max);
    check_msm(f, f->n_max);
}

static void check_large_on_threads(fixture *f) {
    if (strcmp(f->curve.fq.ops->name, "portable") == 0) return; /* the same code, slower */
    check_large(f);
    with_threads(f, 2, check_large);
    with_threads(f, 5, check_large);
}

static void test_msm__is_right_when_large(void **state) {
    (void)state;
    each_config(check_large_on_threads, (1 << 14) + 1);
}

static void check_ranges(fixture *f) {
    const size_t n = f->n_max;
    set_points(f, POINTS_DISTINCT, n);
    set_scalars(f, SCALARS_MIXED, n);
    cuzk_scalars *scalars = open_scalars(f, n);
    for (size_t first = 0; first <= n; first += 37) {
        for (size_t count = 0; first + count <= n; count += 71) {
            point expected, got;
            run_msm(f, &got, scalars, first, count);
            expected_sum(f, &expected, first, count);
            assert_true(point_equal(&f->curve, f->group, &got, &expected));
        }
    }
    cpu_scalars_close(scalars);
}

static void test_msm__takes_ranges_of_a_scalar_set(void **state) {
    (void)state;
    each_config(check_ranges, 300);
}

/* The jobs of a proof: both groups, ranges, different sizes, an empty one; any threads. */
static void check_jobs_together(curve_id id, unsigned n_threads) {
    enum { N = 5000, JOBS = 6 };
    cuzk_cpu_level level;
    cuzk_err err;
    assert_int_equal(cuzk_cpu_select(&level, NULL, &err), CUZK_OK);
    fixture f1, f2;
    setup(&f1, id, GROUP_G1, level, N);
    setup(&f2, id, GROUP_G2, level, N);
    assert_int_equal(cuzk_exec_create(&f1.dev.exec, n_threads, NULL), CUZK_OK);
    set_points(&f1, POINTS_HOLES, N);
    set_points(&f2, POINTS_DISTINCT, N);
    set_scalars(&f1, SCALARS_MIXED, N);
    memcpy(f2.scalars, f1.scalars, N * CPU_FR_BYTES);
    cuzk_scalars *scalars = open_scalars(&f1, N);
    cuzk_buf points1 = {.p = f1.memory, .n_bytes = N * f1.point_bytes + UNALIGNED};
    cuzk_buf points2 = {.p = f2.memory, .n_bytes = N * f2.point_bytes + UNALIGNED};
    static const struct {
        group_id group;
        size_t first, n;
    } shapes[JOBS] = {{GROUP_G1, 0, N}, {GROUP_G2, 0, N}, {GROUP_G1, 100, N - 100},
                      {GROUP_G1, 7, 0}, {GROUP_G2, N, 0}, {GROUP_G1, 4000, 50}};
    cuzk_msm_job jobs[JOBS];
    point got[JOBS];
    for (size_t i = 0; i < JOBS; i++) {
        fixture *f = shapes[i].group == GROUP_G1 ? &f1 : &f2;
        cuzk_buf *points = shapes[i].group == GROUP_G1 ? &points1 : &points2;
        jobs[i] = (cuzk_msm_job){.curve = &f->curve,
                                 .group = f->group,
                                 .points = {.buf = points, .offset = UNALIGNED},
                                 .scalars = scalars,
                                 .first = shapes[i].first,
                                 .n = shapes[i].n,
                                 .result = &got[i]};
    }
    assert_int_equal(cpu_msm(&f1.queue, jobs, JOBS, NULL), CUZK_OK);
    for (size_t i = 0; i < JOBS; i++) {
        point expected;
        fixture *f = shapes[i].group == GROUP_G1 ? &f1 : &f2;
        expected_sum(f, &expected, shapes[i].first, shapes[i].n);
        assert_true(point_equal(&f->curve, f->group, &got[i], &expected));
    }
    assert_int_equal(cpu_msm(&f1.queue, NULL, 0, NULL), CUZK_OK);
    cpu_scalars_close(scalars);
    cuzk_exec_destroy(f1.dev.exec);
    teardown(&f1);
    teardown(&f2);
}

static void test_msm__runs_several_jobs_at_once(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        check_jobs_together((curve_id)id, 1);
        check_jobs_together((curve_id)id, 2);
        check_jobs_together((curve_id)id, 5);
    }
}

static void test_msm__refuses_ranges_that_do_not_exist(void **state) {
    (void)state;
    fixture f;
    setup(&f, CURVE_BN254, GROUP_G1, CUZK_CPU_PORTABLE, 10);
    cuzk_scalars *scalars = open_scalars(&f, 10);
    static const struct {
        size_t first, n, n_points;
        cuzk_status expected;
    } cases[] = {{0, 10, 10, CUZK_OK},     {0, 11, 11, CUZK_ERR_ARG},
                 {11, 0, 0, CUZK_ERR_ARG}, {10, 0, 0, CUZK_OK},
                 {5, 6, 10, CUZK_ERR_ARG}, {1, SIZE_MAX, 10, CUZK_ERR_ARG},
                 {0, 10, 9, CUZK_ERR_ARG}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        point result;
        cuzk_err err;
        set_points(&f, POINTS_DISTINCT, 10);
        cuzk_buf buf = {.p = f.memory,
                        .n_bytes = cases[i].n_points * f.point_bytes + UNALIGNED};
        cuzk_msm_job job = {.curve = &f.curve,
                            .group = f.group,
                            .scalars = scalars,
                            .points = {.buf = &buf, .offset = UNALIGNED},
                            .first = cases[i].first,
                            .n = cases[i].n,
                            .result = &result};
        assert_int_equal(cpu_msm(&f.queue, &job, 1, &err), cases[i].expected);
    }
    cpu_scalars_close(scalars);
    teardown(&f);
}

/* ---- plan ---- */
static void test_msm_plan__tiles_all_bits_when_scalars_are_of_any_class(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 10, 1000, 100000, 10000000};
    curve c;
    testrand rnd;
    testrand_init(&rnd);
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        for (int round = 0; round < 100; round++) {
            size_t n_points[SCALAR_CLASS_COUNT];
            unsigned end = 0;
            for (unsigned k = 0; k < SCALAR_CLASS_COUNT; k++) {
                n_points[k] = counts[testrand_below(&rnd, 6)];
                unsigned class_end = msm_class_end((scalar_class)k, &c.fr);
                if (k >= SCALAR_TINY && n_points[k] && class_end > end) end = class_end;
            }
            msm_plan plan;
            msm_plan_make(&plan, &c.fr, &c, round % 2 ? GROUP_G1 : GROUP_G2, n_points);
            bool ones = n_points[SCALAR_ONE] + n_points[SCALAR_MINUS_ONE] > 0;
            unsigned bit = 0;
            assert_true(plan.n_windows <= MSM_MAX_WINDOWS);
            for (unsigned i = 0; i < plan.n_windows; i++) {
                const msm_window *w = &plan.windows[i];
                assert_int_equal(w->ones, i == 0 && ones);
                if (w->ones) continue;
                assert_int_equal(w->offset, bit);
                assert_in_range(w->width, MSM_MIN_WIDTH, MSM_MAX_WIDTH);
                bit += w->width;
            }
            assert_in_range(bit, end, 64 * CPU_FR_LIMBS);
            if (end == 0) assert_int_equal(bit, 0);
        }
    }
}

static void test_msm_plan__makes_windows_narrower_where_few_scalars_reach(void **state) {
    (void)state;
    curve c;
    msm_plan plan;
    curve_init(&c, CURVE_BLS12_381, CUZK_CPU_PORTABLE);
    const size_t n_points[SCALAR_CLASS_COUNT] = {[SCALAR_WORD] = 100000, [SCALAR_FULL] = 100};
    msm_plan_make(&plan, &c.fr, &c, GROUP_G1, n_points);
    assert_true(plan.windows[0].width > 9);
    assert_true(plan.windows[plan.n_windows - 1].width < 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_msm__is_the_sum_of_products_when_small),
        cmocka_unit_test(test_msm__is_right_for_every_kind_of_scalar),
        cmocka_unit_test(test_msm__is_right_for_every_kind_of_point),
        cmocka_unit_test(test_msm__is_right_when_one_bucket_holds_everything),
        cmocka_unit_test(test_msm__is_right_when_large),
        cmocka_unit_test(test_msm__takes_ranges_of_a_scalar_set),
        cmocka_unit_test(test_msm__runs_several_jobs_at_once),
        cmocka_unit_test(test_msm__refuses_ranges_that_do_not_exist),
        cmocka_unit_test(test_msm_plan__tiles_all_bits_when_scalars_are_of_any_class),
        cmocka_unit_test(test_msm_plan__makes_windows_narrower_where_few_scalars_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
