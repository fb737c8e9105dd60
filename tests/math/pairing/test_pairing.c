/* SPDX-License-Identifier: Apache-2.0 */
#include "support/testpoint.h"

#include "math/pairing/pairing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* r = a^k, k canonical */
static void pow12(const curve *c, fe12 *r, const fe12 *a, const uint64_t *k,
                  unsigned n_limbs) {
    const fe12 base = *a;
    fe12_set_one(c, r);
    for (unsigned i = 64 * n_limbs; i-- > 0;) {
        fe12_sqr(c, r, r);
        if (k[i / 64] >> (i % 64) & 1) fe12_mul(c, r, r, &base);
    }
}

static void random_g1(const curve *c, testrand *rnd, g1_affine *r) {
    point p;
    testpoint_in_subgroup(c, GROUP_G1, &p, rnd);
    point_to_g1(c, r, &p);
}

static void random_g2(const curve *c, testrand *rnd, g2_affine *r) {
    point p;
    testpoint_in_subgroup(c, GROUP_G2, &p, rnd);
    point_to_g2(c, r, &p);
}

static void mul_g1(const curve *c, g1_affine *r, const g1_affine *a, const fe *k) {
    point p;
    point_from_g1(c, &p, a);
    point_mul_fr(c, GROUP_G1, &p, &p, k);
    point_to_g1(c, r, &p);
}

static void mul_g2(const curve *c, g2_affine *r, const g2_affine *a, const fe *k) {
    point p;
    point_from_g2(c, &p, a);
    point_mul_fr(c, GROUP_G2, &p, &p, k);
    point_to_g2(c, r, &p);
}

static void check_bilinear(const curve *c, testrand *rnd) {
    for (int round = 0; round < 3; round++) {
        g1_affine p, ap;
        g2_affine q, bq;
        fe12 e, want, r;
        fe a, b, ab;
        random_g1(c, rnd, &p);
        random_g2(c, rnd, &q);
        testrand_fe(rnd, &c->fr, a.l);
        testrand_fe(rnd, &c->fr, b.l);
        field_mul(&c->fr, ab.l, a.l, b.l);
        c->fr.ops->from_mont(ab.l, ab.l, &c->fr.m);
        mul_g1(c, &ap, &p, &a);
        mul_g2(c, &bq, &q, &b);
        pairing_product(c, &e, &p, &q, 1);
        pow12(c, &want, &e, ab.l, c->fr.m.n_limbs);
        pairing_product(c, &r, &ap, &bq, 1);
        assert_true(fe12_equal(c, &r, &want));
        mul_g1(c, &ap, &ap, &b); /* e([ab]P, Q) */
        pairing_product(c, &r, &ap, &q, 1);
        assert_true(fe12_equal(c, &r, &want));
    }
}

static void check_order(const curve *c, testrand *rnd) {
    (void)rnd;
    fe12 e, r;
    pairing_product(c, &e, &c->g1, &c->g2, 1);
    assert_false(fe12_is_one(c, &e));
    pow12(c, &r, &e, c->fr.m.p, c->fr.m.n_limbs);
    assert_true(fe12_is_one(c, &r));
}

static void check_infinity(const curve *c, testrand *rnd) {
    g1_affine p[2];
    g2_affine q[2];
    fe12 e, want;
    random_g1(c, rnd, &p[0]);
    random_g2(c, rnd, &q[0]);
    p[1] = p[0];
    q[1] = q[0];
    pairing_product(c, &want, p, q, 1);
    p[1].infinity = true;
    pairing_product(c, &e, p, q, 2);
    assert_true(fe12_equal(c, &e, &want));
    assert_true(pairing_product_is_one(c, p + 1, q, 1));
    p[1].infinity = false;
    q[1].infinity = true;
    pairing_product(c, &e, p, q, 2);
    assert_true(fe12_equal(c, &e, &want));
    assert_true(pairing_product_is_one(c, p, q + 1, 1));
    assert_true(pairing_product_is_one(c, p, q, 0));
    assert_false(pairing_product_is_one(c, p, q, 1));
}

/* Sizes around the number of pairs that share one loop. */
static void check_product(const curve *c, testrand *rnd) {
    enum { N = 19 };
    g1_affine p[N];
    g2_affine q[N];
    fe12 want, e;
    fe12_set_one(c, &want);
    for (size_t n = 0; n < N; n++) {
        random_g1(c, rnd, &p[n]);
        random_g2(c, rnd, &q[n]);
        if (n == 5) p[n].infinity = true;
        pairing_product(c, &e, &p[n], &q[n], 1);
        fe12_mul(c, &want, &want, &e);
        pairing_product(c, &e, p, q, n + 1);
        assert_true(fe12_equal(c, &e, &want));
    }
}

/* e(aP, Q) e(-P, aQ) = 1, and no longer when a sign or a scalar changes. */
static void check_is_one(const curve *c, testrand *rnd) {
    g1_affine p[2], base;
    g2_affine q[2];
    fe a, one;
    random_g1(c, rnd, &base);
    random_g2(c, rnd, &q[0]);
    testrand_fe(rnd, &c->fr, a.l);
    field_set_one(&c->fr, one.l);
    mul_g1(c, &p[0], &base, &a);
    mul_g2(c, &q[1], &q[0], &a);
    p[1] = base;
    assert_false(pairing_product_is_one(c, p, q, 2));
    field_neg(&c->fq, p[1].y.l, base.y.l);
    assert_true(pairing_product_is_one(c, p, q, 2));
    field_add(&c->fr, a.l, a.l, one.l);
    mul_g1(c, &p[0], &base, &a);
    assert_false(pairing_product_is_one(c, p, q, 2));
}

#define TEST(name, check)                                                                     \
    static void name(void **state) {                                                          \
        (void)state;                                                                          \
        testpoint_each_curve(check);                                                          \
    }
TEST(test_pairing__is_bilinear, check_bilinear)
TEST(test_pairing__of_generators_has_order_r, check_order)
TEST(test_pairing__is_one_when_a_point_is_infinity, check_infinity)
TEST(test_pairing__product_matches_single_pairings, check_product)
TEST(test_pairing__product_is_one_exactly_when_exponents_cancel, check_is_one)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairing__is_bilinear),
        cmocka_unit_test(test_pairing__of_generators_has_order_r),
        cmocka_unit_test(test_pairing__is_one_when_a_point_is_infinity),
        cmocka_unit_test(test_pairing__product_matches_single_pairings),
        cmocka_unit_test(test_pairing__product_is_one_exactly_when_exponents_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
