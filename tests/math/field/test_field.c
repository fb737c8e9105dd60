/* SPDX-License-Identifier: Apache-2.0 */
#include "support/bigref.h"
#include "support/testrand.h"

#include "math/field/field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BN254_Q "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"
#define BN254_R "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"
#define BLS12_381_Q                                                                           \
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9fe"    \
    "ffffffffaaab"
#define BLS12_381_R "73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001"

static const struct {
    const char *hex, *dec; /* dec: p in decimal */
    unsigned n_limbs, n_bits, two_adicity;
    uint64_t nonresidue;
} known[] = {
    {BN254_Q, "21888242871839275222246405745257275088696311157297823662689037894645226208583",
     4, 254, 1, 3},
    {BN254_R, "21888242871839275222246405745257275088548364400416034343698204186575808495617",
     4, 254, 28, 5},
    {BLS12_381_Q,
     "400240955522166739341778982573590415655688281993900788533205813612403165049083786444"
     "2687629129015664037894272559787",
     6, 381, 1, 2},
    {BLS12_381_R,
     "52435875175126190479447740508185965837690552500527637822603658699938581184513", 4, 255,
     32, 5},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

typedef void field_check(const field *f, unsigned k, testrand *rnd);
static void each_field(field_check *check) {
    cuzk_cpu_level level;
    testrand rnd;
    testrand_init(&rnd);
    assert_int_equal(cuzk_cpu_select(&level, getenv("CUZK_CPU"), NULL), CUZK_OK);
    for (unsigned k = 0; k < N_KNOWN; k++) {
        field f;
        field_init(&f, known[k].hex, known[k].n_limbs, level);
        check(&f, k, &rnd);
    }
}

static big modulus(const field *f) { return big_from(f->m.p, f->m.n_limbs); }

/* The number that a Montgomery form stands for, by its definition. */
static big value(const field *f, const uint64_t *a) {
    uint64_t plain[LIMBS_MAX];
    f->ops->from_mont(plain, a, &f->m);
    const big v = big_from(plain, f->m.n_limbs), r = big_power_of_two(64 * f->m.n_limbs);
    assert_int_equal(
        big_compare(big_mod(big_mul(v, r), modulus(f)), big_from(a, f->m.n_limbs)), 0);
    return v;
}

static void to_le(const field *f, uint8_t *bytes, big v) {
    for (unsigned i = 0; i < f->n_bytes; i++) bytes[i] = (uint8_t)(v.w[i / 8] >> 8 * (i % 8));
}

/* The text of a number by repeated subtraction of powers of ten. */
static size_t to_dec(char *text, big v) {
    big power[FIELD_DEC_MAX] = {big_u64(1)};
    unsigned top = 0;
    while (big_compare(power[top], v) <= 0 && top + 1 < FIELD_DEC_MAX) {
        power[top + 1] = big_mul(power[top], big_u64(10));
        top++;
    }
    size_t n = 0;
    for (unsigned k = top + 1; k-- > 0;) {
        char digit = '0';
        for (; big_compare(power[k], v) <= 0; digit++) v = big_sub(v, power[k]);
        if (digit != '0' || n > 0 || k == 0) text[n++] = digit;
    }
    text[n] = '\0';
    return n;
}

/* ---- init and constants ---- */

static void check_init(const field *f, unsigned k, testrand *rnd) {
    (void)rnd;
    assert_int_equal(f->n_bytes, 8 * known[k].n_limbs);
    assert_int_equal(f->m.n_bits, known[k].n_bits);
    assert_int_equal(f->two_adicity, known[k].two_adicity);
    assert_true(field_least_nonresidue(f) == known[k].nonresidue);
    char text[FIELD_DEC_MAX];
    to_dec(text, modulus(f));
    assert_string_equal(text, known[k].dec);
}

static void test_field_init__reads_the_modulus(void **state) {
    (void)state;
    each_field(check_init);
}

static void check_small(const field *f, unsigned k, testrand *rnd) {
    static const uint64_t values[] = {0, 1, 2, 10, UINT64_C(1) << 63, UINT64_MAX};
    (void)k, (void)rnd;
    fe a, b;
    memset(&a, 0xff, sizeof a);
    field_set_zero(f, a.l);
    assert_true(field_is_zero(f, a.l));
    field_set_one(f, a.l);
    assert_false(field_is_zero(f, a.l));
    assert_int_equal(big_compare(value(f, a.l), big_u64(1)), 0);
    for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
        field_set_u64(f, a.l, values[i]);
        assert_int_equal(big_compare(value(f, a.l), big_u64(values[i])), 0);
        field_copy(f, b.l, a.l);
        assert_true(field_equal(f, a.l, b.l));
        b.l[f->m.n_limbs - 1] ^= 1; /* the last word counts */
        assert_false(field_equal(f, a.l, b.l));
    }
    field_set_zero(f, a.l);
    a.l[f->m.n_limbs - 1] = 1;
    assert_false(field_is_zero(f, a.l));
}

static void test_field__small_values(void **state) {
    (void)state;
    each_field(check_small);
}

static void check_operations(const field *f, unsigned k, testrand *rnd) {
    (void)k;
    const big p = modulus(f);
    fe a, b, r;
    for (int i = 0; i < 20; i++) {
        testrand_fe(rnd, f, a.l);
        testrand_fe(rnd, f, b.l);
        const big x = value(f, a.l), y = value(f, b.l);
        field_mul(f, r.l, a.l, b.l);
        assert_int_equal(big_compare(value(f, r.l), big_mod(big_mul(x, y), p)), 0);
        field_sqr(f, r.l, a.l);
        assert_int_equal(big_compare(value(f, r.l), big_mod(big_mul(x, x), p)), 0);
        field_add(f, r.l, a.l, b.l);
        assert_int_equal(big_compare(value(f, r.l), big_mod(big_add(x, y), p)), 0);
        field_sub(f, r.l, a.l, b.l);
        assert_int_equal(big_compare(value(f, r.l), big_mod(big_add(x, big_sub(p, y)), p)), 0);
        field_neg(f, r.l, a.l);
        assert_int_equal(big_compare(value(f, r.l), big_mod(big_sub(p, x), p)), 0);
        field_inv(f, r.l, a.l);
        assert_int_equal(big_compare(big_mod(big_mul(value(f, r.l), x), p), big_u64(1)), 0);
    }
}

static void test_field__operations_match_naturals(void **state) {
    (void)state;
    each_field(check_operations);
}

/* ---- powers and roots ---- */

static void check_pow(const field *f, unsigned k, testrand *rnd) {
    (void)k;
    fe a, r, e = {{0}};
    testrand_fe(rnd, f, a.l);
    const uint64_t small[] = {0, 1, 2, 3, 65537};
    for (unsigned i = 0; i < sizeof small / sizeof small[0]; i++) {
        field_pow(f, r.l, a.l, &small[i], 1);
        assert_int_equal(
            big_compare(value(f, r.l),
                        big_pow_mod(value(f, a.l), big_u64(small[i]), modulus(f))),
            0);
    }
    for (unsigned i = 0; i < f->m.n_limbs; i++) e.l[i] = testrand_u64(rnd);
    const big expected = big_pow_mod(value(f, a.l), big_from(e.l, f->m.n_limbs), modulus(f));
    field_pow(f, r.l, a.l, e.l, f->m.n_limbs);
    assert_int_equal(big_compare(value(f, r.l), expected), 0);
    field_pow(f, a.l, a.l, e.l, f->m.n_limbs);
    assert_true(field_equal(f, a.l, r.l));
    field_pow(f, e.l, r.l, e.l, f->m.n_limbs); /* result in place of the exponent */
    field_set_zero(f, a.l);
    field_pow(f, r.l, a.l, &small[0], 1);
    assert_true(field_equal(f, r.l, f->m.r)); /* 0^0 = 1 */
    field_pow(f, r.l, a.l, &small[3], 1);
    assert_true(field_is_zero(f, r.l));
}

static void test_field_pow__matches_naturals(void **state) {
    (void)state;
    each_field(check_pow);
}

static void check_sqrt(const field *f, unsigned k, testrand *rnd) {
    (void)k;
    fe a, square, r, g;
    field_set_u64(f, g.l, field_least_nonresidue(f));
    for (int i = 0; i < 60; i++) {
        testrand_fe(rnd, f, a.l);
        if (i < 2) field_set_u64(f, a.l, (uint64_t)i);
        if (i >= 2 && i < 2 + (int)f->two_adicity) { /* roots of unity of every order */
            field_root_of_unity(f, a.l, field_least_nonresidue(f), (unsigned)i - 1);
        }
        field_sqr(f, square.l, a.l);
        assert_true(field_sqrt(f, r.l, square.l));
        field_neg(f, g.l, r.l);
        assert_true(field_equal(f, r.l, a.l) || field_equal(f, g.l, a.l));
        if (field_is_zero(f, a.l)) continue;
        field_set_u64(f, g.l, field_least_nonresidue(f));
        field_mul(f, square.l, square.l, g.l);
        r = g;
        assert_false(field_sqrt(f, r.l, square.l));
        assert_true(field_equal(f, r.l, g.l)); /* untouched */
        field_sqr(f, square.l, a.l);
        assert_true(field_sqrt(f, square.l, square.l)); /* in place */
    }
}

static void test_field_sqrt__finds_roots_of_squares_only(void **state) {
    (void)state;
    each_field(check_sqrt);
}

static void check_roots(const field *f, unsigned k, testrand *rnd) {
    (void)rnd;
    fe w, minus_one;
    field_neg(f, minus_one.l, f->m.r);
    for (unsigned log_n = 0; log_n <= f->two_adicity; log_n++) {
        field_root_of_unity(f, w.l, known[k].nonresidue, log_n);
        for (unsigned i = 1; i < log_n; i++) field_sqr(f, w.l, w.l);
        assert_true(
            field_equal(f, w.l, log_n == 0 ? f->m.r : minus_one.l)); /* order 2^log_n */
    }
}

static void test_field_root_of_unity__has_the_order_asked_for(void **state) {
    (void)state;
    each_field(check_roots);
}

/* ---- outside forms ---- */

static void reverse(uint8_t *r, const uint8_t *a, unsigned n) {
    for (unsigned i = 0; i < n; i++) r[i] = a[n - 1 - i];
}

static void expect_accepted(const field *f, big v) {
    uint8_t le[8 * LIMBS_MAX + 1], be[8 * LIMBS_MAX], back[8 * LIMBS_MAX];
    uint8_t *odd = le + 1; /* unaligned */
    char text[FIELD_DEC_MAX], again[FIELD_DEC_MAX];
    fe a;
    to_le(f, odd, v);
    reverse(be, odd, f->n_bytes);
    assert_true(field_is_canonical_le(f, odd));

    assert_true(field_load_le(f, a.l, odd));
    assert_int_equal(big_compare(value(f, a.l), v), 0);
    field_store_le(f, back, a.l);
    assert_memory_equal(back, odd, f->n_bytes);

    memset(&a, 0, sizeof a);
    assert_true(field_load_be(f, a.l, be));
    assert_int_equal(big_compare(value(f, a.l), v), 0);
    field_store_be(f, back, a.l);
    assert_memory_equal(back, be, f->n_bytes);

    const size_t n = to_dec(text, v);
    memset(&a, 0, sizeof a);
    assert_true(field_load_dec(f, a.l, text, n));
    assert_int_equal(big_compare(value(f, a.l), v), 0);
    assert_int_equal(field_store_dec(f, again, a.l), n);
    assert_string_equal(again, text);

    assert_true(field_load_mont(f, a.l, odd)); /* the words as they are */
    assert_int_equal(big_compare(big_from(a.l, f->m.n_limbs), v), 0);
    field_store_mont(f, back, a.l);
    assert_memory_equal(back, odd, f->n_bytes);
}

static void expect_refused(const field *f, big v) {
    uint8_t le[8 * LIMBS_MAX], be[8 * LIMBS_MAX];
    char text[FIELD_DEC_MAX];
    fe a = {{7, 7, 7, 7, 7, 7}};
    const fe before = a;
    to_le(f, le, v);
    reverse(be, le, f->n_bytes);
    assert_false(field_is_canonical_le(f, le));
    assert_false(field_load_le(f, a.l, le));
    assert_false(field_load_be(f, a.l, be));
    assert_false(field_load_mont(f, a.l, le));
    assert_false(field_load_dec(f, a.l, text, to_dec(text, v)));
    assert_memory_equal(&a, &before, sizeof a); /* a refused value leaves no trace */
}

static void check_forms(const field *f, unsigned k, testrand *rnd) {
    (void)k;
    const big p = modulus(f), one = big_u64(1);
    expect_accepted(f, big_u64(0));
    expect_accepted(f, one);
    expect_accepted(f, big_sub(p, one));
    expect_accepted(f, big_sub(p, big_u64(2)));
    for (unsigned bit = 0; bit < f->m.n_bits - 1; bit += 7) {
        expect_accepted(f, big_power_of_two(bit));
        expect_accepted(f, big_sub(big_power_of_two(bit + 1), one));
    }
    for (int i = 0; i < 20; i++) {
        fe a;
        testrand_fe(rnd, f, a.l);
        expect_accepted(f, big_from(a.l, f->m.n_limbs));
    }
    expect_refused(f, p);
    expect_refused(f, big_add(p, one));
    expect_refused(f, big_add(p, p));
    expect_refused(f, big_power_of_two(f->m.n_bits));
    expect_refused(f, big_sub(big_power_of_two(64 * f->m.n_limbs), one)); /* all ones */
    for (unsigned i = 0; i < f->m.n_limbs; i++) { /* p with one limb larger */
        if (i + 1 < f->m.n_limbs && f->m.p[i] == UINT64_MAX) continue;
        big v = p;
        v.w[i] += 1;
        expect_refused(f, v);
    }
}

static void test_field__outside_forms_round_trip_and_refuse_values_from_p_up(void **state) {
    (void)state;
    each_field(check_forms);
}

static void check_decimal(const field *f, unsigned k, testrand *rnd) {
    (void)rnd;
    static const char *const bad[] = {"",   "-1",  "+1",  " 1", "1 ", "0x1",
                                      "1a", "1.0", "1\n", "/",  ":"};
    fe a, two;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(field_load_dec(f, a.l, bad[i], strlen(bad[i])));
    }
    assert_false(field_load_dec(f, a.l, known[k].dec, strlen(known[k].dec)));
    assert_false(field_load_dec(f, a.l, "1\0", 2));

    char wrapped[FIELD_DEC_MAX]; /* 2^(64 n) + 5 is not 5 */
    const big beyond = big_add(big_power_of_two(64 * f->m.n_limbs), big_u64(5));
    assert_false(field_load_dec(f, a.l, wrapped, to_dec(wrapped, beyond)));

    field_set_u64(f, two.l, 2);
    assert_true(field_load_dec(f, a.l, "2junk", 1)); /* no further than n_chars */
    assert_true(field_equal(f, a.l, two.l));
    char text[400]; /* leading zeros are no value */
    memset(text, '0', sizeof text);
    assert_true(field_load_dec(f, a.l, text, sizeof text));
    assert_true(field_is_zero(f, a.l));
    text[sizeof text - 1] = '2';
    assert_true(field_load_dec(f, a.l, text, sizeof text));
    assert_true(field_equal(f, a.l, two.l));
    memset(text, '9', sizeof text); /* would wrap many times */
    for (size_t n = 100; n < sizeof text; n++)
        assert_false(field_load_dec(f, a.l, text, 20 + n));
}

static void test_field_load_dec__takes_digits_only(void **state) {
    (void)state;
    each_field(check_decimal);
}

static void check_random(const field *f, unsigned k, testrand *rnd) {
    (void)k, (void)rnd;
    fe a, seen_ones = {{0}}, seen_zeros = {{0}};
    for (int i = 0; i < 200; i++) {
        assert_int_equal(field_random(f, a.l, NULL), CUZK_OK);
        assert_true(big_compare(big_from(a.l, f->m.n_limbs), modulus(f)) < 0);
        for (unsigned j = 0; j < f->m.n_limbs; j++) {
            seen_ones.l[j] |= a.l[j];
            seen_zeros.l[j] |= ~a.l[j];
        }
    }
    /* Every bit takes both values (the top one of p is set in half of BN254's values, less in
     * others, but in none of 200 with negligible probability). */
    for (unsigned bit = 0; bit < f->m.n_bits; bit++) {
        assert_true((seen_ones.l[bit / 64] >> bit % 64 & 1) != 0);
        assert_true((seen_zeros.l[bit / 64] >> bit % 64 & 1) != 0);
    }
}

static void test_field_random__fills_every_bit_below_p(void **state) {
    (void)state;
    each_field(check_random);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field_init__reads_the_modulus),
        cmocka_unit_test(test_field__small_values),
        cmocka_unit_test(test_field__operations_match_naturals),
        cmocka_unit_test(test_field_pow__matches_naturals),
        cmocka_unit_test(test_field_sqrt__finds_roots_of_squares_only),
        cmocka_unit_test(test_field_root_of_unity__has_the_order_asked_for),
        cmocka_unit_test(test_field__outside_forms_round_trip_and_refuse_values_from_p_up),
        cmocka_unit_test(test_field_load_dec__takes_digits_only),
        cmocka_unit_test(test_field_random__fills_every_bit_below_p),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
