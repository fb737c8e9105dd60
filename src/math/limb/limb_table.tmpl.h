/* SPDX-License-Identifier: Apache-2.0 */
/* Template: a limb_ops table from the primitives of one CPU level.
 * Parameters: W (4 or 6), TABLE and TABLE_NAME. Expects the static functions that
 * limb_portable.inc.h describes. Included once in each limb<W>_<level>.c. */
#include "math/limb/limb_batch.h"

#include <string.h>

static void fq_sqr(uint64_t *r, const uint64_t *a, const limb_mod *m) { fq_mul(r, a, a, m); }

static void fq_neg(uint64_t *r, const uint64_t *a, const limb_mod *m) {
    static const uint64_t zero[W] = {0};
    fq_sub(r, zero, a, m);
}

static void fq_to_mont(uint64_t *r, const uint64_t *a, const limb_mod *m) {
    fq_mul(r, a, m->r2, m);
}

static void fq_from_mont(uint64_t *r, const uint64_t *a, const limb_mod *m) {
    static const uint64_t one[W] = {1};
    fq_mul(r, a, one, m);
}

CUZK_INLINE void fq_sub_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b,
                             const limb_mod *m) {
    sub_lazy(r, a, b, m);
}

CUZK_INLINE void fq_copy(uint64_t *r, const uint64_t *a) {
#pragma GCC unroll 6
    for (int i = 0; i < W; i++) r[i] = a[i];
}

CUZK_INLINE void fq_set_one(uint64_t *r, const limb_mod *m) { memcpy(r, m->r, W * sizeof *r); }

#include "math/limb/limb_inv.tmpl.h"

/* ---- Fq2 = Fq[u]/(u^2 + 1), for 4 p < R ---- */

CUZK_INLINE void fq2_add(uint64_t *r, const uint64_t *a, const uint64_t *b,
                         const limb_mod *m) {
    fq_add(r, a, b, m);
    fq_add(r + W, a + W, b + W, m);
}

CUZK_INLINE void fq2_sub(uint64_t *r, const uint64_t *a, const uint64_t *b,
                         const limb_mod *m) {
    fq_sub(r, a, b, m);
    fq_sub(r + W, a + W, b + W, m);
}

CUZK_INLINE void fq2_sub_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b,
                              const limb_mod *m) {
    sub_lazy(r, a, b, m);
    sub_lazy(r + W, a + W, b + W, m);
}

CUZK_INLINE void fq2_copy(uint64_t *r, const uint64_t *a) {
    fq_copy(r, a);
    fq_copy(r + W, a + W);
}

CUZK_INLINE void fq2_set_one(uint64_t *r, const limb_mod *m) {
    memcpy(r, m->r, W * sizeof *r);
    memset(r + W, 0, W * sizeof *r);
}

static void fq2_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, const limb_mod *m) {
    fq2_vec_mul(r, a, b, 1, m);
}

/* (a0 + a1)(a0 - a1), (2 a0) a1: two products, side by side. n <= BATCH_BLOCK. */
static void fq2_vec_sqr(uint64_t *r, const uint64_t *a, size_t n, const limb_mod *m) {
    uint64_t left[BATCH_BLOCK][2][W], right[BATCH_BLOCK][2][W];
    for (size_t i = 0; i < n; i++, a += 2 * W) {
        add_lazy(left[i][0], a, a + W, m);
        sub_lazy(right[i][0], a, a + W, m);
        add_lazy(left[i][1], a, a, m);
        fq_copy(right[i][1], a + W);
    }
    fq_vec_mul(r, left[0][0], right[0][0], 2 * n, m);
}

static void fq2_sqr(uint64_t *r, const uint64_t *a, const limb_mod *m) {
    fq2_vec_sqr(r, a, 1, m);
}

static void fq2_inv(uint64_t *r, const uint64_t *a, const limb_mod *m) {
    uint64_t norm[W], square[W];
    fq_sqr(norm, a, m);
    fq_sqr(square, a + W, m);
    fq_add(norm, norm, square, m);
    fq_inv(norm, norm, m);
    fq_mul(r, a, norm, m);
    fq_neg(norm, norm, m);
    fq_mul(r + W, a + W, norm, m);
}

/* Products are never lazy here: sums of two already use up the room. */
#define fq2_vec_mul_lazy fq2_vec_mul

/* ---- vectors ---- */

static void fq_vec_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                       const limb_mod *m) {
    for (; n > 0; n--, r += W, a += W, b += W) fq_sub(r, a, b, m);
}

CUZK_INLINE void fq_vec_sqr(uint64_t *r, const uint64_t *a, size_t n, const limb_mod *m) {
    fq_vec_mul(r, a, a, n, m);
}

#if W == 4
/* Butterflies go through the multiplier BATCH_BLOCK at a time. */
static void vec_dif(uint64_t *a, uint64_t *b, const uint64_t *w, size_t w_stride, size_t n,
                    const limb_mod *m) {
    const size_t w_step = w_stride * W;
    while (n > 0) {
        const size_t count = n < BATCH_BLOCK ? n : BATCH_BLOCK;
        uint64_t difference[BATCH_BLOCK][W];
        for (size_t i = 0; i < count; i++, a += W) {
            sub_lazy(difference[i], a, b + i * W, m);
            fq_add(a, a, b + i * W, m);
        }
        fq_vec_mul_step(b, w, difference[0], count, m, w_step * sizeof *w);
        b += count * W;
        w += count * w_step;
        n -= count;
    }
}

static void vec_dit(uint64_t *a, uint64_t *b, const uint64_t *w, size_t w_stride, size_t n,
                    const limb_mod *m) {
    const size_t w_step = w_stride * W;
    while (n > 0) {
        const size_t count = n < BATCH_BLOCK ? n : BATCH_BLOCK;
        uint64_t product[BATCH_BLOCK][W];
        fq_vec_mul_step(product[0], w, b, count, m, w_step * sizeof *w);
        for (size_t i = 0; i < count; i++, a += W, b += W) {
            fq_sub(b, a, product[i], m);
            fq_add(a, a, product[i], m);
        }
        w += count * w_step;
        n -= count;
    }
}
#endif

/* ---- batched affine addition ---- */

#define FE(name)  fq_##name
#define FE_WORDS  W
#define BATCH_ADD batch_add1
#include "math/limb/batch_add.tmpl.h"
#undef FE
#undef FE_WORDS
#undef BATCH_ADD

#define FE(name)  fq2_##name
#define FE_WORDS  (2 * W)
#define BATCH_ADD batch_add2
#include "math/limb/batch_add.tmpl.h"
#undef FE
#undef FE_WORDS
#undef BATCH_ADD

const limb_ops TABLE = {
    .name = TABLE_NAME,
    .n_limbs = W,
    .mul = fq_mul,
    .add = fq_add,
    .sub = fq_sub,
    .sqr = fq_sqr,
    .neg = fq_neg,
    .inv = fq_inv,
    .to_mont = fq_to_mont,
    .from_mont = fq_from_mont,
    .mul2 = fq2_mul,
    .sqr2 = fq2_sqr,
    .inv2 = fq2_inv,
    .vec_mul = fq_vec_mul,
    .vec_sub = fq_vec_sub,
#if W == 4
    .vec_dif = vec_dif,
    .vec_dit = vec_dit,
#endif
    .batch_add1 = batch_add1,
    .batch_add2 = batch_add2,
};
