/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_FIELD_CUH
#define CUZK_BACKEND_CUDA_FIELD_CUH
/* backend/cuda/field: Montgomery arithmetic on N = 8 or 12 words of 32 bits, R = 2^(32 N): the
 * same bytes as the limb tables of the host, so elements cross without conversion.
 *
 * fp_ functions take and give values below p. fq_ functions are for base fields, which have
 * room above p (5p < R): they take and give values below 2p, and save most reductions. fr_
 * functions do the same for scalar fields, where only 2p < R.
 *
 * The modulus travels as a kernel parameter: it then lies in the constant bank, from which the
 * multiplier reads an operand for free, and one kernel serves every curve of its width. */
#include "backend/cuda/cuda.h"

template <int N> struct modulus {
    uint32_t p[N], p2[N]; /* p, 2p */
    uint32_t minus_p[N];  /* R - p */
    uint32_t one[N];      /* R mod p */
    uint32_t inv;         /* -1/p mod 2^32 */
};

template <int N> struct fp { uint32_t w[N]; };

template <int N> static modulus<N> modulus_of(const field *f) {
    modulus<N> m;
    for (int i = 0; i < N; i++) {
        m.p[i] = (uint32_t)(f->m.p[i / 2] >> 32 * (i % 2));
        m.one[i] = (uint32_t)(f->m.r[i / 2] >> 32 * (i % 2));
    }
    for (int i = 0; i < N; i++) {
        m.p2[i] = m.p[i] << 1 | (i ? m.p[i - 1] >> 31 : 0);
        m.minus_p[i] = ~m.p[i] + (i == 0); /* p is odd: no carry */
    }
    m.inv = (uint32_t)f->m.inv;
    return m;
}

template <int N> static fp<N> element_of(const fe *a) {
    fp<N> r;
    for (int i = 0; i < N; i++) r.w[i] = (uint32_t)(a->l[i / 2] >> 32 * (i % 2));
    return r;
}

template <int N> __device__ __forceinline__ fp<N> element_one(const modulus<N> &m) {
    fp<N> r;
#pragma unroll
    for (int i = 0; i < N; i++) r.w[i] = m.one[i];
    return r;
}

/* ---- carry chains ----
 * Statements that pass a carry on are volatile, so that the compiler keeps them in order and
 * in one piece. A lo/hi pair of one product becomes a single 32 x 32 + 64 instruction. */
__device__ __forceinline__ void add_start(uint32_t &r, uint32_t a, uint32_t b) {
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
}
__device__ __forceinline__ void add_next(uint32_t &r, uint32_t a, uint32_t b) {
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
}
__device__ __forceinline__ void add_last(uint32_t &r, uint32_t a, uint32_t b) {
    asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
}
__device__ __forceinline__ void sub_start(uint32_t &r, uint32_t a, uint32_t b) {
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
}
__device__ __forceinline__ void sub_next(uint32_t &r, uint32_t a, uint32_t b) {
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
}
__device__ __forceinline__ void sub_last(uint32_t &r, uint32_t a, uint32_t b) {
    asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
}
/* (hi, lo) = a b + (c1, c0), the first of a chain. */
__device__ __forceinline__ void mad_start(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b,
                                          uint32_t c0, uint32_t c1) {
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
                 : "=&r"(lo), "=r"(hi)
                 : "r"(a), "r"(b), "r"(c0), "r"(c1));
}
__device__ __forceinline__ void mad_next(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b,
                                         uint32_t c0, uint32_t c1) {
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
                 : "=&r"(lo), "=r"(hi)
                 : "r"(a), "r"(b), "r"(c0), "r"(c1));
}
__device__ __forceinline__ void mad_last(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b,
                                         uint32_t c0, uint32_t c1) {
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %5;"
                 : "=&r"(lo), "=r"(hi)
                 : "r"(a), "r"(b), "r"(c0), "r"(c1));
}

/* acc += a b, the lower word, after a chain */
__device__ __forceinline__ void mad_low_last(uint32_t &acc, uint32_t a, uint32_t b) {
    asm volatile("madc.lo.u32 %0, %1, %2, %0;" : "+r"(acc) : "r"(a), "r"(b));
}

/* acc += (a[0] + a[2] 2^64 + a[4] 2^128 ...) b over N words; the carry stays for add_last. */
template <int N>
__device__ __forceinline__ void mad_row(uint32_t *acc, const uint32_t *a, uint32_t b) {
    mad_start(acc[0], acc[1], a[0], b, acc[0], acc[1]);
#pragma unroll
    for (int j = 2; j < N; j += 2) mad_next(acc[j], acc[j + 1], a[j], b, acc[j], acc[j + 1]);
}

template <int N>
__device__ __forceinline__ void mul_row(uint32_t *acc, const uint32_t *a, uint32_t b) {
#pragma unroll
    for (int j = 0; j < N; j += 2) {
        const uint64_t product = (uint64_t)a[j] * b;
        acc[j] = (uint32_t)product;
        acc[j + 1] = (uint32_t)(product >> 32);
    }
}

/* ---- addition ---- */
template <int N> __device__ __forceinline__ bool fp_is_zero(const fp<N> &a) {
    uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < N; i++) any |= a.w[i];
    return any == 0;
}

/* a, or a - q when that is not negative. */
template <int N> __device__ __forceinline__ void reduce_once(fp<N> &a, const uint32_t *q) {
    uint32_t t[N], borrow;
    sub_start(t[0], a.w[0], q[0]);
#pragma unroll
    for (int i = 1; i < N; i++) sub_next(t[i], a.w[i], q[i]);
    sub_last(borrow, 0, 0);
#pragma unroll
    for (int i = 0; i < N; i++) a.w[i] = borrow ? a.w[i] : t[i];
}

/* a + b as integers. */
template <int N> __device__ __forceinline__ fp<N> add_plain(const fp<N> &a, const fp<N> &b) {
    fp<N> r;
    add_start(r.w[0], a.w[0], b.w[0]);
#pragma unroll
    for (int i = 1; i < N - 1; i++) add_next(r.w[i], a.w[i], b.w[i]);
    add_last(r.w[N - 1], a.w[N - 1], b.w[N - 1]);
    return r;
}

/* a - b, or a - b + q when that is negative. */
template <int N>
__device__ __forceinline__ fp<N> sub_modulo(const fp<N> &a, const fp<N> &b,
                                            const uint32_t *q) {
    fp<N> r;
    uint32_t borrow;
    sub_start(r.w[0], a.w[0], b.w[0]);
#pragma unroll
    for (int i = 1; i < N; i++) sub_next(r.w[i], a.w[i], b.w[i]);
    sub_last(borrow, 0, 0);
    add_start(r.w[0], r.w[0], q[0] & borrow);
#pragma unroll
    for (int i = 1; i < N - 1; i++) add_next(r.w[i], r.w[i], q[i] & borrow);
    add_last(r.w[N - 1], r.w[N - 1], q[N - 1] & borrow);
    return r;
}

template <int N>
__device__ __forceinline__ fp<N> fp_add(const fp<N> &a, const fp<N> &b, const modulus<N> &m) {
    fp<N> r = add_plain(a, b); /* the top bit of p is clear */
    reduce_once(r, m.p);
    return r;
}
template <int N>
__device__ __forceinline__ fp<N> fp_sub(const fp<N> &a, const fp<N> &b, const modulus<N> &m) {
    return sub_modulo(a, b, m.p);
}

template <int N>
__device__ __forceinline__ fp<N> fq_add(const fp<N> &a, const fp<N> &b, const modulus<N> &m) {
    fp<N> r = add_plain(a, b);
    reduce_once(r, m.p2);
    return r;
}
template <int N>
__device__ __forceinline__ fp<N> fq_sub(const fp<N> &a, const fp<N> &b, const modulus<N> &m) {
    return sub_modulo(a, b, m.p2);
}
template <int N> __device__ __forceinline__ fp<N> fq_neg(const fp<N> &a, const modulus<N> &m) {
    fp<N> zero = {};
    return fq_sub(zero, a, m);
}
/* 0 or p */
template <int N>
__device__ __forceinline__ bool fq_is_zero(const fp<N> &a, const modulus<N> &m) {
    uint32_t any = 0, other = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        any |= a.w[i];
        other |= a.w[i] ^ m.p[i];
    }
    return any == 0 || other == 0;
}

/* ---- multiplication ----
 * T = a b is summed row by row and divided by 2^32 after each. The words of T lie in two
 * arrays, even (T at word 0, 2, ...) and odd (one word higher), so that the 64-bit products of
 * a row chain without overlapping. After the division the two swap their places. */

/* even + 2^32 odd += p m with m such that even[0] becomes 0. */
template <int N>
__device__ __forceinline__ void reduce_row(uint32_t *even, uint32_t *odd,
                                           const modulus<N> &m) {
    const uint32_t k = even[0] * m.inv;
    mad_row<N>(odd, m.p + 1, k);
    mad_row<N>(even, m.p, k);
    add_last(odd[N - 1], odd[N - 1], 0);
}

/* T = T / 2^32 + a b: `odd` becomes the even words; `even` moves down by two and is odd. */
template <int N>
__device__ __forceinline__ void shift_row(uint32_t *even, uint32_t *odd, const uint32_t *a,
                                          uint32_t b) {
    add_start(odd[0], odd[0], even[1]);
#pragma unroll
    for (int j = 0; j < N - 2; j += 2) {
        mad_next(even[j], even[j + 1], a[j + 1], b, even[j + 2], even[j + 3]);
    }
    mad_last(even[N - 2], even[N - 1], a[N - 1], b, 0, 0);
    mad_row<N>(odd, a, b);
    add_last(even[N - 1], even[N - 1], 0);
}

/* T / 2^32 of a T whose lowest word is 0. */
template <int N>
__device__ __forceinline__ fp<N> join_rows(const uint32_t *even, const uint32_t *odd) {
    fp<N> r;
    add_start(r.w[0], odd[0], even[1]);
#pragma unroll
    for (int j = 1; j < N - 1; j++) add_next(r.w[j], odd[j], even[j + 1]);
    add_last(r.w[N - 1], odd[N - 1], 0);
    return r;
}

/* a b / R + something below p. */
template <int N>
__device__ __forceinline__ fp<N> mul_unreduced(const fp<N> &a, const fp<N> &b,
                                               const modulus<N> &m) {
    uint32_t x[N], y[N];
    mul_row<N>(x, a.w, b.w[0]);
    mul_row<N>(y, a.w + 1, b.w[0]);
    reduce_row<N>(x, y, m);
#pragma unroll
    for (int i = 1; i < N; i += 2) {
        shift_row<N>(x, y, a.w, b.w[i]);
        reduce_row<N>(y, x, m);
        if (i + 1 == N) break;
        shift_row<N>(y, x, a.w, b.w[i + 1]);
        reduce_row<N>(x, y, m);
    }
    return join_rows<N>(y, x);
}

template <int N>
__device__ __forceinline__ fp<N> fp_mul(const fp<N> &a, const fp<N> &b, const modulus<N> &m) {
    fp<N> r = mul_unreduced(a, b, m);
    reduce_once(r, m.p);
    return r;
}
template <int N>
__device__ __forceinline__ fp<N> fq_mul(const fp<N> &a, const fp<N> &b, const modulus<N> &m) {
    return mul_unreduced(a, b, m); /* 4p^2 / R + p < 2p */
}

/* a b + c d with one reduction. */
template <int N>
__device__ __forceinline__ fp<N> fq_mul_add(const fp<N> &a, const fp<N> &b, const fp<N> &c,
                                            const fp<N> &d, const modulus<N> &m) {
    uint32_t x[N], y[N];
    mul_row<N>(x, a.w, b.w[0]);
    mul_row<N>(y, a.w + 1, b.w[0]);
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint32_t *even = i % 2 ? y : x, *odd = i % 2 ? x : y;
        if (i > 0) shift_row<N>(odd, even, a.w, b.w[i]);
        mad_row<N>(odd, c.w + 1, d.w[i]);
        mad_row<N>(even, c.w, d.w[i]);
        add_last(odd[N - 1], odd[N - 1], 0);
        reduce_row<N>(even, odd, m);
    }
    fp<N> r = join_rows<N>(y, x);
    reduce_once(r, m.p2); /* from 8p^2 / R + p */
    return r;
}

/* ---- scalar fields in transforms ----
 * Values are below 2p, which may need every bit of their words: sums keep their carry. */
template <int N>
__device__ __forceinline__ fp<N> fr_add(const fp<N> &a, const fp<N> &b, const modulus<N> &m) {
    fp<N> sum, less;
    uint32_t carry;
    add_start(sum.w[0], a.w[0], b.w[0]);
#pragma unroll
    for (int i = 1; i < N; i++) add_next(sum.w[i], a.w[i], b.w[i]);
    add_last(carry, 0, 0);
    sub_start(less.w[0], sum.w[0], m.p2[0]);
#pragma unroll
    for (int i = 1; i < N; i++) sub_next(less.w[i], sum.w[i], m.p2[i]);
    sub_last(carry, carry, 0); /* 0 or -1 */
#pragma unroll
    for (int i = 0; i < N; i++) sum.w[i] = carry ? sum.w[i] : less.w[i];
    return sum;
}
template <int N>
__device__ __forceinline__ fp<N> fr_sub(const fp<N> &a, const fp<N> &b, const modulus<N> &m) {
    return sub_modulo(a, b, m.p2);
}
template <int N>
__device__ __forceinline__ fp<N> fr_reduce(const fp<N> &a, const modulus<N> &m) {
    fp<N> r = a;
    reduce_once(r, m.p);
    return r;
}
/* a / 2^k for a below p, 0 < k < 32: one row of reduction of a 2^(32 - k). */
template <int N>
__device__ __forceinline__ fp<N> fr_halve(const fp<N> &a, unsigned k, const modulus<N> &m) {
    uint32_t even[N], odd[N] = {};
    even[0] = a.w[0] << (32 - k);
#pragma unroll
    for (int i = 1; i < N; i++) even[i] = __funnelshift_l(a.w[i - 1], a.w[i], 32 - k);
    odd[N - 1] = a.w[N - 1] >> k;
    reduce_row<N>(even, odd, m);
    return join_rows<N>(even, odd);
}

/* ---- products with factors from a table ----
 * Shoup's: with q = floor(w R / p) at hand, x w - floor(x q / R) p needs only the upper half of
 * one product and the lower halves of two: for N = 8, 100 products of words instead of 136. */
template <int N> struct factor {
    fp<N> w; /* below p, and no Montgomery form: x keeps its own */
    fp<N> q;
};

/* floor(x q / R), or one less: left out are products of words that reach R only by carries,
 * less than 2^-24 in all. */
template <int N> __device__ __forceinline__ fp<N> upper_half(const fp<N> &x, const fp<N> &q) {
    uint32_t even[2 * N] = {}, odd[2 * N] = {};
#pragma unroll
    for (int j = 0; j < N; j++) {
#pragma unroll
        for (int parity = 0; parity < 2; parity++) { /* of i + j */
            uint32_t *acc = parity ? odd : even;
            const int lowest = N - 2 + parity; /* i + j */
            bool begun = false;
#pragma unroll
            for (int i = 0; i < N; i++) {
                const int k = i + j;
                if (k % 2 != parity || k < lowest) continue;
                if (begun)
                    mad_next(acc[k], acc[k + 1], x.w[i], q.w[j], acc[k], acc[k + 1]);
                else
                    mad_start(acc[k], acc[k + 1], x.w[i], q.w[j], acc[k], acc[k + 1]);
                begun = true;
                if (i + 2 >= N && k + 2 < 2 * N) add_last(acc[k + 2], acc[k + 2], 0);
            }
        }
    }
    fp<N> r;
    uint32_t below;
    add_start(below, even[N - 1], odd[N - 1]);
#pragma unroll
    for (int k = 0; k < N - 1; k++) add_next(r.w[k], even[N + k], odd[N + k]);
    add_last(r.w[N - 1], even[2 * N - 1], odd[2 * N - 1]);
    return r;
}

/* even + 2^32 odd += a b modulo R, from word `first` of b on; even and odd as in mad_row. */
template <int N>
__device__ __forceinline__ void add_lower_half(uint32_t *even, uint32_t *odd, const fp<N> &a,
                                               const uint32_t *b, int first) {
#pragma unroll
    for (int j = first; j < N; j++) {
#pragma unroll
        for (int parity = 0; parity < 2; parity++) { /* of i + j */
            uint32_t *acc = parity ? odd - 1 : even;
#pragma unroll
            for (int i = 0; i < N; i++) {
                const int k = i + j;
                if (k % 2 != parity || k >= N - 1) continue;
                if (i < 2)
                    mad_start(acc[k], acc[k + 1], a.w[i], b[j], acc[k], acc[k + 1]);
                else
                    mad_next(acc[k], acc[k + 1], a.w[i], b[j], acc[k], acc[k + 1]);
            }
        }
        /* only the lower word of the last */
        if (N - 1 - j < 2)
            odd[N - 2] += a.w[N - 1 - j] * b[j];
        else
            mad_low_last(odd[N - 2], a.w[N - 1 - j], b[j]);
    }
}

/* x w mod p, below 2p, for any x. LOW_ONE: p = 1 - 2^32 modulo 2^64, as the scalars' modulus of
 * BLS12-381 is; two of its words then cost additions only. */
template <bool LOW_ONE, int N>
__device__ __forceinline__ fp<N> fr_mul_factor(const fp<N> &x, const factor<N> &f,
                                               const modulus<N> &m) {
    const fp<N> q = upper_half(x, f.q);
    uint32_t even[N] = {}, odd[N];
#pragma unroll
    for (int i = 0; i < N; i++) odd[i] = LOW_ONE ? q.w[i] : 0; /* -p = 2^32 - 1 */
    add_lower_half<N>(even, odd, x, f.w.w, 0);
    add_lower_half<N>(even, odd, q, m.minus_p, LOW_ONE ? 2 : 0);
    fp<N> r;
    r.w[0] = even[0];
    add_start(r.w[1], even[1], odd[0]);
#pragma unroll
    for (int k = 2; k < N - 1; k++) add_next(r.w[k], even[k], odd[k - 1]);
    add_last(r.w[N - 1], even[N - 1], odd[N - 2]);
    if constexpr (LOW_ONE) {
        sub_start(r.w[0], r.w[0], q.w[0]);
#pragma unroll
        for (int k = 1; k < N - 1; k++) sub_next(r.w[k], r.w[k], q.w[k]);
        sub_last(r.w[N - 1], r.w[N - 1], q.w[N - 1]);
    }
    return r;
}

/* Of the Montgomery form of w: its reduction adds p q to it, and what is left is w. */
template <int N>
__device__ __forceinline__ factor<N> factor_of(const fp<N> &a, const modulus<N> &m) {
    factor<N> f;
    f.w = a;
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint64_t t = 0;
        f.q.w[i] = f.w.w[0] * m.inv;
#pragma unroll
        for (int j = 0; j < N; j++) {
            t += (uint64_t)f.q.w[i] * m.p[j] + f.w.w[j];
            if (j > 0) f.w.w[j - 1] = (uint32_t)t;
            t >>= 32;
        }
        f.w.w[N - 1] = (uint32_t)t;
    }
    return f;
}

/* ---- products of 2N words ----
 * For squares, which have half of their products twice, and for sums of products that share a
 * reduction. As above, products at even and at odd words are kept apart until the end. */
template <int N> struct wide { uint32_t w[2 * N]; };

/* acc += (a[0] + a[2] 2^64 ... ) b over n words, n even, and the carry to the word after them. */
template <int n>
__device__ __forceinline__ void mad_row_carry(uint32_t *acc, const uint32_t *a, uint32_t b,
                                              bool carry) {
    mad_start(acc[0], acc[1], a[0], b, acc[0], acc[1]);
#pragma unroll
    for (int j = 2; j < n; j += 2) mad_next(acc[j], acc[j + 1], a[j], b, acc[j], acc[j + 1]);
    if (carry) add_last(acc[n], acc[n], 0);
}

/* even + 2^32 odd */
template <int N>
__device__ __forceinline__ void wide_join(wide<N> &r, const uint32_t *even,
                                          const uint32_t *odd) {
    r.w[0] = even[0];
    add_start(r.w[1], even[1], odd[0]);
#pragma unroll
    for (int j = 2; j < 2 * N - 1; j++) add_next(r.w[j], even[j], odd[j - 1]);
    add_last(r.w[2 * N - 1], even[2 * N - 1], odd[2 * N - 2]);
}

template <int N> __device__ __forceinline__ wide<N> wide_mul(const fp<N> &a, const fp<N> &b) {
    uint32_t even[2 * N] = {}, odd[2 * N] = {};
#pragma unroll
    for (int i = 0; i < N; i += 2) {
        mad_row_carry<N>(even + i, a.w, b.w[i], true);
        mad_row_carry<N>(odd + i, a.w + 1, b.w[i], true);
        mad_row_carry<N>(odd + i, a.w, b.w[i + 1], true);
        mad_row_carry<N>(even + i + 2, a.w + 1, b.w[i + 1], i + 2 < N);
    }
    wide<N> r;
    wide_join(r, even, odd);
    return r;
}

/* Row i of the products a[i] a[j], i < j. */
template <int N, int i>
__device__ __forceinline__ void sqr_rows(uint32_t *even, uint32_t *odd, const fp<N> &a) {
    if constexpr (i + 1 < N) {
        constexpr int n_odd = (N - i) / 2, n_even = (N - 1 - i) / 2; /* products */
        mad_row_carry<2 * n_odd>(odd + 2 * i, a.w + i + 1, a.w[i], true);
        if constexpr (n_even > 0)
            mad_row_carry<2 * n_even>(even + 2 * i + 2, a.w + i + 2, a.w[i], true);
        sqr_rows<N, i + 1>(even, odd, a);
    }
}

template <int N> __device__ __forceinline__ wide<N> wide_sqr(const fp<N> &a) {
    uint32_t even[2 * N] = {}, odd[2 * N] = {};
    wide<N> r;
    sqr_rows<N, 0>(even, odd, a);
    wide_join(r, even, odd);
    add_start(r.w[0], r.w[0], r.w[0]);
#pragma unroll
    for (int j = 1; j < 2 * N - 1; j++) add_next(r.w[j], r.w[j], r.w[j]);
    add_last(r.w[2 * N - 1], r.w[2 * N - 1], r.w[2 * N - 1]);
    mad_start(r.w[0], r.w[1], a.w[0], a.w[0], r.w[0], r.w[1]);
#pragma unroll
    for (int i = 1; i < N - 1; i++)
        mad_next(r.w[2 * i], r.w[2 * i + 1], a.w[i], a.w[i], r.w[2 * i], r.w[2 * i + 1]);
    mad_last(r.w[2 * N - 2], r.w[2 * N - 1], a.w[N - 1], a.w[N - 1], r.w[2 * N - 2],
             r.w[2 * N - 1]);
    return r;
}

/* a - b; the borrow is all ones or zero. */
template <int N>
__device__ __forceinline__ uint32_t wide_sub(wide<N> &r, const wide<N> &a, const wide<N> &b) {
    uint32_t borrow;
    sub_start(r.w[0], a.w[0], b.w[0]);
#pragma unroll
    for (int i = 1; i < 2 * N; i++) sub_next(r.w[i], a.w[i], b.w[i]);
    sub_last(borrow, 0, 0);
    return borrow;
}

/* t / R + something below p: the low half becomes a multiple of R row by row, then is added to the high. */
template <int N>
__device__ __forceinline__ fp<N> wide_reduce(const wide<N> &t, const modulus<N> &m) {
    uint32_t x[N], y[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] = t.w[i];
        y[i] = 0;
    }
    reduce_row<N>(x, y, m);
#pragma unroll
    for (int i = 1; i < N; i++) {
        uint32_t *even = i % 2 ? x : y, *odd = i % 2 ? y : x;
        shift_row<N>(even, odd, m.p, (odd[0] + even[1]) * m.inv);
    }
    fp<N> r;
    add_start(r.w[0], x[0], y[1]);
#pragma unroll
    for (int j = 1; j < N - 1; j++) add_next(r.w[j], x[j], y[j + 1]);
    add_last(r.w[N - 1], x[N - 1], 0);
    add_start(r.w[0], r.w[0], t.w[N]);
#pragma unroll
    for (int j = 1; j < N - 1; j++) add_next(r.w[j], r.w[j], t.w[N + j]);
    add_last(r.w[N - 1], r.w[N - 1], t.w[2 * N - 1]);
    return r;
}

template <int N> __device__ __forceinline__ fp<N> fq_sqr(const fp<N> &a, const modulus<N> &m) {
    return wide_reduce(wide_sqr(a), m);
}

/* ---- memory: 16 bytes an access ---- */
template <int N> __device__ __forceinline__ fp<N> fp_load(const uint32_t *p) {
    fp<N> r;
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        const uint4 v = *(const uint4 *)(p + i);
        r.w[i] = v.x;
        r.w[i + 1] = v.y;
        r.w[i + 2] = v.z;
        r.w[i + 3] = v.w;
    }
    return r;
}

template <int N> __device__ __forceinline__ fp<N> fp_load_constant(const uint32_t *p) {
    fp<N> r;
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        const uint4 v = __ldg((const uint4 *)(p + i));
        r.w[i] = v.x;
        r.w[i + 1] = v.y;
        r.w[i + 2] = v.z;
        r.w[i + 3] = v.w;
    }
    return r;
}

template <int N> __device__ __forceinline__ void fp_store(uint32_t *p, const fp<N> &a) {
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        *(uint4 *)(p + i) = make_uint4(a.w[i], a.w[i + 1], a.w[i + 2], a.w[i + 3]);
    }
}

#endif
