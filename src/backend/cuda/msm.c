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

/* ---- windows ---- */
/* An MSM whose windows the host has still to add up. */
typedef struct msm_tail {
    cuda_tail tail;
    const curve *curve;
    group_id group;
    msm_plan plan;
    uint8_t *sums;     /* XYZZ, msm_window_sums for each window */
    uint8_t *unit_sum; /* affine; NULL: there is none */
    cuzk_exec *exec;
    point windows[MSM_WINDOWS_MAX];
    point *result;
} msm_tail;

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
static void load_sum(const curve *c, group_id g, point *r, const uint8_t *from) {
    fe2 zzz;
    from = load_coordinate(&c->fq, g, &r->x, from);
    from = load_coordinate(&c->fq, g, &r->y, from);
    from = load_coordinate(&c->fq, g, &r->z, from);
    (void)load_coordinate(&c->fq, g, &zzz, from);
    fe2_mul(c, &r->x, &r->x, &r->z);
    fe2_mul(c, &r->y, &r->y, &zzz);
}

static void add_units(const msm_tail *t) {
    const curve *c = t->curve;
    uint8_t packed[4 * sizeof(fe)];
    point sum;
    for (unsigned i = 0; i < 2 * (unsigned)t->group; i++) {
        fe v;
        load_value(&c->fq, &v, t->unit_sum + i * c->fq.n_bytes);
        memcpy(packed + i * c->fq.n_bytes, v.l, c->fq.n_bytes);
    }
    point_load_packed_unchecked(c, t->group, &sum, packed);
    point_add(c, t->group, t->result, t->result, &sum);
}

static void add_sum(const msm_tail *t, point *to, unsigned which, unsigned window) {
    point sum;
    load_sum(t->curve, t->group, &sum,
             t->sums + (which * t->plan.n_windows + window) * 2 *
                           point_packed_bytes(t->curve, t->group));
    point_add(t->curve, t->group, to, to, &sum);
}

/* R + W + sum of 2^(run_log + j) T_j (msm_group.cuh). */
static void add_window(void *arg, size_t window, unsigned slot) {
    msm_tail *t = arg;
    point *to = &t->windows[window];
    const unsigned w = (unsigned)window;
    (void)slot;
    point_set_infinity(t->curve, t->group, to);
    for (unsigned i = msm_window_sums(&t->plan); i-- > 2;) {
        point_double(t->curve, t->group, to, to);
        add_sum(t, to, i, w);
    }
    for (unsigned i = 0; i < t->plan.run_log; i++) point_double(t->curve, t->group, to, to);
    add_sum(t, to, 0, w); /* bucket b stands for b + 1 */
    add_sum(t, to, 1, w);
}

static void add_windows(msm_tail *t) {
    cuzk_exec_for(t->exec, t->plan.n_windows, add_window, t);
    point_set_infinity(t->curve, t->group, t->result);
    for (unsigned w = t->plan.n_windows; w-- > 0;) {
        for (unsigned i = 0; i < t->plan.window_bits; i++)
            point_double(t->curve, t->group, t->result, t->result);
        point_add(t->curve, t->group, t->result, t->result, &t->windows[w]);
    }
}

static void end_tail(cuda_tail *tail, bool is_done) {
    msm_tail *t = (msm_tail *)tail; /* its first member */
    if (is_done) add_windows(t);
    if (is_done && t->unit_sum) add_units(t);
    cuzk_free(t);
}

/* ---- one job ---- */
static cuzk_status sort_entries(const msm_part *part, msm_space *space, cudaStream_t stream,
                                cuzk_err *err) {
    msm_entries *e = &space->entries;
    const unsigned key_bits = cuda_bits_of(part->n_buckets); /* one more key: no bucket */
    size_t n_bytes = space->work_bytes;
    CUZK_TRY(cuda_sort_pairs(e->bucket, e->point, part->n_sorted, key_bits, false, space->work,
                             &n_bytes, stream, err));
    return cuda_group_bounds(e->bucket[0], part->n_sorted, e->begin, e->end, part->n_buckets,
                             stream, err);
}

static cuzk_status add_in_tasks(const cuzk_msm_job *job, const msm_part *part,
                                const uint32_t *points, msm_space *space, cudaStream_t stream,
                                cuzk_err *err) {
    CUZK_TRY(msm_make_tasks(part, &space->entries, &space->tasks, space->work,
                            space->work_bytes, stream, err));
    return msm_ops_of(job->curve, job->group)
        ->buckets(&job->curve->fq, part, points, &space->entries, &space->tasks, space->sums,
                  stream, err);
}

/* The sorted entries' work space has the pairs of round 0. */
static cuzk_status add_in_rounds(const cuzk_msm_job *job, const msm_part *part,
                                 const uint32_t *points, msm_space *space, cudaStream_t stream,
                                 cuzk_err *err) {
    const msm_entries *e = &space->entries;
    const affine_runs runs = {.n_entries = part->n_entries,
                              .key = e->bucket[0],
                              .entry = e->point[0],
                              .n_runs = part->n_buckets + (part->n_units > 0),
                              .begin = e->begin,
                              .end = e->end,
                              .first_pair = space->first_pair};
    affine_pairs *pairs = &space->affine.pairs[0];
    size_t n_bytes = space->work_bytes;
    pairs->first = e->point[1];
    pairs->second = e->point[1] + part->n_entries / 2;
    pairs->place = e->bucket[1];
    CUZK_TRY(affine_pair_runs(&runs, &space->affine, space->work, &n_bytes, stream, err));
    const msm_group_ops *ops = msm_ops_of(job->curve, job->group);
    CUZK_TRY(ops->add_runs(&job->curve->fq, points, &runs, job->n, &space->affine, space->sums,
                           stream, err));
    if (part->n_units == 0) return CUZK_OK;
    return affine_copy_sum(&runs, part->n_buckets, space->sums, ops->point_words,
                           space->unit_sum, stream, err);
}

static cuzk_status run_part(const cuzk_msm_job *job, const msm_plan *plan,
                            const msm_part *part, const uint32_t *points, msm_space *space,
                            cudaStream_t stream, cuzk_err *err) {
    const uint32_t *scalars = job->scalars->values + job->first * CUDA_FR_WORDS;
    if (part->n_windows > 0) {
        CUZK_TRY(msm_digits(plan, part, scalars, &space->entries, stream, err));
        CUZK_TRY(sort_entries(part, space, stream, err));
    }
    if (part->n_units > 0) CUZK_TRY(msm_unit_entries(part, job, &space->entries, stream, err));
    CUZK_TRY(
        (plan->affine ? add_in_rounds : add_in_tasks)(job, part, points, space, stream, err));
    if (part->n_windows == 0) return CUZK_OK;
    return msm_ops_of(job->curve, job->group)
        ->runs(&job->curve->fq, plan, part, space, stream, err);
}

static cuzk_status bring(uint8_t **out, cuzk_queue *queue, const uint32_t *from,
                         size_t n_bytes, cuzk_err *err) {
    CUZK_TRY(cuda_host_take(out, queue, n_bytes, err));
    CUDA_TRY(cudaMemcpyAsync(*out, from, n_bytes, cudaMemcpyDeviceToHost, queue->stream), err);
    return CUZK_OK;
}

static cuzk_status queue_tail(cuzk_queue *queue, const cuzk_msm_job *job, const msm_plan *plan,
                              const uint32_t *windows, const uint32_t *unit_sum,
                              cuzk_err *err) {
    const size_t point_bytes = point_packed_bytes(job->curve, job->group);
    msm_tail *tail;
    CUZK_TRY(cuzk_alloc(&tail, 1, sizeof *tail, err));
    *tail = (msm_tail){.tail.end = end_tail,
                       .curve = job->curve,
                       .group = job->group,
                       .result = job->result,
                       .exec = queue->dev->exec,
                       .plan = *plan};
    cuzk_status status = CUZK_OK;
    if (plan->n_windows > 0)
        status = bring(&tail->sums, queue, windows,
                       plan->n_windows * msm_window_sums(plan) * 2 * point_bytes, err);
    if (status == CUZK_OK && plan->n_units > 0)
        status = bring(&tail->unit_sum, queue, unit_sum, point_bytes, err);
    if (status != CUZK_OK) {
        cuzk_free(tail);
        return status;
    }
    cuda_queue_add_tail(queue, &tail->tail);
    return CUZK_OK;
}

static cuzk_status run(cuzk_queue *queue, cuda_scratch *s, const cuzk_msm_job *job,
                       cuzk_err *err) {
    const msm_plan plan = msm_make_plan(job, job->scalars->n_by_bits);
    if (plan.n_windows == 0 && plan.n_units == 0) return CUZK_OK; /* all scalars are zero */
    const msm_group_ops *ops = msm_ops_of(job->curve, job->group);
    msm_space space;
    msm_blocks blocks;
    cuda_operand points;
    const uint32_t *windows = NULL;
    CUZK_TRY(cuda_operand_open(&points, s, job->points, job->n,
                               point_packed_bytes(job->curve, job->group), CUDA_READ, "points",
                               err));
    const msm_block_bytes n_bytes = msm_lay_out(&space, &plan, ops->point_words, NULL);
    CUZK_TRY(cuda_scratch_take(s, &blocks.secret, n_bytes.secret, 1, true, err));
    CUZK_TRY(cuda_scratch_take(s, &blocks.other, n_bytes.other, 1, false, err));
    (void)msm_lay_out(&space, &plan, ops->point_words, &blocks);
    unsigned window = 0;
    do {
        const msm_part part = msm_part_at(&plan, window);
        CUZK_TRY(run_part(job, &plan, &part, points.p, &space, queue->stream, err));
        window += part.n_windows;
    } while (window < plan.n_windows);
    if (plan.n_windows > 0)
        CUZK_TRY(ops->join(&job->curve->fq, &plan, &space, &windows, queue->stream, err));
    return queue_tail(queue, job, &plan, windows, space.unit_sum, err);
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
