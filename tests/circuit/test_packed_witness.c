/* SPDX-License-Identifier: Apache-2.0 */
/* circuit/packed_witness: what was packed comes out again, and bits take two bits. */
#include "circuit/packed_witness.h"

#include "base/alloc.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { VALUE_BYTES = 32 };

typedef enum mix { MIX_ZEROS, MIX_ONES, MIX_WIDE, MIX_BITS, MIX_RANDOM, N_MIXES } mix;

static const size_t sizes[] = {0, 1, 63, 64, 65, 1023, 1024, 1025, 2049, 5000};

typedef struct fixture {
    testrand *rnd;
    cuzk_exec *exec;
    size_t n, n_wide; /* counted apart */
    uint8_t *values, *data;
    packed_witness w;
} fixture;

/* Wide values are wide by one bit, anywhere, half of the time. */
static void set_wide(testrand *rnd, uint8_t *v) {
    if (testrand_below(rnd, 2)) {
        testrand_bytes(rnd, v, VALUE_BYTES);
        return;
    }
    const uint64_t bit = 1 + testrand_below(rnd, 8 * VALUE_BYTES - 1);
    v[0] = (uint8_t)testrand_below(rnd, 2);
    v[bit / 8] = (uint8_t)(v[bit / 8] | 1u << bit % 8);
}

static void set_value(testrand *rnd, uint8_t *v, mix how) {
    const uint64_t kind = how == MIX_ZEROS  ? 0
                          : how == MIX_ONES ? 1
                          : how == MIX_WIDE ? 2
                                            : testrand_below(rnd, how == MIX_BITS ? 2 : 3);
    memset(v, 0, VALUE_BYTES);
    if (kind == 1) v[0] = 1;
    if (kind == 2) set_wide(rnd, v);
}

static bool is_wide(const uint8_t *v) {
    static const uint8_t zeros[VALUE_BYTES - 1];
    return v[0] > 1 || memcmp(v + 1, zeros, sizeof zeros) != 0;
}

static void fixture_init(fixture *f, testrand *rnd, mix how, size_t n, unsigned n_threads,
                         size_t shift) {
    *f = (fixture){.rnd = rnd, .n = n};
    assert_int_equal(cuzk_exec_create(&f->exec, n_threads, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&f->values, n * VALUE_BYTES + shift, 1, NULL), CUZK_OK);
    uint8_t *v = f->values + shift;
    for (size_t i = 0; i < n; i++) {
        set_value(rnd, v + i * VALUE_BYTES, how);
        f->n_wide += is_wide(v + i * VALUE_BYTES);
    }
    packed_draft d;
    assert_int_equal(packed_draft_init(&d, v, n, f->exec, NULL), CUZK_OK);
    assert_int_equal(d.n_wide, f->n_wide);
    assert_int_equal(cuzk_alloc(&f->data, d.n_bytes, 1, NULL), CUZK_OK);
    memset(f->data, 0xA5, d.n_bytes);
    packed_draft_pack(&f->w, f->data, &d, f->exec);
    assert_int_equal(f->w.n_bytes, d.n_bytes);
    packed_draft_fini(&d);
    assert_null(d.head);
}

static void fixture_fini(fixture *f) {
    cuzk_free(f->values);
    cuzk_free(f->data);
    cuzk_exec_destroy(f->exec);
}

static void assert_range_comes_out(const fixture *f, const uint8_t *values, size_t first,
                                   size_t count) {
    uint8_t *out;
    assert_int_equal(cuzk_alloc(&out, count * VALUE_BYTES + 1, 1, NULL), CUZK_OK);
    out[count * VALUE_BYTES] = 0x5A;
    packed_witness_unpack(out, &f->w, first, count);
    assert_memory_equal(out, values + first * VALUE_BYTES, count * VALUE_BYTES);
    assert_int_equal(out[count * VALUE_BYTES], 0x5A);
    cuzk_free(out);
}

static void check(testrand *rnd, mix how, size_t n, unsigned n_threads, size_t shift) {
    fixture f;
    fixture_init(&f, rnd, how, n, n_threads, shift);
    assert_int_equal(f.w.n, n);
    assert_int_equal(f.w.n_wide, f.n_wide);
    assert_range_comes_out(&f, f.values + shift, 0, n);
    for (int i = 0; i < 20; i++) {
        const size_t first = testrand_below(rnd, n + 1);
        assert_range_comes_out(&f, f.values + shift, first,
                               testrand_below(rnd, n - first + 1));
    }
    fixture_fini(&f);
}

static void test_packed_witness__comes_out_as_it_went_in(void **state) {
    for (int how = 0; how < N_MIXES; how++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check(*state, (mix)how, sizes[i], 1 + (unsigned)i % 3, i % 2 ? 3 : 0);
        }
    }
}

static void test_packed_witness__comes_out_as_it_went_in_when_large(void **state) {
    check(*state, MIX_RANDOM, 1000000, 2, 0);
}

static bool bit_of(const uint64_t *words, size_t i) { return words[i / 64] >> i % 64 & 1; }

/* What a device relies on. */
static void test_packed_witness__lies_in_data_as_promised(void **state) {
    fixture f;
    fixture_init(&f, *state, MIX_RANDOM, 3500, 2, 0);
    const packed_witness *w = &f.w;
    size_t n_wide = 0;
    assert_ptr_equal(w->data, f.data);
    assert_ptr_equal((const uint8_t *)w->ones, w->data);
    assert_true((const uint8_t *)w->wide >= (const uint8_t *)(w->ones + 4 * 16));
    assert_true((const uint8_t *)w->first_wide >= (const uint8_t *)(w->wide + 4 * 16));
    assert_true(w->values >= (const uint8_t *)(w->first_wide + 5));
    assert_ptr_equal(w->values + w->n_wide * VALUE_BYTES, w->data + w->n_bytes);
    assert_int_equal((uintptr_t)w->wide % 64, 0);
    assert_int_equal((uintptr_t)w->first_wide % 64, 0);
    assert_int_equal((uintptr_t)w->values % 64, 0);
    for (size_t i = 0; i < 4 * PACKED_BLOCK; i++) {
        const uint8_t *v = f.values + i * VALUE_BYTES;
        if (i % PACKED_BLOCK == 0) assert_int_equal(w->first_wide[i / PACKED_BLOCK], n_wide);
        const bool wide = i < f.n && is_wide(v);
        assert_int_equal(bit_of(w->wide, i), wide);
        assert_int_equal(bit_of(w->ones, i), i < f.n && !wide && v[0]);
        n_wide += wide;
    }
    assert_int_equal(w->first_wide[4], n_wide);
    fixture_fini(&f);
}

static void test_packed_witness__takes_two_bits_a_value_when_all_are_bits(void **state) {
    fixture f;
    fixture_init(&f, *state, MIX_BITS, (size_t)1 << 17, 1, 0);
    assert_int_equal(f.w.n_wide, 0);
    assert_in_range(f.w.n_bytes, ((size_t)1 << 17) / 4, ((size_t)1 << 17) / 4 + 1024);
    fixture_fini(&f);
}

static void test_packed_witness__is_the_same_without_a_draft(void **state) {
    fixture f;
    size_t n_bytes;
    uint8_t *data;
    packed_witness w;
    fixture_init(&f, *state, MIX_RANDOM, 3500, 2, 0);
    assert_int_equal(packed_witness_bytes(&n_bytes, f.values, f.n, f.exec, NULL), CUZK_OK);
    assert_int_equal(n_bytes, f.w.n_bytes);
    assert_int_equal(cuzk_alloc(&data, n_bytes, 1, NULL), CUZK_OK);
    assert_int_equal(packed_witness_pack(&w, data, n_bytes, f.values, f.n, f.exec, NULL),
                     CUZK_OK);
    assert_int_equal(w.n_wide, f.w.n_wide);
    assert_memory_equal(w.ones, f.w.ones, f.n / 8);
    assert_memory_equal(w.values, f.w.values, w.n_wide * VALUE_BYTES);
    cuzk_free(data);
    fixture_fini(&f);
}

static void test_packed_witness__is_refused_when_32_bits_cannot_count_it(void **state) {
    (void)state;
    size_t n_bytes;
    assert_int_equal(packed_witness_bytes(&n_bytes, NULL, (size_t)UINT32_MAX + 1, NULL, NULL),
                     CUZK_ERR_NOMEM);
}

static int set_up(void **state) {
    static testrand rnd;
    testrand_init(&rnd);
    *state = &rnd;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_witness__comes_out_as_it_went_in),
        cmocka_unit_test(test_packed_witness__comes_out_as_it_went_in_when_large),
        cmocka_unit_test(test_packed_witness__lies_in_data_as_promised),
        cmocka_unit_test(test_packed_witness__takes_two_bits_a_value_when_all_are_bits),
        cmocka_unit_test(test_packed_witness__is_the_same_without_a_draft),
        cmocka_unit_test(test_packed_witness__is_refused_when_32_bits_cannot_count_it),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
