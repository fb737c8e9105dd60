/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/unpack_kernels: a block of threads for each block of the packed witness, two
 * threads a value, so that a warp writes 512 bytes in a row. */
#include "backend/cuda/unpack.h"

#define BLOCK       256
#define BLOCK_WORDS (PACKED_BLOCK / 32)

/* Inclusive sums over the lanes. */
__device__ __forceinline__ uint32_t sum_up_to_lane(uint32_t v, uint32_t lane) {
    for (uint32_t d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += other;
    }
    return v;
}

static_assert(BLOCK_WORDS == 32, "a word for each lane of a warp");

__global__ void __launch_bounds__(BLOCK)
    unpack_kernel(uint4 *to, const __grid_constant__ packed_witness w) {
    __shared__ uint32_t ones[BLOCK_WORDS], wide[BLOCK_WORDS], rank[BLOCK_WORDS];
    const size_t first = (size_t)blockIdx.x * PACKED_BLOCK;
    if (threadIdx.x < BLOCK_WORDS) {
        const size_t word = (size_t)blockIdx.x * BLOCK_WORDS + threadIdx.x;
        const uint32_t is_wide = ((const uint32_t *)w.wide)[word];
        wide[threadIdx.x] = is_wide;
        ones[threadIdx.x] = ((const uint32_t *)w.ones)[word];
        rank[threadIdx.x] = w.first_wide[blockIdx.x] +
                            sum_up_to_lane(__popc(is_wide), threadIdx.x) - __popc(is_wide);
    }
    __syncthreads();
    const size_t n_here = w.n - first < PACKED_BLOCK ? w.n - first : PACKED_BLOCK;
#pragma unroll
    for (uint32_t i = threadIdx.x; i < 2 * PACKED_BLOCK; i += BLOCK) {
        const uint32_t at = i / 2, half = i % 2, word = at / 32, bit = at % 32;
        if (at >= n_here) break;
        uint4 v = make_uint4(half == 0 && ones[word] >> bit & 1, 0, 0, 0);
        if (wide[word] >> bit & 1) {
            const size_t nth = rank[word] + __popc(wide[word] & ((1u << bit) - 1));
            v = ((const uint4 *)w.values)[2 * nth + half];
        }
        to[2 * first + i] = v;
    }
}

extern "C" cuzk_status cuda_unpack_values(uint32_t *to, const packed_witness *w,
                                          cudaStream_t stream, cuzk_err *err) {
    if (w->n == 0) return CUZK_OK;
    const unsigned n_blocks = (unsigned)((w->n - 1) / PACKED_BLOCK + 1);
    unpack_kernel<<<n_blocks, BLOCK, 0, stream>>>((uint4 *)to, *w);
    CUDA_TRY_LAUNCH("unpack_kernel", err);
    return CUZK_OK;
}
