/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: full
 * backend/cuda on vectors that the CPU has no time for, against what is known of
 * them: sums of points whose discrete logarithms are known, values of a polynomial at a few
 * points. Sizes shrink to what the device has memory for. Skipped without a device. */
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

enum { FR_BYTES = 32, FR_WORDS = 4, CHUNK = 1 << 12, NONRESIDUE = 5 };

static const cuzk_backend *be; /* set by main */

typedef enum values_kind { DENSE, SKEWED, BITS } values_kind;

/* Vectors of Fr on the host, filled and read by all of its threads. */
typedef struct setting {
    curve c;
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
    size_t n;
    uint64_t *s, *k, *parts; /* n scalars, n logarithms, one sum a chunk */
    values_kind kind;
    uint64_t seed;
    fe x; /* where a polynomial is wanted */
} setting;

static size_t n_chunks(size_t n) { return (n + CHUNK - 1) / CHUNK; }

static size_t chunk_end(size_t n, size_t chunk) {
    const size_t end = (chunk + 1) * CHUNK;
    return end < n ? end : n;
}

typedef void setting_check(setting *s);

static void each_curve(unsigned log_n_max, setting_check *check) {
    for (int id = 0; id < CURVE_COUNT; id++) {
        setting s;
        testrand rnd;
        cuzk_cpu_level level;
        memset(&s, 0, sizeof s);
        assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
        curve_init(&s.c, (curve_id)id, level);
        testrand_init(&rnd);
        s.seed = testrand_u64(&rnd);
        s.n = (size_t)1 << (side_is_small() ? 10 : log_n_max);
        assert_int_equal(cuzk_exec_create(&s.exec, 0, NULL), CUZK_OK);
        assert_int_equal(be->open(&s.dev, &(cuzk_device_options){.index = 0}, s.exec, NULL),
                         CUZK_OK);
        assert_int_equal(be->queue_open(&s.queue, s.dev, "large", NULL, NULL), CUZK_OK);
        check(&s);
        be->queue_close(s.queue);
        be->close(s.dev);
        cuzk_exec_destroy(s.exec);
    }
}

static uint64_t n_free(setting *s) {
    cuzk_device_info info;
    be->device_info(s->dev, &info);
    return info.limit_bytes - info.used_bytes;
}

static cuzk_buf *new_buf(setting *s, const void *bytes, size_t n_bytes) {
    cuzk_buf *buf;
    assert_int_equal(be->buf_alloc(&buf, s->dev, CUZK_SPACE_DEVICE, n_bytes, false, NULL),
                     CUZK_OK);
    if (bytes) {
        assert_int_equal(be->upload(s->queue, (cuzk_slice){buf, 0}, bytes, n_bytes, NULL),
                         CUZK_OK);
    }
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    return buf;
}

static uint64_t *new_vector(size_t n) {
    uint64_t *v;
    assert_int_equal(cuzk_alloc(&v, n, FR_BYTES, NULL), CUZK_OK);
    return v;
}

/* ---- values ---- */
static void set_value(setting *s, testrand *rnd, uint64_t *v) {
    const field *fr = &s->c.fr;
    const uint64_t die = testrand_below(rnd, 100);
    if (s->kind == DENSE || (s->kind == SKEWED && die >= 97)) {
        testrand_fe(rnd, fr, v);
    } else if (s->kind == BITS || die < 60) {
        field_set_u64(fr, v, die % 2);
    } else if (die < 90) { /* many of one value: one bucket in each window */
        field_set_u64(fr, v, 0x123456789abcdef1);
    } else { /* negative and short */
        field_set_u64(fr, v, die);
        field_neg(fr, v, v);
    }
}

static void fill_chunk(void *arg, size_t chunk, unsigned slot) {
    setting *s = arg;
    testrand rnd = {.state = s->seed + chunk};
    (void)slot;
    for (size_t i = chunk * CHUNK; i < chunk_end(s->n, chunk); i++)
        set_value(s, &rnd, s->s + i * FR_WORDS);
}

static void fill(setting *s, values_kind kind, uint64_t *v) {
    uint64_t *const scalars = s->s;
    s->kind = kind;
    s->seed += 0x9e3779b97f4a7c15;
    s->s = v;
    cuzk_exec_for(s->exec, n_chunks(s->n), fill_chunk, s);
    s->s = scalars;
}

/* ---- sums ---- */
static void sum_chunk(void *arg, size_t chunk, unsigned slot) {
    setting *s = arg;
    const field *fr = &s->c.fr;
    uint64_t *sum = s->parts + chunk * FR_WORDS;
    (void)slot;
    field_set_zero(fr, sum);
    for (size_t i = chunk * CHUNK; i < chunk_end(s->n, chunk); i++) {
        fe product;
        field_mul(fr, product.l, s->s + i * FR_WORDS, s->k + i * FR_WORDS);
        field_add(fr, sum, sum, product.l);
    }
}

/* [sum of s_i k_i] G */
static void expected_sum(setting *s, group_id g, point *out) {
    const field *fr = &s->c.fr;
    fe sum;
    uint64_t canonical[FR_WORDS];
    cuzk_exec_for(s->exec, n_chunks(s->n), sum_chunk, s);
    field_set_zero(fr, sum.l);
    for (size_t i = 0; i < n_chunks(s->n); i++)
        field_add(fr, sum.l, sum.l, s->parts + i * FR_WORDS);
    fr->ops->from_mont(canonical, sum.l, &fr->m);
    point_set_generator(&s->c, g, out);
    point_mul_vt(&s->c, g, out, out, canonical, FR_WORDS);
}

static void check_sum(setting *s, group_id g, cuzk_buf *points, cuzk_buf *values) {
    cuzk_scalars *scalars;
    point expected, got;
    expected_sum(s, g, &expected);
    assert_int_equal(be->scalars_open(&scalars, s->queue, &s->c.fr, (cuzk_slice){values, 0},
                                      s->n, true, NULL),
                     CUZK_OK);
    const cuzk_msm_job job = {&s->c, g, {points, 0}, scalars, 0, s->n, &got};
    assert_int_equal(be->msm(s->queue, &job, 1, NULL), CUZK_OK);
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    be->scalars_close(scalars);
    assert_true(point_equal(&s->c, g, &expected, &got));
}

/* n_most points, and sums of as many and fewer of them. */
static void check_sums(setting *s, group_id g, size_t n_most) {
    const size_t sizes[] = {n_most / 16 - 1, n_most / 4 + 1, n_most / 2, n_most - 1, n_most};
    s->n = n_most;
    fill(s, DENSE, s->k);
    cuzk_buf *k = new_buf(s, s->k, n_most * FR_BYTES),
             *points = new_buf(s, NULL, n_most * point_packed_bytes(&s->c, g));
    const cuzk_multiples_job multiples = {&s->c, g, n_most, {k, 0}, {points, 0}};
    assert_int_equal(be->multiples(s->queue, &multiples, NULL), CUZK_OK);
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    be->buf_free(k);
    for (int kind = DENSE; kind <= BITS; kind++) {
        s->n = n_most;
        fill(s, (values_kind)kind, s->s);
        cuzk_buf *values = new_buf(s, s->s, n_most * FR_BYTES);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            s->n = sizes[i];
            check_sum(s, g, points, values);
        }
        be->buf_free(values);
    }
    be->buf_free(points);
}

static void check_groups(setting *s) {
    const size_t n_all = s->n;
    s->s = new_vector(n_all);
    s->k = new_vector(n_all);
    s->parts = new_vector(n_chunks(n_all));
    for (int g = GROUP_G1; g <= GROUP_G2; g++) {
        size_t n = g == GROUP_G1 ? n_all : n_all / 16;
        const size_t each = point_packed_bytes(&s->c, (group_id)g) + 4 * FR_BYTES;
        while (n * each + be->msm_bytes(&s->c, (group_id)g, n) > n_free(s)) n /= 2;
        check_sums(s, (group_id)g, n);
    }
    cuzk_free(s->s);
    cuzk_free(s->k);
    cuzk_free(s->parts);
}

static void test_cuda_large__sums_to_what_the_logarithms_say(void **state) {
    (void)state;
    each_curve(26, check_groups);
}

/* ---- transforms ---- */
/* s(x) of the chunk's coefficients, times the power of x before them. */
static void evaluate_chunk(void *arg, size_t chunk, unsigned slot) {
    setting *s = arg;
    const field *fr = &s->c.fr;
    const uint64_t first = chunk * CHUNK;
    uint64_t *sum = s->parts + chunk * FR_WORDS;
    fe power;
    (void)slot;
    field_set_zero(fr, sum);
    for (size_t i = chunk_end(s->n, chunk); i-- > first;) {
        field_mul(fr, sum, sum, s->x.l);
        field_add(fr, sum, sum, s->s + i * FR_WORDS);
    }
    field_pow(fr, power.l, s->x.l, &first, 1);
    field_mul(fr, sum, sum, power.l);
}

/* Value i on the domain, or its odd coset, is that of the polynomial at w^i, or at w_2n w^i. */
static void check_value(setting *s, unsigned log_n, bool coset, size_t i, cuzk_buf *values) {
    const field *fr = &s->c.fr;
    const uint64_t exponent = 2 * i + (coset ? 1 : 0);
    fe sum, got;
    field_root_of_unity(fr, s->x.l, NONRESIDUE, log_n + 1);
    field_pow(fr, s->x.l, s->x.l, &exponent, 1);
    cuzk_exec_for(s->exec, n_chunks(s->n), evaluate_chunk, s);
    field_set_zero(fr, sum.l);
    for (size_t j = 0; j < n_chunks(s->n); j++)
        field_add(fr, sum.l, sum.l, s->parts + j * FR_WORDS);
    assert_int_equal(
        be->download(s->queue, got.l, (cuzk_slice){values, i * FR_BYTES}, FR_BYTES, NULL),
        CUZK_OK);
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    assert_true(field_equal(fr, sum.l, got.l));
}

static void transform(setting *s, const cuzk_domain *domain, cuzk_ntt_kind kind,
                      cuzk_buf *values) {
    const cuzk_ntt_job job = {domain, kind, false, {values, 0}};
    assert_int_equal(be->ntt(s->queue, &job, NULL), CUZK_OK);
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
}

static void check_transforms(setting *s, unsigned log_n) {
    cuzk_domain *domain;
    s->n = (size_t)1 << log_n;
    fill(s, DENSE, s->s);
    assert_int_equal(be->domain_open(&domain, s->dev, &s->c.fr, log_n, NONRESIDUE, NULL, NULL),
                     CUZK_OK);
    cuzk_buf *values = new_buf(s, s->s, s->n * FR_BYTES);
    for (int coset = 0; coset < 2; coset++) {
        transform(s, domain, coset ? CUZK_NTT_COSET_FORWARD : CUZK_NTT_FORWARD, values);
        check_value(s, log_n, coset, 1, values);
        check_value(s, log_n, coset, s->n / 3, values);
        check_value(s, log_n, coset, s->n - 1, values);
        transform(s, domain, coset ? CUZK_NTT_COSET_INVERSE : CUZK_NTT_INVERSE, values);
        assert_int_equal(
            be->download(s->queue, s->k, (cuzk_slice){values, 0}, s->n * FR_BYTES, NULL),
            CUZK_OK);
        assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
        assert_memory_equal(s->k, s->s, s->n * FR_BYTES);
    }
    be->buf_free(values);
    be->domain_close(domain);
}

static void check_domains(setting *s) {
    unsigned log_n = 0;
    while ((size_t)2 << log_n <= s->n &&
           be->domain_bytes(log_n + 1) + ((uint64_t)2 * FR_BYTES << log_n) <= n_free(s))
        log_n++;
    s->s = new_vector(s->n);
    s->k = new_vector(s->n);
    s->parts = new_vector(n_chunks(s->n));
    for (unsigned smaller = 0; smaller < 3; smaller++) check_transforms(s, log_n - smaller);
    cuzk_free(s->s);
    cuzk_free(s->k);
    cuzk_free(s->parts);
}

static void test_cuda_large__transforms_to_values_of_the_polynomial(void **state) {
    (void)state;
    each_curve(26, check_domains);
}

int main(void) {
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK) return 77; /* skipped */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_large__sums_to_what_the_logarithms_say),
        cmocka_unit_test(test_cuda_large__transforms_to_values_of_the_polynomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
