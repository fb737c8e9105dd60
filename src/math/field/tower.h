/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_FIELD_TOWER_H
#define CUZK_MATH_FIELD_TOWER_H
/* math/field/tower: Fq2 = Fq[u]/(u^2+1), Fq6 = Fq2[v]/(v^3 - xi), Fq12 = Fq6[w]/(w^2 - v).
 * Cold code (pairing, points one at a time); results may alias operands. */
#include "math/curves/curve.h"

/* fe6 = c0 + c1 v + c2 v^2, fe12 = c0 + c1 w. */
typedef struct fe6 {
    fe2 c0, c1, c2;
} fe6;
typedef struct fe12 {
    fe6 c0, c1;
} fe12;

void fe2_add(const curve *c, fe2 *r, const fe2 *a, const fe2 *b);
void fe2_sub(const curve *c, fe2 *r, const fe2 *a, const fe2 *b);
void fe2_neg(const curve *c, fe2 *r, const fe2 *a);
void fe2_conj(const curve *c, fe2 *r, const fe2 *a);
void fe2_mul(const curve *c, fe2 *r, const fe2 *a, const fe2 *b);
void fe2_sqr(const curve *c, fe2 *r, const fe2 *a);
void fe2_mul_fe(const curve *c, fe2 *r, const fe2 *a, const fe *b);
void fe2_mul_xi(const curve *c, fe2 *r, const fe2 *a);
void fe2_inv(const curve *c, fe2 *r, const fe2 *a); /* 0 -> 0 */
/* r = a^e, e canonical little-endian limbs. Variable time in e. */
void fe2_pow(const curve *c, fe2 *r, const fe2 *a, const uint64_t *e, unsigned n_limbs);
bool fe2_is_zero(const curve *c, const fe2 *a);
bool fe2_equal(const curve *c, const fe2 *a, const fe2 *b);
/* True and *r = a root when a is a square. Needs q = 3 mod 4, which u^2 = -1 implies. */
bool fe2_sqrt(const curve *c, fe2 *r, const fe2 *a);
void fe2_set_zero(const curve *c, fe2 *r);
void fe2_set_one(const curve *c, fe2 *r);

void fe12_set_one(const curve *c, fe12 *r);
bool fe12_is_one(const curve *c, const fe12 *a);
bool fe12_equal(const curve *c, const fe12 *a, const fe12 *b);
void fe12_mul(const curve *c, fe12 *r, const fe12 *a, const fe12 *b);
void fe12_sqr(const curve *c, fe12 *r, const fe12 *a);
void fe12_conj(const curve *c, fe12 *r, const fe12 *a); /* a^(q^6) */
void fe12_inv(const curve *c, fe12 *r, const fe12 *a);
void fe12_frobenius(const curve *c, fe12 *r, const fe12 *a,
                    unsigned k); /* a^(q^k), k = 1..3 */
/* a^2 for a in the cyclotomic subgroup, a^(q^4 - q^2 + 1) = 1 (Granger-Scott 2010). */
void fe12_sqr_cyclotomic(const curve *c, fe12 *r, const fe12 *a);
/* r = a times a line of the Miller loop, which has three of six coefficients:
 * l[0] + l[1] w + l[2] w^3 on a D-twist, l[2] + l[1] w^2 + l[0] w^3 on an M-twist. */
void fe12_mul_line(const curve *c, fe12 *r, const fe12 *a, const fe2 l[3]);

#endif
