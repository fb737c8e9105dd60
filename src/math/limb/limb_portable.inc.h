/* SPDX-License-Identifier: Apache-2.0 */
/* The primitives of a table in C alone, for W limbs. Included by limb<W>_portable.c. */
#ifndef CUZK_MATH_LIMB_LIMB_PORTABLE_H
#define CUZK_MATH_LIMB_LIMB_PORTABLE_H
#include "math/limb/limb.h"

/* r = a b + c + *carry, never overflowing 128 bits; the high half goes back to *carry. */
CUZK_INLINE uint64_t mul_add(uint64_t a, uint64_t b, uint64_t c, uint64_t *carry) {
    const cuzk_u128 t = (cuzk_u128)a * b + c + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
}
CUZK_INLINE uint64_t add_carry(uint64_t a, uint64_t b, uint64_t *carry) {
    const cuzk_u128 t = (cuzk_u128)a + b + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
}
CUZK_INLINE uint64_t sub_borrow(uint64_t a, uint64_t b, uint64_t *borrow) {
    const cuzk_u128 t = (cuzk_u128)a - b - *borrow;
    *borrow = (uint64_t)(t >> 64) & 1;
    return (uint64_t)t;
}

/* r = t - p if that is not negative, else t; for t < 2 p. */
CUZK_INLINE void reduce_once(uint64_t *r, const uint64_t *t, const limb_mod *m) {
    uint64_t d[W], borrow = 0;
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) d[i] = sub_borrow(t[i], m->p[i], &borrow);
    const uint64_t keep = 0 - borrow;
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) r[i] = d[i] ^ ((d[i] ^ t[i]) & keep);
}

static void fq_add(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m) {
    uint64_t t[W], carry = 0;
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) t[i] = add_carry(a[i], b[i], &carry);
    reduce_once(r, t, m);
}

static void fq_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m) {
    uint64_t t[W], borrow = 0, carry = 0;
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) t[i] = sub_borrow(a[i], b[i], &borrow);
    const uint64_t wrapped = 0 - borrow;
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) r[i] = add_carry(t[i], m->p[i] & wrapped, &carry);
}

/* r = a + b and r = a - b + p without reduction: below 2 p, fit for the second factor. */
CUZK_INLINE void add_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b,
                          const limb_mod *m) {
    (void)m;
    uint64_t carry = 0;
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) r[i] = add_carry(a[i], b[i], &carry);
}
CUZK_INLINE void sub_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b,
                          const limb_mod *m) {
    uint64_t carry = 0, borrow = 0;
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) {
        r[i] = sub_borrow(add_carry(a[i], m->p[i], &carry), b[i], &borrow);
    }
}

/* t (W + 1 words, the top one taken from `top`) += a b. */
CUZK_INLINE void add_row(uint64_t *t, const uint64_t *a, uint64_t b, uint64_t top) {
    uint64_t carry = 0;
#pragma GCC unroll 6
    for (int j = 0; j < W; j++) t[j] = mul_add(a[j], b, t[j], &carry);
    t[W] = top + carry;
}

/* One word of Montgomery reduction: t (W + 1 words) = (t + k p) / 2^64 with the k that makes
 * it exact. The top bit of p is clear, so W + 1 words hold every intermediate value. */
CUZK_INLINE void reduce_word(uint64_t *t, const limb_mod *m) {
    uint64_t carry = 0;
    const uint64_t k = t[0] * m->inv;
    (void)mul_add(k, m->p[0], t[0], &carry);
#pragma GCC unroll 6
    for (int j = 1; j < W; j++) t[j - 1] = mul_add(k, m->p[j], t[j], &carry);
    t[W - 1] = t[W] + carry;
}

/* t = a b / R, below 2 p. */
CUZK_INLINE void multiply(uint64_t *t, const uint64_t *a, const uint64_t *b,
                          const limb_mod *m) {
    uint64_t sum[W + 1] = {0};
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) {
        add_row(sum, a, b[i], 0);
        reduce_word(sum, m);
    }
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) t[i] = sum[i];
}

/* t = (a u + b v) / R, below 2 p. */
CUZK_INLINE void multiply_sum(uint64_t *t, const uint64_t *a, const uint64_t *u,
                              const uint64_t *b, const uint64_t *v, const limb_mod *m) {
    uint64_t sum[W + 1] = {0};
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) {
        add_row(sum, a, u[i], 0);
        add_row(sum, b, v[i], sum[W]);
        reduce_word(sum, m);
    }
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) t[i] = sum[i];
}

/* r[i] = a[i] b[i] / R for i < n in this order, as r may overlap what comes later in a or b.
 * The next a is a_step bytes on. a < p, any b; or a, b < 2 p where 4 p < R. */
CUZK_INLINE void fq_vec_mul_step(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                                 const limb_mod *m, size_t a_step) {
    for (; n > 0; n--, r += W, a += a_step / sizeof *a, b += W) {
        uint64_t t[W];
        multiply(t, a, b, m);
        reduce_once(r, t, m);
    }
}

static void fq_vec_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                       const limb_mod *m) {
    fq_vec_mul_step(r, a, b, n, m, W * sizeof *a);
}

static void fq_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m) {
    fq_vec_mul(r, a, b, 1, m);
}

/* The same, not reduced: r < 2 p of a, b < 2 p, for 4 p < R. */
static void fq_vec_mul_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                            const limb_mod *m) {
    for (; n > 0; n--, r += W, a += W, b += W) {
        uint64_t t[W];
        multiply(t, a, b, m);
#pragma GCC unroll 6
        for (int i = 0; i < W; i++) r[i] = t[i];
    }
}

/* In Fq2, of parts a < p and b < 2 p, for 4 p < R: c0 = a0 b0 + a1 (2 p - b1). */
static void fq2_vec_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                        const limb_mod *m) {
    for (; n > 0; n--, r += 2 * W, a += 2 * W, b += 2 * W) {
        uint64_t minus_b1[W], c0[W], c1[W];
        sub_lazy(minus_b1, m->p, b + W, m);
        multiply_sum(c0, a, b, a + W, minus_b1, m);
        multiply_sum(c1, a, b + W, a + W, b, m);
        reduce_once(r, c0, m);
        reduce_once(r + W, c1, m);
    }
}

#endif
