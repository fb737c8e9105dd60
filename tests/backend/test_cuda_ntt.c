/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda: transforms and products of vectors, byte for byte against backend/cpu. Skipped
 * without the backend or a device. CUZK_TEST_SMALL leaves the long vectors out, for tools that
 * slow kernels down a hundredfold. */
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

enum { FR_BYTES = 32, FR_WORDS = 4, NONRESIDUE = 5, N_COSETS = 3 };

typedef struct setting {
    curve c;
    testrand rnd;
    cuzk_exec *exec;
    side cpu, gpu;
} setting;

typedef void setting_check(setting *s);

static void each_field(setting_check *check) {
    for (int id = 0; id < CURVE_COUNT; id++) {
        setting s;
        cuzk_cpu_level level;
        memset(&s, 0, sizeof s);
        assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
        assert_int_equal(cuzk_exec_create(&s.exec, 0, NULL), CUZK_OK);
        curve_init(&s.c, (curve_id)id, level);
        testrand_init(&s.rnd);
        side_open(&s.cpu, "cpu", s.exec);
        side_open(&s.gpu, "cuda", s.exec);
        check(&s);
        side_close(&s.cpu);
        side_close(&s.gpu);
        cuzk_exec_destroy(s.exec);
    }
}

/* ---- vectors ---- */
/* Mostly random, with the values among them at which a reduction can go wrong. */
static void set_value(setting *s, uint64_t *v) {
    const field *fr = &s->c.fr;
    switch (testrand_below(&s->rnd, 16)) {
    case 0:
        field_set_zero(fr, v);
        break;
    case 1:
        field_set_one(fr, v);
        break;
    case 2: /* p - 1, as an integer */
        memcpy(v, fr->m.p, FR_BYTES);
        v[0] -= 1;
        break;
    case 3: /* words of zeros below the others */
        testrand_fe(&s->rnd, fr, v);
        v[0] = 0;
        break;
    default:
        testrand_fe(&s->rnd, fr, v);
    }
}

static uint64_t *new_values(setting *s, size_t n) {
    uint64_t *v;
    assert_int_equal(cuzk_alloc(&v, n, FR_BYTES, NULL), CUZK_OK);
    for (size_t i = 0; i < n; i++) set_value(s, v + i * FR_WORDS);
    return v;
}

static cuzk_buf *new_buffer(side *a, const uint64_t *v, size_t n, cuzk_space space) {
    cuzk_buf *buf;
    assert_int_equal(a->be->buf_alloc(&buf, a->dev, space, n * FR_BYTES, true, NULL), CUZK_OK);
    assert_int_equal(a->be->upload(a->queue, (cuzk_slice){buf, 0}, v, n * FR_BYTES, NULL),
                     CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
    return buf;
}

static void read_buffer(side *a, uint64_t *v, cuzk_buf *buf, size_t n) {
    assert_int_equal(a->be->download(a->queue, v, (cuzk_slice){buf, 0}, n * FR_BYTES, NULL),
                     CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
}

/* ---- transforms ---- */
/* The odd coset; generator 7; generator p - 1, which lies in the domain. */
static const fe *coset_of(const field *fr, fe *room, int i) {
    if (i == 0) return NULL;
    field_set_u64(fr, room->l, i == 1 ? 7 : 1);
    if (i == 2) field_neg(fr, room->l, room->l);
    return room;
}

static cuzk_domain *open_domain(setting *s, side *a, unsigned log_n, int coset) {
    cuzk_domain *domain;
    fe room;
    assert_int_equal(a->be->domain_open(&domain, a->dev, &s->c.fr, log_n, NONRESIDUE,
                                        coset_of(&s->c.fr, &room, coset), NULL),
                     CUZK_OK);
    return domain;
}

static void transform(side *a, const cuzk_domain *domain, cuzk_ntt_kind kind, bool brp,
                      cuzk_buf *buf) {
    const cuzk_ntt_job job = {domain, kind, brp, {buf, 0}};
    assert_int_equal(a->be->ntt(a->queue, &job, NULL), CUZK_OK);
}

/* v in, transformed values out. */
static void transform_values(side *a, const cuzk_domain *domain, cuzk_ntt_kind kind, bool brp,
                             uint64_t *v, size_t n, cuzk_space space) {
    cuzk_buf *buf = new_buffer(a, v, n, space);
    transform(a, domain, kind, brp, buf);
    read_buffer(a, v, buf, n);
    a->be->buf_free(buf);
}

/* Every kind and order on one domain. */
static void check_domain(setting *s, unsigned log_n, int coset) {
    const size_t n = (size_t)1 << log_n;
    cuzk_domain *cpu = open_domain(s, &s->cpu, log_n, coset),
                *gpu = open_domain(s, &s->gpu, log_n, coset);
    uint64_t *expected = new_values(s, n), *got = new_values(s, n);
    for (int kind = CUZK_NTT_INVERSE; kind <= CUZK_NTT_COSET_INVERSE; kind++) {
        for (int brp = 0; brp < 2; brp++) {
            memcpy(got, expected, n * FR_BYTES);
            transform_values(&s->cpu, cpu, (cuzk_ntt_kind)kind, brp, expected, n,
                             CUZK_SPACE_DEVICE);
            transform_values(&s->gpu, gpu, (cuzk_ntt_kind)kind, brp, got, n,
                             brp ? CUZK_SPACE_DEVICE : CUZK_SPACE_HOST);
            assert_memory_equal(expected, got, n * FR_BYTES);
        }
    }
    s->cpu.be->domain_close(cpu);
    s->gpu.be->domain_close(gpu);
    cuzk_free(expected);
    cuzk_free(got);
}

static void check_short_domains(setting *s) {
    for (unsigned log_n = 0; log_n <= (side_is_small() ? 10u : 12u); log_n++)
        for (int coset = 0; coset < N_COSETS; coset++) check_domain(s, log_n, coset);
}

static void test_cuda_ntt__equals_the_cpu_on_every_short_domain(void **state) {
    (void)state;
    each_field(check_short_domains);
}

/* Every split of the levels into passes up to here. */
static void check_long_domains(setting *s) {
    for (unsigned log_n = 13; log_n <= 22; log_n++)
        check_domain(s, log_n, (int)(log_n % N_COSETS));
}

static void test_cuda_ntt__equals_the_cpu_on_long_domains(void **state) {
    (void)state;
    if (side_is_small()) skip();
    each_field(check_long_domains);
}

/* On the device alone, so the sizes may be those that the CPU has no time for. */
static void check_round_trips(setting *s) {
    const unsigned log_n = side_is_small() ? 11 : 22;
    const size_t n = (size_t)1 << log_n;
    uint64_t *before = new_values(s, n), *after = new_values(s, n);
    cuzk_domain *domain = open_domain(s, &s->gpu, log_n, 1);
    cuzk_buf *buf = new_buffer(&s->gpu, before, n, CUZK_SPACE_DEVICE);
    for (int brp = 0; brp < 2; brp++) {
        transform(&s->gpu, domain, CUZK_NTT_INVERSE, brp, buf);
        transform(&s->gpu, domain, CUZK_NTT_FORWARD, brp, buf);
        transform(&s->gpu, domain, CUZK_NTT_COSET_FORWARD, brp, buf);
        transform(&s->gpu, domain, CUZK_NTT_COSET_INVERSE, brp, buf);
        read_buffer(&s->gpu, after, buf, n);
        assert_memory_equal(before, after, n * FR_BYTES);
    }
    s->gpu.be->buf_free(buf);
    s->gpu.be->domain_close(domain);
    cuzk_free(before);
    cuzk_free(after);
}

static void test_cuda_ntt__comes_back_where_it_began(void **state) {
    (void)state;
    each_field(check_round_trips);
}

/* ---- what it takes of the device's memory ---- */
static uint64_t peak_since_reset(side *a) {
    cuzk_device_info info;
    a->be->device_info(a->dev, &info);
    return info.peak_bytes;
}

static uint64_t used_now(side *a) {
    cuzk_device_info info;
    a->be->device_info(a->dev, &info);
    return info.used_bytes;
}

static void check_bounds(setting *s) {
    side *a = &s->gpu;
    for (unsigned log_n = 0; log_n <= (side_is_small() ? 11u : 20u); log_n++) {
        const size_t n = (size_t)1 << log_n;
        uint64_t *v = new_values(s, n);
        const uint64_t used = used_now(a);
        a->be->device_info_reset(a->dev);
        cuzk_domain *domain = open_domain(s, a, log_n, 1);
        assert_true(peak_since_reset(a) - used <= a->be->domain_bytes(log_n));
        cuzk_buf *buf = new_buffer(a, v, n, CUZK_SPACE_DEVICE);
        for (int kind = CUZK_NTT_INVERSE; kind <= CUZK_NTT_COSET_INVERSE; kind++) {
            for (int brp = 0; brp < 2; brp++) {
                const uint64_t before = used_now(a);
                a->be->device_info_reset(a->dev);
                transform(a, domain, (cuzk_ntt_kind)kind, brp, buf);
                assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
                assert_true(peak_since_reset(a) - before <=
                            a->be->ntt_bytes(log_n, (cuzk_ntt_kind)kind, brp));
            }
        }
        a->be->buf_free(buf);
        a->be->domain_close(domain);
        assert_int_equal(used_now(a), used);
        cuzk_free(v);
    }
}

static void test_cuda_ntt__takes_no_more_memory_than_it_says(void **state) {
    (void)state;
    each_field(check_bounds);
}

/* ---- products ---- */
enum { OPERANDS = 4, OUT = 3 };

/* which[i]: the vector (0..3) that operand i (out, a, b, c) is. */
static void multiply(setting *s, side *a, uint64_t *out, uint64_t *const v[OPERANDS], size_t n,
                     cuzk_pointwise_kind kind, const int which[OPERANDS], const fe *k) {
    cuzk_buf *buf[OPERANDS];
    for (int i = 0; i < OPERANDS; i++) buf[i] = new_buffer(a, v[i], n, CUZK_SPACE_DEVICE);
    const cuzk_pointwise_job job = {.fr = &s->c.fr,
                                    .kind = kind,
                                    .n = n,
                                    .out = {buf[which[0]], 0},
                                    .a = {buf[which[1]], 0},
                                    .b = {buf[which[2]], 0},
                                    .c = {buf[which[3]], 0},
                                    .k = *k};
    assert_int_equal(a->be->pointwise(a->queue, &job, NULL), CUZK_OK);
    read_buffer(a, out, buf[which[0]], n);
    for (int i = 0; i < OPERANDS; i++) a->be->buf_free(buf[i]);
}

static void check_products(setting *s) {
    static const size_t sizes[] = {0, 1, 2, 255, 256, 257, 5000, (1 << 20) + 1};
    static const int aliases[][OPERANDS] = {{OUT, 0, 1, 2}, {0, 0, 1, 2},   {1, 0, 1, 2},
                                            {2, 0, 1, 2},   {OUT, 0, 0, 0}, {0, 0, 0, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes - side_is_small(); i++) {
        uint64_t *v[OPERANDS], *expected = new_values(s, sizes[i]),
                               *got = new_values(s, sizes[i]);
        fe k;
        testrand_fe(&s->rnd, &s->c.fr, k.l);
        for (int j = 0; j < OPERANDS; j++) v[j] = new_values(s, sizes[i]);
        for (size_t j = 0; j < sizeof aliases / sizeof *aliases; j++) {
            for (int kind = CUZK_POINTWISE_MUL; kind <= CUZK_POINTWISE_QUOTIENT; kind++) {
                multiply(s, &s->cpu, expected, v, sizes[i], (cuzk_pointwise_kind)kind,
                         aliases[j], &k);
                multiply(s, &s->gpu, got, v, sizes[i], (cuzk_pointwise_kind)kind, aliases[j],
                         &k);
                assert_memory_equal(expected, got, sizes[i] * FR_BYTES);
            }
        }
        for (int j = 0; j < OPERANDS; j++) cuzk_free(v[j]);
        cuzk_free(expected);
        cuzk_free(got);
    }
}

static void test_cuda_pointwise__equals_the_cpu_on_any_aliases(void **state) {
    (void)state;
    each_field(check_products);
}

int main(void) {
    const cuzk_backend *be;
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK) return 77; /* skipped */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_ntt__equals_the_cpu_on_every_short_domain),
        cmocka_unit_test(test_cuda_ntt__equals_the_cpu_on_long_domains),
        cmocka_unit_test(test_cuda_ntt__comes_back_where_it_began),
        cmocka_unit_test(test_cuda_ntt__takes_no_more_memory_than_it_says),
        cmocka_unit_test(test_cuda_pointwise__equals_the_cpu_on_any_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
