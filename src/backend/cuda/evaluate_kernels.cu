/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/evaluate_kernels: a warp for each row of A and of B. */
#include "backend/cuda/evaluate.h"

#include "backend/cuda/field.cuh"

#define BLOCK         256
#define TRIPLET_WORDS (MATRIX_TRIPLET_BYTES / 4)

__global__ void __launch_bounds__(BLOCK)
    keys_kernel(const uint32_t *triplets, uint32_t n, uint32_t n_rows, uint32_t n_columns,
                uint32_t *keys, uint32_t *order, uint32_t *first_bad,
                const __grid_constant__ modulus<8> m) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    const uint32_t *t = triplets + (size_t)i * TRIPLET_WORDS;
    uint32_t below, d;
    sub_start(d, t[3], m.p[0]);
#pragma unroll
    for (int j = 1; j < 8; j++) sub_next(d, t[3 + j], m.p[j]);
    sub_last(below, 0, 0);
    const bool good = t[0] <= 1 && t[1] < n_rows && t[2] < n_columns && below;
    if (!good) atomicMin(first_bad, i);
    keys[i] = good ? t[0] * n_rows + t[1] : 0;
    order[i] = i;
}

__device__ __forceinline__ fp<8> shuffle_down(const fp<8> &a, int d) {
    fp<8> r;
#pragma unroll
    for (int i = 0; i < 8; i++) r.w[i] = __shfl_down_sync(~0u, a.w[i], d);
    return r;
}

__global__ void __launch_bounds__(BLOCK)
    sum_kernel(const uint32_t *triplets, const uint32_t *order, const uint32_t *begin,
               const uint32_t *end, uint32_t n_rows, const uint32_t *w, uint32_t *a,
               uint32_t *b, const __grid_constant__ modulus<8> m) {
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t n_keys = 2 * (uint64_t)n_rows, n_warps = (uint64_t)gridDim.x * (BLOCK / 32);
    for (uint64_t key = blockIdx.x * (uint64_t)(BLOCK / 32) + threadIdx.x / 32; key < n_keys;
         key += n_warps) {
        const uint32_t stop = end[key];
        fp<8> sum = {};
        for (uint32_t i = begin[key] + lane; i < stop; i += 32) {
            const uint32_t *t = triplets + (size_t)order[i] * TRIPLET_WORDS;
            fp<8> value;
#pragma unroll
            for (int j = 0; j < 8; j++) value.w[j] = t[3 + j];
            sum = fp_add(sum, fp_mul(value, fp_load<8>(w + (size_t)t[2] * 8), m), m);
        }
        for (int d = 16; d > 0; d /= 2) sum = fp_add(sum, shuffle_down(sum, d), m);
        if (lane == 0) fp_store(key < n_rows ? a + key * 8 : b + (key - n_rows) * 8, sum);
    }
}

extern "C" cuzk_status cuda_triplet_keys(const field *fr, const uint32_t *triplets, uint32_t n,
                                         uint32_t n_rows, uint32_t n_columns, uint32_t *keys,
                                         uint32_t *order, uint32_t *first_bad,
                                         cudaStream_t stream, cuzk_err *err) {
    if (n == 0) return CUZK_OK;
    keys_kernel<<<n / BLOCK + 1, BLOCK, 0, stream>>>(triplets, n, n_rows, n_columns, keys,
                                                     order, first_bad, modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("keys_kernel", err);
    return CUZK_OK;
}

extern "C" cuzk_status cuda_sum_triplets(const field *fr, const uint32_t *triplets,
                                         const uint32_t *order, const uint32_t *begin,
                                         const uint32_t *end, uint32_t n_rows,
                                         const uint32_t *w, uint32_t *a, uint32_t *b,
                                         cudaStream_t stream, cuzk_err *err) {
    const uint64_t n_blocks = (2 * (uint64_t)n_rows + BLOCK / 32 - 1) / (BLOCK / 32);
    sum_kernel<<<(unsigned)(n_blocks < 65536 ? n_blocks : 65536), BLOCK, 0, stream>>>(
        triplets, order, begin, end, n_rows, w, a, b, modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("sum_kernel", err);
    return CUZK_OK;
}
