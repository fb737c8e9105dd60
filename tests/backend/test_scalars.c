/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/scalars: every scalar is in the list of its class, once, in order. */
#include "backend/cpu/scalars.h"
#include "base/alloc.h"
#include "math/curves/curve.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N_MAX = 3 * 8192 + 17 }; /* several blocks */

typedef struct fixture {
    cuzk_exec *exec;
    cuzk_device dev;
    cuzk_queue queue;
    cuzk_buf buf;
    uint64_t (*values)[CPU_FR_LIMBS];
    curve curve;
    testrand rnd;
} fixture;

static void setup(fixture *f, curve_id id, unsigned n_threads) {
    memset(f, 0, sizeof *f);
    curve_init(&f->curve, id, CUZK_CPU_PORTABLE);
    testrand_init(&f->rnd);
    assert_int_equal(cuzk_exec_create(&f->exec, n_threads, NULL), CUZK_OK);
    assert_int_equal(cuzk_zalloc(&f->values, N_MAX, sizeof *f->values, NULL), CUZK_OK);
    f->dev.exec = f->exec;
    f->queue.dev = &f->dev;
    f->buf = (cuzk_buf){.p = (uint8_t *)f->values, .n_bytes = N_MAX * sizeof *f->values};
}

static void teardown(fixture *f) {
    cuzk_free(f->values);
    cuzk_exec_destroy(f->exec);
}

static void negate(const field *fr, uint64_t *k) {
    uint64_t borrow = 0;
    for (unsigned i = 0; i < CPU_FR_LIMBS; i++) {
        cuzk_u128 d = (cuzk_u128)fr->m.p[i] - k[i] - borrow;
        k[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
}

static cuzk_scalars *open_set(fixture *f, size_t n, bool montgomery) {
    cuzk_scalars *set;
    cuzk_slice slice = {.buf = &f->buf};
    assert_int_equal(
        cpu_scalars_open(&set, &f->queue, &f->curve.fr, slice, n, montgomery, NULL), CUZK_OK);
    return set;
}

/* A scalar whose magnitude has exactly n_bits bits, of either sign. */
static void set_bits(fixture *f, uint64_t *k, unsigned n_bits, bool negative) {
    memset(k, 0, CPU_FR_BYTES);
    if (n_bits == 0) return;
    for (unsigned i = 0; i < n_bits; i++) {
        uint64_t bit = i + 1 == n_bits || (testrand_u64(&f->rnd) & 1);
        k[i / 64] |= bit << i % 64;
    }
    if (negative) negate(&f->curve.fr, k);
}

static int class_of_bits(unsigned n_bits, bool negative) {
    if (n_bits == 0) return -1;
    if (n_bits == 1) return negative ? SCALAR_MINUS_ONE : SCALAR_ONE;
    if (n_bits <= 16) return SCALAR_TINY;
    if (n_bits <= 40) return SCALAR_WORD;
    if (n_bits <= 72) return SCALAR_LONG;
    if (n_bits <= 136) return SCALAR_HALF;
    return SCALAR_FULL;
}

static void check_classes(curve_id id, unsigned n_threads, size_t n, bool montgomery) {
    fixture f;
    setup(&f, id, n_threads);
    static int8_t expected[N_MAX + 1];
    for (size_t i = 0; i < n; i++) {
        unsigned n_bits = (unsigned)testrand_below(&f.rnd, 253);
        if (i % 3 == 0) n_bits = (unsigned)testrand_below(&f.rnd, 3);
        bool negative = testrand_u64(&f.rnd) & 1;
        set_bits(&f, f.values[i], n_bits, negative);
        expected[i] = (int8_t)class_of_bits(n_bits, negative);
    }
    uint64_t(*canonical)[CPU_FR_LIMBS];
    assert_int_equal(cuzk_alloc(&canonical, n, CPU_FR_BYTES, NULL), CUZK_OK);
    memcpy(canonical, f.values, n * CPU_FR_BYTES);
    for (size_t i = 0; montgomery && i < n; i++) {
        f.curve.fr.ops->to_mont(f.values[i], f.values[i], &f.curve.fr.m);
    }

    cuzk_scalars *set = open_set(&f, n, montgomery);
    assert_memory_equal(set->values, canonical, n * CPU_FR_BYTES);
    if (!montgomery) assert_ptr_equal(set->values, f.values);
    for (unsigned c = 0; c < SCALAR_CLASS_COUNT; c++) {
        scalar_slice slice = scalars_slice(set, (scalar_class)c, 0, n);
        for (size_t i = 0; i < slice.n; i++) {
            assert_true(slice.index[i] < n);
            assert_int_equal(expected[slice.index[i]], c);
            expected[slice.index[i]] = -1; /* seen */
            if (i > 0) assert_true(slice.index[i] > slice.index[i - 1]);
        }
    }
    for (size_t i = 0; i < n; i++) assert_int_equal(expected[i], -1);
    cpu_scalars_close(set);
    cuzk_free(canonical);
    teardown(&f);
}

static void test_scalars__lists_each_class_in_order(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 8191, 8192, 8193, N_MAX};
    for (int id = 0; id < CURVE_COUNT; id++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_classes((curve_id)id, 1, sizes[i], false);
            check_classes((curve_id)id, 4, sizes[i], i % 2);
        }
    }
}

static void test_scalars__converts_when_montgomery(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) check_classes((curve_id)id, 3, N_MAX, true);
}

static void test_scalars__slice_has_what_lies_in_the_range(void **state) {
    (void)state;
    fixture f;
    setup(&f, CURVE_BN254, 2);
    const size_t n = 1000;
    for (size_t i = 0; i < n; i++) f.values[i][0] = i % 3; /* 0, 1, tiny */
    cuzk_scalars *set = open_set(&f, n, false);
    for (size_t first = 0; first <= n; first += 7) {
        for (size_t count = 0; first + count <= n; count += 13) {
            size_t n_ones = 0;
            for (size_t i = first; i < first + count; i++) n_ones += i % 3 == 1;
            scalar_slice ones = scalars_slice(set, SCALAR_ONE, first, count);
            assert_int_equal(ones.n, n_ones);
            if (n_ones > 0) {
                assert_true(ones.index[0] >= first && ones.index[0] < first + 3);
                assert_true(ones.index[n_ones - 1] < first + count);
            }
        }
    }
    cpu_scalars_close(set);
    teardown(&f);
}

static void test_scalars__refuses_when_there_are_too_many(void **state) {
    (void)state;
    fixture f;
    setup(&f, CURVE_BN254, 1);
    cuzk_scalars *set = NULL;
    cuzk_err err;
    cuzk_slice slice = {.buf = &f.buf};
    assert_int_equal(cpu_scalars_open(&set, &f.queue, &f.curve.fr, slice,
                                      (size_t)INT32_MAX + 1, false, &err),
                     CUZK_ERR_ARG);
    assert_non_null(strstr(err.text, "2147483648"));
    assert_null(set);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars__lists_each_class_in_order),
        cmocka_unit_test(test_scalars__converts_when_montgomery),
        cmocka_unit_test(test_scalars__slice_has_what_lies_in_the_range),
        cmocka_unit_test(test_scalars__refuses_when_there_are_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
