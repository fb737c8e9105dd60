/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/pointwise: products of whole vectors. */
#include "backend/cuda/ntt.h"

#include "backend/cuda/field.cuh"

#define BLOCK 256

static unsigned blocks_for(size_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

__global__ void __launch_bounds__(BLOCK)
    multiply_kernel(uint32_t *out, const uint32_t *a, const uint32_t *b, size_t n,
                    const __grid_constant__ modulus<8> m) {
    const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) fp_store(out + i * 8, fp_mul(fp_load<8>(a + i * 8), fp_load<8>(b + i * 8), m));
}

/* `k_is_one`: then memory is the limit, not the two multiplications. */
template <bool k_is_one>
__global__ void __launch_bounds__(BLOCK)
    quotient_kernel(uint32_t *out, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                    const __grid_constant__ fp<8> k, size_t n,
                    const __grid_constant__ modulus<8> m) {
    const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    const fp<8> ab = fp_mul(fp_load<8>(a + i * 8), fp_load<8>(b + i * 8), m),
                difference = fp_sub(ab, fp_load<8>(c + i * 8), m);
    fp_store(out + i * 8, k_is_one ? difference : fp_mul(difference, k, m));
}

extern "C" cuzk_status cuda_multiply(const field *fr, uint32_t *out, const uint32_t *a,
                                     const uint32_t *b, size_t n, cudaStream_t stream,
                                     cuzk_err *err) {
    if (n == 0) return CUZK_OK;
    multiply_kernel<<<blocks_for(n), BLOCK, 0, stream>>>(out, a, b, n, modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("multiply_kernel", err);
    return CUZK_OK;
}

extern "C" cuzk_status cuda_quotient(const field *fr, uint32_t *out, const uint32_t *a,
                                     const uint32_t *b, const uint32_t *c, const fe *k,
                                     size_t n, cudaStream_t stream, cuzk_err *err) {
    if (n == 0) return CUZK_OK;
    fe one;
    field_set_one(fr, one.l);
    const auto kernel =
        field_equal(fr, k->l, one.l) ? quotient_kernel<true> : quotient_kernel<false>;
    kernel<<<blocks_for(n), BLOCK, 0, stream>>>(out, a, b, c, element_of<8>(k), n,
                                                modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("quotient_kernel", err);
    return CUZK_OK;
}
