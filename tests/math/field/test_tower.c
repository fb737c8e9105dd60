/* SPDX-License-Identifier: Apache-2.0 */
#include "support/testpoint.h"

#include "math/field/tower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define N_ROUNDS 50

static void random2(const curve *c, testrand *rnd, fe2 *r) {
    testrand_fe(rnd, &c->fq, r->c0.l);
    testrand_fe(rnd, &c->fq, r->c1.l);
}

static void random12(const curve *c, testrand *rnd, fe12 *r) {
    memset(r, 0, sizeof *r);
    fe2 *coefficients[6] = {&r->c0.c0, &r->c0.c1, &r->c0.c2, &r->c1.c0, &r->c1.c1, &r->c1.c2};
    for (int i = 0; i < 6; i++) random2(c, rnd, coefficients[i]);
}

static void add12(const curve *c, fe12 *r, const fe12 *a, const fe12 *b) {
    fe2_add(c, &r->c0.c0, &a->c0.c0, &b->c0.c0);
    fe2_add(c, &r->c0.c1, &a->c0.c1, &b->c0.c1);
    fe2_add(c, &r->c0.c2, &a->c0.c2, &b->c0.c2);
    fe2_add(c, &r->c1.c0, &a->c1.c0, &b->c1.c0);
    fe2_add(c, &r->c1.c1, &a->c1.c1, &b->c1.c1);
    fe2_add(c, &r->c1.c2, &a->c1.c2, &b->c1.c2);
}

/* r = a^q, bit by bit */
static void pow_q(const curve *c, fe12 *r, const fe12 *a) {
    const fe12 base = *a;
    fe12_set_one(c, r);
    for (unsigned i = c->fq.m.n_bits; i-- > 0;) {
        fe12_mul(c, r, r, r);
        if (c->fq.m.p[i / 64] >> (i % 64) & 1) fe12_mul(c, r, r, &base);
    }
}

/* A random element with a^(q^4 - q^2 + 1) = 1. */
static void random_cyclotomic(const curve *c, testrand *rnd, fe12 *r) {
    fe12 a, inv;
    random12(c, rnd, &a);
    fe12_inv(c, &inv, &a);
    fe12_conj(c, &a, &a);
    fe12_mul(c, &a, &a, &inv);
    fe12_frobenius(c, r, &a, 2);
    fe12_mul(c, r, r, &a);
}

static void check_fe2_schoolbook(const curve *c, testrand *rnd) {
    const field *f = &c->fq;
    for (int i = 0; i < N_ROUNDS; i++) {
        fe2 a = {0}, b = {0}, r = {0}, want = {0};
        fe s, t;
        random2(c, rnd, &a);
        random2(c, rnd, &b);
        field_mul(f, s.l, a.c0.l, b.c0.l);
        field_mul(f, t.l, a.c1.l, b.c1.l);
        field_sub(f, want.c0.l, s.l, t.l);
        field_mul(f, s.l, a.c0.l, b.c1.l);
        field_mul(f, t.l, a.c1.l, b.c0.l);
        field_add(f, want.c1.l, s.l, t.l);
        fe2_mul(c, &r, &a, &b);
        assert_true(fe2_equal(c, &r, &want));

        r = a;
        fe2_mul(c, &r, &r, &b);
        assert_true(fe2_equal(c, &r, &want));
        r = b;
        fe2_mul(c, &r, &a, &r);
        assert_true(fe2_equal(c, &r, &want));

        fe2_mul(c, &want, &a, &a);
        fe2_sqr(c, &r, &a);
        assert_true(fe2_equal(c, &r, &want));
        fe2_mul(c, &a, &a, &a);
        assert_true(fe2_equal(c, &a, &want));

        fe2_mul(c, &want, &b, &c->xi);
        fe2_mul_xi(c, &r, &b);
        assert_true(fe2_equal(c, &r, &want));
        fe2_mul_xi(c, &b, &b);
        assert_true(fe2_equal(c, &b, &want));
    }
}

static void check_fe2_inverse(const curve *c, testrand *rnd) {
    fe2 a = {0}, r = {0}, one = {0}, zero = {0};
    fe2_set_one(c, &one);
    for (int i = 0; i < N_ROUNDS; i++) {
        random2(c, rnd, &a);
        if (i == 0) field_set_zero(&c->fq, a.c0.l);
        if (i == 1) field_set_zero(&c->fq, a.c1.l);
        fe2_inv(c, &r, &a);
        fe2_mul(c, &r, &r, &a);
        assert_true(fe2_equal(c, &r, &one));
    }
    fe2_inv(c, &r, &zero);
    assert_true(fe2_is_zero(c, &r));
}

static void check_fe2_sqrt(const curve *c, testrand *rnd) {
    unsigned n_squares = 0;
    for (int i = 0; i < N_ROUNDS; i++) {
        fe2 a = {0}, aa = {0}, r = {0};
        random2(c, rnd, &a);
        if (i < 10) field_set_zero(&c->fq, i % 2 ? a.c0.l : a.c1.l); /* +-squares of Fq */
        if (i == 10) fe2_set_zero(c, &a);
        fe2_sqr(c, &aa, &a);
        assert_true(fe2_sqrt(c, &r, &aa));
        fe2_sqr(c, &r, &r);
        assert_true(fe2_equal(c, &r, &aa));

        /* xi is no square, so exactly one of a and xi a is, unless a = 0 */
        fe2 xi_a = {0};
        fe2_mul_xi(c, &xi_a, &a);
        const bool square = fe2_sqrt(c, &r, &a);
        n_squares += square;
        if (!fe2_is_zero(c, &a)) assert_true(square != fe2_sqrt(c, &r, &xi_a));
    }
    assert_in_range(n_squares, 15, 45);
}

static void check_fe12_ring(const curve *c, testrand *rnd) {
    for (int i = 0; i < N_ROUNDS; i++) {
        fe12 a, b, d, s, t, u;
        random12(c, rnd, &a);
        random12(c, rnd, &b);
        random12(c, rnd, &d);
        fe12_mul(c, &s, &a, &b);
        fe12_mul(c, &t, &b, &a);
        assert_true(fe12_equal(c, &s, &t));
        fe12_mul(c, &s, &s, &d); /* (ab)d = a(bd) */
        fe12_mul(c, &t, &b, &d);
        fe12_mul(c, &t, &a, &t);
        assert_true(fe12_equal(c, &s, &t));
        add12(c, &s, &a, &b); /* (a+b)d = ad + bd */
        fe12_mul(c, &s, &s, &d);
        fe12_mul(c, &t, &a, &d);
        fe12_mul(c, &u, &b, &d);
        add12(c, &t, &t, &u);
        assert_true(fe12_equal(c, &s, &t));
        fe12_mul(c, &s, &a, &a);
        fe12_sqr(c, &t, &a);
        assert_true(fe12_equal(c, &s, &t));
        fe12_inv(c, &s, &a);
        fe12_mul(c, &s, &s, &a);
        assert_true(fe12_is_one(c, &s));
        assert_false(fe12_is_one(c, &a));
    }
}

static void check_fe12_w6_is_xi(const curve *c, testrand *rnd) {
    (void)rnd;
    fe12 w, v, r, xi;
    memset(&w, 0, sizeof w);
    memset(&v, 0, sizeof v);
    memset(&xi, 0, sizeof xi);
    fe2_set_one(c, &w.c1.c0);
    fe2_set_one(c, &v.c0.c1);
    xi.c0.c0 = c->xi;
    fe12_mul(c, &r, &w, &w);
    assert_true(fe12_equal(c, &r, &v));
    fe12_mul(c, &r, &v, &v);
    fe12_mul(c, &r, &r, &v);
    assert_true(fe12_equal(c, &r, &xi));
}

static void check_fe12_aliasing(const curve *c, testrand *rnd) {
    fe12 a, b, want, r;
    random12(c, rnd, &a);
    random12(c, rnd, &b);
    fe12_mul(c, &want, &a, &b);
    r = a;
    fe12_mul(c, &r, &r, &b);
    assert_true(fe12_equal(c, &r, &want));
    r = b;
    fe12_mul(c, &r, &a, &r);
    assert_true(fe12_equal(c, &r, &want));
    fe12_mul(c, &want, &a, &a);
    r = a;
    fe12_mul(c, &r, &r, &r);
    assert_true(fe12_equal(c, &r, &want));
    r = a;
    fe12_sqr(c, &r, &r);
    assert_true(fe12_equal(c, &r, &want));
    fe12_inv(c, &want, &a);
    r = a;
    fe12_inv(c, &r, &r);
    assert_true(fe12_equal(c, &r, &want));
    fe12_conj(c, &want, &a);
    r = a;
    fe12_conj(c, &r, &r);
    assert_true(fe12_equal(c, &r, &want));
    for (unsigned k = 1; k <= 3; k++) {
        fe12_frobenius(c, &want, &a, k);
        r = a;
        fe12_frobenius(c, &r, &r, k);
        assert_true(fe12_equal(c, &r, &want));
    }
    random_cyclotomic(c, rnd, &a);
    fe12_sqr_cyclotomic(c, &want, &a);
    r = a;
    fe12_sqr_cyclotomic(c, &r, &r);
    assert_true(fe12_equal(c, &r, &want));
}

static void check_fe12_frobenius(const curve *c, testrand *rnd) {
    fe12 a, want, r;
    random12(c, rnd, &a);
    want = a;
    for (unsigned k = 1; k <= 3; k++) {
        pow_q(c, &want, &want);
        fe12_frobenius(c, &r, &a, k);
        assert_true(fe12_equal(c, &r, &want));
    }
    fe12_frobenius(c, &r, &r, 3);
    fe12_conj(c, &want, &a);
    assert_true(fe12_equal(c, &r, &want));
}

static void check_fe12_sqr_cyclotomic(const curve *c, testrand *rnd) {
    for (int i = 0; i < N_ROUNDS; i++) {
        fe12 a, want, r;
        random_cyclotomic(c, rnd, &a);
        fe12_mul(c, &want, &a, &a);
        fe12_sqr_cyclotomic(c, &r, &a);
        assert_true(fe12_equal(c, &r, &want));
    }
}

static void check_fe12_mul_line(const curve *c, testrand *rnd) {
    for (int i = 0; i < N_ROUNDS; i++) {
        fe12 a, line, want;
        fe2 l[3];
        memset(l, 0, sizeof l);
        memset(&line, 0, sizeof line);
        random12(c, rnd, &a);
        for (int j = 0; j < 3; j++) random2(c, rnd, &l[j]);
        if (c->params->twist_is_m) {
            line.c0.c0 = l[2];
            line.c0.c1 = l[1];
            line.c1.c1 = l[0];
        } else {
            line.c0.c0 = l[0];
            line.c1.c0 = l[1];
            line.c1.c1 = l[2];
        }
        fe12_mul(c, &want, &a, &line);
        fe12_mul_line(c, &a, &a, l);
        assert_true(fe12_equal(c, &a, &want));
    }
}

#define TEST(name, check)                                                                     \
    static void name(void **state) {                                                          \
        (void)state;                                                                          \
        testpoint_each_curve(check);                                                          \
    }
TEST(test_fe2__products_match_schoolbook_also_aliased, check_fe2_schoolbook)
TEST(test_fe2__inverse_times_element_is_one, check_fe2_inverse)
TEST(test_fe2__sqrt_exists_for_exactly_the_squares, check_fe2_sqrt)
TEST(test_fe12__is_a_commutative_ring_with_inverses, check_fe12_ring)
TEST(test_fe12__w6_is_xi, check_fe12_w6_is_xi)
TEST(test_fe12__results_may_alias_operands, check_fe12_aliasing)
TEST(test_fe12__frobenius_is_the_power_of_q, check_fe12_frobenius)
TEST(test_fe12__cyclotomic_square_matches_product, check_fe12_sqr_cyclotomic)
TEST(test_fe12__line_product_matches_full_product, check_fe12_mul_line)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fe2__products_match_schoolbook_also_aliased),
        cmocka_unit_test(test_fe2__inverse_times_element_is_one),
        cmocka_unit_test(test_fe2__sqrt_exists_for_exactly_the_squares),
        cmocka_unit_test(test_fe12__is_a_commutative_ring_with_inverses),
        cmocka_unit_test(test_fe12__w6_is_xi),
        cmocka_unit_test(test_fe12__results_may_alias_operands),
        cmocka_unit_test(test_fe12__frobenius_is_the_power_of_q),
        cmocka_unit_test(test_fe12__cyclotomic_square_matches_product),
        cmocka_unit_test(test_fe12__line_product_matches_full_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
