/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_AFFINE_INV_CUH
#define CUZK_BACKEND_CUDA_AFFINE_INV_CUH
/* backend/cuda/affine_inv: modular inversion by Bernstein and Yang's division steps
 * (https://gcd.cr.yp.to/safegcd-20190413.pdf, section 11), the way of math/limb/limb_inv.tmpl.h
 * with 30 steps a batch: 32-bit words are what the device computes with. Steps have no branches,
 * so the lanes of a warp stay together; a warp ends when its last lane does. */
#include "backend/cuda/field.cuh"

template <int N> struct inverter {
    static constexpr int LIMBS = (32 * N + 31) / 30; /* of 30 bits, the top one signed */
    int32_t p[LIMBS];
    uint32_t p_inv; /* 1/p mod 2^30 */
    uint32_t r3[N]; /* R^3 mod p */
};

#define INV_BITS 30
#define INV_MASK 0x3fffffffu

template <int N> static inverter<N> inverter_of(const field *f) {
    inverter<N> v;
    uint64_t r3[LIMBS_MAX];
    const modulus<N> m = modulus_of<N>(f);
    for (int i = 0; i < inverter<N>::LIMBS; i++) {
        const int bit = INV_BITS * i, word = bit / 32;
        const uint64_t pair =
            (word < N ? m.p[word] : 0) | (uint64_t)(word + 1 < N ? m.p[word + 1] : 0) << 32;
        v.p[i] = (int32_t)(pair >> bit % 32 & INV_MASK);
    }
    v.p_inv = (0 - m.inv) & INV_MASK;
    field_mul(f, r3, f->m.r2, f->m.r2);
    for (int i = 0; i < N; i++) v.r3[i] = (uint32_t)(r3[i / 2] >> 32 * (i % 2));
    return v;
}

struct inv_steps {
    int32_t u, v, q, r; /* 2^30 (f, g) after = (u f + v g, q f + r g) before */
};

/* delta: twice the paper's, from 1 on (its variant that starts at 1/2 is shorter). */
__device__ __forceinline__ inv_steps inv_divide(int32_t &delta, uint32_t f, uint32_t g) {
    uint32_t u = 1, v = 0, q = 0, r = 1;
#pragma unroll 6
    for (int i = 0; i < INV_BITS; i++) {
        const bool odd = g & 1;
        if (odd && delta > 0) {
            const uint32_t old_f = f, old_u = u, old_v = v;
            delta = -delta;
            f = g;
            g = 0 - old_f;
            u = q;
            q = 0 - old_u;
            v = r;
            r = 0 - old_v;
        }
        if (odd) {
            g += f;
            q += u;
            r += v;
        }
        delta += 2;
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    return {(int32_t)u, (int32_t)v, (int32_t)q, (int32_t)r};
}

/* (f, g) = steps (f, g) / 2^30, exactly. */
template <int LIMBS>
__device__ __forceinline__ void inv_apply(int32_t *f, int32_t *g, const inv_steps &s) {
    int64_t cf = 0, cg = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        cf += (int64_t)s.u * f[i] + (int64_t)s.v * g[i];
        cg += (int64_t)s.q * f[i] + (int64_t)s.r * g[i];
        if (i > 0) {
            f[i - 1] = (int32_t)((uint32_t)cf & INV_MASK);
            g[i - 1] = (int32_t)((uint32_t)cg & INV_MASK);
        }
        cf >>= INV_BITS;
        cg >>= INV_BITS;
    }
    f[LIMBS - 1] = (int32_t)cf;
    g[LIMBS - 1] = (int32_t)cg;
}

/* (d, e) = steps (d, e) / 2^30 mod p. Both stay in (-2p, p): negative ones count as p more,
 * then the multiple of p that makes the low bits zero. */
template <int N>
__device__ __forceinline__ void inv_apply_mod(int32_t *d, int32_t *e, const inv_steps &s,
                                              const inverter<N> &v) {
    constexpr int LIMBS = inverter<N>::LIMBS;
    const int32_t sign_d = d[LIMBS - 1] >> 31, sign_e = e[LIMBS - 1] >> 31;
    int32_t kd = (s.u & sign_d) + (s.v & sign_e), ke = (s.q & sign_d) + (s.r & sign_e);
    int64_t cd = (int64_t)s.u * d[0] + (int64_t)s.v * e[0];
    int64_t ce = (int64_t)s.q * d[0] + (int64_t)s.r * e[0];
    kd -= (int32_t)((v.p_inv * (uint32_t)cd + (uint32_t)kd) & INV_MASK);
    ke -= (int32_t)((v.p_inv * (uint32_t)ce + (uint32_t)ke) & INV_MASK);
    cd = (cd + (int64_t)v.p[0] * kd) >> INV_BITS;
    ce = (ce + (int64_t)v.p[0] * ke) >> INV_BITS;
#pragma unroll
    for (int i = 1; i < LIMBS; i++) {
        cd += (int64_t)s.u * d[i] + (int64_t)s.v * e[i] + (int64_t)v.p[i] * kd;
        ce += (int64_t)s.q * d[i] + (int64_t)s.r * e[i] + (int64_t)v.p[i] * ke;
        d[i - 1] = (int32_t)((uint32_t)cd & INV_MASK);
        e[i - 1] = (int32_t)((uint32_t)ce & INV_MASK);
        cd >>= INV_BITS;
        ce >>= INV_BITS;
    }
    d[LIMBS - 1] = (int32_t)cd;
    e[LIMBS - 1] = (int32_t)ce;
}

/* a = sign a + k p, with all limbs but the top one in [0, 2^30) again. */
template <int N>
__device__ __forceinline__ void inv_fix(int32_t *a, int32_t sign, int32_t k,
                                        const inverter<N> &v) {
    constexpr int LIMBS = inverter<N>::LIMBS;
    int32_t carry = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        carry += sign * a[i] + k * v.p[i];
        a[i] = i + 1 < LIMBS ? (int32_t)((uint32_t)carry & INV_MASK) : carry;
        carry >>= INV_BITS;
    }
}

/* 1/a of a value below 2p; 0 of 0. Montgomery form in and out; below 2p. */
template <int N>
__device__ __noinline__ fp<N> fq_inverse(fp<N> a, const modulus<N> &m, const inverter<N> &v) {
    constexpr int LIMBS = inverter<N>::LIMBS;
    int32_t d[LIMBS] = {}, e[LIMBS] = {1}, f[LIMBS], g[LIMBS];
    reduce_once(a, m.p);
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        const int bit = INV_BITS * i, word = bit / 32;
        f[i] = v.p[i];
        g[i] = (int32_t)(__funnelshift_r(word < N ? a.w[word < N ? word : 0] : 0,
                                         word + 1 < N ? a.w[word + 1 < N ? word + 1 : 0] : 0,
                                         bit % 32) &
                         INV_MASK);
    }
    int32_t delta = 1, any;
    do {
        const inv_steps s = inv_divide(delta, (uint32_t)f[0], (uint32_t)g[0]);
        inv_apply_mod<N>(d, e, s, v);
        inv_apply<LIMBS>(f, g, s);
        any = 0;
#pragma unroll
        for (int i = 0; i < LIMBS; i++) any |= g[i];
    } while (any);
    /* d a = f = +-1, or d = 0: give d the sign of f, and bring it to [0, p). */
    inv_fix<N>(d, 1, d[LIMBS - 1] < 0, v);
    inv_fix<N>(d, f[LIMBS - 1] < 0 ? -1 : 1, 0, v);
    inv_fix<N>(d, 1, d[LIMBS - 1] < 0, v);
    fp<N> r, r3;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int bit = 32 * i, limb = bit / INV_BITS, shift = bit % INV_BITS;
        uint32_t w = (uint32_t)d[limb] >> shift;
        if (limb + 1 < LIMBS) w |= (uint32_t)d[limb + 1] << (INV_BITS - shift);
        r.w[i] = w;
        r3.w[i] = v.r3[i];
    }
    return fq_mul(r, r3, m); /* a was x R, so d is 1/(x R), and that is R/x */
}

#endif
