/* SPDX-License-Identifier: Apache-2.0 */
#include "testpoint.h"

#include "math/field/tower.h"

#include <stdlib.h>

void testpoint_curve(curve *c, curve_id id) {
    cuzk_cpu_level level;
    const cuzk_status status = cuzk_cpu_select(&level, getenv("CUZK_CPU"), NULL);
    CUZK_ASSERT(status == CUZK_OK);
    curve_init(c, id, level);
}

void testpoint_each_curve(testpoint_check *check) {
    testrand rnd;
    testrand_init(&rnd);
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        testpoint_curve(&c, (curve_id)id);
        check(&c, &rnd);
    }
}

void testpoint_rescale(const curve *c, group_id g, point *r, testrand *rnd) {
    fe2 k, kk, kkk;
    testrand_fe(rnd, &c->fq, k.c0.l);
    testrand_fe(rnd, &c->fq, k.c1.l);
    if (g == GROUP_G1) { /* c1 of its coordinates has no value */
        field_sqr(&c->fq, kk.c0.l, k.c0.l);
        field_mul(&c->fq, kkk.c0.l, kk.c0.l, k.c0.l);
        field_mul(&c->fq, r->x.c0.l, r->x.c0.l, kk.c0.l);
        field_mul(&c->fq, r->y.c0.l, r->y.c0.l, kkk.c0.l);
        field_mul(&c->fq, r->z.c0.l, r->z.c0.l, k.c0.l);
        return;
    }
    fe2_sqr(c, &kk, &k);
    fe2_mul(c, &kkk, &kk, &k);
    fe2_mul(c, &r->x, &r->x, &kk);
    fe2_mul(c, &r->y, &r->y, &kkk);
    fe2_mul(c, &r->z, &r->z, &k);
}

void testpoint_in_subgroup(const curve *c, group_id g, point *r, testrand *rnd) {
    point generator;
    fe k;
    point_set_generator(c, g, &generator);
    testrand_fe(rnd, &c->fr, k.l);
    c->fr.ops->from_mont(k.l, k.l, &c->fr.m);
    point_mul_vt(c, g, r, &generator, k.l, c->fr.m.n_limbs);
    testpoint_rescale(c, g, r, rnd);
}

void testpoint_on_curve(const curve *c, group_id g, point *r, testrand *rnd) {
    for (;;) {
        fe2 x = {0}, t;
        const fe2 b = g == GROUP_G1 ? (fe2){.c0 = c->b} : c->b2;
        point_set_infinity(c, g, r);
        testrand_fe(rnd, &c->fq, x.c0.l);
        if (g == GROUP_G2) testrand_fe(rnd, &c->fq, x.c1.l);
        fe2_sqr(c, &t, &x);
        fe2_mul(c, &t, &t, &x);
        fe2_add(c, &t, &t, &b);
        if (!fe2_sqrt(c, &r->y, &t)) continue;
        if (g == GROUP_G1 && !field_is_zero(&c->fq, r->y.c1.l)) continue;
        if (testrand_u64(rnd) & 1) fe2_neg(c, &r->y, &r->y);
        r->x = x;
        fe2_set_one(c, &r->z);
        return;
    }
}

void testpoint_unhex(uint8_t *bytes, size_t n_bytes, const char *hex) {
    for (size_t i = 0; i < n_bytes; i++) {
        const char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
}
