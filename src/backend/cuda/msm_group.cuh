/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_MSM_GROUP_CUH
#define CUZK_BACKEND_CUDA_MSM_GROUP_CUH
/* backend/cuda/msm_group: the kernels of an MSM that add points, for a coordinate type C. Each
 * .cu that includes this makes one msm_group_ops of it. */
#include "backend/cuda/msm.h"
#include "backend/cuda/xyzz.cuh"

template <class C> struct msm_group {
    typedef typename C::mod mod;
    static constexpr int BLOCK = 128;
    static constexpr uint32_t FOLD_SIZE = 128; /* sums that a warp folds into one */
    static constexpr unsigned FOLD_BLOCKS = 1024;
    static constexpr int POINT_WORDS = 2 * C::WORDS, SUM_WORDS = 4 * C::WORDS;

    static cuzk_status buckets(const field *fq, const msm_plan *plan, const uint32_t *points,
                               const msm_entries *entries, const msm_tasks *tasks,
                               uint32_t *sums, cudaStream_t stream, cuzk_err *err);
    static cuzk_status reduce(const field *fq, const msm_plan *plan, const uint32_t *sums,
                              const uint32_t *first_task, uint32_t *levels[2],
                              const uint32_t **out, cudaStream_t stream, cuzk_err *err);
};

/* ---- buckets ---- */
template <class C>
__global__ void __launch_bounds__(msm_group<C>::BLOCK, C::WORDS > 12 ? 2 : 3)
    add_points_kernel(const uint32_t *points, const uint32_t *entries,
                      const uint32_t *task_begin, const uint32_t *task_length,
                      const uint32_t *order, uint32_t n_tasks, uint32_t *sums,
                      const __grid_constant__ typename C::mod m) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_tasks || task_length[i] == 0) return;
    const uint32_t task = order[i];
    const uint32_t begin = task_begin[task], n = task_length[i];
    xyzz<C> sum = xyzz_infinity<C>();
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t entry = entries[begin + j];
        affine<C> a = affine_load<C>(points, entry & ~MSM_SIGN);
        if (is_zero(a.x) && is_zero(a.y)) continue;
        if (entry & MSM_SIGN) a.y = sub(C{}, a.y, m);
        xyzz_add_affine(sum, a, m);
    }
    xyzz_store(sums, task, sum);
}

/* Of split buckets: a warp folds FOLD_SIZE sums, `stride` apart, into the first of them. */
template <class C>
__global__ void __launch_bounds__(32)
    fold_kernel(uint32_t *sums, const uint32_t *first_task, const uint32_t *split,
                uint32_t stride, const __grid_constant__ typename C::mod m) {
    __shared__ uint4 memory[16 * msm_group<C>::SUM_WORDS / 4];
    uint32_t *shared = (uint32_t *)memory;
    const uint32_t n_split = split[0], lane = threadIdx.x;
    const uint64_t step = (uint64_t)stride * msm_group<C>::FOLD_SIZE;
    for (uint32_t i = blockIdx.x; i < n_split; i += gridDim.x) {
        const uint32_t b = split[1 + i], end = first_task[b + 1];
        for (uint64_t at = first_task[b] + blockIdx.y * step; at < end;
             at += gridDim.y * step) {
            if (at + stride >= end) continue; /* one sum: folded already */
            const uint64_t stop = min((uint64_t)end, at + step);
            xyzz<C> sum = xyzz_infinity<C>();
            for (uint64_t j = at + (uint64_t)lane * stride; j < stop; j += 32ull * stride) {
                xyzz_add_call(sum, xyzz_load<C>(sums, j), m);
            }
            for (unsigned half = 16; half > 0; half /= 2) {
                __syncwarp();
                if (lane >= half && lane < 2 * half) xyzz_store(shared, lane - half, sum);
                __syncwarp();
                if (lane < half) xyzz_add_call(sum, xyzz_load<C>(shared, lane), m);
            }
            if (lane == 0) xyzz_store(sums, at, sum);
        }
    }
}

template <class C>
cuzk_status msm_group<C>::buckets(const field *fq, const msm_plan *plan,
                                  const uint32_t *points, const msm_entries *entries,
                                  const msm_tasks *tasks, uint32_t *sums, cudaStream_t stream,
                                  cuzk_err *err) {
    const mod m = modulus_of<sizeof(mod::p) / 4>(fq);
    const unsigned n_blocks = (unsigned)((plan->n_tasks + BLOCK - 1) / BLOCK);
    add_points_kernel<C><<<n_blocks, BLOCK, 0, stream>>>(
        points, entries->point[0], tasks->begin, tasks->length[0], tasks->order[0],
        (uint32_t)plan->n_tasks, sums, m);
    CUDA_TRY_LAUNCH("add_points_kernel", err);
    const size_t n_most = plan->n_entries / plan->task_length + 1; /* tasks of one bucket */
    for (size_t stride = 1; stride < n_most; stride *= FOLD_SIZE) {
        const dim3 grid(FOLD_BLOCKS, stride * FOLD_SIZE < n_most ? 32 : 1);
        fold_kernel<C><<<grid, 32, 0, stream>>>(sums, tasks->first_task, tasks->split,
                                                (uint32_t)stride, m);
        CUDA_TRY_LAUNCH("fold_kernel", err);
    }
    return CUZK_OK;
}

/* ---- reduction ----
 * Level by level, 2^radix neighbours (sum R_j, weighted sum W_j) become one: R = sum of R_j,
 * W = sum of W_j + 2^shift sum of j R_j, where 2^shift buckets lie behind each neighbour. */
template <class C>
__global__ void __launch_bounds__(msm_group<C>::BLOCK)
    first_level_kernel(const uint32_t *sums, const uint32_t *first_task, uint32_t n_out,
                       unsigned radix_log, uint32_t *out,
                       const __grid_constant__ typename C::mod m) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_out) return;
    xyzz<C> run = xyzz_infinity<C>(), weighted = run;
    for (uint32_t j = 1u << radix_log; j-- > 0;) {
        const uint32_t b = (i << radix_log) + j, task = first_task[b];
        if (first_task[b + 1] > task) xyzz_add_call(run, xyzz_load<C>(sums, task), m);
        if (j > 0) xyzz_add_call(weighted, run, m);
    }
    xyzz_store(out, 2 * (size_t)i, run);
    xyzz_store(out, 2 * (size_t)i + 1, weighted);
}

template <class C>
__global__ void __launch_bounds__(msm_group<C>::BLOCK)
    next_level_kernel(const uint32_t *in, uint32_t n_out, unsigned radix_log, unsigned shift,
                      uint32_t *out, const __grid_constant__ typename C::mod m) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_out) return;
    xyzz<C> run = xyzz_infinity<C>(), weighted = run;
    for (uint32_t j = 1u << radix_log; j-- > 0;) {
        xyzz_add_call(run, xyzz_load<C>(in, 2 * (((size_t)i << radix_log) + j)), m);
        if (j > 0) xyzz_add_call(weighted, run, m);
    }
    xyzz_store(out, 2 * (size_t)i, run);
    for (unsigned s = 0; s < shift; s++) xyzz_double_slow(weighted, m);
    for (uint32_t j = 0; j < 1u << radix_log; j++) {
        xyzz_add_call(weighted, xyzz_load<C>(in, 2 * (((size_t)i << radix_log) + j) + 1), m);
    }
    xyzz_store(out, 2 * (size_t)i + 1, weighted);
}

template <class C>
cuzk_status msm_group<C>::reduce(const field *fq, const msm_plan *plan, const uint32_t *sums,
                                 const uint32_t *first_task, uint32_t *levels[2],
                                 const uint32_t **out, cudaStream_t stream, cuzk_err *err) {
    const mod m = modulus_of<sizeof(mod::p) / 4>(fq);
    unsigned log_left = plan->window_bits - 1, shift = 0, to = 0;
    do {
        const unsigned radix_log = msm_reduce_radix_log(plan->n_windows << log_left, log_left);
        const uint32_t n_out = plan->n_windows << (log_left - radix_log);
        const unsigned n_blocks = (n_out + BLOCK - 1) / BLOCK;
        if (shift == 0 && to == 0 && log_left == plan->window_bits - 1) {
            first_level_kernel<C><<<n_blocks, BLOCK, 0, stream>>>(sums, first_task, n_out,
                                                                  radix_log, levels[to], m);
        } else {
            next_level_kernel<C><<<n_blocks, BLOCK, 0, stream>>>(
                levels[1 - to], n_out, radix_log, shift, levels[to], m);
        }
        CUDA_TRY_LAUNCH("reduction", err);
        log_left -= radix_log;
        shift += radix_log;
        to = 1 - to;
    } while (log_left > 0);
    *out = levels[1 - to];
    return CUZK_OK;
}

#endif
