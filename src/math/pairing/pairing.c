/* SPDX-License-Identifier: Apache-2.0 */
#include "math/pairing/pairing.h"

#include <string.h>

/* ---- the Miller loop ----
 * Points of the twist in homogeneous coordinates (X/Z, Y/Z); formulas of Aranha et al. (The
 * Realm of the Pairings, https://eprint.iacr.org/2013/722). A line through points of the twist
 * is (l0 y + l1 x + l2) at (x, y) on the twist; evaluated at P = (xp, yp) of G1 it is, up to a
 * factor that the final exponentiation removes, the sparse element of fe12_mul_line. */

#define PAIRS_MAX 8 /* that share the squarings of one loop */

typedef struct miller_pair {
    g1_affine p;
    g2_affine q, q_neg;
    fe2 x, y, z; /* T, a multiple of q */
} miller_pair;

/* T = 2 T and the tangent at T before. */
static void double_step(const curve *c, miller_pair *t, fe2 line[3]) {
    fe2 xy, yy, zz, e, f, g, h;
    fe2_mul(c, &xy, &t->x, &t->y);
    fe2_sqr(c, &yy, &t->y);
    fe2_sqr(c, &zz, &t->z);
    fe2_add(c, &h, &t->y, &t->z); /* h = 2 y z */
    fe2_sqr(c, &h, &h);
    fe2_sub(c, &h, &h, &yy);
    fe2_sub(c, &h, &h, &zz);
    fe2_mul(c, &e, &zz, &c->b2); /* e = 3 b' z^2 */
    fe2_add(c, &f, &e, &e);
    fe2_add(c, &e, &e, &f);
    fe2_sqr(c, &g, &t->x); /* g = 3 x^2 */
    fe2_add(c, &f, &g, &g);
    fe2_add(c, &g, &g, &f);

    fe2_neg(c, &line[0], &h);
    line[1] = g;
    fe2_sub(c, &line[2], &e, &yy);

    /* Coordinates times 4, so that nothing is halved: X = 2xy (y^2 - 3e),
     * Y = (y^2 + 3e)^2 - 12 e^2, Z = 4 y^2 h. */
    fe2_add(c, &f, &e, &e);
    fe2_add(c, &f, &f, &e);
    fe2_sub(c, &g, &yy, &f);
    fe2_mul(c, &t->x, &xy, &g);
    fe2_add(c, &t->x, &t->x, &t->x);
    fe2_add(c, &g, &yy, &f);
    fe2_sqr(c, &g, &g);
    fe2_sqr(c, &e, &e);
    fe2_add(c, &e, &e, &e);
    fe2_add(c, &e, &e, &e);
    fe2_sub(c, &g, &g, &e);
    fe2_sub(c, &g, &g, &e);
    fe2_sub(c, &t->y, &g, &e);
    fe2_mul(c, &h, &h, &yy);
    fe2_add(c, &h, &h, &h);
    fe2_add(c, &t->z, &h, &h);
}

/* T = T + Q and the line through both. */
static void add_step(const curve *c, miller_pair *t, const g2_affine *q, fe2 line[3]) {
    fe2 theta, lambda, s, ll, lll, g, h;
    fe2_mul(c, &s, &q->y, &t->z);
    fe2_sub(c, &theta, &t->y, &s);
    fe2_mul(c, &s, &q->x, &t->z);
    fe2_sub(c, &lambda, &t->x, &s);

    line[0] = lambda;
    fe2_neg(c, &line[1], &theta);
    fe2_mul(c, &line[2], &theta, &q->x);
    fe2_mul(c, &s, &lambda, &q->y);
    fe2_sub(c, &line[2], &line[2], &s);

    fe2_sqr(c, &ll, &lambda);
    fe2_mul(c, &lll, &ll, &lambda);
    fe2_mul(c, &g, &t->x, &ll);
    fe2_sqr(c, &h, &theta); /* h = lambda^3 + z theta^2 - 2 g */
    fe2_mul(c, &h, &h, &t->z);
    fe2_add(c, &h, &h, &lll);
    fe2_sub(c, &h, &h, &g);
    fe2_sub(c, &h, &h, &g);
    fe2_mul(c, &t->x, &lambda, &h);
    fe2_sub(c, &g, &g, &h);
    fe2_mul(c, &g, &g, &theta);
    fe2_mul(c, &s, &lll, &t->y);
    fe2_sub(c, &t->y, &g, &s);
    fe2_mul(c, &t->z, &t->z, &lll);
}

static void absorb_line(const curve *c, fe12 *f, const g1_affine *p, fe2 line[3]) {
    fe2_mul_fe(c, &line[0], &line[0], &p->y);
    fe2_mul_fe(c, &line[1], &line[1], &p->x);
    fe12_mul_line(c, f, f, line);
}

static void absorb_sum(const curve *c, fe12 *f, miller_pair *t, const g2_affine *q) {
    fe2 line[3];
    add_step(c, t, q, line);
    absorb_line(c, f, &t->p, line);
}

/* The last two lines of a BN loop: through [6x+2] q and psi(q), then -psi^2(q). */
static void absorb_bn_tail(const curve *c, fe12 *f, miller_pair *t) {
    point q, psi_q;
    g2_affine a;
    point_from_g2(c, &q, &t->q);
    point_psi(c, &psi_q, &q);
    a = (g2_affine){.x = psi_q.x, .y = psi_q.y};
    absorb_sum(c, f, t, &a);
    point_psi(c, &psi_q, &psi_q);
    a.x = psi_q.x;
    fe2_neg(c, &a.y, &psi_q.y);
    absorb_sum(c, f, t, &a);
}

/* 6x + 2 (BN) or x (BLS12), without the sign. */
static cuzk_u128 loop_count(const curve_params *p) {
    const cuzk_u128 x = p->x;
    if (p->family == CURVE_FAMILY_BLS12) return x;
    return p->x_negative ? 6 * x - 2 : 6 * x + 2;
}

/* r = product of the Miller functions of n pairs, none at infinity. The loop count k is taken
 * in non-adjacent form: its digit i - 1 is bit i of 3k less bit i of k. */
static void miller_loop(const curve *c, fe12 *r, miller_pair *pairs, size_t n) {
    const cuzk_u128 k = loop_count(c->params), k3 = 3 * k;
    unsigned top = 127;
    while ((k3 >> top & 1) == 0) top--; /* the first digit, one: T = Q */
    fe2 line[3];
    fe12_set_one(c, r);
    for (unsigned i = top - 1; i > 0; i--) {
        fe12_sqr(c, r, r);
        for (size_t j = 0; j < n; j++) {
            double_step(c, &pairs[j], line);
            absorb_line(c, r, &pairs[j].p, line);
        }
        const bool plus = k3 >> i & 1, minus = k >> i & 1;
        if (plus == minus) continue;
        for (size_t j = 0; j < n; j++) {
            absorb_sum(c, r, &pairs[j], plus ? &pairs[j].q : &pairs[j].q_neg);
        }
    }
    if (c->params->x_negative) { /* f_(-k) = 1 / f_k up to final exponentiation, T = -T */
        fe12_conj(c, r, r);
        for (size_t j = 0; j < n; j++) fe2_neg(c, &pairs[j].y, &pairs[j].y);
    }
    if (c->params->family == CURVE_FAMILY_BN) {
        for (size_t j = 0; j < n; j++) absorb_bn_tail(c, r, &pairs[j]);
    }
}

/* ---- the final exponentiation ---- */

/* r = a^x in the cyclotomic subgroup, where conjugation inverts. r is not a. */
static void pow_seed(const curve *c, fe12 *r, const fe12 *a) {
    const uint64_t x = c->params->x;
    *r = *a;
    for (unsigned i = 63 - (unsigned)__builtin_clzll(x); i-- > 0;) {
        fe12_sqr_cyclotomic(c, r, r);
        if (x >> i & 1) fe12_mul(c, r, r, a);
    }
    if (c->params->x_negative) fe12_conj(c, r, r);
}

/* r = f^((q^6 - 1)(q^2 + 1)) */
static void easy_part(const curve *c, fe12 *r, const fe12 *f) {
    fe12 s;
    fe12_inv(c, &s, f);
    fe12_conj(c, r, f);
    fe12_mul(c, &s, r, &s);
    fe12_frobenius(c, r, &s, 2);
    fe12_mul(c, r, r, &s);
}

/* r = m^(3 (q^4 - q^2 + 1)/r) = m^((x-1)^2 (x+q) (x^2+q^2-1) + 3) */
static void hard_part_bls12(const curve *c, fe12 *r, const fe12 *m) {
    fe12 a = *m, s, t;
    for (int i = 0; i < 2; i++) { /* a = m^((x-1)^2) */
        pow_seed(c, &s, &a);
        fe12_conj(c, &t, &a);
        fe12_mul(c, &a, &s, &t);
    }
    pow_seed(c, &s, &a); /* a = a^(x+q) */
    fe12_frobenius(c, &t, &a, 1);
    fe12_mul(c, &a, &s, &t);
    pow_seed(c, &t, &a); /* a = a^(x^2+q^2-1) */
    pow_seed(c, &s, &t);
    fe12_frobenius(c, &t, &a, 2);
    fe12_mul(c, &s, &s, &t);
    fe12_conj(c, &t, &a);
    fe12_mul(c, &a, &s, &t);
    fe12_sqr_cyclotomic(c, &t, m);
    fe12_mul(c, &t, &t, m);
    fe12_mul(c, r, &a, &t);
}

/* r = m^(2x (6x^2 + 3x + 1) (q^4 - q^2 + 1)/r) =
 * m^(1 + 6x + 12x^2 + 12x^3 + (4x + 6x^2 + 12x^3) q + (6x + 6x^2 + 12x^3) q^2
 *    + (-1 + 4x + 6x^2 + 12x^3) q^3) */
static void hard_part_bn(const curve *c, fe12 *r, const fe12 *m) {
    fe12 x2, x6, xx6, a, b, s;
    pow_seed(c, &s, m);
    fe12_sqr_cyclotomic(c, &x2, &s); /* m^2x */
    fe12_sqr_cyclotomic(c, &x6, &x2);
    fe12_mul(c, &x6, &x6, &x2); /* m^6x */
    pow_seed(c, &xx6, &x6);     /* m^6x^2 */
    fe12_sqr_cyclotomic(c, &s, &xx6);
    pow_seed(c, &a, &s); /* m^12x^3 */
    fe12_mul(c, &a, &a, &xx6);
    fe12_mul(c, &a, &a, &x6); /* 6x + 6x^2 + 12x^3 */
    fe12_conj(c, &x2, &x2);
    fe12_mul(c, &b, &a, &x2); /* 4x + 6x^2 + 12x^3 */

    fe12_mul(c, r, &a, &xx6);
    fe12_mul(c, r, r, m);
    fe12_frobenius(c, &s, &b, 1);
    fe12_mul(c, r, r, &s);
    fe12_frobenius(c, &s, &a, 2);
    fe12_mul(c, r, r, &s);
    fe12_conj(c, &s, m);
    fe12_mul(c, &s, &b, &s);
    fe12_frobenius(c, &s, &s, 3);
    fe12_mul(c, r, r, &s);
}

void pairing_product(const curve *c, fe12 *r, const g1_affine *p, const g2_affine *q,
                     size_t n) {
    miller_pair pairs[PAIRS_MAX];
    fe12 f, part;
    fe12_set_one(c, &f);
    for (size_t i = 0; i < n;) {
        size_t n_pairs = 0;
        for (; i < n && n_pairs < PAIRS_MAX; i++) {
            if (p[i].infinity || q[i].infinity) continue;
            miller_pair *t = &pairs[n_pairs++];
            t->p = p[i];
            t->q = t->q_neg = q[i];
            fe2_neg(c, &t->q_neg.y, &q[i].y);
            t->x = q[i].x;
            t->y = q[i].y;
            fe2_set_one(c, &t->z);
        }
        miller_loop(c, &part, pairs, n_pairs);
        fe12_mul(c, &f, &f, &part);
    }
    easy_part(c, &part, &f);
    if (c->params->family == CURVE_FAMILY_BN) {
        hard_part_bn(c, r, &part);
    } else {
        hard_part_bls12(c, r, &part);
    }
}

bool pairing_product_is_one(const curve *c, const g1_affine *p, const g2_affine *q, size_t n) {
    fe12 r;
    pairing_product(c, &r, p, q, n);
    return fe12_is_one(c, &r);
}
