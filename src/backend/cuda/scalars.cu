/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/scalars: signs and lengths of scalars. */
#include "backend/cuda/scalars.h"

#include "backend/cuda/field.cuh"

#define BLOCK 256

__global__ void __launch_bounds__(BLOCK)
    classify_kernel(const uint32_t *values, uint32_t *out, size_t n, bool montgomery,
                    unsigned long long *n_by_bits, const __grid_constant__ modulus<8> m) {
    __shared__ unsigned counts[CUDA_SCALAR_LENGTHS];
    for (unsigned i = threadIdx.x; i < CUDA_SCALAR_LENGTHS; i += BLOCK) counts[i] = 0;
    __syncthreads();
    const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    unsigned n_bits = ~0u; /* not counted */
    if (i < n) {
        fp<8> k = fp_load<8>(values + i * 8);
        if (montgomery) {
            fp<8> one = {};
            one.w[0] = 1;
            k = fp_mul(k, one, m);
        }
        fp<8> minus_k;
        uint32_t k_is_larger;
        sub_start(minus_k.w[0], m.p[0], k.w[0]);
#pragma unroll
        for (int j = 1; j < 7; j++) sub_next(minus_k.w[j], m.p[j], k.w[j]);
        sub_last(minus_k.w[7], m.p[7], k.w[7]);
        uint32_t t;
        sub_start(t, minus_k.w[0], k.w[0]);
#pragma unroll
        for (int j = 1; j < 8; j++) sub_next(t, minus_k.w[j], k.w[j]);
        sub_last(k_is_larger, 0, 0);
        n_bits = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            if (k_is_larger) k.w[j] = minus_k.w[j];
            if (k.w[j]) n_bits = 32 * j + 32 - __clz(k.w[j]);
        }
        k.w[7] |= k_is_larger & 0x80000000u;
        fp_store(out + i * 8, k);
    }
    /* Circuits have warps full of one length: one addition for each that occurs. */
    const unsigned same = __match_any_sync(~0u, n_bits);
    if (n_bits != ~0u && threadIdx.x % 32 == __ffs(same) - 1u)
        atomicAdd(&counts[n_bits], __popc(same));
    __syncthreads();
    for (unsigned j = threadIdx.x; j < CUDA_SCALAR_LENGTHS; j += BLOCK) {
        if (counts[j]) atomicAdd(&n_by_bits[j], (unsigned long long)counts[j]);
    }
}

extern "C" cuzk_status cuda_scalars_classify(const field *fr, const uint32_t *values,
                                             uint32_t *out, size_t n, bool montgomery,
                                             unsigned long long *n_by_bits,
                                             cudaStream_t stream, cuzk_err *err) {
    if (n == 0) return CUZK_OK;
    classify_kernel<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(
        values, out, n, montgomery, n_by_bits, modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("classify_kernel", err);
    return CUZK_OK;
}
