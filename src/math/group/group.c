/* SPDX-License-Identifier: Apache-2.0 */
#include "math/group/group.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "math/field/tower.h"

#include <string.h>

/* ---- coordinates: Fq in c0 for G1, Fq2 for G2 ---- */

static void co_add(const curve *c, group_id g, fe2 *r, const fe2 *a, const fe2 *b) {
    if (g == GROUP_G1) {
        field_add(&c->fq, r->c0.l, a->c0.l, b->c0.l);
    } else {
        fe2_add(c, r, a, b);
    }
}

static void co_sub(const curve *c, group_id g, fe2 *r, const fe2 *a, const fe2 *b) {
    if (g == GROUP_G1) {
        field_sub(&c->fq, r->c0.l, a->c0.l, b->c0.l);
    } else {
        fe2_sub(c, r, a, b);
    }
}

static void co_mul(const curve *c, group_id g, fe2 *r, const fe2 *a, const fe2 *b) {
    if (g == GROUP_G1) {
        field_mul(&c->fq, r->c0.l, a->c0.l, b->c0.l);
    } else {
        fe2_mul(c, r, a, b);
    }
}

static void co_sqr(const curve *c, group_id g, fe2 *r, const fe2 *a) {
    if (g == GROUP_G1) {
        field_sqr(&c->fq, r->c0.l, a->c0.l);
    } else {
        fe2_sqr(c, r, a);
    }
}

static void co_double(const curve *c, group_id g, fe2 *r, const fe2 *a) {
    co_add(c, g, r, a, a);
}

static void co_neg(const curve *c, group_id g, fe2 *r, const fe2 *a) {
    if (g == GROUP_G1) {
        field_neg(&c->fq, r->c0.l, a->c0.l);
    } else {
        fe2_neg(c, r, a);
    }
}

static void co_inv(const curve *c, group_id g, fe2 *r, const fe2 *a) {
    if (g == GROUP_G1) {
        field_inv(&c->fq, r->c0.l, a->c0.l);
    } else {
        fe2_inv(c, r, a);
    }
}

static bool co_is_zero(const curve *c, group_id g, const fe2 *a) {
    return g == GROUP_G1 ? field_is_zero(&c->fq, a->c0.l) : fe2_is_zero(c, a);
}

static bool co_equal(const curve *c, group_id g, const fe2 *a, const fe2 *b) {
    return g == GROUP_G1 ? field_equal(&c->fq, a->c0.l, b->c0.l) : fe2_equal(c, a, b);
}

/* The constant of the curve equation y^2 = x^3 + b. */
static fe2 co_curve_b(const curve *c, group_id g) {
    return g == GROUP_G1 ? (fe2){.c0 = c->b} : c->b2;
}

/* ---- points ---- */

void point_set_infinity(const curve *c, group_id g, point *r) {
    (void)g;
    memset(r, 0, sizeof *r);
    fe2_set_one(c, &r->x);
    fe2_set_one(c, &r->y);
}

void point_set_generator(const curve *c, group_id g, point *r) {
    if (g == GROUP_G1) {
        point_from_g1(c, r, &c->g1);
    } else {
        point_from_g2(c, r, &c->g2);
    }
}

bool point_is_infinity(const curve *c, group_id g, const point *a) {
    return co_is_zero(c, g, &a->z);
}

bool point_equal(const curve *c, group_id g, const point *a, const point *b) {
    const bool a_inf = point_is_infinity(c, g, a), b_inf = point_is_infinity(c, g, b);
    if (a_inf || b_inf) return a_inf == b_inf;
    fe2 za, zb, s, t;
    co_sqr(c, g, &za, &a->z);
    co_sqr(c, g, &zb, &b->z);
    co_mul(c, g, &s, &a->x, &zb);
    co_mul(c, g, &t, &b->x, &za);
    if (!co_equal(c, g, &s, &t)) return false;
    co_mul(c, g, &za, &za, &a->z);
    co_mul(c, g, &zb, &zb, &b->z);
    co_mul(c, g, &s, &a->y, &zb);
    co_mul(c, g, &t, &b->y, &za);
    return co_equal(c, g, &s, &t);
}

bool point_is_on_curve(const curve *c, group_id g, const point *a) {
    if (point_is_infinity(c, g, a)) return true;
    const fe2 b = co_curve_b(c, g);
    fe2 s, t; /* Y^2 = X^3 + b Z^6 */
    co_sqr(c, g, &t, &a->z);
    co_mul(c, g, &t, &t, &a->z);
    co_sqr(c, g, &t, &t);
    co_mul(c, g, &t, &t, &b);
    co_sqr(c, g, &s, &a->x);
    co_mul(c, g, &s, &s, &a->x);
    co_add(c, g, &t, &t, &s);
    co_sqr(c, g, &s, &a->y);
    return co_equal(c, g, &s, &t);
}

void point_neg(const curve *c, group_id g, point *r, const point *a) {
    *r = *a;
    co_neg(c, g, &r->y, &a->y);
}

/* dbl-2009-l of the Explicit-Formulas Database; infinity (and y = 0) give Z = 0 by itself. */
void point_double(const curve *c, group_id g, point *r, const point *a) {
    fe2 xx, yy, yyyy, d, e, t;
    co_sqr(c, g, &xx, &a->x);
    co_sqr(c, g, &yy, &a->y);
    co_sqr(c, g, &yyyy, &yy);
    co_add(c, g, &d, &a->x, &yy); /* d = 4 x y^2 */
    co_sqr(c, g, &d, &d);
    co_sub(c, g, &d, &d, &xx);
    co_sub(c, g, &d, &d, &yyyy);
    co_double(c, g, &d, &d);
    co_double(c, g, &e, &xx); /* e = 3 x^2 */
    co_add(c, g, &e, &e, &xx);
    co_mul(c, g, &t, &a->y, &a->z);
    co_double(c, g, &r->z, &t);
    co_sqr(c, g, &t, &e);
    co_sub(c, g, &t, &t, &d);
    co_sub(c, g, &r->x, &t, &d);
    co_sub(c, g, &d, &d, &r->x);
    co_mul(c, g, &d, &d, &e);
    co_double(c, g, &yyyy, &yyyy);
    co_double(c, g, &yyyy, &yyyy);
    co_double(c, g, &yyyy, &yyyy);
    co_sub(c, g, &r->y, &d, &yyyy);
}

/* add-2007-bl of the Explicit-Formulas Database, with the exceptional cases apart. */
void point_add(const curve *c, group_id g, point *r, const point *a, const point *b) {
    if (point_is_infinity(c, g, a)) {
        *r = *b;
        return;
    }
    if (point_is_infinity(c, g, b)) {
        *r = *a;
        return;
    }
    fe2 za, zb, ua, ub, sa, sb, h, i, j, v, t, z;
    co_sqr(c, g, &za, &a->z);
    co_sqr(c, g, &zb, &b->z);
    co_mul(c, g, &ua, &a->x, &zb);
    co_mul(c, g, &ub, &b->x, &za);
    co_mul(c, g, &sa, &a->y, &zb);
    co_mul(c, g, &sa, &sa, &b->z);
    co_mul(c, g, &sb, &b->y, &za);
    co_mul(c, g, &sb, &sb, &a->z);
    co_sub(c, g, &h, &ub, &ua);
    co_sub(c, g, &t, &sb, &sa);
    if (co_is_zero(c, g, &h)) {
        if (co_is_zero(c, g, &t)) {
            point_double(c, g, r, a);
        } else {
            point_set_infinity(c, g, r);
        }
        return;
    }
    co_add(c, g, &z, &a->z, &b->z); /* z = 2 za zb h */
    co_sqr(c, g, &z, &z);
    co_sub(c, g, &z, &z, &za);
    co_sub(c, g, &z, &z, &zb);
    co_mul(c, g, &r->z, &z, &h);
    co_double(c, g, &i, &h);
    co_sqr(c, g, &i, &i);
    co_mul(c, g, &j, &h, &i);
    co_double(c, g, &t, &t);
    co_mul(c, g, &v, &ua, &i);
    co_sqr(c, g, &i, &t);
    co_sub(c, g, &i, &i, &j);
    co_sub(c, g, &i, &i, &v);
    co_sub(c, g, &r->x, &i, &v);
    co_sub(c, g, &v, &v, &r->x);
    co_mul(c, g, &v, &v, &t);
    co_mul(c, g, &j, &j, &sa);
    co_double(c, g, &j, &j);
    co_sub(c, g, &r->y, &v, &j);
}

/* ---- scalar multiplication, variable time: sliding window of odd multiples ---- */

#define WINDOW_VT 5

static unsigned scalar_bits(const uint64_t *k, unsigned at, unsigned n_bits) {
    unsigned v = 0;
    for (unsigned i = n_bits; i-- > 0;) {
        v = v << 1 | (unsigned)(k[(at + i) / 64] >> ((at + i) % 64) & 1);
    }
    return v;
}

void point_mul_vt(const curve *c, group_id g, point *r, const point *a, const uint64_t *k,
                  unsigned n_limbs) {
    unsigned n_bits = 64 * n_limbs;
    while (n_bits > 0 && scalar_bits(k, n_bits - 1, 1) == 0) n_bits--;

    /* A short scalar, such as the seed of the curve, doesn't pay for a large table. */
    const unsigned window = n_bits > 96 ? WINDOW_VT : 2;
    point odd[1 << (WINDOW_VT - 1)], twice; /* odd[i] = [2i + 1] a */
    odd[0] = *a;
    point_double(c, g, &twice, a);
    for (unsigned i = 1; i < 1u << (window - 1); i++) {
        point_add(c, g, &odd[i], &odd[i - 1], &twice);
    }

    point_set_infinity(c, g, r);
    for (unsigned at = n_bits; at > 0;) {
        unsigned n = window < at ? window : at;
        if (scalar_bits(k, at - 1, 1) == 0) n = 1;
        unsigned digit = scalar_bits(k, at - n, n);
        unsigned zeros = 0; /* below the last one of the window */
        while (digit != 0 && (digit & 1) == 0) {
            digit >>= 1;
            zeros++;
        }
        for (unsigned i = 0; i < n - zeros; i++) point_double(c, g, r, r);
        if (digit != 0) point_add(c, g, r, r, &odd[digit / 2]);
        for (unsigned i = 0; i < zeros; i++) point_double(c, g, r, r);
        at -= n;
    }
}

/* ---- scalar multiplication, constant time ----
 * Homogeneous coordinates (X/Z, Y/Z) and the complete formulas of Renes, Costello and Batina
 * (https://eprint.iacr.org/2015/1060, algorithms 7 and 9): no case needs a branch, since no
 * curve here has a point of order two. */

static void complete_add(const curve *c, group_id g, point *r, const point *a, const point *b,
                         const fe2 *b3) {
    fe2 xx, yy, zz, xy, yz, xz, s, t;
    co_mul(c, g, &xx, &a->x, &b->x);
    co_mul(c, g, &yy, &a->y, &b->y);
    co_mul(c, g, &zz, &a->z, &b->z);
    co_add(c, g, &s, &a->x, &a->y); /* xy = xa yb + xb ya, and so on */
    co_add(c, g, &t, &b->x, &b->y);
    co_mul(c, g, &xy, &s, &t);
    co_sub(c, g, &xy, &xy, &xx);
    co_sub(c, g, &xy, &xy, &yy);
    co_add(c, g, &s, &a->y, &a->z);
    co_add(c, g, &t, &b->y, &b->z);
    co_mul(c, g, &yz, &s, &t);
    co_sub(c, g, &yz, &yz, &yy);
    co_sub(c, g, &yz, &yz, &zz);
    co_add(c, g, &s, &a->x, &a->z);
    co_add(c, g, &t, &b->x, &b->z);
    co_mul(c, g, &xz, &s, &t);
    co_sub(c, g, &xz, &xz, &xx);
    co_sub(c, g, &xz, &xz, &zz);

    co_double(c, g, &s, &xx);
    co_add(c, g, &xx, &xx, &s); /* 3 xx */
    co_mul(c, g, &zz, &zz, b3); /* 3b zz */
    co_mul(c, g, &xz, &xz, b3); /* 3b xz */
    co_add(c, g, &s, &yy, &zz);
    co_sub(c, g, &t, &yy, &zz);

    co_mul(c, g, &r->x, &xy, &t);
    co_mul(c, g, &yy, &yz, &xz);
    co_sub(c, g, &r->x, &r->x, &yy);
    co_mul(c, g, &r->y, &t, &s);
    co_mul(c, g, &xz, &xz, &xx);
    co_add(c, g, &r->y, &r->y, &xz);
    co_mul(c, g, &r->z, &s, &yz);
    co_mul(c, g, &xx, &xx, &xy);
    co_add(c, g, &r->z, &r->z, &xx);
}

static void complete_double(const curve *c, group_id g, point *r, const point *a,
                            const fe2 *b3) {
    fe2 yy, yz, bzz, yy8, xy, s;
    co_sqr(c, g, &yy, &a->y);
    co_mul(c, g, &yz, &a->y, &a->z);
    co_sqr(c, g, &bzz, &a->z);
    co_mul(c, g, &bzz, &bzz, b3);
    co_mul(c, g, &xy, &a->x, &a->y);
    co_double(c, g, &yy8, &yy);
    co_double(c, g, &yy8, &yy8);
    co_double(c, g, &yy8, &yy8);
    co_mul(c, g, &r->z, &yz, &yy8);
    co_mul(c, g, &yy8, &yy8, &bzz);
    co_add(c, g, &s, &yy, &bzz);
    co_sub(c, g, &yy, &yy, &bzz);
    co_double(c, g, &bzz, &bzz);
    co_sub(c, g, &yy, &yy, &bzz); /* y^2 - 9b z^2 */
    co_mul(c, g, &r->y, &yy, &s);
    co_add(c, g, &r->y, &r->y, &yy8);
    co_mul(c, g, &s, &yy, &xy);
    co_double(c, g, &r->x, &s);
}

#define WINDOW_CT 4

/* *r = table[digit], reading the whole table. */
static void select_ct(point *r, const point *table, uint64_t digit) {
    uint64_t *out = (uint64_t *)r;
    memset(r, 0, sizeof *r);
    for (uint64_t i = 0; i < 1 << WINDOW_CT; i++) {
        const uint64_t *in = (const uint64_t *)&table[i];
        uint64_t mask = 0 - (((i ^ digit) - 1) >> 63); /* all ones when i == digit */
        CUZK_VALUE_BARRIER(mask);
        for (size_t w = 0; w < sizeof *r / sizeof *out; w++) out[w] |= in[w] & mask;
    }
}

void point_mul(const curve *c, group_id g, point *r, const point *a, const uint64_t *k,
               unsigned n_limbs) {
    fe2 b3 = co_curve_b(c, g), t;
    co_double(c, g, &t, &b3);
    co_add(c, g, &b3, &b3, &t);

    point table[1 << WINDOW_CT], acc, addend; /* table[i] = [i] a */
    memset(table, 0, sizeof table);           /* words that a group does not use */
    memset(&acc, 0, sizeof acc);
    fe2_set_one(c, &table[0].y);
    fe2_set_one(c, &acc.y);
    co_mul(c, g, &table[1].x, &a->x, &a->z); /* Jacobian to homogeneous; infinity: (0, y, 0) */
    field_copy(&c->fq, table[1].y.c0.l, a->y.c0.l);
    if (g == GROUP_G2) field_copy(&c->fq, table[1].y.c1.l, a->y.c1.l);
    co_sqr(c, g, &t, &a->z);
    co_mul(c, g, &table[1].z, &t, &a->z);
    for (unsigned i = 2; i < 1 << WINDOW_CT; i++) {
        complete_add(c, g, &table[i], &table[i - 1], &table[1], &b3);
    }

    for (unsigned at = 64 * n_limbs; at > 0;) {
        at -= WINDOW_CT;
        for (unsigned i = 0; i < WINDOW_CT; i++) complete_double(c, g, &acc, &acc, &b3);
        select_ct(&addend, table, k[at / 64] >> (at % 64) & ((1 << WINDOW_CT) - 1));
        complete_add(c, g, &acc, &acc, &addend, &b3);
    }

    co_mul(c, g, &acc.x, &acc.x, &acc.z); /* and back: (X Z, Y Z^2, Z) */
    co_sqr(c, g, &t, &acc.z);
    co_mul(c, g, &acc.y, &acc.y, &t);
    *r = acc;
    cuzk_wipe(&addend, sizeof addend);
    cuzk_wipe(&acc, sizeof acc);
}

void point_mul_fr(const curve *c, group_id g, point *r, const point *a, const fe *k) {
    fe canonical;
    c->fr.ops->from_mont(canonical.l, k->l, &c->fr.m);
    point_mul(c, g, r, a, canonical.l, c->fr.m.n_limbs);
    cuzk_wipe(&canonical, sizeof canonical);
}

/* ---- subgroup membership ----
 * f(psi) for an integer polynomial f has a kernel of order N(f) = resultant(f, X^2 - tX + q)
 * on the whole curve, so f(psi) P = 0 holds on exactly the subgroup of order r when it holds
 * there and gcd(N(f), group order) = r. The norms were computed for each f below. */

/* r = [x] a, x the seed with its sign. */
static void mul_seed(const curve *c, group_id g, point *r, const point *a) {
    const uint64_t x = c->params->x;
    point_mul_vt(c, g, r, a, &x, 1);
    if (c->params->x_negative) point_neg(c, g, r, r);
}

void point_psi(const curve *c, point *r, const point *a) {
    fe2_conj(c, &r->x, &a->x);
    fe2_conj(c, &r->y, &a->y);
    fe2_conj(c, &r->z, &a->z);
    fe2_mul(c, &r->x, &r->x, &c->psi_x);
    fe2_mul(c, &r->y, &r->y, &c->psi_y);
}

/* [x+1] P + psi([x] P) + psi^2([x] P) = psi^3([2x] P): Dai et al.,
 * https://eprint.iacr.org/2022/348, section 5.1. */
static bool bn_g2_is_in_subgroup(const curve *c, const point *a) {
    point xa, s, t;
    mul_seed(c, GROUP_G2, &xa, a);
    point_add(c, GROUP_G2, &s, a, &xa);
    point_psi(c, &t, &xa);
    point_add(c, GROUP_G2, &s, &s, &t);
    point_psi(c, &t, &t);
    point_add(c, GROUP_G2, &s, &s, &t);
    point_psi(c, &t, &t);
    point_double(c, GROUP_G2, &t, &t);
    return point_equal(c, GROUP_G2, &s, &t);
}

/* phi(P) + P = [x^2] P, phi(x, y) = (beta x, y): M. Scott, https://eprint.iacr.org/2021/1130;
 * N = x^4 - x^2 + 1 = r. */
static bool bls12_g1_is_in_subgroup(const curve *c, const point *a) {
    point s = *a, t;
    field_mul(&c->fq, s.x.c0.l, a->x.c0.l, c->beta.l);
    point_add(c, GROUP_G1, &s, &s, a);
    mul_seed(c, GROUP_G1, &t, a);
    mul_seed(c, GROUP_G1, &t, &t);
    return point_equal(c, GROUP_G1, &s, &t);
}

/* psi(P) = [x] P: same source; N = order of the curve over Fq. */
static bool bls12_g2_is_in_subgroup(const curve *c, const point *a) {
    point s, t;
    point_psi(c, &s, a);
    mul_seed(c, GROUP_G2, &t, a);
    return point_equal(c, GROUP_G2, &s, &t);
}

bool point_is_in_subgroup(const curve *c, group_id g, const point *a) {
    if (!point_is_on_curve(c, g, a)) return false;
    if (c->params->family == CURVE_FAMILY_BN) {
        return g == GROUP_G1 ||
               bn_g2_is_in_subgroup(c, a); /* BN curves: G1 has cofactor one */
    }
    return g == GROUP_G1 ? bls12_g1_is_in_subgroup(c, a) : bls12_g2_is_in_subgroup(c, a);
}

/* ---- affine and packed forms ---- */

/* (x, y) = a given 1/Z; not for infinity. */
static void scale_to_affine(const curve *c, group_id g, fe2 *x, fe2 *y, const point *a,
                            const fe2 *z_inv) {
    fe2 t;
    co_sqr(c, g, &t, z_inv);
    co_mul(c, g, x, &a->x, &t);
    co_mul(c, g, &t, &t, z_inv);
    co_mul(c, g, y, &a->y, &t);
}

/* False and zeros for infinity. */
static bool to_affine(const curve *c, group_id g, fe2 *x, fe2 *y, const point *a) {
    memset(x, 0, sizeof *x);
    memset(y, 0, sizeof *y);
    if (point_is_infinity(c, g, a)) return false;
    fe2 z_inv;
    co_inv(c, g, &z_inv, &a->z);
    scale_to_affine(c, g, x, y, a, &z_inv);
    return true;
}

void point_from_g1(const curve *c, point *r, const g1_affine *a) {
    point_set_infinity(c, GROUP_G1, r);
    if (a->infinity) return;
    r->x.c0 = a->x;
    r->y.c0 = a->y;
    fe2_set_one(c, &r->z);
}

void point_from_g2(const curve *c, point *r, const g2_affine *a) {
    point_set_infinity(c, GROUP_G2, r);
    if (a->infinity) return;
    r->x = a->x;
    r->y = a->y;
    fe2_set_one(c, &r->z);
}

void point_to_g1(const curve *c, g1_affine *r, const point *a) {
    fe2 x, y;
    r->infinity = !to_affine(c, GROUP_G1, &x, &y, a);
    r->x = x.c0;
    r->y = y.c0;
}

void point_to_g2(const curve *c, g2_affine *r, const point *a) {
    fe2 x, y;
    r->infinity = !to_affine(c, GROUP_G2, &x, &y, a);
    r->x = x;
    r->y = y;
}

size_t point_packed_bytes(const curve *c, group_id g) {
    return g == GROUP_G1 ? curve_g1_bytes(c) : curve_g2_bytes(c);
}

static bool co_load(const curve *c, group_id g, fe2 *r, const uint8_t *packed) {
    if (!field_load_mont(&c->fq, r->c0.l, packed)) return false;
    return g == GROUP_G1 || field_load_mont(&c->fq, r->c1.l, packed + c->fq.n_bytes);
}

static void co_store(const curve *c, group_id g, uint8_t *packed, const fe2 *a) {
    field_store_mont(&c->fq, packed, a->c0.l);
    if (g == GROUP_G2) field_store_mont(&c->fq, packed + c->fq.n_bytes, a->c1.l);
}

void point_load_packed_unchecked(const curve *c, group_id g, point *r, const uint8_t *packed) {
    const size_t n_bytes = c->fq.n_bytes;
    fe *const part[2][2] = {{&r->x.c0, &r->x.c1}, {&r->y.c0, &r->y.c1}};
    point_set_infinity(c, g, r);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < (unsigned)g; j++, packed += n_bytes)
            for (unsigned k = 0; k < c->fq.m.n_limbs; k++)
                part[i][j]->l[k] = load_le64(packed + 8 * k);
    if (co_is_zero(c, g, &r->x) && co_is_zero(c, g, &r->y)) {
        point_set_infinity(c, g, r);
    } else {
        fe2_set_one(c, &r->z);
    }
}

bool point_load_packed(const curve *c, group_id g, point *r, const uint8_t *packed) {
    point p;
    point_set_infinity(c, g, &p);
    if (!co_load(c, g, &p.x, packed)) return false;
    if (!co_load(c, g, &p.y, packed + point_packed_bytes(c, g) / 2)) return false;
    if (co_is_zero(c, g, &p.x) && co_is_zero(c, g, &p.y)) {
        point_set_infinity(c, g, &p);
    } else {
        fe2_set_one(c, &p.z);
    }
    *r = p;
    return true;
}

void point_store_packed(const curve *c, group_id g, uint8_t *packed, const point *a) {
    fe2 x, y;
    to_affine(c, g, &x, &y, a);
    co_store(c, g, packed, &x);
    co_store(c, g, packed + point_packed_bytes(c, g) / 2, &y);
}

cuzk_status point_store_packed_many(const curve *c, group_id g, uint8_t *packed,
                                    const point *a, size_t n, cuzk_err *err) {
    fe2 *prefix; /* prefix[i] = product of the Z before i, infinities left out */
    CUZK_TRY(cuzk_zalloc(&prefix, n, sizeof *prefix, err));
    fe2 acc = {0}, z_inv;
    fe2_set_one(c, &acc);
    for (size_t i = 0; i < n; i++) {
        prefix[i] = acc;
        if (!point_is_infinity(c, g, &a[i])) co_mul(c, g, &acc, &acc, &a[i].z);
    }
    co_inv(c, g, &acc, &acc);
    const size_t point_bytes = point_packed_bytes(c, g);
    for (size_t i = n; i-- > 0;) {
        fe2 x = {0}, y = {0};
        if (!point_is_infinity(c, g, &a[i])) {
            co_mul(c, g, &z_inv, &acc, &prefix[i]);
            co_mul(c, g, &acc, &acc, &a[i].z);
            scale_to_affine(c, g, &x, &y, &a[i], &z_inv);
        }
        co_store(c, g, packed + i * point_bytes, &x);
        co_store(c, g, packed + i * point_bytes + point_bytes / 2, &y);
    }
    cuzk_free(prefix);
    return CUZK_OK;
}
