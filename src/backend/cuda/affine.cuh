/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_AFFINE_CUH
#define CUZK_BACKEND_CUDA_AFFINE_CUH
/* backend/cuda/affine: the kernels of a round (affine.h), for a coordinate type C. A round is
 *
 *   forward   each thread multiplies the denominators of its pairs, and keeps the products
 *   invert    the threads' products, with Montgomery's trick once more and few inversions
 *   backward  each thread peels its inverse, and adds its pairs
 *
 * Formulas: lambda = (y2 - y1) / (x2 - x1), or 3 x^2 / 2y for a point added to itself;
 * x3 = lambda^2 - x1 - x2, y3 = lambda (x1 - x3) - y1. Complete: pairs that need no division
 * (an infinity, or P and -P) are left out of the products, so no denominator is ever zero. */
#include "backend/cuda/affine.h"
#include "backend/cuda/affine_inv.cuh"
#include "backend/cuda/msm.h"
#include "backend/cuda/xyzz.cuh"

#define AFFINE_INVERSIONS (1u << 15) /* threads that invert; each at least one product */

template <class C> struct affine_op {
    static constexpr int N = sizeof(C::mod::p) / 4;
    typedef typename C::mod mod;
    static cuzk_status add_runs(const field *fq, const uint32_t *points,
                                const affine_runs *runs, size_t n_longest, affine_space *space,
                                uint32_t *slots, cudaStream_t stream, cuzk_err *err);
};

template <int N>
__device__ __forceinline__ coord1<N> inverse(const coord1<N> &a, const modulus<N> &m,
                                             const inverter<N> &v) {
    return {fq_inverse(a.c, m, v)};
}

/* ---- one pair ---- */
enum affine_case {
    AFFINE_ADD,
    AFFINE_DOUBLE,
    AFFINE_FIRST,  /* the second is infinity */
    AFFINE_SECOND, /* the first is */
    AFFINE_NOTHING /* P - P */
};

template <class C> __device__ __forceinline__ bool is_infinity(const affine<C> &a) {
    return is_zero(a.x) && is_zero(a.y);
}

/* x2 = x1, or one of them is zero, which is how infinity begins. */
template <class C>
__device__ __forceinline__ bool is_doubtful(const C &x1, const C &x2, const C &difference,
                                            const typename C::mod &m) {
    return is_zero_mod(difference, m) || is_zero(x1) || is_zero(x2);
}

template <class C>
__device__ __noinline__ affine_case resolve_call(const affine<C> &a, const affine<C> &b,
                                                 const C &difference,
                                                 const typename C::mod &m) {
    if (is_infinity(b)) return AFFINE_FIRST;
    if (is_infinity(a)) return AFFINE_SECOND;
    if (!is_zero_mod(difference, m)) return AFFINE_ADD;
    if (!is_zero_mod(sub(a.y, b.y, m), m) || is_zero_mod(a.y, m)) return AFFINE_NOTHING;
    return AFFINE_DOUBLE;
}

/* Of a doubtful pair. d is x2 - x1 and becomes the denominator. Copies go to the call, so that
 * only this rare way needs its operands in memory. */
template <class C>
__device__ __forceinline__ affine_case resolve(const affine<C> &a, const affine<C> &b, C &d,
                                               const typename C::mod &m) {
    const affine<C> first = a, second = b;
    const C difference = d;
    const affine_case which = resolve_call(first, second, difference, m);
    if (which == AFFINE_DOUBLE) d = add(a.y, a.y, m);
    return which;
}

/* 3 x^2 */
template <class C>
__device__ __noinline__ C tangent_numerator(const C x, const typename C::mod &m) {
    const C square = mul(x, x, m);
    return add(add(square, square, m), square, m);
}

/* In round 0 the operands are entries of points, later slots. */
template <class C, bool ENTRIES>
__device__ __forceinline__ C load_x(const uint32_t *from, uint32_t i) {
    return C::load(from + (size_t)(ENTRIES ? i & ~MSM_SIGN : i) * (2 * C::WORDS));
}
template <class C, bool ENTRIES>
__device__ __forceinline__ C load_y(const uint32_t *from, uint32_t i,
                                    const typename C::mod &m) {
    const C y =
        C::load(from + (size_t)(ENTRIES ? i & ~MSM_SIGN : i) * (2 * C::WORDS) + C::WORDS);
    return ENTRIES && i & MSM_SIGN ? sub(C{}, y, m) : y;
}

/* ---- batches ----
 * Pairs of a thread lie AFFINE_BLOCK apart, so that neighbours have neighbouring pairs. */
__device__ __forceinline__ uint32_t batch_length(uint32_t count) {
    const uint32_t n = (count + AFFINE_THREADS - 1) / AFFINE_THREADS;
    return min(max(n, 1u), AFFINE_BATCH);
}
__device__ __forceinline__ uint32_t n_blocks_of(uint32_t count) {
    const uint32_t n = batch_length(count) * AFFINE_BLOCK;
    return (count + n - 1) / n;
}

template <class C, bool ENTRIES>
__global__ void __launch_bounds__(AFFINE_BLOCK, 4)
    forward_kernel(const uint32_t *from, const uint32_t *first, const uint32_t *second,
                   const uint32_t *n_pairs, uint32_t *products, uint32_t *totals,
                   const __grid_constant__ typename C::mod m) {
    const uint32_t count = *n_pairs, n = batch_length(count);
    if (blockIdx.x >= n_blocks_of(count)) return;
    const uint32_t begin = blockIdx.x * n * AFFINE_BLOCK + threadIdx.x;
    C product = C::one(m);
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t i = begin + j * AFFINE_BLOCK;
        if (i >= count) break;
        if (j > 0) product.store(products + (size_t)i * C::WORDS);
        const uint32_t ia = first[i], ib = second[i];
        const C xa = load_x<C, ENTRIES>(from, ia), xb = load_x<C, ENTRIES>(from, ib);
        C d = sub(xb, xa, m);
        if (is_doubtful(xa, xb, d, m)) {
            const affine<C> a = {xa, load_y<C, ENTRIES>(from, ia, m)},
                            b = {xb, load_y<C, ENTRIES>(from, ib, m)};
            if (resolve(a, b, d, m) > AFFINE_DOUBLE) continue;
        }
        product = mul(product, d, m);
    }
    product.store(totals + (size_t)(blockIdx.x * AFFINE_BLOCK + threadIdx.x) * C::WORDS);
}

/* totals[i] = 1 / totals[i]. */
template <class C>
__global__ void __launch_bounds__(AFFINE_BLOCK)
    invert_kernel(const uint32_t *n_pairs, uint32_t *totals, uint32_t *products,
                  const __grid_constant__ typename C::mod m,
                  const __grid_constant__ inverter<affine_op<C>::N> v) {
    const uint32_t n = n_blocks_of(*n_pairs) * AFFINE_BLOCK, step = gridDim.x * AFFINE_BLOCK;
    const uint32_t begin = blockIdx.x * AFFINE_BLOCK + threadIdx.x;
    if (begin >= n) return;
    C product = C::load(totals + (size_t)begin * C::WORDS);
    uint32_t last = begin;
    while (last + step < n) {
        last += step;
        product.store(products + (size_t)last * C::WORDS);
        product = mul(product, C::load(totals + (size_t)last * C::WORDS), m);
    }
    C inv = inverse(product, m, v);
    for (uint32_t i = last; i > begin; i -= step) {
        uint32_t *total = totals + (size_t)i * C::WORDS;
        const C before = C::load(products + (size_t)i * C::WORDS), mine = C::load(total);
        mul(inv, before, m).store(total);
        inv = mul(inv, mine, m);
    }
    inv.store(totals + (size_t)begin * C::WORDS);
}

template <class C, bool ENTRIES>
__global__ void __launch_bounds__(AFFINE_BLOCK, 4)
    backward_kernel(const uint32_t *from, const uint32_t *first, const uint32_t *second,
                    const uint32_t *place, const uint32_t *n_pairs, const uint32_t *products,
                    const uint32_t *inverses, uint32_t *slots,
                    const __grid_constant__ typename C::mod m) {
    const uint32_t count = *n_pairs, n = batch_length(count);
    if (blockIdx.x >= n_blocks_of(count)) return;
    const uint32_t begin = blockIdx.x * n * AFFINE_BLOCK + threadIdx.x;
    C inv = C::load(inverses + (size_t)(blockIdx.x * AFFINE_BLOCK + threadIdx.x) * C::WORDS);
    for (uint32_t j = n; j-- > 0;) {
        const uint32_t i = begin + j * AFFINE_BLOCK;
        if (i >= count) continue;
        const uint32_t ia = first[i], ib = second[i];
        uint32_t *to = slots + (size_t)(ENTRIES ? place[i] : ia) * (2 * C::WORDS);
        affine<C> a = {load_x<C, ENTRIES>(from, ia), load_y<C, ENTRIES>(from, ia, m)};
        const affine<C> b = {load_x<C, ENTRIES>(from, ib), load_y<C, ENTRIES>(from, ib, m)};
        C d = sub(b.x, a.x, m);
        affine_case which = AFFINE_ADD;
        if (is_doubtful(a.x, b.x, d, m)) which = resolve(a, b, d, m);
        if (which <= AFFINE_DOUBLE) {
            C lambda = sub(b.y, a.y, m);
            if (which == AFFINE_DOUBLE) lambda = tangent_numerator(a.x, m);
            lambda = mul(lambda, inv, m);
            if (j > 0) lambda = mul(lambda, C::load(products + (size_t)i * C::WORDS), m);
            inv = mul(inv, d, m);
            const C x = sub(sub(sqr(lambda, m), a.x, m), b.x, m);
            a.y = sub(mul(lambda, sub(a.x, x, m), m), a.y, m);
            a.x = x;
        } else if (which == AFFINE_SECOND) {
            a = b;
        } else if (which == AFFINE_NOTHING) {
            a = {};
        }
        a.x.store(to);
        a.y.store(to + C::WORDS);
    }
}

/* A run of odd length has an entry without a partner in round 0: the last of its slots. */
template <class C>
__global__ void __launch_bounds__(AFFINE_BLOCK)
    copy_single_kernel(const uint32_t *points, const uint32_t *entry, const uint32_t *begin,
                       const uint32_t *end, const uint32_t *first_pair, uint32_t n_runs,
                       uint32_t *slots, const __grid_constant__ typename C::mod m) {
    const uint32_t r = blockIdx.x * AFFINE_BLOCK + threadIdx.x;
    if (r >= n_runs) return;
    const uint32_t start = begin[r], n = end[r] - start;
    if (n % 2 == 0) return;
    const uint32_t i = entry[start + n / 2];
    uint32_t *to =
        slots + (size_t)(AFFINE_SLOT(start, first_pair[r]) + n / 2) * (2 * C::WORDS);
    load_x<C, true>(points, i).store(to);
    load_y<C, true>(points, i, m).store(to + C::WORDS);
}

/* ---- rounds ---- */
template <class C, bool ENTRIES>
static cuzk_status add_pairs(const uint32_t *from, const affine_pairs *pairs,
                             affine_space *space, uint32_t *slots, const typename C::mod &m,
                             const inverter<affine_op<C>::N> &v, cudaStream_t stream,
                             cuzk_err *err) {
    const unsigned n_blocks = (unsigned)affine_blocks_most(pairs->n_most);
    const unsigned n_inverters = AFFINE_INVERSIONS / AFFINE_BLOCK;
    forward_kernel<C, ENTRIES><<<n_blocks, AFFINE_BLOCK, 0, stream>>>(
        from, pairs->first, pairs->second, pairs->count, space->products, space->totals[0], m);
    CUDA_TRY_LAUNCH("forward_kernel", err);
    const unsigned n_inverting = n_blocks < n_inverters ? n_blocks : n_inverters;
    invert_kernel<C><<<n_inverting, AFFINE_BLOCK, 0, stream>>>(pairs->count, space->totals[0],
                                                               space->totals[1], m, v);
    CUDA_TRY_LAUNCH("invert_kernel", err);
    backward_kernel<C, ENTRIES><<<n_blocks, AFFINE_BLOCK, 0, stream>>>(
        from, pairs->first, pairs->second, pairs->place, pairs->count, space->products,
        space->totals[0], slots, m);
    CUDA_TRY_LAUNCH("backward_kernel", err);
    return CUZK_OK;
}

template <class C>
cuzk_status affine_op<C>::add_runs(const field *fq, const uint32_t *points,
                                   const affine_runs *runs, size_t n_longest,
                                   affine_space *space, uint32_t *slots, cudaStream_t stream,
                                   cuzk_err *err) {
    const mod m = modulus_of<N>(fq);
    const inverter<N> v = inverter_of<N>(fq);
    copy_single_kernel<C>
        <<<(runs->n_runs + AFFINE_BLOCK - 1) / AFFINE_BLOCK, AFFINE_BLOCK, 0, stream>>>(
            points, runs->entry, runs->begin, runs->end, runs->first_pair, runs->n_runs, slots,
            m);
    CUDA_TRY_LAUNCH("copy_single_kernel", err);
    for (unsigned round = 0; n_longest > 1; round++, n_longest -= n_longest / 2) {
        affine_pairs *pairs = &space->pairs[round == 0 ? 0 : 2 - round % 2];
        pairs->n_most = affine_pairs_most(runs->n_entries, round);
        if (pairs->n_most == 0) break;
        if (round > 0) pairs->count = space->counts + round;
        if (round > 1) {
            CUZK_TRY(affine_pair_sums(&space->pairs[2 - (round - 1) % 2], pairs, stream, err));
        }
        CUZK_TRY(round == 0
                     ? (add_pairs<C, true>(points, pairs, space, slots, m, v, stream, err))
                     : (add_pairs<C, false>(slots, pairs, space, slots, m, v, stream, err)));
    }
    return CUZK_OK;
}

#endif
