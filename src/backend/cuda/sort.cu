/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/sort: see sort.h. */
#include "backend/cuda/sort.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#define BLOCK 256

static void swap(uint32_t *pair[2]) {
    uint32_t *t = pair[0];
    pair[0] = pair[1];
    pair[1] = t;
}

extern "C" unsigned cuda_bits_of(uint32_t v) {
    unsigned n = 0;
    for (; v; v >>= 1) n++;
    return n;
}

/* CUB's look-back takes a byte for two items at most, and histograms. */
extern "C" size_t cuda_sort_work_most(size_t n) { return n + ((size_t)16 << 20); }

extern "C" cuzk_status cuda_sort_pairs(uint32_t *key[2], uint32_t *value[2], size_t n,
                                       unsigned n_bits, bool falling, void *work,
                                       size_t *work_bytes, cudaStream_t stream,
                                       cuzk_err *err) {
    cub::DoubleBuffer<uint32_t> keys(key[0], key[1]), values(value[0], value[1]);
    const int end = (int)n_bits;
    const cudaError_t code = falling ? cub::DeviceRadixSort::SortPairsDescending(
                                           work, *work_bytes, keys, values, n, 0, end, stream)
                                     : cub::DeviceRadixSort::SortPairs(
                                           work, *work_bytes, keys, values, n, 0, end, stream);
    CUZK_TRY(CUDA_CALL(code, "radix sort", err));
    if (work && keys.selector) swap(key);
    if (work && values.selector) swap(value);
    return CUZK_OK;
}

extern "C" cuzk_status cuda_exclusive_sum(uint32_t *data, size_t n, void *work,
                                          size_t *work_bytes, cudaStream_t stream,
                                          cuzk_err *err) {
    return CUDA_CALL(cub::DeviceScan::ExclusiveSum(work, *work_bytes, data, n, stream),
                     "prefix sum", err);
}

__global__ void __launch_bounds__(BLOCK)
    bounds_kernel(const uint32_t *key, uint32_t n, uint32_t *begin, uint32_t *end,
                  size_t n_groups) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    const uint32_t b = key[i];
    if (b >= n_groups) return;
    if (i == 0 || key[i - 1] != b) begin[b] = i;
    if (i + 1 == n || key[i + 1] != b) end[b] = i + 1;
}

extern "C" cuzk_status cuda_group_bounds(const uint32_t *key, size_t n, uint32_t *begin,
                                         uint32_t *end, size_t n_groups, cudaStream_t stream,
                                         cuzk_err *err) {
    CUDA_TRY(cudaMemsetAsync(begin, 0, n_groups * sizeof *begin, stream), err);
    CUDA_TRY(cudaMemsetAsync(end, 0, n_groups * sizeof *end, stream), err);
    if (n == 0) return CUZK_OK;
    bounds_kernel<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(
        key, (uint32_t)n, begin, end, n_groups);
    CUDA_TRY_LAUNCH("bounds_kernel", err);
    return CUZK_OK;
}
