/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/scalars: signs and lengths of scalars. */
#include "backend/cuda/scalars.h"

#include "backend/cuda/field.cuh"
#include "backend/cuda/msm.h"
#include "backend/cuda/msm_append.cuh"

#define BLOCK 256

__global__ void __launch_bounds__(BLOCK)
    classify_kernel(const uint32_t *values, uint32_t *out, size_t n, bool montgomery,
                    unsigned long long *n_by_bits, uint32_t *units, uint32_t *n_units,
                    const __grid_constant__ modulus<8> m) {
    __shared__ unsigned counts[CUDA_SCALAR_LENGTHS];
    for (unsigned i = threadIdx.x; i < CUDA_SCALAR_LENGTHS; i += BLOCK) counts[i] = 0;
    __syncthreads();
    const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    unsigned n_bits = ~0u; /* not counted */
    uint32_t sign = 0;
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
        sign = k_is_larger & MSM_SIGN;
        k.w[7] |= sign;
        fp_store(out + i * 8, k);
    }
    /* Circuits have warps full of one length: one addition for each that occurs. */
    const unsigned same = __match_any_sync(~0u, n_bits);
    if (n_bits != ~0u && threadIdx.x % 32 == __ffs(same) - 1u)
        atomicAdd(&counts[n_bits], __popc(same));
    const uint32_t at = append_one<BLOCK / 32>(n_units, n_bits == 1);
    if (n_bits == 1) units[at] = (uint32_t)i | sign;
    __syncthreads();
    for (unsigned j = threadIdx.x; j < CUDA_SCALAR_LENGTHS; j += BLOCK) {
        if (counts[j]) atomicAdd(&n_by_bits[j], (unsigned long long)counts[j]);
    }
}

extern "C" cuzk_status cuda_scalars_classify(const field *fr, const uint32_t *values,
                                             bool montgomery, size_t n,
                                             const cuda_classes *out, cudaStream_t stream,
                                             cuzk_err *err) {
    CUDA_TRY(cudaMemsetAsync(out->n_by_bits, 0, CUDA_SCALAR_LENGTHS * sizeof *out->n_by_bits,
                             stream),
             err);
    CUDA_TRY(cudaMemsetAsync(out->n_units, 0, sizeof *out->n_units, stream), err);
    if (n == 0) return CUZK_OK;
    classify_kernel<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(
        values, out->values, n, montgomery, out->n_by_bits, out->units, out->n_units,
        modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("classify_kernel", err);
    return CUZK_OK;
}
