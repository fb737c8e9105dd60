/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/ntt_tables: the tables of a domain, and what is done to coefficients around a
 * transform. */
#include "backend/cuda/ntt.h"

#include "backend/cuda/field.cuh"

#define BLOCK 256

static unsigned blocks_for(size_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

__device__ __forceinline__ fp<8> power(const cuda_powers &p, uint32_t exponent,
                                       const modulus<8> &m) {
    const uint32_t low = exponent & ((1u << p.log_low) - 1), high = exponent >> p.log_low;
    return fp_mul(fp_load_constant<8>(p.low + (size_t)low * 8),
                  fp_load_constant<8>(p.high + (size_t)high * 8), m);
}

__device__ __forceinline__ uint32_t reversed(uint32_t i, unsigned n_bits) {
    return n_bits ? __brev(i) >> (32 - n_bits) : 0;
}

__global__ void __launch_bounds__(BLOCK)
    inverse_table_kernel(uint32_t *inverse, unsigned log_n, const cuda_powers w,
                         const __grid_constant__ modulus<8> m) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, n = 1u << log_n;
    if (i >= n / 2) return;
    const uint32_t exponent = (n - reversed(i, log_n - 1)) & (n - 1);
    fp_store(inverse + (size_t)i * 8, power(w, exponent, m));
}

__global__ void __launch_bounds__(BLOCK)
    coset_table_kernel(uint32_t *coset, unsigned log_n, const cuda_powers w,
                       const uint32_t *coset_roots, const __grid_constant__ modulus<8> m) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, n = 1u << log_n;
    if (i >= n || i == 0) return;
    const unsigned level = 31 - __clz(i);
    const uint32_t j = i - (1u << level);
    const fp<8> root = fp_load_constant<8>(coset_roots + level * 8);
    fp_store(coset + (size_t)i * 8, fp_mul(power(w, j << (log_n - 1 - level), m), root, m));
}

__global__ void __launch_bounds__(BLOCK)
    scale_kernel(uint32_t *data, unsigned log_n, const cuda_powers base,
                 const __grid_constant__ modulus<8> m) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >> log_n) return;
    uint32_t *p = data + (size_t)i * 8;
    fp_store(p, fp_mul(fp_load<8>(p), power(base, reversed(i, log_n), m), m));
}

/* The smaller index of a pair exchanges it. */
__global__ void __launch_bounds__(BLOCK) reverse_kernel(uint32_t *data, unsigned log_n) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, j = reversed(i, log_n);
    if (i >> log_n || j <= i) return;
    const fp<8> a = fp_load<8>(data + (size_t)i * 8), b = fp_load<8>(data + (size_t)j * 8);
    fp_store(data + (size_t)i * 8, b);
    fp_store(data + (size_t)j * 8, a);
}

extern "C" cuzk_status cuda_fill_inverse(const field *fr, uint32_t *inverse, unsigned log_n,
                                         cuda_powers w, cudaStream_t stream, cuzk_err *err) {
    inverse_table_kernel<<<blocks_for(((size_t)1 << log_n) / 2), BLOCK, 0, stream>>>(
        inverse, log_n, w, modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("inverse_table_kernel", err);
    return CUZK_OK;
}

extern "C" cuzk_status cuda_fill_coset(const field *fr, uint32_t *coset, unsigned log_n,
                                       cuda_powers w, const uint32_t *coset_roots,
                                       cudaStream_t stream, cuzk_err *err) {
    coset_table_kernel<<<blocks_for((size_t)1 << log_n), BLOCK, 0, stream>>>(
        coset, log_n, w, coset_roots, modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("coset_table_kernel", err);
    return CUZK_OK;
}

extern "C" cuzk_status cuda_scale_brp(const field *fr, uint32_t *data, unsigned log_n,
                                      cuda_powers base, cudaStream_t stream, cuzk_err *err) {
    scale_kernel<<<blocks_for((size_t)1 << log_n), BLOCK, 0, stream>>>(data, log_n, base,
                                                                       modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("scale_kernel", err);
    return CUZK_OK;
}

extern "C" cuzk_status cuda_reverse_bits(uint32_t *data, unsigned log_n, cudaStream_t stream,
                                         cuzk_err *err) {
    reverse_kernel<<<blocks_for((size_t)1 << log_n), BLOCK, 0, stream>>>(data, log_n);
    CUDA_TRY_LAUNCH("reverse_kernel", err);
    return CUZK_OK;
}
