/* SPDX-License-Identifier: Apache-2.0 */
#include "support/testpoint.h"

#include "math/field/tower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define N_ROUNDS 8

static const group_id groups[] = {GROUP_G1, GROUP_G2};

static void assert_same(const curve *c, group_id g, const point *a, const point *b) {
    assert_true(point_is_on_curve(c, g, a));
    assert_true(point_equal(c, g, a, b));
    assert_true(point_equal(c, g, b, a));
}

static void check_generator(const curve *c, testrand *rnd) {
    (void)rnd;
    for (int i = 0; i < 2; i++) {
        const group_id g = groups[i];
        point p, r;
        point_set_generator(c, g, &p);
        assert_true(point_is_on_curve(c, g, &p));
        assert_false(point_is_infinity(c, g, &p));
        point_mul_vt(c, g, &r, &p, c->fr.m.p, c->fr.m.n_limbs);
        assert_true(point_is_infinity(c, g, &r));
    }
}

static void check_laws(const curve *c, testrand *rnd) {
    for (int round = 0; round < N_ROUNDS; round++) {
        const group_id g = groups[round % 2];
        point p, q, s, t, u, v;
        testpoint_in_subgroup(c, g, &p, rnd);
        testpoint_in_subgroup(c, g, &q, rnd);
        testpoint_on_curve(c, g, &s, rnd); /* the law holds on the whole curve */
        point_add(c, g, &u, &p, &q);
        point_add(c, g, &v, &q, &p);
        assert_same(c, g, &u, &v);
        point_add(c, g, &u, &u, &s); /* (p + q) + s = p + (q + s) */
        point_add(c, g, &v, &q, &s);
        point_add(c, g, &v, &p, &v);
        assert_same(c, g, &u, &v);
        point_neg(c, g, &t, &s);
        point_add(c, g, &u, &u, &t); /* p + q + s - s = p + q */
        point_add(c, g, &v, &p, &q);
        assert_same(c, g, &u, &v);
        assert_false(point_equal(c, g, &u, &p));
    }
}

static void check_exceptional(const curve *c, testrand *rnd) {
    for (int i = 0; i < 2; i++) {
        const group_id g = groups[i];
        point p, same, neg, o, o2, r, twice;
        testpoint_in_subgroup(c, g, &p, rnd);
        same = p;
        testpoint_rescale(c, g, &same, rnd);
        point_neg(c, g, &neg, &same);
        point_set_infinity(c, g, &o);
        o2 = o;
        testpoint_rescale(c, g, &o2, rnd);
        assert_true(point_is_infinity(c, g, &o2));

        point_double(c, g, &twice, &p);
        point_add(c, g, &r, &p, &same); /* P + P, equal and unequal Z */
        assert_same(c, g, &r, &twice);
        point_add(c, g, &r, &p, &p);
        assert_same(c, g, &r, &twice);
        point_add(c, g, &r, &p, &neg);
        assert_true(point_is_infinity(c, g, &r));
        assert_false(point_equal(c, g, &p, &neg));
        point_add(c, g, &r, &p, &o2);
        assert_same(c, g, &r, &p);
        point_add(c, g, &r, &o2, &p);
        assert_same(c, g, &r, &p);
        point_add(c, g, &r, &o, &o2);
        assert_same(c, g, &r, &o);
        point_double(c, g, &r, &o2);
        assert_same(c, g, &r, &o);
        point_neg(c, g, &r, &o2);
        assert_same(c, g, &r, &o);
        assert_false(point_equal(c, g, &p, &o));

        r = p; /* aliasing */
        point_double(c, g, &r, &r);
        assert_same(c, g, &r, &twice);
        r = p;
        point_add(c, g, &r, &r, &r);
        assert_same(c, g, &r, &twice);
        r = p;
        point_add(c, g, &r, &twice, &r);
        point_add(c, g, &twice, &twice, &p);
        assert_same(c, g, &r, &twice);
        r = p;
        point_neg(c, g, &r, &r);
        assert_same(c, g, &r, &neg);
    }
}

static void check_on_curve(const curve *c, testrand *rnd) {
    for (int i = 0; i < 2; i++) {
        point p, r;
        fe one;
        field_set_one(&c->fq, one.l);
        testpoint_in_subgroup(c, groups[i], &p, rnd);
        r = p;
        field_add(&c->fq, r.y.c0.l, r.y.c0.l, one.l);
        assert_false(point_is_on_curve(c, groups[i], &r));
        assert_false(point_is_in_subgroup(c, groups[i], &r));
        r = p;
        field_add(&c->fq, r.x.c0.l, r.x.c0.l, one.l);
        assert_false(point_is_on_curve(c, groups[i], &r));
    }
}

static void double_and_add(const curve *c, group_id g, point *r, const point *a,
                           const uint64_t *k, unsigned n_limbs) {
    point_set_infinity(c, g, r);
    for (unsigned i = 64 * n_limbs; i-- > 0;) {
        point_double(c, g, r, r);
        if (k[i / 64] >> (i % 64) & 1) point_add(c, g, r, r, a);
    }
}

static void check_mul_twins(const curve *c, group_id g, const point *a, const uint64_t *k,
                            unsigned n_limbs) {
    point want, r;
    double_and_add(c, g, &want, a, k, n_limbs);
    point_mul(c, g, &r, a, k, n_limbs);
    assert_same(c, g, &r, &want);
    point_mul_vt(c, g, &r, a, k, n_limbs);
    assert_same(c, g, &r, &want);
    r = *a;
    point_mul(c, g, &r, &r, k, n_limbs);
    assert_same(c, g, &r, &want);
    r = *a;
    point_mul_vt(c, g, &r, &r, k, n_limbs);
    assert_same(c, g, &r, &want);
}

static void check_mul(const curve *c, testrand *rnd) {
    const uint64_t *order = c->fr.m.p; /* both end in limb 0 > 0 and < 2^64 - 1 */
    for (int i = 0; i < 2; i++) {
        const group_id g = groups[i];
        point p, o, off, neg, r;
        testpoint_in_subgroup(c, g, &p, rnd);
        testpoint_on_curve(c, g, &off, rnd);
        point_set_infinity(c, g, &o);
        point_neg(c, g, &neg, &p);

        uint64_t k[LIMBS_MAX] = {0};
        point_mul(c, g, &r, &p, k, 0);
        assert_same(c, g, &r, &o);
        point_mul_vt(c, g, &r, &p, k, 0);
        assert_same(c, g, &r, &o);
        for (uint64_t small = 0; small < 40; small++) check_mul_twins(c, g, &p, &small, 1);
        check_mul_twins(c, g, &p, k, 4);
        check_mul_twins(c, g, &o, order, 4);

        memcpy(k, order, 32);
        k[0] -= 1;
        point_mul(c, g, &r, &p, k, 4);
        assert_same(c, g, &r, &neg);
        check_mul_twins(c, g, &p, k, 4);
        k[0] += 1;
        point_mul(c, g, &r, &p, k, 4);
        assert_same(c, g, &r, &o);
        point_mul(c, g, &r, &r, k, 4); /* infinity as the ladder leaves it */
        assert_same(c, g, &r, &o);
        check_mul_twins(c, g, &p, k, 4);
        k[0] += 1;
        point_mul(c, g, &r, &p, k, 4);
        assert_same(c, g, &r, &p);
        check_mul_twins(c, g, &p, k, 4);

        memset(k, 0xff, sizeof k);
        check_mul_twins(c, g, &p, k, 4);
        check_mul_twins(c, g, &off, k, 6);
        for (int round = 0; round < 4; round++) {
            testrand_bytes(rnd, k, sizeof k);
            check_mul_twins(c, g, &p, k, 4);
            check_mul_twins(c, g, &off, k, 1 + (unsigned)round);
        }

        fe a, b; /* [a]P + [b]P = [a + b]P */
        point s, t;
        testrand_fe(rnd, &c->fr, a.l);
        testrand_fe(rnd, &c->fr, b.l);
        point_mul_fr(c, g, &s, &p, &a);
        point_mul_fr(c, g, &t, &p, &b);
        point_add(c, g, &s, &s, &t);
        field_add(&c->fr, a.l, a.l, b.l);
        point_mul_fr(c, g, &t, &p, &a);
        assert_same(c, g, &s, &t);
    }
}

/* Agreement of the endomorphism check with [r]P = O. */
static bool subgroup_check_agrees(const curve *c, group_id g, const point *a) {
    point r;
    point_mul_vt(c, g, &r, a, c->fr.m.p, c->fr.m.n_limbs);
    const bool want = point_is_infinity(c, g, &r);
    assert_int_equal(point_is_in_subgroup(c, g, a), want);
    return want;
}

static void check_subgroup(const curve *c, testrand *rnd) {
    for (int round = 0; round < 2 * N_ROUNDS; round++) {
        const group_id g = groups[round % 2];
        const bool whole = c->params->family == CURVE_FAMILY_BN && g == GROUP_G1;
        point p, q, cofactor_part, o;
        point_set_infinity(c, g, &o);
        assert_true(subgroup_check_agrees(c, g, &o));
        testpoint_in_subgroup(c, g, &p, rnd);
        assert_true(subgroup_check_agrees(c, g, &p));
        testpoint_on_curve(c, g, &q, rnd);
        assert_int_equal(subgroup_check_agrees(c, g, &q), whole);
        if (whole) continue;
        point_mul_vt(c, g, &cofactor_part, &q, c->fr.m.p, c->fr.m.n_limbs);
        assert_false(subgroup_check_agrees(c, g, &cofactor_part));
        point_add(c, g, &p, &p, &cofactor_part);
        assert_false(subgroup_check_agrees(c, g, &p));
    }
}

/* (0, 2) has order three on BLS12-381 and is fixed by phi, the easiest point to get wrong. */
static void check_small_order(const curve *c, testrand *rnd) {
    (void)rnd;
    if (c->params->id != CURVE_BLS12_381) return;
    g1_affine a;
    point p, r;
    memset(&a, 0, sizeof a);
    field_set_u64(&c->fq, a.y.l, 2);
    point_from_g1(c, &p, &a);
    assert_true(point_is_on_curve(c, GROUP_G1, &p));
    point_mul_vt(c, GROUP_G1, &r, &p, &(uint64_t){3}, 1);
    assert_true(point_is_infinity(c, GROUP_G1, &r));
    assert_false(point_is_in_subgroup(c, GROUP_G1, &p));
}

static void check_packed(const curve *c, testrand *rnd) {
    for (int i = 0; i < 2; i++) {
        const group_id g = groups[i];
        const size_t n_bytes = point_packed_bytes(c, g), fe_bytes = c->fq.n_bytes;
        enum { N = 9 };
        uint8_t one[1 + 4 * 8 * LIMBS_MAX], many[N * 4 * 8 * LIMBS_MAX];
        point a[N], r;
        assert_int_equal(n_bytes, 2 * (unsigned)g * fe_bytes);
        for (int j = 0; j < N; j++) {
            testpoint_in_subgroup(c, g, &a[j], rnd);
            if (j == 0 || j == 4 || j == N - 1) point_set_infinity(c, g, &a[j]);
        }
        cuzk_err err;
        assert_int_equal(point_store_packed_many(c, g, many, a, N, &err), CUZK_OK);
        for (int j = 0; j < N; j++) {
            uint8_t *packed = one + 1; /* unaligned */
            point_store_packed(c, g, packed, &a[j]);
            assert_memory_equal(packed, many + (size_t)j * n_bytes, n_bytes);
            assert_true(point_load_packed(c, g, &r, packed));
            assert_same(c, g, &r, &a[j]);
        }
        assert_int_equal(point_store_packed_many(c, g, many, a, 0, &err), CUZK_OK);

        /* the modulus itself, little-endian, in each coordinate's place */
        for (size_t at = 0; at < n_bytes; at += fe_bytes) {
            point_store_packed(c, g, one, &a[1]);
            for (size_t j = 0; j < fe_bytes; j++) {
                one[at + j] = (uint8_t)(c->fq.m.p[j / 8] >> (8 * (j % 8)));
            }
            assert_false(point_load_packed(c, g, &r, one));
        }
    }
}

static void check_affine(const curve *c, testrand *rnd) {
    point p, r, o;
    g1_affine a1;
    g2_affine a2;
    testpoint_in_subgroup(c, GROUP_G1, &p, rnd);
    point_to_g1(c, &a1, &p);
    assert_false(a1.infinity);
    point_from_g1(c, &r, &a1);
    assert_same(c, GROUP_G1, &p, &r);
    testpoint_in_subgroup(c, GROUP_G2, &p, rnd);
    point_to_g2(c, &a2, &p);
    assert_false(a2.infinity);
    point_from_g2(c, &r, &a2);
    assert_same(c, GROUP_G2, &p, &r);

    point_set_infinity(c, GROUP_G1, &o);
    point_to_g1(c, &a1, &o);
    assert_true(a1.infinity);
    assert_true(field_is_zero(&c->fq, a1.x.l) && field_is_zero(&c->fq, a1.y.l));
    point_from_g1(c, &r, &a1);
    assert_true(point_is_infinity(c, GROUP_G1, &r));
    point_to_g2(c, &a2, &o);
    assert_true(a2.infinity);
    point_from_g2(c, &r, &a2);
    assert_true(point_is_infinity(c, GROUP_G2, &r));
}

#define TEST(name, check)                                                                     \
    static void name(void **state) {                                                          \
        (void)state;                                                                          \
        testpoint_each_curve(check);                                                          \
    }
TEST(test_group__generator_is_on_curve_and_has_order_r, check_generator)
TEST(test_group__addition_is_commutative_and_associative, check_laws)
TEST(test_group__addition_is_complete_when_points_coincide_or_cancel, check_exceptional)
TEST(test_group__on_curve_is_false_when_a_coordinate_changes, check_on_curve)
TEST(test_group__mul_matches_double_and_add_also_at_the_edges, check_mul)
TEST(test_group__subgroup_check_agrees_with_multiplication_by_r, check_subgroup)
TEST(test_group__subgroup_check_refuses_point_of_order_three, check_small_order)
TEST(test_group__packed_form_round_trips_and_refuses_values_above_q, check_packed)
TEST(test_group__affine_form_round_trips, check_affine)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group__generator_is_on_curve_and_has_order_r),
        cmocka_unit_test(test_group__addition_is_commutative_and_associative),
        cmocka_unit_test(test_group__addition_is_complete_when_points_coincide_or_cancel),
        cmocka_unit_test(test_group__on_curve_is_false_when_a_coordinate_changes),
        cmocka_unit_test(test_group__mul_matches_double_and_add_also_at_the_edges),
        cmocka_unit_test(test_group__subgroup_check_agrees_with_multiplication_by_r),
        cmocka_unit_test(test_group__subgroup_check_refuses_point_of_order_three),
        cmocka_unit_test(test_group__packed_form_round_trips_and_refuses_values_above_q),
        cmocka_unit_test(test_group__affine_form_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
