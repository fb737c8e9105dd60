/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/msm: plans a sum of products, queues its kernels, and adds up the windows on the
 * host: 255 doublings in a row are slower on a device. */
#include "backend/cuda/msm.h"

#include "backend/cuda/queue.h"
#include "backend/cuda/scalars.h"
#include "backend/cuda/sort.h"
#include "base/alloc.h"
#include "math/field/tower.h"

#include <string.h>

#define WINDOW_BITS_MIN 4u
#define WINDOW_BITS_MAX 22u
#define TASK_LENGTH_MIN 32u
#define TASK_LENGTH_MAX 512u /* one full bucket still keeps the device busy */
/* In multiplications: of an entry, and of an empty or full bucket's way through the reduction. */
#define ENTRY_COST  10u
#define BUCKET_COST 24u
/* Fewer threads than this leave the device idle, so the reduction goes by small steps. */
#define REDUCE_THREADS_MIN   (1u << 16)
#define REDUCE_RADIX_LOG_MIN 2u
#define REDUCE_RADIX_LOG_MAX 4u

static const msm_group_ops *ops_of(const cuzk_msm_job *job) {
    const bool wide = job->curve->fq.m.n_limbs == 6;
    if (job->group == GROUP_G1) return wide ? &msm_g1_12 : &msm_g1_8;
    return wide ? &msm_g2_12 : &msm_g2_8;
}

/* ---- plan ---- */
static uint64_t count_entries(const cuzk_scalars *scalars, unsigned window_bits) {
    uint64_t sum = 0;
    for (unsigned bits = 1; bits < CUDA_SCALAR_LENGTHS; bits++) {
        sum += scalars->n_by_bits[bits] * (bits / window_bits + 1);
    }
    return sum;
}

static msm_plan make_plan(const cuzk_msm_job *job) {
    const cuzk_scalars *scalars = job->scalars;
    const unsigned n_bits = scalars->fr->m.n_bits; /* |k| has one less, its digits a sign */
    msm_plan plan = {.scalars = scalars->values + job->first * CUDA_FR_WORDS, .n = job->n};
    uint64_t best = UINT64_MAX;
    for (unsigned c = WINDOW_BITS_MIN; c <= WINDOW_BITS_MAX; c++) {
        const unsigned n_windows = (n_bits + c - 1) / c;
        const uint64_t n_most = (uint64_t)job->n * n_windows,
                       n_all = count_entries(scalars, c);
        const uint64_t n_buckets = (uint64_t)n_windows << (c - 1);
        /* the share of this range, for the choice; all of them, for the space */
        const double share = scalars->n ? (double)job->n / (double)scalars->n : 0;
        const uint64_t cost =
            (uint64_t)((double)n_all * share) * ENTRY_COST + n_buckets * BUCKET_COST;
        if (cost >= best) continue;
        best = cost;
        plan.window_bits = c;
        plan.n_windows = n_windows;
        plan.n_buckets = (uint32_t)n_buckets;
        plan.n_entries = (size_t)(n_all < n_most ? n_all : n_most);
    }
    return plan;
}

/* The longest task leaves an evenly filled bucket in one piece. */
static void plan_tasks(msm_plan *plan, uint32_t n_entries) {
    const uint32_t average = n_entries / plan->n_buckets;
    plan->n_entries = n_entries;
    plan->task_length = TASK_LENGTH_MIN;
    while (plan->task_length < TASK_LENGTH_MAX && plan->task_length < 2 * average)
        plan->task_length *= 2;
    const size_t n_occupied = n_entries < plan->n_buckets ? n_entries : plan->n_buckets;
    plan->n_split = n_entries / plan->task_length;
    plan->n_tasks = n_occupied + plan->n_split;
}

unsigned msm_reduce_radix_log(uint32_t n_left, unsigned log_window) {
    unsigned radix_log = REDUCE_RADIX_LOG_MAX;
    while (radix_log > REDUCE_RADIX_LOG_MIN && n_left >> radix_log < REDUCE_THREADS_MIN)
        radix_log--;
    return radix_log < log_window ? radix_log : log_window;
}

size_t msm_reduce_sums(const msm_plan *plan) {
    const unsigned log = plan->window_bits - 1;
    return 2 * (size_t)(plan->n_buckets >> msm_reduce_radix_log(plan->n_buckets, log));
}

/* ---- one job ---- */
static cuzk_status find_entries(cuzk_queue *queue, cuda_scratch *s, msm_plan *plan,
                                msm_entries *entries, cuzk_err *err) {
    uint32_t n_entries;
    for (unsigned i = 0; i < 2; i++) {
        CUZK_TRY(cuda_scratch_take(s, &entries->bucket[i], plan->n_entries, sizeof(uint32_t),
                                   true, err));
        CUZK_TRY(cuda_scratch_take(s, &entries->point[i], plan->n_entries, sizeof(uint32_t),
                                   true, err));
    }
    CUZK_TRY(cuda_scratch_take(s, &entries->count, 1, sizeof(uint32_t), false, err));
    CUZK_TRY(msm_digits(plan, entries, queue->stream, err));
    CUDA_TRY(cudaMemcpyAsync(&n_entries, entries->count, sizeof n_entries,
                             cudaMemcpyDeviceToHost, queue->stream),
             err);
    CUDA_TRY(cudaStreamSynchronize(queue->stream), err);
    plan_tasks(plan, n_entries);
    return CUZK_OK;
}

static cuzk_status take_tasks(cuda_scratch *s, const msm_plan *plan, msm_tasks *tasks,
                              cuzk_err *err) {
    const size_t word = sizeof(uint32_t);
    CUZK_TRY(cuda_scratch_take(s, &tasks->first_task, (size_t)plan->n_buckets + 1, word, false,
                               err));
    CUZK_TRY(cuda_scratch_take(s, &tasks->bucket_begin, plan->n_buckets, word, false, err));
    CUZK_TRY(cuda_scratch_take(s, &tasks->bucket_end, plan->n_buckets, word, false, err));
    CUZK_TRY(cuda_scratch_take(s, &tasks->begin, plan->n_tasks, word, false, err));
    CUZK_TRY(cuda_scratch_take(s, &tasks->split, plan->n_split + 1, word, false, err));
    for (unsigned i = 0; i < 2; i++) {
        CUZK_TRY(cuda_scratch_take(s, &tasks->length[i], plan->n_tasks, word, false, err));
        CUZK_TRY(cuda_scratch_take(s, &tasks->order[i], plan->n_tasks, word, false, err));
    }
    return CUZK_OK;
}

static cuzk_status sort_entries(cuzk_queue *queue, cuda_scratch *s, const msm_plan *plan,
                                msm_entries *entries, msm_tasks *tasks, cuzk_err *err) {
    const unsigned key_bits = cuda_bits_of(plan->n_buckets - 1);
    size_t n_bytes = 0, task_bytes = 0;
    CUZK_TRY(cuda_sort_pairs(entries->bucket, entries->point, plan->n_entries, key_bits, false,
                             NULL, &n_bytes, queue->stream, err));
    CUZK_TRY(msm_make_tasks(plan, entries, tasks, NULL, &task_bytes, queue->stream, err));
    if (task_bytes > n_bytes) n_bytes = task_bytes;
    void *work;
    CUZK_TRY(cuda_scratch_take(s, &work, n_bytes, 1, true, err));
    CUZK_TRY(cuda_sort_pairs(entries->bucket, entries->point, plan->n_entries, key_bits, false,
                             work, &n_bytes, queue->stream, err));
    return msm_make_tasks(plan, entries, tasks, work, &n_bytes, queue->stream, err);
}

static cuzk_status add_entries(cuzk_queue *queue, cuda_scratch *s, const cuzk_msm_job *job,
                               const msm_plan *plan, const uint32_t *points,
                               const msm_entries *entries, const msm_tasks *tasks,
                               const uint32_t **out, cuzk_err *err) {
    const msm_group_ops *ops = ops_of(job);
    const field *fq = &job->curve->fq;
    const size_t sum_bytes = 2 * ops->point_words * sizeof(uint32_t);
    uint32_t *sums, *levels[2];
    CUZK_TRY(cuda_scratch_take(s, &sums, plan->n_tasks, sum_bytes, false, err));
    for (unsigned i = 0; i < 2; i++) {
        CUZK_TRY(
            cuda_scratch_take(s, &levels[i], msm_reduce_sums(plan), sum_bytes, false, err));
    }
    CUZK_TRY(ops->buckets(fq, plan, points, entries, tasks, sums, queue->stream, err));
    return ops->reduce(fq, plan, sums, tasks->first_task, levels, out, queue->stream, err);
}

static cuzk_status queue_windows(cuzk_queue *queue, const cuzk_msm_job *job,
                                 const msm_plan *plan, const uint32_t *windows,
                                 cuzk_err *err) {
    const size_t n_bytes =
        (size_t)plan->n_windows * 2 * 2 * ops_of(job)->point_words * sizeof(uint32_t);
    cuda_msm_tail *tail;
    CUZK_TRY(cuzk_alloc(&tail, 1, sizeof *tail, err));
    *tail = (cuda_msm_tail){.next = queue->tails,
                            .curve = job->curve,
                            .group = job->group,
                            .result = job->result,
                            .n_windows = plan->n_windows,
                            .window_bits = plan->window_bits};
    cuzk_status status =
        cuda_check(cudaMallocHost((void **)&tail->sums, n_bytes), "cudaMallocHost", err);
    if (status != CUZK_OK) {
        cuzk_free(tail);
        return status;
    }
    queue->tails = tail;
    CUDA_TRY(
        cudaMemcpyAsync(tail->sums, windows, n_bytes, cudaMemcpyDeviceToHost, queue->stream),
        err);
    return CUZK_OK;
}

static cuzk_status run(cuzk_queue *queue, cuda_scratch *s, const cuzk_msm_job *job,
                       cuzk_err *err) {
    msm_plan plan = make_plan(job);
    msm_entries entries;
    msm_tasks tasks;
    cuda_operand points;
    const uint32_t *windows;
    CUZK_TRY(cuda_operand_open(&points, s, job->points, job->n,
                               point_packed_bytes(job->curve, job->group), CUDA_READ, "points",
                               err));
    CUZK_TRY(find_entries(queue, s, &plan, &entries, err));
    if (plan.n_entries == 0) return CUZK_OK;
    CUZK_TRY(take_tasks(s, &plan, &tasks, err));
    CUZK_TRY(sort_entries(queue, s, &plan, &entries, &tasks, err));
    CUZK_TRY(add_entries(queue, s, job, &plan, points.p, &entries, &tasks, &windows, err));
    return queue_windows(queue, job, &plan, windows, err);
}

cuzk_status cuda_msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                     cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    for (size_t i = 0; i < n_jobs; i++) {
        const cuzk_msm_job *job = &jobs[i];
        if (job->first > job->scalars->n || job->n > job->scalars->n - job->first) {
            return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda",
                             "scalars %zu to %zu of a set of %zu", job->first,
                             job->first + job->n, job->scalars->n);
        }
        point_set_infinity(job->curve, job->group, job->result);
        if (job->n == 0) continue;
        cuda_scratch scratch = {.queue = queue};
        const cuzk_status status = run(queue, &scratch, job, err);
        cuda_scratch_drop(&scratch);
        CUZK_TRY(status);
    }
    return CUZK_OK;
}

/* ---- windows ---- */
/* The device's values are below 2p. */
static void load_value(const field *fq, fe *out, const uint8_t *from) {
    cuzk_u128 difference = 0;
    memcpy(out->l, from, fq->n_bytes);
    if (field_is_canonical_le(fq, from)) return;
    for (unsigned i = 0; i < fq->m.n_limbs; i++) {
        difference = (cuzk_u128)out->l[i] - fq->m.p[i] - ((uint64_t)(difference >> 64) & 1);
        out->l[i] = (uint64_t)difference;
    }
}

static const uint8_t *load_coordinate(const field *fq, group_id g, fe2 *out,
                                      const uint8_t *from) {
    memset(out, 0, sizeof *out);
    load_value(fq, &out->c0, from);
    if (g == GROUP_G2) load_value(fq, &out->c1, from + fq->n_bytes);
    return from + fq->n_bytes * (unsigned)g;
}

/* (X/ZZ, Y/ZZZ) is (X ZZ / Z^2, Y ZZZ / Z^3) with Z = ZZ. */
static const uint8_t *load_sum(const curve *c, group_id g, point *r, const uint8_t *from) {
    fe2 zzz;
    from = load_coordinate(&c->fq, g, &r->x, from);
    from = load_coordinate(&c->fq, g, &r->y, from);
    from = load_coordinate(&c->fq, g, &r->z, from);
    from = load_coordinate(&c->fq, g, &zzz, from);
    fe2_mul(c, &r->x, &r->x, &r->z);
    fe2_mul(c, &r->y, &r->y, &zzz);
    return from;
}

static void add_windows(const cuda_msm_tail *t) {
    const curve *c = t->curve;
    const size_t window_bytes = 8 * (size_t)t->group * c->fq.n_bytes;
    point_set_infinity(c, t->group, t->result);
    for (unsigned w = t->n_windows; w-- > 0;) {
        point sum, weighted;
        load_sum(c, t->group, &weighted,
                 load_sum(c, t->group, &sum, t->sums + w * window_bytes));
        for (unsigned i = 0; i < t->window_bits; i++)
            point_double(c, t->group, t->result, t->result);
        point_add(c, t->group, t->result, t->result, &sum); /* bucket b stands for b + 1 */
        point_add(c, t->group, t->result, t->result, &weighted);
    }
}

static void drop_first_tail(cuzk_queue *queue) {
    cuda_msm_tail *tail = queue->tails;
    queue->tails = tail->next;
    (void)cudaFreeHost(tail->sums);
    cuzk_free(tail);
}

void cuda_msm_finish(cuzk_queue *queue) {
    while (queue->tails) {
        add_windows(queue->tails);
        drop_first_tail(queue);
    }
}

void cuda_msm_forget(cuzk_queue *queue) {
    while (queue->tails) drop_first_tail(queue);
}
