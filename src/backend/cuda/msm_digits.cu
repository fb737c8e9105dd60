/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/msm_digits: signed digits. With K = sum of 2^(c-1) 2^(c w) the digits of k + K
 * less 2^(c-1) are digits of k between -2^(c-1) and 2^(c-1) - 1, without a carry from window to
 * window. Small scalars have zeros above, which are dropped: so 0, 1 and -1 cost what they must. */
#include "backend/cuda/msm.h"

#define BLOCK 256
#define WORDS 9 /* k + K may pass 2^256 */

typedef struct digit_shape {
    uint32_t offset[WORDS]; /* K */
    unsigned window_bits, n_windows;
} digit_shape;

static digit_shape digit_shape_of(const msm_plan *plan) {
    digit_shape s = {};
    s.window_bits = plan->window_bits;
    s.n_windows = plan->n_windows;
    for (unsigned w = 0; w < plan->n_windows; w++) {
        const unsigned bit = plan->window_bits * w + plan->window_bits - 1;
        s.offset[bit / 32] |= 1u << bit % 32;
    }
    return s;
}

/* The digit of window w, with 2^(c-1) still in it; the words of k are `BLOCK` apart. */
__device__ __forceinline__ uint32_t window_at(const uint32_t *k, const digit_shape &s,
                                              unsigned w) {
    const unsigned bit = s.window_bits * w, i = bit / 32;
    const uint32_t high = i + 1 < WORDS ? k[(i + 1) * BLOCK] : 0;
    return __funnelshift_r(k[i * BLOCK], high, bit % 32) & ((1u << s.window_bits) - 1);
}

/* A warp's entries lie together, window after window, so that it writes whole lines. */
__global__ void __launch_bounds__(BLOCK)
    digits_kernel(const uint32_t *scalars, uint32_t n, const __grid_constant__ digit_shape s,
                  uint32_t *bucket, uint32_t *point, uint32_t *count) {
    __shared__ uint32_t words[WORDS * BLOCK]; /* looked up by window: not in registers */
    __shared__ uint32_t warp_start[BLOCK / 32];
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, half = 1u << (s.window_bits - 1);
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t *k = words + threadIdx.x;
    uint32_t sign = 0, carry = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        uint32_t v =
            i < n ? scalars[(size_t)i * 8 + j] : 0; /* past the end: zero, no entries */
        if (j == 7) {
            sign = v & MSM_SIGN;
            v &= ~MSM_SIGN;
        }
        const uint64_t sum = (uint64_t)v + s.offset[j] + carry;
        k[j * BLOCK] = (uint32_t)sum;
        carry = (uint32_t)(sum >> 32);
    }
    k[8 * BLOCK] = s.offset[8] + carry;
    uint32_t n_mine = 0;
    for (unsigned w = 0; w < s.n_windows; w++) n_mine += window_at(k, s, w) != half;
    const uint32_t n_warp = __reduce_add_sync(~0u, n_mine);

    /* one addition to the common counter a block */
    if (lane == 0) warp_start[warp] = n_warp;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (int j = 0; j < BLOCK / 32; j++) sum += warp_start[j];
        uint32_t at = sum ? atomicAdd(count, sum) : 0;
        for (int j = 0; j < BLOCK / 32; j++) {
            const uint32_t n_entries = warp_start[j];
            warp_start[j] = at;
            at += n_entries;
        }
    }
    __syncthreads();
    if (n_warp == 0) return;
    uint32_t at = warp_start[warp];
    for (unsigned w = 0; w < s.n_windows; w++) {
        const uint32_t d = window_at(k, s, w), occupied = __ballot_sync(~0u, d != half);
        if (d != half) {
            const bool negative = d < half;
            const uint32_t mine = at + __popc(occupied & ((1u << lane) - 1));
            bucket[mine] = w * half + (negative ? half - d : d - half) - 1;
            point[mine] = i | (negative ? sign ^ MSM_SIGN : sign);
        }
        at += __popc(occupied);
    }
}

extern "C" cuzk_status msm_digits(const msm_plan *plan, msm_entries *entries,
                                  cudaStream_t stream, cuzk_err *err) {
    CUDA_TRY(cudaMemsetAsync(entries->count, 0, sizeof *entries->count, stream), err);
    if (plan->n == 0) return CUZK_OK;
    const unsigned n_blocks = (unsigned)((plan->n + BLOCK - 1) / BLOCK);
    digits_kernel<<<n_blocks, BLOCK, 0, stream>>>(plan->scalars, (uint32_t)plan->n,
                                                  digit_shape_of(plan), entries->bucket[0],
                                                  entries->point[0], entries->count);
    CUDA_TRY_LAUNCH("digits_kernel", err);
    return CUZK_OK;
}
