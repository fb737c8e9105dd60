/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_XYZZ_CUH
#define CUZK_BACKEND_CUDA_XYZZ_CUH
/* backend/cuda/xyzz: points (X/ZZ, Y/ZZZ) with ZZ^3 = ZZZ^2 on y^2 = x^3 + b; ZZ = 0 is
 * infinity. Formulas: hyperelliptic.org/EFD, g1p/auto-shortw-xyzz: madd-2008-s, add-2008-s,
 * dbl-2008-s-1. All functions are complete. Coordinates are below 2p (field.cuh); the two that
 * are looked at for being nothing, ZZ and those of an affine point, are 0 and never p.
 *
 * C is the type of a coordinate: Fq (coord1) or Fq2 (coord2), with its operations. */
#include "backend/cuda/field.cuh"

/* ---- Fq ---- */
template <int N> struct coord1 {
    static constexpr int WORDS = N;
    typedef modulus<N> mod;
    fp<N> c;

    static __device__ __forceinline__ coord1 load(const uint32_t *p) {
        return {fp_load<N>(p)};
    }
    __device__ __forceinline__ void store(uint32_t *p) const { fp_store(p, c); }
    static __device__ __forceinline__ coord1 one(const mod &m) {
        coord1 r;
#pragma unroll
        for (int i = 0; i < N; i++) r.c.w[i] = m.one[i];
        return r;
    }
};
template <int N> __device__ __forceinline__ bool is_zero(const coord1<N> &a) {
    return fp_is_zero(a.c);
}
template <int N>
__device__ __forceinline__ bool is_zero_mod(const coord1<N> &a, const modulus<N> &m) {
    return fq_is_zero(a.c, m);
}
template <int N>
__device__ __forceinline__ coord1<N> add(const coord1<N> &a, const coord1<N> &b,
                                         const modulus<N> &m) {
    return {fq_add(a.c, b.c, m)};
}
template <int N>
__device__ __forceinline__ coord1<N> sub(const coord1<N> &a, const coord1<N> &b,
                                         const modulus<N> &m) {
    return {fq_sub(a.c, b.c, m)};
}
template <int N>
__device__ __forceinline__ coord1<N> mul(const coord1<N> &a, const coord1<N> &b,
                                         const modulus<N> &m) {
    return {fq_mul(a.c, b.c, m)};
}
template <int N>
__device__ __forceinline__ coord1<N> sqr(const coord1<N> &a, const modulus<N> &m) {
    return {fq_sqr(a.c, m)};
}
/* a b - c d */
template <int N>
__device__ __forceinline__ coord1<N> mul_sub(const coord1<N> &a, const coord1<N> &b,
                                             const coord1<N> &c, const coord1<N> &d,
                                             const modulus<N> &m) {
    return {fq_mul_add(a.c, b.c, fq_neg(c.c, m), d.c, m)};
}

/* ---- Fq2 = Fq[u]/(u^2 + 1) ----
 * Products are calls: inlined they would make kernels that take minutes to compile and outgrow
 * the instruction cache. */
template <int N> struct coord2 {
    static constexpr int WORDS = 2 * N;
    typedef modulus<N> mod;
    fp<N> c0, c1;

    static __device__ __forceinline__ coord2 load(const uint32_t *p) {
        return {fp_load<N>(p), fp_load<N>(p + N)};
    }
    __device__ __forceinline__ void store(uint32_t *p) const {
        fp_store(p, c0);
        fp_store(p + N, c1);
    }
    static __device__ __forceinline__ coord2 one(const mod &m) {
        coord2 r = {};
#pragma unroll
        for (int i = 0; i < N; i++) r.c0.w[i] = m.one[i];
        return r;
    }
};
template <int N> __device__ __forceinline__ bool is_zero(const coord2<N> &a) {
    return fp_is_zero(a.c0) && fp_is_zero(a.c1);
}
template <int N>
__device__ __forceinline__ bool is_zero_mod(const coord2<N> &a, const modulus<N> &m) {
    return fq_is_zero(a.c0, m) && fq_is_zero(a.c1, m);
}
template <int N>
__device__ __forceinline__ coord2<N> add(const coord2<N> &a, const coord2<N> &b,
                                         const modulus<N> &m) {
    return {fq_add(a.c0, b.c0, m), fq_add(a.c1, b.c1, m)};
}
template <int N>
__device__ __forceinline__ coord2<N> sub(const coord2<N> &a, const coord2<N> &b,
                                         const modulus<N> &m) {
    return {fq_sub(a.c0, b.c0, m), fq_sub(a.c1, b.c1, m)};
}
/* Karatsuba, with two reductions for three products. */
template <int N>
__device__ __noinline__ coord2<N> mul(const coord2<N> a, const coord2<N> b,
                                      const modulus<N> &m) {
    const wide<N> t0 = wide_mul(a.c0, b.c0), t1 = wide_mul(a.c1, b.c1);
    wide<N> t = wide_mul(add_plain(a.c0, a.c1), add_plain(b.c0, b.c1));
    wide_sub(t, t, t0);
    wide_sub(t, t, t1);
    coord2<N> r;
    r.c1 = wide_reduce(t, m);
    reduce_once(r.c1, m.p2);                     /* from 8p^2 / R + p */
    const uint32_t borrow = wide_sub(t, t0, t1); /* made positive by p R */
    add_start(t.w[N], t.w[N], m.p[0] & borrow);
#pragma unroll
    for (int i = 1; i < N - 1; i++) add_next(t.w[N + i], t.w[N + i], m.p[i] & borrow);
    add_last(t.w[2 * N - 1], t.w[2 * N - 1], m.p[N - 1] & borrow);
    r.c0 = wide_reduce(t, m);
    return r;
}
template <int N>
__device__ __noinline__ coord2<N> sqr(const coord2<N> a, const modulus<N> &m) {
    const fp<N> t = fq_mul(a.c0, a.c1, m);
    return {fq_mul(fq_add(a.c0, a.c1, m), fq_sub(a.c0, a.c1, m), m), fq_add(t, t, m)};
}
template <int N>
__device__ __forceinline__ coord2<N> mul_sub(const coord2<N> &a, const coord2<N> &b,
                                             const coord2<N> &c, const coord2<N> &d,
                                             const modulus<N> &m) {
    return sub(mul(a, b, m), mul(c, d, m), m);
}

/* ---- points ---- */
template <class C> struct affine { C x, y; };
template <class C> struct xyzz { C x, y, zz, zzz; };

template <class C>
__device__ __forceinline__ affine<C> affine_load(const uint32_t *points, size_t i) {
    const uint32_t *p = points + i * (2 * C::WORDS);
    return {C::load(p), C::load(p + C::WORDS)};
}
template <class C>
__device__ __forceinline__ xyzz<C> xyzz_load(const uint32_t *points, size_t i) {
    const uint32_t *p = points + i * (4 * C::WORDS);
    return {C::load(p), C::load(p + C::WORDS), C::load(p + 2 * C::WORDS),
            C::load(p + 3 * C::WORDS)};
}
template <class C>
__device__ __forceinline__ void xyzz_store(uint32_t *points, size_t i, const xyzz<C> &a) {
    uint32_t *p = points + i * (4 * C::WORDS);
    a.x.store(p);
    a.y.store(p + C::WORDS);
    a.zz.store(p + 2 * C::WORDS);
    a.zzz.store(p + 3 * C::WORDS);
}
template <class C> __device__ __forceinline__ xyzz<C> xyzz_infinity() {
    xyzz<C> r = {};
    return r;
}

template <class C>
__device__ __forceinline__ void xyzz_set(xyzz<C> &r, const affine<C> &a,
                                         const typename C::mod &m) {
    r = {a.x, a.y, C::one(m), C::one(m)};
}

template <class C> __device__ void xyzz_double(xyzz<C> &r, const typename C::mod &m) {
    if (is_zero(r.zz)) return;
    const C u = add(r.y, r.y, m);
    const C v = sqr(u, m), w = mul(u, v, m), s = mul(r.x, v, m);
    C t = sqr(r.x, m);
    t = add(add(t, t, m), t, m);
    const C x = sub(sqr(t, m), add(s, s, m), m);
    r.y = mul_sub(t, sub(s, x, m), w, r.y, m);
    r.x = x;
    r.zz = mul(v, r.zz, m);
    r.zzz = mul(w, r.zzz, m);
}

/* The rare case, kept out of the loops that never meet it. */
template <class C>
__device__ __noinline__ void xyzz_double_slow(xyzz<C> &r, const typename C::mod &m) {
    xyzz_double(r, m);
}

/* r += a, a not infinity. */
template <class C>
__device__ __forceinline__ void xyzz_add_affine(xyzz<C> &r, const affine<C> &a,
                                                const typename C::mod &m) {
    if (is_zero(r.zz)) {
        xyzz_set(r, a, m);
        return;
    }
    const C p = sub(mul(a.x, r.zz, m), r.x, m), q = sub(mul(a.y, r.zzz, m), r.y, m);
    if (is_zero_mod(p, m)) {
        if (is_zero_mod(q, m)) {
            xyzz<C> t = r;
            xyzz_double_slow(t, m);
            r = t;
        } else {
            r = xyzz_infinity<C>();
        }
        return;
    }
    const C pp = sqr(p, m);
    r.zz = mul(r.zz, pp, m);
    const C s = mul(r.x, pp, m), ppp = mul(p, pp, m);
    r.zzz = mul(r.zzz, ppp, m);
    r.x = sub(sub(sqr(q, m), ppp, m), add(s, s, m), m);
    r.y = mul_sub(q, sub(s, r.x, m), r.y, ppp, m);
}

template <class C>
__device__ __forceinline__ void xyzz_add(xyzz<C> &r, const xyzz<C> &a,
                                         const typename C::mod &m) {
    if (is_zero(a.zz)) return;
    if (is_zero(r.zz)) {
        r = a;
        return;
    }
    const C u = mul(r.x, a.zz, m), s = mul(r.y, a.zzz, m);
    const C p = sub(mul(a.x, r.zz, m), u, m), q = sub(mul(a.y, r.zzz, m), s, m);
    if (is_zero_mod(p, m)) {
        if (is_zero_mod(q, m)) {
            xyzz_double(r, m);
        } else {
            r = xyzz_infinity<C>();
        }
        return;
    }
    const C pp = sqr(p, m), ppp = mul(p, pp, m), v = mul(u, pp, m);
    r.x = sub(sub(sqr(q, m), ppp, m), add(v, v, m), m);
    r.y = mul_sub(q, sub(v, r.x, m), s, ppp, m);
    r.zz = mul(mul(r.zz, a.zz, m), pp, m);
    r.zzz = mul(mul(r.zzz, a.zzz, m), ppp, m);
}

/* As a call: kernels with several additions and little to do stay small. */
template <class C>
__device__ __noinline__ void xyzz_add_call(xyzz<C> &r, const xyzz<C> &a,
                                           const typename C::mod &m) {
    xyzz_add(r, a, m);
}

#endif
