/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_MSM_H
#define CUZK_BACKEND_CUDA_MSM_H
/* backend/cuda/msm: the parts of a sum of products, from scalars to one sum per window.
 *
 *   digits   scalars -> entries (bucket, point and sign), zero digits left out
 *   sort     entries by bucket; then *tasks*: runs of one bucket's entries of bounded length,
 *            ordered by length, so that the threads of a warp work equally long
 *   buckets  a thread a task adds its points; buckets of several tasks are folded
 *   reduce   sum of b S_b over a window's buckets, in levels of a few buckets a thread
 *
 * Buckets of one window are numbered from 0 and stand for digits 1 .. n; windows follow each
 * other. All arrays are in device memory. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MSM_SIGN 0x80000000u /* of an entry's point index: subtract it */

typedef struct msm_plan {
    const uint32_t *scalars; /* of the first point */
    size_t n;                /* points, below 2^31 */
    unsigned window_bits, n_windows;
    uint32_t n_buckets;   /* of all windows; a window has 2^(window_bits - 1) */
    size_t n_entries;     /* at most this many */
    uint32_t task_length; /* at most this many entries; a power of two */
    size_t n_tasks;       /* at most this many */
    size_t n_split;       /* buckets of several tasks: at most this many */
} msm_plan;

typedef struct msm_entries {
    uint32_t *bucket[2], *point[2]; /* n_entries each; [0] holds the result of a step */
    uint32_t *count;                /* one word */
} msm_entries;

typedef struct msm_tasks {
    uint32_t *first_task; /* n_buckets + 1: the tasks of bucket b are first_task[b] .. */
    uint32_t *begin;      /* n_tasks: of its entries */
    uint32_t *length[2];  /* n_tasks: falling; [1] is work space */
    uint32_t *order[2];   /* n_tasks: which task has that length */
    uint32_t *bucket_begin, *bucket_end; /* n_buckets */
    uint32_t *split;                     /* how many buckets have several tasks, then which */
} msm_tasks;

/* msm_digits.cu */
cuzk_status msm_digits(const msm_plan *plan, msm_entries *entries, cudaStream_t stream,
                       cuzk_err *err);
/* msm_tasks.cu. Of sorted entries; work NULL asks for the bytes of work space. */
cuzk_status msm_make_tasks(const msm_plan *plan, const msm_entries *entries, msm_tasks *tasks,
                           void *work, size_t *work_bytes, cudaStream_t stream, cuzk_err *err);

/* msm_g1_8.cu ... msm_g2_12.cu: one for each group and width of its base field. */
typedef struct msm_group_ops {
    unsigned point_words; /* of an affine point; a sum has twice as many */
    cuzk_status (*buckets)(const field *fq, const msm_plan *plan, const uint32_t *points,
                           const msm_entries *entries, const msm_tasks *tasks, uint32_t *sums,
                           cudaStream_t stream, cuzk_err *err);
    /* levels: 2 pieces of work space, msm_reduce_sums(n_buckets) sums each; *out is where the
     * (sum, weighted sum) pairs of the windows are. */
    cuzk_status (*reduce)(const field *fq, const msm_plan *plan, const uint32_t *sums,
                          const uint32_t *first_task, uint32_t *levels[2],
                          const uint32_t **out, cudaStream_t stream, cuzk_err *err);
} msm_group_ops;

/* Buckets that one thread of a reduction level takes, 2^this. */
unsigned msm_reduce_radix_log(uint32_t n_left, unsigned log_window);
size_t msm_reduce_sums(const msm_plan *plan); /* of each level array */

extern const msm_group_ops msm_g1_8, msm_g1_12, msm_g2_8, msm_g2_12;

/* msm.c */
cuzk_status cuda_msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                     cuzk_err *err);
void cuda_msm_finish(cuzk_queue *queue); /* the stream has been waited for */
void cuda_msm_forget(cuzk_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
