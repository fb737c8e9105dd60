/* SPDX-License-Identifier: Apache-2.0 */
#include "math/field/tower.h"

#include <string.h>

/* ---- Fq2: the limb tables want c0 and c1 adjacent, which fe2 is at full width only ---- */

typedef struct packed2 {
    uint64_t w[2 * LIMBS_MAX];
} packed2;

static const uint64_t *pack2(const field *f, packed2 *buf, const fe2 *a) {
    const unsigned n = f->m.n_limbs;
    if (n == LIMBS_MAX) return (const uint64_t *)a;
    memcpy(buf->w, a->c0.l, f->n_bytes);
    memcpy(buf->w + n, a->c1.l, f->n_bytes);
    return buf->w;
}

static void unpack2(const field *f, fe2 *r, const packed2 *buf) {
    memcpy(r->c0.l, buf->w, f->n_bytes);
    memcpy(r->c1.l, buf->w + f->m.n_limbs, f->n_bytes);
}

void fe2_add(const curve *c, fe2 *r, const fe2 *a, const fe2 *b) {
    field_add(&c->fq, r->c0.l, a->c0.l, b->c0.l);
    field_add(&c->fq, r->c1.l, a->c1.l, b->c1.l);
}

void fe2_sub(const curve *c, fe2 *r, const fe2 *a, const fe2 *b) {
    field_sub(&c->fq, r->c0.l, a->c0.l, b->c0.l);
    field_sub(&c->fq, r->c1.l, a->c1.l, b->c1.l);
}

void fe2_neg(const curve *c, fe2 *r, const fe2 *a) {
    field_neg(&c->fq, r->c0.l, a->c0.l);
    field_neg(&c->fq, r->c1.l, a->c1.l);
}

void fe2_conj(const curve *c, fe2 *r, const fe2 *a) {
    field_copy(&c->fq, r->c0.l, a->c0.l);
    field_neg(&c->fq, r->c1.l, a->c1.l);
}

static void fe2_double(const curve *c, fe2 *r, const fe2 *a) { fe2_add(c, r, a, a); }

void fe2_mul(const curve *c, fe2 *r, const fe2 *a, const fe2 *b) {
    const field *f = &c->fq;
    packed2 abuf, bbuf, rbuf;
    f->ops->mul2(rbuf.w, pack2(f, &abuf, a), pack2(f, &bbuf, b), &f->m);
    unpack2(f, r, &rbuf);
}

void fe2_sqr(const curve *c, fe2 *r, const fe2 *a) {
    const field *f = &c->fq;
    packed2 abuf, rbuf;
    f->ops->sqr2(rbuf.w, pack2(f, &abuf, a), &f->m);
    unpack2(f, r, &rbuf);
}

void fe2_inv(const curve *c, fe2 *r, const fe2 *a) {
    const field *f = &c->fq;
    packed2 abuf, rbuf;
    f->ops->inv2(rbuf.w, pack2(f, &abuf, a), &f->m);
    unpack2(f, r, &rbuf);
}

void fe2_mul_fe(const curve *c, fe2 *r, const fe2 *a, const fe *b) {
    const fe k = *b; /* b may be a coordinate of r */
    field_mul(&c->fq, r->c0.l, a->c0.l, k.l);
    field_mul(&c->fq, r->c1.l, a->c1.l, k.l);
}

void fe2_mul_xi(const curve *c, fe2 *r, const fe2 *a) {
    /* (a0 + a1 u)(k + u) = (k a0 - a1) + (k a1 + a0) u; k is small, so k a is additions. */
    const uint64_t k = c->params->xi[0];
    fe2 ka = *a;
    for (uint64_t bit = (uint64_t)1 << (63 - __builtin_clzll(k)); bit > 1; bit >>= 1) {
        fe2_double(c, &ka, &ka);
        if (k & (bit >> 1)) fe2_add(c, &ka, &ka, a);
    }
    const fe a0 = a->c0;
    field_sub(&c->fq, r->c0.l, ka.c0.l, a->c1.l);
    field_add(&c->fq, r->c1.l, ka.c1.l, a0.l);
}

void fe2_pow(const curve *c, fe2 *r, const fe2 *a, const uint64_t *e, unsigned n_limbs) {
    const fe2 base = *a;
    fe2_set_one(c, r);
    for (unsigned i = 64 * n_limbs; i-- > 0;) {
        fe2_sqr(c, r, r);
        if (e[i / 64] >> (i % 64) & 1) fe2_mul(c, r, r, &base);
    }
}

bool fe2_is_zero(const curve *c, const fe2 *a) {
    return field_is_zero(&c->fq, a->c0.l) && field_is_zero(&c->fq, a->c1.l);
}

bool fe2_equal(const curve *c, const fe2 *a, const fe2 *b) {
    return field_equal(&c->fq, a->c0.l, b->c0.l) && field_equal(&c->fq, a->c1.l, b->c1.l);
}

bool fe2_sqrt(const curve *c, fe2 *r, const fe2 *a) {
    const field *f = &c->fq;
    fe t, s, two;
    if (field_is_zero(f, a->c1.l)) { /* a is in Fq, where it or its negative is a square */
        const fe a0 = a->c0;
        fe2_set_zero(c, r);
        if (field_sqrt(f, r->c0.l, a0.l)) return true;
        field_neg(f, t.l, a0.l);
        field_set_zero(f, r->c0.l);
        return field_sqrt(f, r->c1.l, t.l);
    }
    /* (x0 + x1 u)^2 = a: x0^2 = (a0 +- sqrt(norm a)) / 2 and x1 = a1 / (2 x0). The product of
     * the two candidates for x0^2 is -(a1/2)^2, a non-square, so exactly one is a square. */
    field_sqr(f, s.l, a->c0.l);
    field_sqr(f, t.l, a->c1.l);
    field_add(f, s.l, s.l, t.l);
    if (!field_sqrt(f, s.l, s.l)) return false;
    fe half, x0, x1;
    field_set_u64(f, two.l, 2);
    field_inv(f, half.l, two.l);
    field_add(f, t.l, a->c0.l, s.l);
    field_mul(f, t.l, t.l, half.l);
    if (!field_sqrt(f, x0.l, t.l)) {
        field_sub(f, t.l, t.l, s.l);
        if (!field_sqrt(f, x0.l, t.l)) return false;
    }
    field_add(f, t.l, x0.l, x0.l);
    field_inv(f, t.l, t.l);
    field_mul(f, x1.l, a->c1.l, t.l);
    r->c0 = x0;
    r->c1 = x1;
    return true;
}

void fe2_set_zero(const curve *c, fe2 *r) {
    field_set_zero(&c->fq, r->c0.l);
    field_set_zero(&c->fq, r->c1.l);
}

void fe2_set_one(const curve *c, fe2 *r) {
    field_set_one(&c->fq, r->c0.l);
    field_set_zero(&c->fq, r->c1.l);
}

/* ---- Fq6 ---- */

static void fe6_add(const curve *c, fe6 *r, const fe6 *a, const fe6 *b) {
    fe2_add(c, &r->c0, &a->c0, &b->c0);
    fe2_add(c, &r->c1, &a->c1, &b->c1);
    fe2_add(c, &r->c2, &a->c2, &b->c2);
}

static void fe6_sub(const curve *c, fe6 *r, const fe6 *a, const fe6 *b) {
    fe2_sub(c, &r->c0, &a->c0, &b->c0);
    fe2_sub(c, &r->c1, &a->c1, &b->c1);
    fe2_sub(c, &r->c2, &a->c2, &b->c2);
}

static void fe6_neg(const curve *c, fe6 *r, const fe6 *a) {
    fe2_neg(c, &r->c0, &a->c0);
    fe2_neg(c, &r->c1, &a->c1);
    fe2_neg(c, &r->c2, &a->c2);
}

static bool fe6_equal(const curve *c, const fe6 *a, const fe6 *b) {
    return fe2_equal(c, &a->c0, &b->c0) && fe2_equal(c, &a->c1, &b->c1) &&
           fe2_equal(c, &a->c2, &b->c2);
}

static void fe6_mul_v(const curve *c, fe6 *r, const fe6 *a) {
    const fe2 a0 = a->c0, a1 = a->c1;
    fe2_mul_xi(c, &r->c0, &a->c2);
    r->c1 = a0;
    r->c2 = a1;
}

/* Karatsuba: six products in Fq2. */
static void fe6_mul(const curve *c, fe6 *r, const fe6 *a, const fe6 *b) {
    fe2 v0, v1, v2, s, t, r0, r1, r2;
    fe2_mul(c, &v0, &a->c0, &b->c0);
    fe2_mul(c, &v1, &a->c1, &b->c1);
    fe2_mul(c, &v2, &a->c2, &b->c2);

    fe2_add(c, &s, &a->c1, &a->c2);
    fe2_add(c, &t, &b->c1, &b->c2);
    fe2_mul(c, &r0, &s, &t);
    fe2_sub(c, &r0, &r0, &v1);
    fe2_sub(c, &r0, &r0, &v2);
    fe2_mul_xi(c, &r0, &r0);
    fe2_add(c, &r0, &r0, &v0);

    fe2_add(c, &s, &a->c0, &a->c1);
    fe2_add(c, &t, &b->c0, &b->c1);
    fe2_mul(c, &r1, &s, &t);
    fe2_sub(c, &r1, &r1, &v0);
    fe2_sub(c, &r1, &r1, &v1);
    fe2_mul_xi(c, &t, &v2);
    fe2_add(c, &r1, &r1, &t);

    fe2_add(c, &s, &a->c0, &a->c2);
    fe2_add(c, &t, &b->c0, &b->c2);
    fe2_mul(c, &r2, &s, &t);
    fe2_sub(c, &r2, &r2, &v0);
    fe2_add(c, &r2, &r2, &v1);
    fe2_sub(c, &r->c2, &r2, &v2);
    r->c0 = r0;
    r->c1 = r1;
}

static void fe6_mul_fe2(const curve *c, fe6 *r, const fe6 *a, const fe2 *k) {
    fe2_mul(c, &r->c0, &a->c0, k);
    fe2_mul(c, &r->c1, &a->c1, k);
    fe2_mul(c, &r->c2, &a->c2, k);
}

/* r = a (b0 + b1 v): five products. */
static void fe6_mul_01(const curve *c, fe6 *r, const fe6 *a, const fe2 *b0, const fe2 *b1) {
    fe2 v0, v1, s, t, r1;
    fe2_mul(c, &v0, &a->c0, b0);
    fe2_mul(c, &v1, &a->c1, b1);

    fe2_add(c, &s, &a->c0, &a->c1);
    fe2_add(c, &t, b0, b1);
    fe2_mul(c, &r1, &s, &t);
    fe2_sub(c, &r1, &r1, &v0);
    fe2_sub(c, &r1, &r1, &v1);

    fe2_mul(c, &s, &a->c2, b1);
    fe2_mul_xi(c, &s, &s);
    fe2_mul(c, &t, &a->c2, b0);
    fe2_add(c, &r->c0, &s, &v0);
    fe2_add(c, &r->c2, &t, &v1);
    r->c1 = r1;
}

static void fe6_inv(const curve *c, fe6 *r, const fe6 *a) {
    fe2 t0, t1, t2, s, norm;
    fe2_sqr(c, &t0, &a->c0); /* t0 = a0^2 - xi a1 a2 */
    fe2_mul(c, &s, &a->c1, &a->c2);
    fe2_mul_xi(c, &s, &s);
    fe2_sub(c, &t0, &t0, &s);
    fe2_sqr(c, &t1, &a->c2); /* t1 = xi a2^2 - a0 a1 */
    fe2_mul_xi(c, &t1, &t1);
    fe2_mul(c, &s, &a->c0, &a->c1);
    fe2_sub(c, &t1, &t1, &s);
    fe2_sqr(c, &t2, &a->c1); /* t2 = a1^2 - a0 a2 */
    fe2_mul(c, &s, &a->c0, &a->c2);
    fe2_sub(c, &t2, &t2, &s);

    fe2_mul(c, &norm, &a->c2, &t1); /* norm = a0 t0 + xi (a2 t1 + a1 t2) */
    fe2_mul(c, &s, &a->c1, &t2);
    fe2_add(c, &norm, &norm, &s);
    fe2_mul_xi(c, &norm, &norm);
    fe2_mul(c, &s, &a->c0, &t0);
    fe2_add(c, &norm, &norm, &s);
    fe2_inv(c, &norm, &norm);
    fe2_mul(c, &r->c0, &t0, &norm);
    fe2_mul(c, &r->c1, &t1, &norm);
    fe2_mul(c, &r->c2, &t2, &norm);
}

/* ---- Fq12 ---- */

void fe12_set_one(const curve *c, fe12 *r) {
    memset(r, 0, sizeof *r);
    fe2_set_one(c, &r->c0.c0);
}

bool fe12_is_one(const curve *c, const fe12 *a) {
    fe12 one;
    fe12_set_one(c, &one);
    return fe12_equal(c, a, &one);
}

bool fe12_equal(const curve *c, const fe12 *a, const fe12 *b) {
    return fe6_equal(c, &a->c0, &b->c0) && fe6_equal(c, &a->c1, &b->c1);
}

/* r = a b from v0 = a0 b0, v1 = a1 b1 and v01 = (a0 + a1)(b0 + b1), with w^2 = v. */
static void fe12_karatsuba(const curve *c, fe12 *r, const fe6 *v0, fe6 *v1, const fe6 *v01) {
    fe6_sub(c, &r->c1, v01, v0);
    fe6_sub(c, &r->c1, &r->c1, v1);
    fe6_mul_v(c, v1, v1);
    fe6_add(c, &r->c0, v0, v1);
}

void fe12_mul(const curve *c, fe12 *r, const fe12 *a, const fe12 *b) {
    fe6 v0, v1, s, t;
    fe6_mul(c, &v0, &a->c0, &b->c0);
    fe6_mul(c, &v1, &a->c1, &b->c1);
    fe6_add(c, &s, &a->c0, &a->c1);
    fe6_add(c, &t, &b->c0, &b->c1);
    fe6_mul(c, &s, &s, &t);
    fe12_karatsuba(c, r, &v0, &v1, &s);
}

void fe12_mul_line(const curve *c, fe12 *r, const fe12 *a, const fe2 l[3]) {
    fe6 v0, v1, s;
    fe2 t;
    fe6_add(c, &s, &a->c0, &a->c1);
    fe2_add(c, &t, &l[0], &l[1]);
    if (c->params->twist_is_m) { /* (l2 + l1 v) + (l0 v) w */
        fe6_mul_01(c, &v0, &a->c0, &l[2], &l[1]);
        fe6_mul_fe2(c, &v1, &a->c1, &l[0]);
        fe6_mul_v(c, &v1, &v1);
        fe6_mul_01(c, &s, &s, &l[2], &t);
    } else { /* l0 + (l1 + l2 v) w */
        fe6_mul_fe2(c, &v0, &a->c0, &l[0]);
        fe6_mul_01(c, &v1, &a->c1, &l[1], &l[2]);
        fe6_mul_01(c, &s, &s, &t, &l[2]);
    }
    fe12_karatsuba(c, r, &v0, &v1, &s);
}

void fe12_sqr(const curve *c, fe12 *r, const fe12 *a) {
    fe6 v, s, t; /* c0 = (a0 + a1)(a0 + v a1) - (1 + v) a0 a1, c1 = 2 a0 a1 */
    fe6_mul(c, &v, &a->c0, &a->c1);
    fe6_add(c, &s, &a->c0, &a->c1);
    fe6_mul_v(c, &t, &a->c1);
    fe6_add(c, &t, &t, &a->c0);
    fe6_mul(c, &s, &s, &t);
    fe6_mul_v(c, &t, &v);
    fe6_sub(c, &s, &s, &v);
    fe6_sub(c, &r->c0, &s, &t);
    fe6_add(c, &r->c1, &v, &v);
}

void fe12_conj(const curve *c, fe12 *r, const fe12 *a) {
    r->c0 = a->c0;
    fe6_neg(c, &r->c1, &a->c1);
}

void fe12_inv(const curve *c, fe12 *r, const fe12 *a) {
    fe6 s, t;
    fe6_mul(c, &s, &a->c0, &a->c0);
    fe6_mul(c, &t, &a->c1, &a->c1);
    fe6_mul_v(c, &t, &t);
    fe6_sub(c, &s, &s, &t);
    fe6_inv(c, &s, &s);
    fe6_mul(c, &r->c0, &a->c0, &s);
    fe6_mul(c, &t, &a->c1, &s);
    fe6_neg(c, &r->c1, &t);
}

void fe12_frobenius(const curve *c, fe12 *r, const fe12 *a, unsigned k) {
    CUZK_ASSERT(k >= 1 && k <= 3);
    const fe2 *in[6] = {&a->c0.c0, &a->c1.c0, &a->c0.c1, &a->c1.c1, &a->c0.c2, &a->c1.c2};
    fe2 *out[6] = {&r->c0.c0, &r->c1.c0, &r->c0.c1, &r->c1.c1, &r->c0.c2, &r->c1.c2};
    for (unsigned i = 0; i < 6; i++) { /* the coefficient of w^i */
        if (k == 2) {
            *out[i] = *in[i];
        } else {
            fe2_conj(c, out[i], in[i]);
        }
        fe2_mul(c, out[i], out[i], &c->frob[k - 1][i]);
    }
}

/* (r0 + r1 s) = (a + b s)^2 in Fq4 = Fq2[s]/(s^2 - xi). */
static void fe4_sqr(const curve *c, fe2 *r0, fe2 *r1, const fe2 *a, const fe2 *b) {
    fe2 aa, bb, s;
    fe2_sqr(c, &aa, a);
    fe2_sqr(c, &bb, b);
    fe2_add(c, &s, a, b);
    fe2_sqr(c, &s, &s);
    fe2_sub(c, &s, &s, &aa);
    fe2_sub(c, r1, &s, &bb);
    fe2_mul_xi(c, &bb, &bb);
    fe2_add(c, r0, &aa, &bb);
}

/* r = 3 t - 2 a  or  r = 3 t + 2 a */
static void three_minus_two(const curve *c, fe2 *r, const fe2 *t, const fe2 *a) {
    fe2 s;
    fe2_sub(c, &s, t, a);
    fe2_double(c, &s, &s);
    fe2_add(c, r, &s, t);
}

static void three_plus_two(const curve *c, fe2 *r, const fe2 *t, const fe2 *a) {
    fe2 s;
    fe2_add(c, &s, t, a);
    fe2_double(c, &s, &s);
    fe2_add(c, r, &s, t);
}

void fe12_sqr_cyclotomic(const curve *c, fe12 *r, const fe12 *a) {
    fe2 s0, s1, t0, t1, u0, u1;
    fe4_sqr(c, &s0, &s1, &a->c0.c0, &a->c1.c1);
    fe4_sqr(c, &t0, &t1, &a->c1.c0, &a->c0.c2);
    fe4_sqr(c, &u0, &u1, &a->c0.c1, &a->c1.c2);
    fe2_mul_xi(c, &u1, &u1);
    three_minus_two(c, &r->c0.c0, &s0, &a->c0.c0);
    three_minus_two(c, &r->c0.c1, &t0, &a->c0.c1);
    three_minus_two(c, &r->c0.c2, &u0, &a->c0.c2);
    three_plus_two(c, &r->c1.c0, &u1, &a->c1.c0);
    three_plus_two(c, &r->c1.c1, &s1, &a->c1.c1);
    three_plus_two(c, &r->c1.c2, &t1, &a->c1.c2);
}
