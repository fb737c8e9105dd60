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
    static constexpr uint32_t JOIN_NODES_FEW = 1u << 12; /* a warp each, for its latency */
    static constexpr int POINT_WORDS = 2 * C::WORDS, SUM_WORDS = 4 * C::WORDS;

    static cuzk_status buckets(const field *fq, const msm_part *part, const uint32_t *points,
                               const msm_entries *entries, const msm_tasks *tasks,
                               uint32_t *sums, cudaStream_t stream, cuzk_err *err);
    static cuzk_status runs(const field *fq, const msm_plan *plan, const msm_part *part,
                            const msm_space *space, cudaStream_t stream, cuzk_err *err);
    static cuzk_status join(const field *fq, const msm_plan *plan, msm_space *space,
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
cuzk_status msm_group<C>::buckets(const field *fq, const msm_part *part,
                                  const uint32_t *points, const msm_entries *entries,
                                  const msm_tasks *tasks, uint32_t *sums, cudaStream_t stream,
                                  cuzk_err *err) {
    const mod m = modulus_of<sizeof(mod::p) / 4>(fq);
    const unsigned n_blocks = (unsigned)((part->n_tasks + BLOCK - 1) / BLOCK);
    add_points_kernel<C><<<n_blocks, BLOCK, 0, stream>>>(
        points, entries->point[0], tasks->begin, tasks->length[0], tasks->order[0],
        (uint32_t)part->n_tasks, sums, m);
    CUDA_TRY_LAUNCH("add_points_kernel", err);
    const size_t n_most = part->n_entries / part->task_length + 1; /* tasks of one bucket */
    for (size_t stride = 1; stride < n_most; stride *= FOLD_SIZE) {
        const dim3 grid(FOLD_BLOCKS, stride * FOLD_SIZE < n_most ? 32 : 1);
        fold_kernel<C><<<grid, 32, 0, stream>>>(sums, tasks->first_task, tasks->split,
                                                (uint32_t)stride, m);
        CUDA_TRY_LAUNCH("fold_kernel", err);
    }
    return CUZK_OK;
}

/* ---- reduction ----
 * A node stands for 2^k neighbouring buckets, and has the sum R of all of them, and sums of some
 * that weigh them: W, where a bucket counts as often as its place in its run of 2^run_log says,
 * and T_j, of those whose number has bit run_log + j set. Two nodes become one by additions that
 * do not wait for each other: R + R', W + W', T_j + T_j', and one more T, which is R'. A window
 * comes to R + W + sum of 2^(run_log + j) T_j: the host's work. A level holds all nodes' R, then
 * all their W, and so on. */
struct bucket_sums { /* where they are */
    const uint32_t *sums;
    const uint32_t *first_task;               /* XYZZ, in tasks; or NULL: */
    const uint32_t *begin, *end, *first_pair; /* affine, in slots */
};

template <class C>
__device__ __forceinline__ void add_bucket(xyzz<C> &run, const bucket_sums &from, uint32_t b,
                                           const typename C::mod &m) {
    if (from.first_task) {
        const uint32_t task = from.first_task[b];
        if (from.first_task[b + 1] > task)
            xyzz_add_call(run, xyzz_load<C>(from.sums, task), m);
    } else if (from.end[b] > from.begin[b]) {
        const affine<C> a =
            affine_load<C>(from.sums, AFFINE_SLOT(from.begin[b], from.first_pair[b]));
        if (!(is_zero(a.x) && is_zero(a.y))) xyzz_add_affine(run, a, m);
    }
}

/* R and W of runs of buckets; `level` is at the part's first node of n_nodes. */
template <class C>
__global__ void __launch_bounds__(msm_group<C>::BLOCK)
    run_kernel(const bucket_sums from, uint32_t n_runs, unsigned run_log, uint32_t n_nodes,
               uint32_t *level, const __grid_constant__ typename C::mod m) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_runs) return;
    xyzz<C> run = xyzz_infinity<C>(), weighted = run;
    for (uint32_t j = 1u << run_log; j-- > 0;) {
        add_bucket(run, from, (i << run_log) + j, m);
        if (j > 0) xyzz_add_call(weighted, run, m);
    }
    xyzz_store(level, i, run);
    xyzz_store(level, n_nodes + (size_t)i, weighted);
}

/* One addition a thread; sum blockIdx.y of the new node. */
template <class C>
__global__ void __launch_bounds__(msm_group<C>::BLOCK)
    join_kernel(const uint32_t *from, uint32_t n_out, uint32_t *to,
                const __grid_constant__ typename C::mod m) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_out) return;
    const bool is_new = blockIdx.y == gridDim.y - 1;
    const size_t at = (size_t)(is_new ? 0 : blockIdx.y) * 2 * n_out + 2 * i;
    xyzz<C> sum = xyzz_load<C>(from, at + 1);
    if (!is_new) xyzz_add(sum, xyzz_load<C>(from, at), m);
    xyzz_store(to, (size_t)blockIdx.y * n_out + i, sum);
}

template <class C>
cuzk_status msm_group<C>::runs(const field *fq, const msm_plan *plan, const msm_part *part,
                               const msm_space *space, cudaStream_t stream, cuzk_err *err) {
    const mod m = modulus_of<sizeof(mod::p) / 4>(fq);
    const unsigned node_log = plan->window_bits - 1 - plan->run_log; /* a window's nodes */
    const uint32_t n_runs = part->n_windows << node_log;
    bucket_sums from = {space->sums, space->tasks.first_task};
    if (plan->affine)
        from = {space->sums, NULL, space->entries.begin, space->entries.end,
                space->first_pair};
    run_kernel<C><<<(n_runs + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(
        from, n_runs, plan->run_log, plan->n_windows << node_log,
        space->levels[0] + (size_t)SUM_WORDS * (part->first_window << node_log), m);
    CUDA_TRY_LAUNCH("run_kernel", err);
    return CUZK_OK;
}

template <class C>
cuzk_status msm_group<C>::join(const field *fq, const msm_plan *plan, msm_space *space,
                               const uint32_t **out, cudaStream_t stream, cuzk_err *err) {
    const mod m = modulus_of<sizeof(mod::p) / 4>(fq);
    uint32_t *from = space->levels[0], *to = space->levels[1];
    unsigned n_sums = 2;
    for (unsigned log = plan->window_bits - 1 - plan->run_log; log-- > 0;) {
        const uint32_t n_out = plan->n_windows << log;
        const unsigned block = n_out < JOIN_NODES_FEW ? 32 : BLOCK;
        const dim3 grid((n_out + block - 1) / block, ++n_sums);
        join_kernel<C><<<grid, block, 0, stream>>>(from, n_out, to, m);
        CUDA_TRY_LAUNCH("join_kernel", err);
        uint32_t *t = from;
        from = to;
        to = t;
    }
    *out = from;
    return CUZK_OK;
}

#endif
