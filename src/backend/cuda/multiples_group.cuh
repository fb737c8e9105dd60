/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_MULTIPLES_GROUP_CUH
#define CUZK_BACKEND_CUDA_MULTIPLES_GROUP_CUH
/* backend/cuda/multiples_group: the kernels of multiples.h, for a coordinate type C. */
#include "backend/cuda/multiples.h"
#include "backend/cuda/xyzz.cuh"

#define MULTIPLES_BLOCK      128
#define MULTIPLES_PER_THREAD 32u /* sums that share an inversion */

/* ---- inverses ---- */
/* a^(p - 2): all lanes go the same way. */
template <int N> __device__ __noinline__ fp<N> fq_inverse(const fp<N> a, const modulus<N> &m) {
    fp<N> r;
#pragma unroll
    for (int i = 0; i < N; i++) r.w[i] = m.one[i];
    for (int bit = 32 * N - 1; bit >= 0; bit--) {
        const uint32_t word = bit < 32 ? m.p[0] - 2 : m.p[bit / 32]; /* p[0] > 2 */
        r = fq_sqr(r, m);
        if (word >> bit % 32 & 1) r = fq_mul(r, a, m);
    }
    return r;
}
template <int N>
__device__ __forceinline__ coord1<N> inverse(const coord1<N> &a, const modulus<N> &m) {
    return {fq_inverse(a.c, m)};
}
template <int N>
__device__ __forceinline__ coord2<N> inverse(const coord2<N> &a, const modulus<N> &m) {
    const fp<N> norm = fq_inverse(fq_mul_add(a.c0, a.c0, a.c1, a.c1, m), m);
    return {fq_mul(a.c0, norm, m), fq_neg(fq_mul(a.c1, norm, m), m)};
}

template <int N> __device__ __forceinline__ void reduce(coord1<N> &a, const modulus<N> &m) {
    reduce_once(a.c, m.p);
}
template <int N> __device__ __forceinline__ void reduce(coord2<N> &a, const modulus<N> &m) {
    reduce_once(a.c0, m.p);
    reduce_once(a.c1, m.p);
}

/* ---- sums ---- */
template <class C>
__global__ void __launch_bounds__(MULTIPLES_BLOCK)
    sum_windows_kernel(const uint32_t *table, const uint32_t *scalars, uint32_t n,
                       uint32_t *sums, const __grid_constant__ modulus<CUDA_FR_WORDS> r,
                       const __grid_constant__ typename C::mod m) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const fp<CUDA_FR_WORDS> one = {{1}};
    fp<CUDA_FR_WORDS> k = fp_mul(fp_load<CUDA_FR_WORDS>(scalars + i * CUDA_FR_WORDS), one, r);
    xyzz<C> sum = xyzz_infinity<C>();
    for (uint32_t w = 0; w < 32 * CUDA_FR_WORDS / MULTIPLES_WINDOW_BITS; w++) {
        const uint32_t digit = k.w[0] & ((1u << MULTIPLES_WINDOW_BITS) - 1);
#pragma unroll
        for (int j = 0; j < (int)CUDA_FR_WORDS - 1; j++)
            k.w[j] = __funnelshift_r(k.w[j], k.w[j + 1], MULTIPLES_WINDOW_BITS);
        k.w[CUDA_FR_WORDS - 1] >>= MULTIPLES_WINDOW_BITS;
        if (digit == 0) continue;
        xyzz_add_affine(sum, affine_load<C>(table, (w << MULTIPLES_WINDOW_BITS) + digit), m);
    }
    xyzz_store(sums, i, sum);
}

/* ---- to affine ---- */
/* (X/ZZ, Y/ZZZ) from i = 1/ZZZ: 1/ZZ = (i ZZ)^2, since ZZ^3 = ZZZ^2. */
template <class C>
__device__ __forceinline__ affine<C> to_affine(const xyzz<C> &a, const C &i,
                                               const typename C::mod &m) {
    affine<C> r = {mul(a.x, sqr(mul(i, a.zz, m), m), m), mul(a.y, i, m)};
    reduce(r.x, m);
    reduce(r.y, m);
    return r;
}

/* Thread t takes sums t, t + n_threads, ... The products of those before wait in `out`. */
template <class C>
__global__ void __launch_bounds__(MULTIPLES_BLOCK)
    to_affine_kernel(const uint32_t *sums, uint32_t n, uint32_t n_threads, uint32_t *out,
                     const __grid_constant__ typename C::mod m) {
    const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n_threads) return;
    C product = C::one(m);
    uint32_t i = t;
    for (; i < n; i += n_threads) {
        const xyzz<C> sum = xyzz_load<C>(sums, i);
        product.store(out + (size_t)i * 2 * C::WORDS);
        if (!is_zero(sum.zz)) product = mul(product, sum.zzz, m);
    }
    product = inverse(product, m);
    while (i > t) {
        i -= n_threads;
        const xyzz<C> sum = xyzz_load<C>(sums, i);
        uint32_t *to = out + (size_t)i * 2 * C::WORDS;
        affine<C> a = {};
        if (!is_zero(sum.zz)) {
            a = to_affine(sum, mul(product, C::load(to), m), m);
            product = mul(product, sum.zzz, m);
        }
        a.x.store(to);
        a.y.store(to + C::WORDS);
    }
}

template <class C>
static cuzk_status make_multiples(const curve *c, const multiples_piece *piece,
                                  cudaStream_t stream, cuzk_err *err) {
    const typename C::mod m = modulus_of<sizeof(C::mod::p) / 4>(&c->fq);
    const uint32_t n = piece->n, block = MULTIPLES_BLOCK,
                   n_threads = (n + MULTIPLES_PER_THREAD - 1) / MULTIPLES_PER_THREAD;
    sum_windows_kernel<C><<<(n + block - 1) / block, block, 0, stream>>>(
        piece->table, piece->k, n, piece->sums, modulus_of<CUDA_FR_WORDS>(&c->fr), m);
    CUDA_TRY_LAUNCH("sum_windows_kernel", err);
    to_affine_kernel<C><<<(n_threads + block - 1) / block, block, 0, stream>>>(
        piece->sums, n, n_threads, piece->out, m);
    CUDA_TRY_LAUNCH("to_affine_kernel", err);
    return CUZK_OK;
}

#endif
