/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_LIMB_LIMB_H
#define CUZK_MATH_LIMB_LIMB_H
/* math/limb: Montgomery arithmetic on 4 or 6 limbs of 64 bits, the one place where the
 * processor matters. A table per CPU level; a field binds to one when it is made.
 *
 * Elements are little-endian limb arrays in Montgomery form, always fully reduced: every
 * function takes and gives values in [0, p). Pointers are 8-byte aligned; a result may be
 * the same pointer as any operand (exact aliasing; no partial overlap).
 *
 * Single-element entries serve cold code (pairings, reductions, conversions). Vector
 * entries work on packed arrays of n elements (n = 0 is fine) and carry all hot loops, so
 * that a table with eight lanes (AVX-512 IFMA) can take eight elements at a time.
 * NTT and MSM kernels are variable time. */
#include "base/compiler.h"
#include "base/cpu.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMBS_MAX 6

/* A prime modulus p, odd, with its top bit clear. R = 2^(64 n_limbs). Immutable. */
typedef struct limb_mod {
    uint64_t p[LIMBS_MAX];
    uint64_t r[LIMBS_MAX];  /* R   mod p: one in Montgomery form */
    uint64_t r2[LIMBS_MAX]; /* R^2 mod p */
    uint64_t inv;           /* -1/p mod 2^64 */
    unsigned n_limbs;       /* 4 or 6 */
    unsigned n_bits;        /* of p */
} limb_mod;

/* Signature families (r result; a, b operands; m the modulus). */
typedef void limb_fn2(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m);
typedef void limb_fn1(uint64_t *r, const uint64_t *a, const limb_mod *m);
typedef void limb_vec2(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                       const limb_mod *m);

/* Batched affine addition, the heart of the MSM: for i < n, out[i] = a[i] + b[i] on
 * y^2 = x^3 + const. Points are packed affine (x then y; (0,0) is infinity). Complete: P + P,
 * P + (-P), and infinities on either side give the right point. out may equal a (exactly).
 * scratch: batch_add_scratch(n) bytes from the caller, 8-byte aligned. One inversion a call. */
typedef void limb_batch_add(uint64_t *out, const uint64_t *a, const uint64_t *b, size_t n,
                            void *scratch, const limb_mod *m);

/* NTT butterflies on packed arrays a and b (disjoint), with twiddles w[i * w_stride], i < n. */
typedef void limb_butterfly(uint64_t *a, uint64_t *b, const uint64_t *w, size_t w_stride,
                            size_t n, const limb_mod *m);

typedef struct limb_ops {
    const char *name; /* "portable", "adx", "ifma" */
    unsigned n_limbs;

    limb_fn2 *mul, *add, *sub;
    limb_fn1 *sqr, *neg;
    limb_fn1 *inv;     /* 0 -> 0; variable time; use for public values */
    limb_fn1 *to_mont; /* canonical -> Montgomery; operand must be < p */
    limb_fn1 *from_mont;

    /* Fq2 = Fq[u]/(u^2 + 1), elements c0 then c1, packed (2 n_limbs). Both curves. These and
     * batch_add need 4 p < R, which their base fields have: products use the two bits. */
    limb_fn2 *mul2;
    limb_fn1 *sqr2, *inv2;

    limb_vec2 *vec_mul;
    limb_vec2 *vec_sub;

    /* Only for n_limbs = 4 (scalar fields); NULL for 6.
     * dif: (a, b) -> (a + b, (a - b) w);   dit: (a, b) -> (a + w b, a - w b). */
    limb_butterfly *vec_dif, *vec_dit;

    limb_batch_add *batch_add1; /* points over Fq:  2 n_limbs words each */
    limb_batch_add *batch_add2; /* points over Fq2: 4 n_limbs words each */
} limb_ops;

/* Bytes of scratch for batch_add1 (degree 1) or batch_add2 (degree 2) on n pairs. */
size_t limb_batch_add_scratch(unsigned n_limbs, unsigned degree, size_t n);

/* The table for a width (4 or 6) at a level that cuzk_cpu_select() has granted. Static data.
 * Four limbs have no ifma table: they get adx. */
const limb_ops *limb_ops_for(unsigned n_limbs, cuzk_cpu_level level);

/* The tables themselves; level tables that this build lacks are absent from limb_ops_for. */
extern const limb_ops limb_ops4_portable, limb_ops6_portable;
#if defined(__x86_64__)
extern const limb_ops limb_ops4_adx, limb_ops6_adx, limb_ops6_ifma;
#endif

/* Derives everything in *m from p (n_limbs limbs). p odd, top bit clear. */
void limb_mod_init(limb_mod *m, const uint64_t *p, unsigned n_limbs);

#endif
