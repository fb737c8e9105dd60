/* SPDX-License-Identifier: Apache-2.0 */
/* The primitives of the adx table for 4 limbs: products in limb4_adx.S, sums here, so that
 * they join the code around them. See limb_portable.inc.h for what each one promises. */
#ifndef CUZK_MATH_LIMB_LIMB4_ADX_H
#define CUZK_MATH_LIMB_LIMB4_ADX_H
#include "math/limb/limb.h"

#include <assert.h>

/* What limb_adx.inc.h knows of limb_mod. */
static_assert(offsetof(limb_mod, p) == 0 && offsetof(limb_mod, inv) == 144, "limb_mod");

typedef struct limbs4 {
    uint64_t l[4];
} limbs4;

/* r = a b / R; and r[i] = a[i] b[i] / R for i < n in this order, as r may overlap what comes
 * later in a or b.
 *      mul            a < p, any b; or a, b < 2 p where 4 p < R. Reduced.
 *      vec_mul_step   The same; the next a is a_step bytes on.
 *      vec_mul_lazy   4 p < R, a, b < 2 p. Below 2 p.
 *      vec_mul2       in Fq2; 4 p < R, a < p, b < 2 p. Reduced. */
limb_fn2 limb4_mul_adx;
void limb4_vec_mul_step_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                            const limb_mod *m, size_t a_step);
limb_vec2 limb4_vec_mul_lazy_adx, limb4_vec_mul2_adx;

#define fq_mul          limb4_mul_adx
#define fq_vec_mul_step limb4_vec_mul_step_adx
#define fq_vec_mul_lazy limb4_vec_mul_lazy_adx
#define fq2_vec_mul     limb4_vec_mul2_adx

CUZK_INLINE void fq_vec_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                            const limb_mod *m) {
    fq_vec_mul_step(r, a, b, n, m, W * sizeof *a);
}

static const uint64_t zero4[4] = {0};

/* Where the difference is negative, p is added back, else 0: chosen by address, which costs
 * one cmov instead of a mask for each limb. */
CUZK_INLINE void fq_add(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    const uint64_t *back = zero4;
    __asm__(
        "add 0(%[b]), %[t0]\n\t"
        "adc 8(%[b]), %[t1]\n\t"
        "adc 16(%[b]), %[t2]\n\t"
        "adc 24(%[b]), %[t3]\n\t"
        "sub 0(%[p]), %[t0]\n\t"
        "sbb 8(%[p]), %[t1]\n\t"
        "sbb 16(%[p]), %[t2]\n\t"
        "sbb 24(%[p]), %[t3]\n\t"
        "cmovc %[p], %[back]\n\t"
        "add 0(%[back]), %[t0]\n\t"
        "adc 8(%[back]), %[t1]\n\t"
        "adc 16(%[back]), %[t2]\n\t"
        "adc 24(%[back]), %[t3]"
        : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [back] "+&r"(back)
        : [b] "r"(b), [p] "r"(m->p), "m"(*(const limbs4 *)(const void *)b),
          "m"(*(const limbs4 *)(const void *)m->p), "m"(zero4)
        : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
}

CUZK_INLINE void fq_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    const uint64_t *back = zero4;
    __asm__(
        "sub 0(%[b]), %[t0]\n\t"
        "sbb 8(%[b]), %[t1]\n\t"
        "sbb 16(%[b]), %[t2]\n\t"
        "sbb 24(%[b]), %[t3]\n\t"
        "cmovc %[p], %[back]\n\t"
        "add 0(%[back]), %[t0]\n\t"
        "adc 8(%[back]), %[t1]\n\t"
        "adc 16(%[back]), %[t2]\n\t"
        "adc 24(%[back]), %[t3]"
        : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [back] "+&r"(back)
        : [b] "r"(b), [p] "r"(m->p), "m"(*(const limbs4 *)(const void *)b),
          "m"(*(const limbs4 *)(const void *)m->p), "m"(zero4)
        : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
}

CUZK_INLINE void add_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b,
                          const limb_mod *m) {
    (void)m;
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    __asm__("add 0(%[b]), %[t0]\n\t"
            "adc 8(%[b]), %[t1]\n\t"
            "adc 16(%[b]), %[t2]\n\t"
            "adc 24(%[b]), %[t3]"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
            : [b] "r"(b), "m"(*(const limbs4 *)(const void *)b)
            : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
}

CUZK_INLINE void sub_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b,
                          const limb_mod *m) {
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    __asm__("add 0(%[p]), %[t0]\n\t"
            "adc 8(%[p]), %[t1]\n\t"
            "adc 16(%[p]), %[t2]\n\t"
            "adc 24(%[p]), %[t3]\n\t"
            "sub 0(%[b]), %[t0]\n\t"
            "sbb 8(%[b]), %[t1]\n\t"
            "sbb 16(%[b]), %[t2]\n\t"
            "sbb 24(%[b]), %[t3]"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
            : [b] "r"(b), [p] "r"(m->p), "m"(*(const limbs4 *)(const void *)b),
              "m"(*(const limbs4 *)(const void *)m->p)
            : "cc");
    r[0] = t0, r[1] = t1, r[2] = t2, r[3] = t3;
}

#endif
