/* SPDX-License-Identifier: Apache-2.0 */
/* The primitives of the adx table for 6 limbs: products in limb6_adx.S, sums here, so that
 * they join the code around them. See limb_portable.inc.h for what each one promises. */
#ifndef CUZK_MATH_LIMB_LIMB6_ADX_H
#define CUZK_MATH_LIMB_LIMB6_ADX_H
#include "math/limb/limb.h"

#include <assert.h>

/* What limb_adx.inc.h knows of limb_mod. */
static_assert(offsetof(limb_mod, p) == 0 && offsetof(limb_mod, inv) == 144, "limb_mod");

typedef struct limbs6 {
    uint64_t l[6];
} limbs6;

/* r = a b / R; and r[i] = a[i] b[i] / R for i < n in this order, as r may overlap what comes
 * later in a or b.
 *      mul, vec_mul   a < p, any b; or a, b < 2 p where 4 p < R. Reduced.
 *      vec_mul_lazy   4 p < R, a, b < 2 p. Below 2 p.
 *      vec_mul2       in Fq2; 4 p < R, a < p, b < 2 p. Reduced. */
limb_fn2 limb6_mul_adx;
limb_vec2 limb6_vec_mul_adx, limb6_vec_mul_lazy_adx, limb6_vec_mul2_adx;

#define fq_mul          limb6_mul_adx
#define fq_vec_mul      limb6_vec_mul_adx
#define fq_vec_mul_lazy limb6_vec_mul_lazy_adx
#define fq2_vec_mul     limb6_vec_mul2_adx

static const uint64_t zero6[6] = {0};

/* Where the difference is negative, p is added back, else 0: chosen by address, which costs
 * one cmov instead of a mask for each limb. */
CUZK_INLINE void fq_add(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    const uint64_t *back = zero6;
    __asm__("add 0(%[b]), %[t0]\n\t"
            "adc 8(%[b]), %[t1]\n\t"
            "adc 16(%[b]), %[t2]\n\t"
            "adc 24(%[b]), %[t3]\n\t"
            "adc 32(%[b]), %[t4]\n\t"
            "adc 40(%[b]), %[t5]\n\t"
            "sub 0(%[p]), %[t0]\n\t"
            "sbb 8(%[p]), %[t1]\n\t"
            "sbb 16(%[p]), %[t2]\n\t"
            "sbb 24(%[p]), %[t3]\n\t"
            "sbb 32(%[p]), %[t4]\n\t"
            "sbb 40(%[p]), %[t5]\n\t"
            "cmovc %[p], %[back]\n\t"
            "add 0(%[back]), %[t0]\n\t"
            "adc 8(%[back]), %[t1]\n\t"
            "adc 16(%[back]), %[t2]\n\t"
            "adc 24(%[back]), %[t3]\n\t"
            "adc 32(%[back]), %[t4]\n\t"
            "adc 40(%[back]), %[t5]"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
              [t5] "+&r"(t5), [back] "+&r"(back)
            : [b] "r"(b), [p] "r"(m->p), "m"(*(const limbs6 *)(const void *)b),
              "m"(*(const limbs6 *)(const void *)m->p), "m"(zero6)
            : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
}

CUZK_INLINE void fq_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    const uint64_t *back = zero6;
    __asm__("sub 0(%[b]), %[t0]\n\t"
            "sbb 8(%[b]), %[t1]\n\t"
            "sbb 16(%[b]), %[t2]\n\t"
            "sbb 24(%[b]), %[t3]\n\t"
            "sbb 32(%[b]), %[t4]\n\t"
            "sbb 40(%[b]), %[t5]\n\t"
            "cmovc %[p], %[back]\n\t"
            "add 0(%[back]), %[t0]\n\t"
            "adc 8(%[back]), %[t1]\n\t"
            "adc 16(%[back]), %[t2]\n\t"
            "adc 24(%[back]), %[t3]\n\t"
            "adc 32(%[back]), %[t4]\n\t"
            "adc 40(%[back]), %[t5]"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
              [t5] "+&r"(t5), [back] "+&r"(back)
            : [b] "r"(b), [p] "r"(m->p), "m"(*(const limbs6 *)(const void *)b),
              "m"(*(const limbs6 *)(const void *)m->p), "m"(zero6)
            : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
}

CUZK_INLINE void add_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b,
                          const limb_mod *m) {
    (void)m;
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    __asm__("add 0(%[b]), %[t0]\n\t"
            "adc 8(%[b]), %[t1]\n\t"
            "adc 16(%[b]), %[t2]\n\t"
            "adc 24(%[b]), %[t3]\n\t"
            "adc 32(%[b]), %[t4]\n\t"
            "adc 40(%[b]), %[t5]"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
              [t5] "+&r"(t5)
            : [b] "r"(b), "m"(*(const limbs6 *)(const void *)b)
            : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
}

CUZK_INLINE void sub_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b,
                          const limb_mod *m) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    __asm__("add 0(%[p]), %[t0]\n\t"
            "adc 8(%[p]), %[t1]\n\t"
            "adc 16(%[p]), %[t2]\n\t"
            "adc 24(%[p]), %[t3]\n\t"
            "adc 32(%[p]), %[t4]\n\t"
            "adc 40(%[p]), %[t5]\n\t"
            "sub 0(%[b]), %[t0]\n\t"
            "sbb 8(%[b]), %[t1]\n\t"
            "sbb 16(%[b]), %[t2]\n\t"
            "sbb 24(%[b]), %[t3]\n\t"
            "sbb 32(%[b]), %[t4]\n\t"
            "sbb 40(%[b]), %[t5]"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
              [t5] "+&r"(t5)
            : [b] "r"(b), [p] "r"(m->p), "m"(*(const limbs6 *)(const void *)b),
              "m"(*(const limbs6 *)(const void *)m->p)
            : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3, r[4] = t4, r[5] = t5;
}

#endif
