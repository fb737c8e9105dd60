/* SPDX-License-Identifier: Apache-2.0 */
#include "support/testpoint.h"

#include "math/field/tower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* r = value of the integer polynomial at the seed, coefficients from the constant term up. */
static void at_seed(const curve *c, const field *f, fe *r, const int *coefficients, size_t n) {
    fe x, t;
    field_set_u64(f, x.l, c->params->x);
    if (c->params->x_negative) field_neg(f, x.l, x.l);
    field_set_zero(f, r->l);
    for (size_t i = n; i-- > 0;) {
        field_mul(f, r->l, r->l, x.l);
        field_set_u64(f, t.l,
                      (uint64_t)(coefficients[i] < 0 ? -coefficients[i] : coefficients[i]));
        if (coefficients[i] < 0) field_neg(f, t.l, t.l);
        field_add(f, r->l, r->l, t.l);
    }
}

/* A modulus divides its polynomial at x, and both have the same size, so they are equal. */
static void check_moduli(const curve *c, testrand *rnd) {
    static const int bn_q[] = {1, 6, 24, 36, 36}, bn_r[] = {1, 6, 18, 36, 36};
    static const int bls_3q[] = {1, 1, 0, 2, 0, -2, 1}, /* (x-1)^2 (x^4-x^2+1) + 3x */
        bls_r[] = {1, 0, -1, 0, 1};
    (void)rnd;
    fe v;
    if (c->params->family == CURVE_FAMILY_BN) {
        at_seed(c, &c->fq, &v, bn_q, 5);
        assert_true(field_is_zero(&c->fq, v.l));
        at_seed(c, &c->fr, &v, bn_r, 5);
        assert_true(field_is_zero(&c->fr, v.l));
        assert_int_equal(c->fq.m.n_bits, 254);
        assert_int_equal(c->fr.m.n_bits, 254);
    } else {
        at_seed(c, &c->fq, &v, bls_3q, 7);
        assert_true(field_is_zero(&c->fq, v.l));
        at_seed(c, &c->fr, &v, bls_r, 5);
        assert_true(field_is_zero(&c->fr, v.l));
        assert_int_equal(c->fq.m.n_bits, 381);
        assert_int_equal(c->fr.m.n_bits, 255);
    }
}

static void check_twist(const curve *c, testrand *rnd) {
    (void)rnd;
    fe2 b = {.c0 = c->b}, t = {0};
    if (c->params->twist_is_m) { /* b2 = b xi, or b2 xi = b */
        fe2_mul(c, &b, &b, &c->xi);
        t = c->b2;
    } else {
        fe2_mul(c, &t, &c->b2, &c->xi);
    }
    assert_true(fe2_equal(c, &t, &b));
}

static void check_frobenius(const curve *c, testrand *rnd) {
    (void)rnd;
    fe2 g = c->xi, g6 = {0}, one = {0};
    fe2_set_one(c, &one);
    for (int k = 0; k < 3; k++) { /* frob[k][i] = g^i, g^6 = xi^(q^(k+1) - 1) */
        assert_true(fe2_equal(c, &c->frob[k][0], &one));
        fe2_pow(c, &g, &g, c->fq.m.p, c->fq.m.n_limbs); /* xi^(q^(k+1)) */
        fe2_mul(c, &g6, &c->frob[k][5], &c->frob[k][1]);
        fe2_mul(c, &g6, &g6, &c->xi);
        assert_true(fe2_equal(c, &g6, &g));
        for (int i = 2; i < 6; i++) {
            fe2 t = {0};
            fe2_mul(c, &t, &c->frob[k][1], &c->frob[k][i - 1]);
            assert_true(fe2_equal(c, &t, &c->frob[k][i]));
        }
    }
}

static void check_endomorphisms(const curve *c, testrand *rnd) {
    point p, phi, k_p, q, psi;
    testpoint_in_subgroup(c, GROUP_G1, &p, rnd);
    phi = p;
    field_mul(&c->fq, phi.x.c0.l, p.x.c0.l, c->beta.l);
    point_mul_fr(c, GROUP_G1, &k_p, &p, &c->lambda);
    assert_true(point_equal(c, GROUP_G1, &phi, &k_p));
    assert_false(point_equal(c, GROUP_G1, &phi, &p));

    testpoint_in_subgroup(c, GROUP_G2, &q, rnd);
    point_psi(c, &psi, &q);
    point_mul_vt(c, GROUP_G2, &k_p, &q, c->fq.m.p, c->fq.m.n_limbs);
    assert_true(point_equal(c, GROUP_G2, &psi, &k_p));
}

static void check_find(const curve *c, testrand *rnd) {
    (void)rnd;
    uint8_t q[8 * LIMBS_MAX + 1] = {0}, r[8 * LIMBS_MAX + 1] = {0};
    const size_t q_bytes = c->fq.n_bytes, r_bytes = c->fr.n_bytes;
    for (size_t i = 0; i < q_bytes; i++) q[i] = (uint8_t)(c->fq.m.p[i / 8] >> (8 * (i % 8)));
    for (size_t i = 0; i < r_bytes; i++) r[i] = (uint8_t)(c->fr.m.p[i / 8] >> (8 * (i % 8)));

    const curve_id none = CURVE_COUNT, want = c->params->id;
    curve_id id = none;
    assert_true(curve_find_by_q(&id, q, q_bytes));
    assert_int_equal(id, want);
    id = none;
    assert_true(curve_find_by_r(&id, r, r_bytes));
    assert_int_equal(id, want);
    id = none;
    assert_true(curve_find_by_name(&id, c->params->name));
    assert_int_equal(id, want);
    id = none;
    assert_true(curve_find_by_name(&id, c->params->snarkjs_name));
    assert_int_equal(id, want);

    id = none;
    assert_false(curve_find_by_q(&id, r, r_bytes));
    assert_false(curve_find_by_q(&id, q, q_bytes - 1));
    assert_false(curve_find_by_q(&id, q, q_bytes + 1));
    assert_false(curve_find_by_q(&id, q, 0));
    assert_false(curve_find_by_r(&id, q, q_bytes));
    assert_false(curve_find_by_name(&id, ""));
    assert_false(curve_find_by_name(&id, "bn25"));
    for (size_t i = 0; i < q_bytes; i++) {
        q[i] ^= 1;
        assert_false(curve_find_by_q(&id, q, q_bytes));
        q[i] ^= 1;
    }
    assert_int_equal(id, none);
}

#define TEST(name, check)                                                                     \
    static void name(void **state) {                                                          \
        (void)state;                                                                          \
        testpoint_each_curve(check);                                                          \
    }
TEST(test_curve__moduli_are_the_polynomials_of_the_family, check_moduli)
TEST(test_curve__twist_constant_matches_xi, check_twist)
TEST(test_curve__frobenius_table_is_powers_of_xi, check_frobenius)
TEST(test_curve__endomorphisms_multiply_by_their_eigenvalues, check_endomorphisms)
TEST(test_curve__is_found_by_modulus_and_name_only, check_find)

static void test_curve__params_is_null_for_unknown_id(void **state) {
    (void)state;
    assert_null(curve_params_of(CURVE_COUNT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve__moduli_are_the_polynomials_of_the_family),
        cmocka_unit_test(test_curve__twist_constant_matches_xi),
        cmocka_unit_test(test_curve__frobenius_table_is_powers_of_xi),
        cmocka_unit_test(test_curve__endomorphisms_multiply_by_their_eigenvalues),
        cmocka_unit_test(test_curve__is_found_by_modulus_and_name_only),
        cmocka_unit_test(test_curve__params_is_null_for_unknown_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
