/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/msm_digits: signed digits. With K = sum of 2^(c-1) 2^(c w) the digits of k + K
 * less 2^(c-1) are digits of k between -2^(c-1) and 2^(c-1) - 1, without a carry from window to
 * window. Small scalars have zeros above, which are dropped: so 0, 1 and -1 cost what they must. */
#include "backend/cuda/msm.h"
#include "backend/cuda/msm_append.cuh"

#define BLOCK      256
#define PAD_BLOCKS 512
#define WORDS      9 /* k + K may pass 2^256 */

typedef struct digit_shape {
    uint32_t offset[WORDS]; /* K */
    unsigned window_bits, first_window, n_windows;
    bool skip_units;
} digit_shape;

static digit_shape digit_shape_of(const msm_plan *plan, const msm_part *part) {
    digit_shape s = {};
    s.window_bits = plan->window_bits;
    s.first_window = part->first_window;
    s.n_windows = part->n_windows;
    s.skip_units = plan->n_units > 0;
    for (unsigned w = 0; w < part->first_window + part->n_windows; w++) {
        const unsigned bit = plan->window_bits * w + plan->window_bits - 1;
        s.offset[bit / 32] |= 1u << bit % 32;
    }
    return s;
}

/* The digit of the part's window w, with 2^(c-1) still in it; words of k are `BLOCK` apart. */
__device__ __forceinline__ uint32_t window_at(const uint32_t *k, const digit_shape &s,
                                              unsigned w) {
    const unsigned bit = s.window_bits * (s.first_window + w), i = bit / 32;
    const uint32_t high = i + 1 < WORDS ? k[(i + 1) * BLOCK] : 0;
    return __funnelshift_r(k[i * BLOCK], high, bit % 32) & ((1u << s.window_bits) - 1);
}

/* A warp's entries lie together, window after window, so that it writes whole lines. */
__global__ void __launch_bounds__(BLOCK)
    digits_kernel(const uint32_t *scalars, uint32_t n, const __grid_constant__ digit_shape s,
                  uint32_t *bucket, uint32_t *point, uint32_t *count) {
    __shared__ uint32_t words[WORDS * BLOCK]; /* looked up by window: not in registers */
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, half = 1u << (s.window_bits - 1);
    const uint32_t lane = threadIdx.x % 32;
    uint32_t *k = words + threadIdx.x;
    uint32_t sign = 0, carry = 0, not_unit = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        uint32_t v =
            i < n ? scalars[(size_t)i * 8 + j] : 0; /* past the end: zero, no entries */
        if (j == 7) {
            sign = v & MSM_SIGN;
            v &= ~MSM_SIGN;
        }
        not_unit |= j == 0 ? v ^ 1 : v;
        const uint64_t sum = (uint64_t)v + s.offset[j] + carry;
        k[j * BLOCK] = (uint32_t)sum;
        carry = (uint32_t)(sum >> 32);
    }
    k[8 * BLOCK] = s.offset[8] + carry;
    const bool skip = s.skip_units && !not_unit;
    uint32_t n_mine = 0;
    for (unsigned w = 0; w < s.n_windows; w++) n_mine += !skip && window_at(k, s, w) != half;
    const uint32_t n_warp = __reduce_add_sync(~0u, n_mine);
    uint32_t at = append_warp<BLOCK / 32>(count, n_warp);
    if (n_warp == 0) return;
    for (unsigned w = 0; w < s.n_windows; w++) {
        const uint32_t d = skip ? half : window_at(k, s, w);
        const uint32_t occupied = __ballot_sync(~0u, d != half);
        if (d != half) {
            const bool negative = d < half;
            const uint32_t mine = at + __popc(occupied & ((1u << lane) - 1));
            bucket[mine] = w * half + (negative ? half - d : d - half) - 1;
            point[mine] = i | (negative ? sign ^ MSM_SIGN : sign);
        }
        at += __popc(occupied);
    }
}

/* Entries that there are not: of no bucket, so that they are sorted to the end. */
__global__ void __launch_bounds__(BLOCK)
    pad_kernel(const uint32_t *count, uint32_t n_most, uint32_t *bucket) {
    const uint32_t i = *count + blockIdx.x * BLOCK + threadIdx.x;
    for (uint32_t j = i; j < n_most; j += gridDim.x * BLOCK) bucket[j] = ~0u;
}

static cuzk_status pad(const uint32_t *count, size_t n_most, uint32_t *bucket,
                       cudaStream_t stream, cuzk_err *err) {
    pad_kernel<<<PAD_BLOCKS, BLOCK, 0, stream>>>(count, (uint32_t)n_most, bucket);
    CUDA_TRY_LAUNCH("pad_kernel", err);
    return CUZK_OK;
}

extern "C" cuzk_status msm_digits(const msm_plan *plan, const msm_part *part,
                                  const uint32_t *scalars, msm_entries *entries,
                                  cudaStream_t stream, cuzk_err *err) {
    CUDA_TRY(cudaMemsetAsync(entries->count, 0, sizeof *entries->count, stream), err);
    const unsigned n_blocks = (unsigned)((plan->n + BLOCK - 1) / BLOCK);
    digits_kernel<<<n_blocks, BLOCK, 0, stream>>>(
        scalars, (uint32_t)plan->n, digit_shape_of(plan, part), entries->bucket[0],
        entries->point[0], entries->count);
    CUDA_TRY_LAUNCH("digits_kernel", err);
    return pad(entries->count, part->n_sorted, entries->bucket[0], stream, err);
}

/* Those of a set's units that are in the job's range: without a gap behind the sorted entries,
 * since slots are counted by entries (affine.h). */
__global__ void __launch_bounds__(BLOCK)
    units_kernel(const uint32_t *units, uint32_t n_units, uint32_t first, uint32_t n,
                 uint32_t run, uint32_t *key, uint32_t *entry, uint32_t *count) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    const uint32_t unit = i < n_units ? units[i] : 0;
    const uint32_t at_point = (unit & ~MSM_SIGN) - first;
    const bool inside = i < n_units && at_point < n;
    const uint32_t at = append_one<BLOCK / 32>(count, inside);
    if (!inside) return;
    key[at] = run;
    entry[at] = at_point | (unit & MSM_SIGN);
}

extern "C" cuzk_status msm_unit_entries(const msm_part *part, const cuzk_msm_job *job,
                                        msm_entries *entries, cudaStream_t stream,
                                        cuzk_err *err) {
    const uint32_t n_units = (uint32_t)job->scalars->n_by_bits[1], run = part->n_buckets;
    const size_t word = sizeof(uint32_t);
    const cudaMemcpyKind way = cudaMemcpyDeviceToDevice;
    if (part->n_windows == 0) CUDA_TRY(cudaMemsetAsync(entries->count, 0, word, stream), err);
    CUDA_TRY(cudaMemcpyAsync(entries->begin + run, entries->count, word, way, stream), err);
    units_kernel<<<(n_units + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(
        job->scalars->units, n_units, (uint32_t)job->first, (uint32_t)job->n, run,
        entries->bucket[0], entries->point[0], entries->count);
    CUDA_TRY_LAUNCH("units_kernel", err);
    CUDA_TRY(cudaMemcpyAsync(entries->end + run, entries->count, word, way, stream), err);
    return pad(entries->count, part->n_entries, entries->bucket[0], stream, err);
}
