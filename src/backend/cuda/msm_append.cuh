/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_MSM_APPEND_CUH
#define CUZK_BACKEND_CUDA_MSM_APPEND_CUH
/* backend/cuda/msm_append: lists that the threads of a grid write together, their length one
 * counter in device memory. */
#include <stdint.h>

/* Where this warp's n_warp items go; n_warp is the same in all its lanes. One addition to the
 * counter a block, and warps of a block stay neighbours. All threads of a block of WARPS warps
 * come here, at most once. */
template <int WARPS>
__device__ __forceinline__ uint32_t append_warp(uint32_t *count, uint32_t n_warp) {
    __shared__ uint32_t start[WARPS];
    const uint32_t warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) start[warp] = n_warp;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (int j = 0; j < WARPS; j++) sum += start[j];
        uint32_t at = sum ? atomicAdd(count, sum) : 0;
        for (int j = 0; j < WARPS; j++) {
            const uint32_t n = start[j];
            start[j] = at;
            at += n;
        }
    }
    __syncthreads();
    return start[warp];
}

/* Where this thread's item goes, if it has one. */
template <int WARPS>
__device__ __forceinline__ uint32_t append_one(uint32_t *count, bool has_item) {
    const uint32_t mask = __ballot_sync(~0u, has_item);
    const uint32_t before = __popc(mask & ((1u << threadIdx.x % 32) - 1));
    return append_warp<WARPS>(count, __popc(mask)) + before;
}

#endif
