/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/affine_pairs: who is added to whom in a round (affine.h). */
#include "backend/cuda/affine.h"
#include "backend/cuda/msm_append.cuh"
#include "backend/cuda/sort.h"

#define BLOCK 256

static unsigned blocks_for(size_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

struct pair_list {
    uint32_t *first, *second, *place, *count;
};
static pair_list list_of(const affine_pairs *p) {
    return {p->first, p->second, p->place, p->count};
}

/* All threads of the block come here. */
__device__ __forceinline__ void append(const pair_list &to, bool has_pair, uint32_t first,
                                       uint32_t second, uint32_t place) {
    const uint32_t at = append_one<BLOCK / 32>(to.count, has_pair);
    if (!has_pair) return;
    to.first[at] = first;
    to.second[at] = second;
    to.place[at] = place;
}

__global__ void __launch_bounds__(BLOCK)
    count_pairs_kernel(const uint32_t *begin, const uint32_t *end, uint32_t n_runs,
                       uint32_t *n_pairs) {
    const uint32_t r = blockIdx.x * BLOCK + threadIdx.x;
    if (r < n_runs) n_pairs[r] = (end[r] - begin[r]) / 2;
    if (r == n_runs) n_pairs[r] = 0;
}

/* Of n slots left, pair j adds slot j + ceil(n / 2) to slot j, for j < floor(n / 2). */
__device__ __forceinline__ uint32_t half_up(uint32_t n) { return n / 2 + n % 2; }

__global__ void __launch_bounds__(BLOCK)
    pair_runs_kernel(const uint32_t *key, const uint32_t *entry, size_t n_entries,
                     const uint32_t *begin, const uint32_t *end, uint32_t n_runs,
                     const uint32_t *first_pair, const pair_list round0,
                     const pair_list round1) {
    const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    const uint32_t run = i < n_entries ? key[i] : n_runs;
    bool has_next = false;
    uint32_t slot = 0, n_slots = 0, j = 0;
    if (run < n_runs) {
        const uint32_t start = begin[run], n = end[run] - start, pair = first_pair[run];
        n_slots = half_up(n);
        j = (uint32_t)i - start;
        slot = AFFINE_SLOT(start, pair) + j;
        has_next = j < n_slots / 2;
        if (j < n / 2) {
            round0.first[pair + j] = entry[i];
            round0.second[pair + j] = entry[i + n_slots];
            round0.place[pair + j] = slot;
        }
    }
    append(round1, has_next, slot, slot + half_up(n_slots), j);
}

__global__ void __launch_bounds__(BLOCK)
    pair_sums_kernel(const pair_list from, const pair_list to) {
    const uint32_t count = *from.count;
    if (blockIdx.x * BLOCK >= count) return;
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    bool has_next = false;
    uint32_t slot = 0, n_slots = 0, j = 0;
    if (i < count) {
        slot = from.first[i];
        n_slots = from.second[i] - slot; /* that this round leaves in the run */
        j = from.place[i];
        has_next = j < n_slots / 2;
    }
    append(to, has_next, slot, slot + half_up(n_slots), j);
}

/* The shortest run with a pair left has 2^round + 1 entries, and longer ones no more pairs an
 * entry. */
extern "C" size_t affine_pairs_most(size_t n_entries, unsigned round) {
    return n_entries / (((size_t)1 << round) + 1);
}

/* Each run has half of its entries, rounded up. */
extern "C" size_t affine_slots_most(size_t n_entries, size_t n_runs) {
    return (n_entries + (n_runs < n_entries ? n_runs : n_entries)) / 2;
}

extern "C" size_t affine_blocks_most(size_t n_pairs) {
    const size_t n_full = (n_pairs + AFFINE_BATCH * AFFINE_BLOCK - 1) /
                          (AFFINE_BATCH * AFFINE_BLOCK),
                 n_single = (n_pairs + AFFINE_BLOCK - 1) / AFFINE_BLOCK,
                 n_busy = n_single < AFFINE_THREADS / AFFINE_BLOCK
                              ? n_single
                              : AFFINE_THREADS / AFFINE_BLOCK;
    return n_full > n_busy ? n_full : n_busy;
}

extern "C" cuzk_status affine_pair_runs(const affine_runs *runs, affine_space *space,
                                        void *work, size_t *work_bytes, cudaStream_t stream,
                                        cuzk_err *err) {
    const size_t n_counts = (size_t)runs->n_runs + 1;
    if (!work)
        return cuda_exclusive_sum(runs->first_pair, n_counts, NULL, work_bytes, stream, err);
    space->pairs[0].count = runs->first_pair + runs->n_runs;
    space->pairs[1].count = space->counts + 1;
    CUDA_TRY(
        cudaMemsetAsync(space->counts, 0, AFFINE_ROUNDS_MAX * sizeof *space->counts, stream),
        err);
    count_pairs_kernel<<<blocks_for(n_counts), BLOCK, 0, stream>>>(
        runs->begin, runs->end, runs->n_runs, runs->first_pair);
    CUDA_TRY_LAUNCH("count_pairs_kernel", err);
    CUZK_TRY(cuda_exclusive_sum(runs->first_pair, n_counts, work, work_bytes, stream, err));
    pair_runs_kernel<<<blocks_for(runs->n_entries), BLOCK, 0, stream>>>(
        runs->key, runs->entry, runs->n_entries, runs->begin, runs->end, runs->n_runs,
        runs->first_pair, list_of(&space->pairs[0]), list_of(&space->pairs[1]));
    CUDA_TRY_LAUNCH("pair_runs_kernel", err);
    return CUZK_OK;
}

extern "C" cuzk_status affine_pair_sums(const affine_pairs *from, affine_pairs *to,
                                        cudaStream_t stream, cuzk_err *err) {
    pair_sums_kernel<<<blocks_for(from->n_most), BLOCK, 0, stream>>>(list_of(from),
                                                                     list_of(to));
    CUDA_TRY_LAUNCH("pair_sums_kernel", err);
    return CUZK_OK;
}

__global__ void copy_sum_kernel(const uint32_t *begin, const uint32_t *end,
                                const uint32_t *first_pair, uint32_t run,
                                const uint32_t *slots, uint32_t point_words, uint32_t *out) {
    const size_t slot = AFFINE_SLOT(begin[run], first_pair[run]);
    const bool is_empty = end[run] == begin[run];
    for (uint32_t i = threadIdx.x; i < point_words; i += blockDim.x)
        out[i] = is_empty ? 0 : slots[slot * point_words + i];
}

extern "C" cuzk_status affine_copy_sum(const affine_runs *runs, uint32_t run,
                                       const uint32_t *slots, unsigned point_words,
                                       uint32_t *out, cudaStream_t stream, cuzk_err *err) {
    copy_sum_kernel<<<1, 32, 0, stream>>>(runs->begin, runs->end, runs->first_pair, run, slots,
                                          point_words, out);
    CUDA_TRY_LAUNCH("copy_sum_kernel", err);
    return CUZK_OK;
}
