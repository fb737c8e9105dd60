/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/msm_tasks: sorted entries cut into tasks, longest first. */
#include "backend/cuda/msm.h"
#include "backend/cuda/sort.h"

#define BLOCK 256

static unsigned blocks_for(size_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

__global__ void __launch_bounds__(BLOCK)
    count_tasks_kernel(const uint32_t *begin, const uint32_t *end, uint32_t n_buckets,
                       uint32_t length, uint32_t *n_tasks) {
    const uint32_t b = blockIdx.x * BLOCK + threadIdx.x;
    if (b < n_buckets) n_tasks[b] = (end[b] - begin[b] + length - 1) / length;
    if (b == n_buckets) n_tasks[b] = 0;
}

/* A bucket's tasks are written by a warp's lanes together: one bucket may hold everything. */
__global__ void __launch_bounds__(BLOCK)
    list_tasks_kernel(const uint32_t *begin, const uint32_t *end, uint32_t n_buckets,
                      uint32_t length, const uint32_t *first_task, uint32_t *task_begin,
                      uint32_t *task_length, uint32_t *order, uint32_t *split) {
    const uint32_t b = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % 32;
    const bool inside = b < n_buckets;
    const uint32_t my_begin = inside ? begin[b] : 0, my_end = inside ? end[b] : 0,
                   my_first = inside ? first_task[b] : 0;
    if (my_end - my_begin > 0 && my_end - my_begin <= length) {
        task_begin[my_first] = my_begin;
        task_length[my_first] = my_end - my_begin;
        order[my_first] = my_first;
    }
    const bool is_split = my_end - my_begin > length;
    if (is_split) split[1 + atomicAdd(split, 1)] = b;
    uint32_t large = __ballot_sync(~0u, is_split);
    for (; large; large &= large - 1) {
        const int from = __ffs(large) - 1;
        const uint32_t at = __shfl_sync(~0u, my_begin, from),
                       stop = __shfl_sync(~0u, my_end, from);
        const uint32_t first = __shfl_sync(~0u, my_first, from);
        const uint32_t n = (stop - at + length - 1) / length;
        for (uint32_t j = lane; j < n; j += 32) {
            task_begin[first + j] = at + j * length;
            task_length[first + j] = min(length, stop - at - j * length);
            order[first + j] = first + j;
        }
    }
}

extern "C" cuzk_status msm_make_tasks(const msm_part *part, const msm_entries *entries,
                                      msm_tasks *tasks, void *work, size_t work_bytes,
                                      cudaStream_t stream, cuzk_err *err) {
    const uint32_t n_buckets = part->n_buckets;
    /* Tasks that there are not keep length 0, and so come last. */
    CUDA_TRY(cudaMemsetAsync(tasks->split, 0, sizeof(uint32_t), stream), err);
    CUDA_TRY(cudaMemsetAsync(tasks->length[0], 0, part->n_tasks * sizeof(uint32_t), stream),
             err);
    count_tasks_kernel<<<blocks_for((size_t)n_buckets + 1), BLOCK, 0, stream>>>(
        entries->begin, entries->end, n_buckets, part->task_length, tasks->first_task);
    CUDA_TRY_LAUNCH("count_tasks_kernel", err);
    CUZK_TRY(cuda_exclusive_sum(tasks->first_task, (size_t)n_buckets + 1, work, &work_bytes,
                                stream, err));
    list_tasks_kernel<<<blocks_for(n_buckets), BLOCK, 0, stream>>>(
        entries->begin, entries->end, n_buckets, part->task_length, tasks->first_task,
        tasks->begin, tasks->length[0], tasks->order[0], tasks->split);
    CUDA_TRY_LAUNCH("list_tasks_kernel", err);
    return cuda_sort_pairs(tasks->length, tasks->order, part->n_tasks,
                           cuda_bits_of(part->task_length), true, work, &work_bytes, stream,
                           err);
}
