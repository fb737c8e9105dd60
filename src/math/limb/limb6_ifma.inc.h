/* SPDX-License-Identifier: Apache-2.0 */
/* The products of the ifma table for 6 limbs: eight at a time, one a lane, in eight limbs of
 * 52 bits. Sums and single products are those of adx.
 *
 * Products of 52 bits add up in words of 64 without carries. A row of Montgomery reduction
 * takes 52 bits off, eight rows 416; as the first factor enters as 2^32 a, the result is
 * a b / 2^384 as everywhere else. */
#ifndef CUZK_MATH_LIMB_LIMB6_IFMA_H
#define CUZK_MATH_LIMB_LIMB6_IFMA_H
#include "math/limb/limb6_adx.inc.h"
#include "math/limb/limb_batch.h"

#include <immintrin.h>

#define IFMA        __attribute__((target("avx512f,avx512ifma")))
#define IFMA_INLINE static inline __attribute__((always_inline)) IFMA

enum { LANES = 8, DIGITS = 8 };
static_assert((int)BATCH_CHAINS >= (int)LANES, "a running product meets itself in a vector");

/* Eight numbers; digit i of all of them in d[i]. */
typedef struct digits {
    __m512i d[DIGITS];
} digits;

/* The modulus, the same in every lane, and -1/p mod 2^52. */
typedef struct lanes_mod {
    digits p;
    __m512i inv;
} lanes_mod;

IFMA_INLINE __m512i mask52(__m512i a) {
    return _mm512_and_si512(a, _mm512_set1_epi64((1LL << 52) - 1));
}

/* The digit that starts at bit `at` of the words w, where bits beyond their ends are 0. */
IFMA_INLINE __m512i digit(const __m512i w[6], int at) {
    const __m512i zero = _mm512_setzero_si512();
    const int i = at >> 6, s = at & 63;
    const __m512i low = at < 0 ? zero : w[i];
    const __m512i next = at < 0 ? w[0] : i + 1 < 6 ? w[i + 1] : zero;
    const unsigned right = at < 0 ? 64 : (unsigned)s,
                   left = at < 0 ? (unsigned)-at : 64 - right;
    __m512i v = _mm512_srli_epi64(low, right);
    if (left < 52) v = _mm512_or_si512(v, _mm512_slli_epi64(next, left));
    return mask52(v);
}

/* Numbers go between memory and lanes in the order 0 1 4 5 2 3 6 7, which no one else sees,
 * by words 0 to 3 and words 4 and 5, the same for loads and stores so that stores forward. */

/* n <= 8 numbers, `stride` words apart, times 2^-first_bit (0 or -32). Lanes from n on repeat
 * number 0. */
IFMA_INLINE digits load_digits(const uint64_t *a, size_t stride, size_t n, int first_bit) {
    const uint64_t *at[LANES];
    __m512i z[4], u[4], w[6];
    digits r;
#pragma GCC unroll 8
    for (size_t i = 0; i < LANES; i++) at[i] = a + (i < n ? i : 0) * stride;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m256i low = _mm256_loadu_si256((const void *)at[i]);
        z[i] = _mm512_inserti64x4(_mm512_castsi256_si512(low),
                                  _mm256_loadu_si256((const void *)at[i + 4]), 1);
    }
    u[0] = _mm512_unpacklo_epi64(z[0], z[1]); /* words 0 and 2 of 0 1, then of 4 5 */
    u[1] = _mm512_unpacklo_epi64(z[2], z[3]);
    u[2] = _mm512_unpackhi_epi64(z[0], z[1]); /* words 1 and 3 */
    u[3] = _mm512_unpackhi_epi64(z[2], z[3]);
    w[0] = _mm512_shuffle_i64x2(u[0], u[1], 0x88);
    w[2] = _mm512_shuffle_i64x2(u[0], u[1], 0xdd);
    w[1] = _mm512_shuffle_i64x2(u[2], u[3], 0x88);
    w[3] = _mm512_shuffle_i64x2(u[2], u[3], 0xdd);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) { /* words 4 and 5 of i, i + 4, i + 2, i + 6 */
        z[i] = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(at[i] + 4)));
        z[i] = _mm512_inserti32x4(z[i], _mm_loadu_si128((const void *)(at[i + 4] + 4)), 1);
        z[i] = _mm512_inserti32x4(z[i], _mm_loadu_si128((const void *)(at[i + 2] + 4)), 2);
        z[i] = _mm512_inserti32x4(z[i], _mm_loadu_si128((const void *)(at[i + 6] + 4)), 3);
    }
    w[4] = _mm512_unpacklo_epi64(z[0], z[1]);
    w[5] = _mm512_unpackhi_epi64(z[0], z[1]);
#pragma GCC unroll 8
    for (int i = 0; i < DIGITS; i++) r.d[i] = digit(w, 52 * i + first_bit);
    return r;
}

IFMA_INLINE void store_row(uint64_t *r, size_t stride, size_t n, size_t i, __m256i low,
                           __m128i high) {
    if (i >= n) return;
    _mm256_storeu_si256((void *)(r + i * stride), low);
    _mm_storeu_si128((void *)(r + i * stride + 4), high);
}

IFMA_INLINE void store_digits(uint64_t *r, size_t stride, size_t n, const digits *a) {
    const __m512i *d = a->d;
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    __m512i w[6];
    w[0] = _mm512_or_si512(d[0], _mm512_slli_epi64(d[1], 52));
    w[1] = _mm512_or_si512(_mm512_srli_epi64(d[1], 12), _mm512_slli_epi64(d[2], 40));
    w[2] = _mm512_or_si512(_mm512_srli_epi64(d[2], 24), _mm512_slli_epi64(d[3], 28));
    w[3] = _mm512_or_si512(_mm512_srli_epi64(d[3], 36), _mm512_slli_epi64(d[4], 16));
    w[4] = _mm512_or_si512(_mm512_srli_epi64(d[4], 48), _mm512_slli_epi64(d[5], 4));
    w[4] = _mm512_or_si512(w[4], _mm512_slli_epi64(d[6], 56));
    w[5] = _mm512_or_si512(_mm512_srli_epi64(d[6], 8), _mm512_slli_epi64(d[7], 44));
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) { /* pairs of words of i, i + 4, i + 2, i + 6 */
        const __m512i w01 =
            i ? _mm512_unpackhi_epi64(w[0], w[1]) : _mm512_unpacklo_epi64(w[0], w[1]);
        const __m512i w23 =
            i ? _mm512_unpackhi_epi64(w[2], w[3]) : _mm512_unpacklo_epi64(w[2], w[3]);
        const __m512i w45 =
            i ? _mm512_unpackhi_epi64(w[4], w[5]) : _mm512_unpacklo_epi64(w[4], w[5]);
        const __m512i x = _mm512_permutex2var_epi64(w01, first, w23);
        const __m512i y = _mm512_permutex2var_epi64(w01, second, w23);
        store_row(r, stride, n, i, _mm512_castsi512_si256(x), _mm512_castsi512_si128(w45));
        store_row(r, stride, n, i + 4, _mm512_extracti64x4_epi64(x, 1),
                  _mm512_extracti32x4_epi32(w45, 1));
        store_row(r, stride, n, i + 2, _mm512_castsi512_si256(y),
                  _mm512_extracti32x4_epi32(w45, 2));
        store_row(r, stride, n, i + 6, _mm512_extracti64x4_epi64(y, 1),
                  _mm512_extracti32x4_epi32(w45, 3));
    }
}

IFMA_INLINE lanes_mod spread_mod(const limb_mod *m) {
    __m512i w[6];
    lanes_mod r;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) w[i] = _mm512_set1_epi64((long long)m->p[i]);
#pragma GCC unroll 8
    for (int i = 0; i < DIGITS; i++) r.p.d[i] = digit(w, 52 * i);
    r.inv = mask52(_mm512_set1_epi64((long long)m->inv));
    return r;
}

/* Column i of a double product weighs 2^(52 i). Columns are signed and far from full: products
 * can be added to and subtracted from each other. */
typedef struct columns {
    __m512i c[2 * DIGITS];
} columns;

/* t[i..] += a b */
IFMA_INLINE void add_row(columns *t, int i, const digits *a, __m512i b) {
#pragma GCC unroll 8
    for (int j = 0; j < DIGITS; j++)
        t->c[i + j] = _mm512_madd52lo_epu64(t->c[i + j], a->d[j], b);
#pragma GCC unroll 8
    for (int j = 0; j < DIGITS; j++)
        t->c[i + j + 1] = _mm512_madd52hi_epu64(t->c[i + j + 1], a->d[j], b);
}

IFMA_INLINE columns multiply(const digits *a, const digits *b) {
    columns t;
#pragma GCC unroll 16
    for (int i = 0; i < 2 * DIGITS; i++) t.c[i] = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < DIGITS; i++) add_row(&t, i, a, b->d[i]);
    return t;
}

/* t / 2^416 + less than p, for a t that is not negative */
IFMA_INLINE digits reduce(columns t, const lanes_mod *m) {
    digits r;
#pragma GCC unroll 8
    for (int i = 0; i < DIGITS; i++) {
        const __m512i k = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t.c[i], m->inv);
        add_row(&t, i, &m->p, k);
        t.c[i + 1] = _mm512_add_epi64(t.c[i + 1], _mm512_srai_epi64(t.c[i], 52));
    }
#pragma GCC unroll 8
    for (int i = 0; i < DIGITS; i++) {
        __m512i *c = t.c + DIGITS + i;
        r.d[i] = mask52(c[0]);
        if (i + 1 < DIGITS) c[1] = _mm512_add_epi64(c[1], _mm512_srai_epi64(c[0], 52));
    }
    return r;
}

/* a -= p where that is not negative */
IFMA_INLINE void subtract_p(digits *a, const lanes_mod *m) {
    digits r;
    __m512i borrow = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int j = 0; j < DIGITS; j++) {
        const __m512i t = _mm512_add_epi64(_mm512_sub_epi64(a->d[j], m->p.d[j]), borrow);
        r.d[j] = mask52(t);
        borrow = _mm512_srai_epi64(t, 63);
    }
    const __mmask8 negative = _mm512_cmplt_epi64_mask(borrow, _mm512_setzero_si512());
#pragma GCC unroll 8
    for (int j = 0; j < DIGITS; j++)
        a->d[j] = _mm512_mask_blend_epi64(negative, r.d[j], a->d[j]);
}

/* a + b, for a sum that eight digits hold */
IFMA_INLINE digits add_digits(const digits *a, const digits *b) {
    digits r;
    __m512i carry = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int j = 0; j < DIGITS; j++) {
        const __m512i t = _mm512_add_epi64(_mm512_add_epi64(a->d[j], b->d[j]), carry);
        r.d[j] = mask52(t);
        carry = _mm512_srli_epi64(t, 52);
    }
    return r;
}

IFMA_INLINE void mul_group(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                           bool lazy, const lanes_mod *m) {
    const digits x = load_digits(a, 6, n, -32), y = load_digits(b, 6, n, 0);
    digits z = reduce(multiply(&x, &y), m);
    if (!lazy) subtract_p(&z, m);
    store_digits(r, 6, n, &z);
}

/* Karatsuba: the imaginary part is (x0 + x1)(y0 + y1) - x0 y0 - x1 y1. The real part is
 * x0 y0 - x1 y1, which p 2^415 makes positive and leaves below 2^415 p + 2 p^2 2^32. */
IFMA_INLINE void mul2_group(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                            const lanes_mod *m) {
    const digits x0 = load_digits(a, 12, n, -32), x1 = load_digits(a + 6, 12, n, -32);
    const digits y0 = load_digits(b, 12, n, 0), y1 = load_digits(b + 6, 12, n, 0);
    const digits x = add_digits(&x0, &x1), y = add_digits(&y0, &y1);
    const columns t0 = multiply(&x0, &y0), t1 = multiply(&x1, &y1);
    columns re, im = multiply(&x, &y);
#pragma GCC unroll 16
    for (int i = 0; i < 2 * DIGITS; i++) {
        im.c[i] = _mm512_sub_epi64(im.c[i], _mm512_add_epi64(t0.c[i], t1.c[i]));
        re.c[i] = _mm512_sub_epi64(t0.c[i], t1.c[i]);
        /* half of digit i - 8 of p, and its last bit in the digit below */
        if (i >= DIGITS)
            re.c[i] = _mm512_add_epi64(re.c[i], _mm512_srli_epi64(m->p.d[i - DIGITS], 1));
        if (i >= DIGITS - 1 && i < 2 * DIGITS - 1) {
            const __m512i odd = _mm512_slli_epi64(m->p.d[i + 1 - DIGITS], 51);
            re.c[i] = _mm512_add_epi64(re.c[i], mask52(odd));
        }
    }
    digits z0 = reduce(re, m), z1 = reduce(im, m);
    subtract_p(&z0, m);
    subtract_p(&z1, m);
    store_digits(r, 12, n, &z0);
    store_digits(r + 6, 12, n, &z1);
}

/* ---- what limb6_adx.inc.h promises of its own, but that r may overlap only what comes LANES
 * or more later in a or b ---- */

/* Fewer than this go through adx one by one. */
enum { LANES_MIN = 3 };

IFMA static void ifma_vec_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                              const limb_mod *m) {
    if (n < LANES_MIN) {
        limb6_vec_mul_adx(r, a, b, n, m);
        return;
    }
    const lanes_mod lm = spread_mod(m);
    for (; n >= LANES; n -= LANES, r += 48, a += 48, b += 48)
        mul_group(r, a, b, LANES, false, &lm);
    if (n > 0) mul_group(r, a, b, n, false, &lm);
}

IFMA static void ifma_vec_mul_lazy(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                                   const limb_mod *m) {
    if (n < LANES_MIN) {
        limb6_vec_mul_lazy_adx(r, a, b, n, m);
        return;
    }
    const lanes_mod lm = spread_mod(m);
    for (; n >= LANES; n -= LANES, r += 48, a += 48, b += 48)
        mul_group(r, a, b, LANES, true, &lm);
    if (n > 0) mul_group(r, a, b, n, true, &lm);
}

IFMA static void ifma_vec_mul2(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t n,
                               const limb_mod *m) {
    if (n < LANES_MIN) {
        limb6_vec_mul2_adx(r, a, b, n, m);
        return;
    }
    const lanes_mod lm = spread_mod(m);
    for (; n >= LANES; n -= LANES, r += 96, a += 96, b += 96) mul2_group(r, a, b, LANES, &lm);
    if (n > 0) mul2_group(r, a, b, n, &lm);
}

#undef fq_vec_mul
#undef fq_vec_mul_lazy
#undef fq2_vec_mul
#define fq_vec_mul      ifma_vec_mul
#define fq_vec_mul_lazy ifma_vec_mul_lazy
#define fq2_vec_mul     ifma_vec_mul2

#endif
