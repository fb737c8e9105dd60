/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/evaluate_kernels: a block of threads takes a slice (matrix.h): first all of its
 * products, evenly, into shared memory; then the sums, which cost little. What a slice has of
 * the row that it does not see the end of is carried to the slice that does. */
#include "backend/cuda/evaluate.h"

#include "backend/cuda/field.cuh"

#define BLOCK      256
#define WARPS      (BLOCK / 32)
#define SERIAL_MAX 16u /* terms that one thread adds; a warp adds more */

/* Halves apart, so that the threads of a warp meet no bank twice. */
struct products {
    uint4 low[CUDA_SLICE], high[CUDA_SLICE];
};

__device__ __forceinline__ void put(products &p, uint32_t i, const fp<8> &v) {
    p.low[i] = make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]);
    p.high[i] = make_uint4(v.w[4], v.w[5], v.w[6], v.w[7]);
}

__device__ __forceinline__ fp<8> get(const products &p, uint32_t i) {
    const uint4 l = p.low[i], h = p.high[i];
    return {{l.x, l.y, l.z, l.w, h.x, h.y, h.z, h.w}};
}

/* Sum of every `step`-th product of begin .. end. */
__device__ __forceinline__ fp<8> sum_of(const products &p, uint32_t begin, uint32_t end,
                                        uint32_t step, const modulus<8> &m) {
    fp<8> sum = {};
    for (uint32_t i = begin; i < end; i += step) sum = fp_add(sum, get(p, i), m);
    return sum;
}

/* In lane 0, the sum over the warp. */
__device__ __forceinline__ fp<8> sum_of_warp(fp<8> v, const modulus<8> &m) {
    for (int d = 16; d > 0; d /= 2) {
        fp<8> other;
#pragma unroll
        for (int i = 0; i < 8; i++) other.w[i] = __shfl_down_sync(~0u, v.w[i], d);
        v = fp_add(v, other, m);
    }
    return v;
}

struct vectors {
    const uint32_t *w;
    uint32_t *a, *b, *carries;
};

__device__ __forceinline__ uint32_t *result_at(const vectors &v, uint32_t row) {
    return (row % 2 ? v.b : v.a) + (size_t)(row / 2) * 8;
}

/* The steps of slice i: rows first_row .. end_row end in it, terms first_term .. end_term are
 * passed. */
struct slice {
    uint32_t first_row, end_row, first_term, end_term;
};

__device__ __forceinline__ slice slice_at(const cuda_rows &rows, uint32_t i) {
    const uint64_t n_steps = (uint64_t)rows.n_rows + rows.n_terms;
    const uint64_t first = (uint64_t)i * CUDA_SLICE, next = first + CUDA_SLICE;
    const uint32_t first_row = rows.slices[i], end_row = rows.slices[i + 1];
    return {first_row, end_row, (uint32_t)(first - first_row),
            (uint32_t)((next < n_steps ? next : n_steps) - end_row)};
}

/* What a slice has of a row, the row it is cut in included: products begin .. end. */
struct part {
    uint32_t begin, end;
    uint32_t *to;
};

__device__ __forceinline__ part part_of(const cuda_rows &rows, const vectors &v,
                                        const slice &s, uint32_t row) {
    const bool is_cut = row == s.end_row;
    const uint32_t begin = max(rows.starts[row], s.first_term);
    const uint32_t end = is_cut ? s.end_term : rows.starts[row + 1];
    return {begin - s.first_term, end - s.first_term,
            is_cut ? v.carries + (size_t)blockIdx.x * 8 : result_at(v, row)};
}

template <bool numbered>
__global__ void __launch_bounds__(BLOCK)
    slice_kernel(const __grid_constant__ cuda_rows rows, const __grid_constant__ vectors v,
                 const __grid_constant__ modulus<8> m) {
    __shared__ products p;
    __shared__ uint32_t long_rows[CUDA_SLICE / SERIAL_MAX], n_long;
    const slice s = slice_at(rows, blockIdx.x);
    if (threadIdx.x == 0) n_long = 0;
    for (uint32_t i = s.first_term + threadIdx.x; i < s.end_term; i += BLOCK) {
        const uint32_t number = numbered ? rows.numbers[i] : i;
        const fp<8> value = fp_load_constant<8>(rows.values + (size_t)number * 8);
        const fp<8> factor = fp_load_constant<8>(v.w + (size_t)rows.columns[i] * 8);
        put(p, i - s.first_term, fp_mul(value, factor, m));
    }
    __syncthreads();
    for (uint32_t row = s.first_row + threadIdx.x; row <= s.end_row; row += BLOCK) {
        const part q = part_of(rows, v, s, row);
        if (q.end - q.begin > SERIAL_MAX)
            long_rows[atomicAdd(&n_long, 1)] = row;
        else
            fp_store(q.to, sum_of(p, q.begin, q.end, 1, m));
    }
    __syncthreads();
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t i = threadIdx.x / 32; i < n_long; i += WARPS) {
        const part q = part_of(rows, v, s, long_rows[i]);
        const fp<8> sum = sum_of_warp(sum_of(p, q.begin + lane, q.end, 32, m), m);
        if (lane == 0) fp_store(q.to, sum);
    }
}

/* A warp for each slice: the row that ends first in it gets what earlier slices have of it. */
__global__ void __launch_bounds__(BLOCK)
    carry_kernel(const __grid_constant__ cuda_rows rows, const __grid_constant__ vectors v,
                 const __grid_constant__ modulus<8> m) {
    const uint32_t i = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= rows.n_slices) return;
    const slice s = slice_at(rows, i);
    const uint32_t row = s.first_row;
    if (row == s.end_row || rows.starts[row] >= s.first_term) return;
    fp<8> sum = {};
    for (uint32_t j = (uint32_t)(((uint64_t)rows.starts[row] + row) / CUDA_SLICE) + lane;
         j < i; j += 32) {
        sum = fp_add(sum, fp_load<8>(v.carries + (size_t)j * 8), m);
    }
    sum = sum_of_warp(sum, m);
    uint32_t *to = result_at(v, row);
    if (lane == 0) fp_store(to, fp_add(sum, fp_load<8>(to), m));
}

extern "C" cuzk_status cuda_rows_times(const cuda_rows *rows, const field *fr,
                                       const uint32_t *w, uint32_t *a, uint32_t *b,
                                       uint32_t *carries, cudaStream_t stream, cuzk_err *err) {
    const modulus<8> m = modulus_of<8>(fr);
    const vectors v = {w, a, b, carries};
    if (rows->n_slices == 0) return CUZK_OK;
    if (rows->numbers)
        slice_kernel<true><<<rows->n_slices, BLOCK, 0, stream>>>(*rows, v, m);
    else
        slice_kernel<false><<<rows->n_slices, BLOCK, 0, stream>>>(*rows, v, m);
    CUDA_TRY_LAUNCH("slice_kernel", err);
    carry_kernel<<<(rows->n_slices + WARPS - 1) / WARPS, BLOCK, 0, stream>>>(*rows, v, m);
    CUDA_TRY_LAUNCH("carry_kernel", err);
    return CUZK_OK;
}
