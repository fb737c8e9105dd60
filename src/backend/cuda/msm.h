/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_MSM_H
#define CUZK_BACKEND_CUDA_MSM_H
/* backend/cuda/msm: the parts of a sum of products, from scalars to one sum per window.
 *
 *   digits   scalars -> entries (bucket, point and sign), zero digits left out
 *   sort     entries by bucket
 *   buckets  one sum each, in one of two ways:
 *            many entries (affine.h): rounds of pairs of affine points
 *            else: *tasks*, runs of one bucket's entries of bounded length, ordered by length so
 *            that the threads of a warp work equally long; a thread a task adds its points in
 *            XYZZ; buckets of several tasks are folded
 *   units    scalars 1 and -1, when there are many entries: a bucket of their own behind those
 *            of the first part, without sorting
 *   reduce   sum of b S_b over a window's buckets: short runs of buckets, then a tree of nodes
 *            whose additions all go side by side
 *
 * Windows are taken in *parts*, few enough at a time to bound the work space; a part ends with
 * its runs, and the tree takes all windows together. How many entries there
 * are only the device knows: the host plans for the most there can be, and entries that there
 * are not lie behind the last bucket.
 *
 * Buckets of one window are numbered from 0 and stand for digits 1 .. n; windows follow each
 * other. All arrays are in device memory. */
#include "backend/cuda/affine.h"
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MSM_SIGN 0x80000000u /* of an entry's point index: subtract it */

/* ---- plan (msm_plan.c) ---- */
#define MSM_WINDOWS_MAX 64u

typedef struct msm_plan {
    size_t n; /* points, below 2^31 */
    unsigned window_bits, n_windows;
    unsigned run_log; /* the reduction's runs have 2^this buckets */
    bool affine;
    size_t n_units; /* at most this many; 0: they are entries of window 0, as others */
    size_t window_entries[MSM_WINDOWS_MAX]; /* at most this many */
} msm_plan;

/* Windows that are worked on together. */
typedef struct msm_part {
    unsigned first_window, n_windows;
    uint32_t n_buckets; /* a window has 2^(window_bits - 1) */
    size_t n_sorted;    /* at most this many entries of windows, and behind them */
    size_t n_units;     /* at most this many units: in the first part */
    size_t n_entries;   /* both together */
    /* without affine rounds: */
    uint32_t task_length; /* at most this many entries; a power of two */
    size_t n_tasks;       /* at most this many */
    size_t n_split;       /* buckets of several tasks: at most this many */
} msm_part;

typedef struct msm_entries {
    uint32_t *bucket[2], *point[2]; /* n_entries each; [0] holds the result of a step */
    uint32_t *count;                /* one word */
    uint32_t *begin, *end;          /* n_buckets + 1: of a bucket's entries, when sorted */
} msm_entries;

typedef struct msm_tasks {
    uint32_t *first_task; /* n_buckets + 1: the tasks of bucket b are first_task[b] .. */
    uint32_t *begin;      /* n_tasks: of its entries */
    uint32_t *length[2];  /* n_tasks: falling; [1] is work space */
    uint32_t *order[2];   /* n_tasks: which task has that length */
    uint32_t *split;      /* how many buckets have several tasks, then which */
} msm_tasks;

/* Work space of a part, and of all windows: levels and unit_sum. */
typedef struct msm_space {
    msm_entries entries;
    msm_tasks tasks;
    affine_space affine;
    uint32_t *first_pair; /* n_buckets + 2 */
    uint32_t *sums;       /* XYZZ, one a task; or affine slots */
    uint32_t *unit_sum;   /* affine */
    uint32_t *levels[2];  /* of nodes; [0] begins with the runs */
    void *work;
    size_t work_bytes;
} msm_space;

/* For scalars [first, first + n) of a set whose counts by length these are. */
msm_plan msm_make_plan(const cuzk_msm_job *job, const unsigned long long *n_by_bits);
/* R, W and T_0 .. of a window (msm_group.cuh). */
unsigned msm_window_sums(const msm_plan *plan);
/* The part that begins with this window. There is one at 0 when there are units. */
msm_part msm_part_at(const msm_plan *plan, unsigned window);
/* Space for all parts in two blocks, of which the first holds what tells scalars; returns their
 * bytes, and the places in them when blocks is not NULL. */
typedef struct msm_blocks {
    uint8_t *secret, *other;
} msm_blocks;
typedef struct msm_block_bytes {
    size_t secret, other;
} msm_block_bytes;
msm_block_bytes msm_lay_out(msm_space *out, const msm_plan *plan, unsigned point_words,
                            const msm_blocks *blocks);

/* ---- kernels ---- */
/* msm_digits.cu. scalars: of the first point; see scalars.h. */
cuzk_status msm_digits(const msm_plan *plan, const msm_part *part, const uint32_t *scalars,
                       msm_entries *entries, cudaStream_t stream, cuzk_err *err);
/* Behind those, which are sorted by now; with the bounds of bucket n_buckets. */
cuzk_status msm_unit_entries(const msm_part *part, const cuzk_msm_job *job,
                             msm_entries *entries, cudaStream_t stream, cuzk_err *err);
/* msm_tasks.cu. Of sorted entries. */
cuzk_status msm_make_tasks(const msm_part *part, const msm_entries *entries, msm_tasks *tasks,
                           void *work, size_t work_bytes, cudaStream_t stream, cuzk_err *err);

/* msm_g1_8.cu ... msm_g2_12.cu: one for each group and width of its base field. */
typedef struct msm_group_ops {
    unsigned point_words; /* of an affine point; a sum has twice as many */
    cuzk_status (*buckets)(const field *fq, const msm_part *part, const uint32_t *points,
                           const msm_entries *entries, const msm_tasks *tasks, uint32_t *sums,
                           cudaStream_t stream, cuzk_err *err);
    affine_add_fn *add_runs; /* NULL: no affine rounds */
    /* Of a part's buckets, to its place in levels[0]. */
    cuzk_status (*runs)(const field *fq, const msm_plan *plan, const msm_part *part,
                        const msm_space *space, cudaStream_t stream, cuzk_err *err);
    /* Of all windows. *out: msm_window_sums(plan) sums, the first of each window, the second of
     * each window, ... */
    cuzk_status (*join)(const field *fq, const msm_plan *plan, msm_space *space,
                        const uint32_t **out, cudaStream_t stream, cuzk_err *err);
} msm_group_ops;

extern const msm_group_ops msm_g1_8, msm_g1_12, msm_g2_8, msm_g2_12;
const msm_group_ops *msm_ops_of(const curve *c, group_id group);

/* ---- of the contract (msm.c; bytes: msm_plan.c) ---- */
cuzk_status cuda_msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                     cuzk_err *err);
uint64_t cuda_msm_bytes(const curve *c, group_id group, size_t n);

#ifdef __cplusplus
}
#endif
#endif
