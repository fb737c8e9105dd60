/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/msm: several multi-scalar multiplications as one list of tasks.
 *
 *   look     which points are infinity (they are dropped), hence how many scalars of each class
 *   plan     windows of each job (msm_plan), tasks of about equal cost
 *   sum      a task sorts its digits into buckets, sums the buckets, then sums those by weight
 *   combine  a job's tasks, from the top bit down
 *
 * A task is some windows of one job: several when the job is small, so that batches of
 * additions are long all the same; one window; or a part of one window's buckets when there
 * are too few tasks for the threads. */
#include "backend/cpu/msm_plan.h"
#include "backend/cpu/msm_sum.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_BLOCK       16384u /* scalars; a multiple of 64 */
#define TASK_MIN_ENTRIES 16384u /* windows are joined up to here */
#define TASKS_PER_THREAD 8u
#define MAX_PARTS        16u /* of one window */

/* One class of a job's scalars, and which of them have a point that is not infinity. */
typedef struct live_slice {
    scalar_slice scalars;
    uint64_t *live; /* bit i: scalars.index[i] */
} live_slice;

typedef struct job_state {
    const cuzk_msm_job *job;
    const uint8_t *points;
    live_slice slices[SCALAR_CLASS_COUNT];
    size_t n_live[SCALAR_CLASS_COUNT];
    msm_plan plan;
    msm_digits digits;
} job_state;

typedef struct look_item {
    size_t job;
    unsigned class;
    size_t first, n, n_live;
} look_item;

typedef struct task {
    size_t job;
    unsigned first_window, n_windows;
    unsigned part, n_parts;    /* of the buckets; n_parts > 1 only with one window */
    size_t n_entries, n_slots; /* at most */
    double cost;
    point sum; /* of its windows, in units of 2^(offset of the first) */
} task;

typedef struct msm_run_state {
    job_state *jobs;
    size_t n_jobs;
    uint64_t *live;
    size_t n_live_words;
    look_item *looks;
    size_t n_looks;
    task *tasks;
    size_t n_tasks;
    uint8_t *memory; /* for each slot: bucket ends, entries, summer */
    size_t slot_bytes, n_threads;
} msm_run_state;

static size_t words_for_bits(size_t n_bits) { return (n_bits + 63) / 64; }

/* ---- look: points at infinity ---- */
static bool is_zero(const uint8_t *p, size_t n_bytes) {
    uint64_t any = 0;
    for (size_t i = 0; i < n_bytes && any == 0; i += sizeof any)
        memcpy(&any, p + i, sizeof any);
    return any == 0;
}

static void look(void *arg, size_t i, unsigned slot) {
    const msm_run_state *run = arg;
    look_item *item = &run->looks[i];
    const job_state *state = &run->jobs[item->job];
    const live_slice *slice = &state->slices[item->class];
    const size_t point_bytes = point_packed_bytes(state->job->curve, state->job->group);
    (void)slot;
    for (size_t k = item->first; k < item->first + item->n; k++) {
        size_t index = slice->scalars.index[k] - state->job->first;
        bool live = !is_zero(state->points + index * point_bytes, point_bytes);
        slice->live[k / 64] |= (uint64_t)live << k % 64;
        item->n_live += live;
    }
}

static cuzk_status look_at_points(msm_run_state *run, cuzk_exec *exec, cuzk_err *err) {
    for (size_t j = 0; j < run->n_jobs; j++) {
        job_state *state = &run->jobs[j];
        for (unsigned c = 0; c < SCALAR_CLASS_COUNT; c++) {
            state->slices[c].scalars = scalars_slice(state->job->scalars, (scalar_class)c,
                                                     state->job->first, state->job->n);
            size_t n = state->slices[c].scalars.n;
            run->n_live_words += words_for_bits(n);
            run->n_looks += (n + LOOK_BLOCK - 1) / LOOK_BLOCK;
        }
    }
    CUZK_TRY(cuzk_zalloc(&run->live, run->n_live_words, sizeof *run->live, err));
    CUZK_TRY(cuzk_zalloc(&run->looks, run->n_looks, sizeof *run->looks, err));
    uint64_t *live = run->live;
    look_item *item = run->looks;
    for (size_t j = 0; j < run->n_jobs; j++) {
        for (unsigned c = 0; c < SCALAR_CLASS_COUNT; c++) {
            live_slice *slice = &run->jobs[j].slices[c];
            size_t n = slice->scalars.n;
            slice->live = live;
            live += words_for_bits(n);
            for (size_t first = 0; first < n; first += LOOK_BLOCK) {
                size_t n_left = n - first;
                *item++ = (look_item){.job = j,
                                      .class = c,
                                      .first = first,
                                      .n = n_left < LOOK_BLOCK ? n_left : LOOK_BLOCK};
            }
        }
    }
    cuzk_exec_for(exec, run->n_looks, look, run);
    for (size_t i = 0; i < run->n_looks; i++) {
        run->jobs[run->looks[i].job].n_live[run->looks[i].class] += run->looks[i].n_live;
    }
    return CUZK_OK;
}

/* ---- plan: tasks ---- */
static unsigned parts_of(const msm_window *w, double target_cost) {
    unsigned n_parts = 1;
    if (w->ones) return n_parts;
    while (n_parts < MAX_PARTS && n_parts * 2 < (1u << (w->width - 1)) &&
           w->cost / n_parts > target_cost) {
        n_parts *= 2;
    }
    return n_parts;
}

/* Cost in additions over Fq of 4 limbs, so that tasks of all jobs compare. */
static double unit_cost(const cuzk_msm_job *job) {
    return (job->curve->fq.m.n_limbs == 4 ? 1.0 : 2.0) * (job->group == GROUP_G1 ? 1.0 : 3.0);
}

/* Appends the tasks of one job; with tasks NULL only counts them. */
static size_t list_job_tasks(task *tasks, const job_state *state, size_t job,
                             double target_cost) {
    const msm_plan *plan = &state->plan;
    const double unit = unit_cost(state->job);
    size_t n_tasks = 0;
    for (unsigned first = 0; first < plan->n_windows;) {
        task t = {.job = job, .first_window = first, .n_parts = 1};
        unsigned i = first;
        do {
            t.n_entries += plan->windows[i].n_points;
            t.n_slots += msm_window_slots(&plan->windows[i]);
            t.cost += unit * plan->windows[i].cost;
            i++;
        } while (i < plan->n_windows &&
                 t.n_entries + plan->windows[i].n_points <= TASK_MIN_ENTRIES);
        t.n_windows = i - first;
        if (t.n_windows == 1) t.n_parts = parts_of(&plan->windows[first], target_cost / unit);
        t.n_slots = t.n_parts > 1 ? t.n_slots / t.n_parts + 1 : t.n_slots;
        t.cost /= t.n_parts;
        for (t.part = 0; t.part < t.n_parts; t.part++, n_tasks++) {
            if (tasks) tasks[n_tasks] = t;
        }
        first = i;
    }
    return n_tasks;
}

static int by_cost_descending(const void *a, const void *b) {
    const task *x = a, *y = b;
    return (x->cost < y->cost) - (x->cost > y->cost);
}

static size_t list_tasks(task *tasks, const msm_run_state *run, double target_cost) {
    size_t n_tasks = 0;
    for (size_t j = 0; j < run->n_jobs; j++) {
        n_tasks +=
            list_job_tasks(tasks ? tasks + n_tasks : NULL, &run->jobs[j], j, target_cost);
    }
    return n_tasks;
}

static cuzk_status plan_tasks(msm_run_state *run, cuzk_err *err) {
    double total_cost = 0;
    for (size_t j = 0; j < run->n_jobs; j++) {
        job_state *state = &run->jobs[j];
        const cuzk_msm_job *job = state->job;
        msm_plan_make(&state->plan, job->scalars->fr, job->curve, job->group, state->n_live);
        msm_digits_init(&state->digits, &state->plan, job->scalars);
        for (unsigned i = 0; i < state->plan.n_windows; i++) {
            total_cost += state->plan.windows[i].cost * unit_cost(job);
        }
    }
    double target_cost = total_cost;
    if (run->n_threads > 1) target_cost /= (double)(run->n_threads * TASKS_PER_THREAD);
    run->n_tasks = list_tasks(NULL, run, target_cost);
    CUZK_TRY(cuzk_zalloc(&run->tasks, run->n_tasks, sizeof *run->tasks, err));
    list_tasks(run->tasks, run, target_cost);
    qsort(run->tasks, run->n_tasks, sizeof *run->tasks, by_cost_descending);
    return CUZK_OK;
}

/* ---- sum: one task ---- */
/* Sorts one window's digits: counts them by bucket, or (list) writes them to their places. */
typedef struct digit_sorter {
    const msm_digits *digits;
    const cuzk_scalars *scalars;
    size_t first; /* of the job, in the scalar set */
    unsigned limb, shift;
    uint64_t mask;
    uint32_t half;
    uint32_t begin, n_slots; /* the range of |d| that is wanted */
    uint32_t *slot;          /* count, later end so far, of |d| = begin and up */
    uint32_t *entries;
} digit_sorter;

/* A few digits that wait for their buckets: working on them in steps hides the time that the
 * random accesses of each step take. */
typedef struct digit_batch {
    uint32_t slot[64], entry[64], place[64];
    unsigned n;
} digit_batch;

CUZK_INLINE void add_to_batch(digit_batch *batch, const digit_sorter *s, uint32_t magnitude,
                              bool negative, size_t index) {
    uint32_t slot = magnitude - s->begin;
    bool wanted = slot < s->n_slots;
    batch->slot[batch->n] = slot;
    batch->entry[batch->n] = (uint32_t)(index - s->first) | (uint32_t)negative << 31;
    CUZK_PREFETCH(s->slot + (wanted ? slot : 0));
    batch->n += wanted;
}

CUZK_INLINE void sort_batch(digit_batch *batch, const digit_sorter *s, bool list) {
    if (!list) {
        for (unsigned i = 0; i < batch->n; i++) s->slot[batch->slot[i]]++;
        return;
    }
    for (unsigned i = 0; i < batch->n; i++) {
        batch->place[i] = s->slot[batch->slot[i]]++;
        CUZK_PREFETCH(s->entries + batch->place[i]);
    }
    for (unsigned i = 0; i < batch->n; i++) s->entries[batch->place[i]] = batch->entry[i];
}

/* `limb` holds the digit's lowest bit; a constant, so that all stays in registers. */
CUZK_INLINE int32_t digit_of(const digit_sorter *s, uint32_t index, unsigned limb) {
    uint64_t v[SCALAR_LIMBS + 1] = {0};
    memcpy(v, s->scalars->values + (size_t)index * SCALAR_BYTES, SCALAR_BYTES);
    const uint64_t *add = s->digits->add[v[SCALAR_LIMBS - 1] > s->digits->half_top];
    uint64_t carry = 0;
    for (unsigned i = 0; i < SCALAR_LIMBS && i <= limb + 1; i++) {
        cuzk_u128 t = (cuzk_u128)v[i] + add[i] + carry;
        v[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    cuzk_u128 two = (cuzk_u128)v[limb + 1] << 64 | v[limb];
    return (int32_t)((uint64_t)(two >> s->shift) & s->mask) - (int32_t)s->half;
}

CUZK_INLINE void sort_slice(const digit_sorter *s, const live_slice *slice, unsigned limb,
                            bool list) {
    size_t n_words = words_for_bits(slice->scalars.n);
    for (size_t i = 0; i < n_words; i++) {
        digit_batch batch;
        batch.n = 0;
        for (uint64_t bits = slice->live[i]; bits; bits &= bits - 1) {
            uint32_t index = slice->scalars.index[64 * i + (size_t)__builtin_ctzll(bits)];
            int32_t digit = digit_of(s, index, limb);
            bool negative = digit < 0;
            add_to_batch(&batch, s, (uint32_t)(negative ? -digit : digit), negative, index);
        }
        sort_batch(&batch, s, list);
    }
}

static void count_digits(const digit_sorter *s, const live_slice *slice) {
    switch (s->limb) {
    case 0:
        sort_slice(s, slice, 0, false);
        break;
    case 1:
        sort_slice(s, slice, 1, false);
        break;
    case 2:
        sort_slice(s, slice, 2, false);
        break;
    default:
        sort_slice(s, slice, 3, false);
        break;
    }
}

static void list_digits(const digit_sorter *s, const live_slice *slice) {
    switch (s->limb) {
    case 0:
        sort_slice(s, slice, 0, true);
        break;
    case 1:
        sort_slice(s, slice, 1, true);
        break;
    case 2:
        sort_slice(s, slice, 2, true);
        break;
    default:
        sort_slice(s, slice, 3, true);
        break;
    }
}

static void sort_ones(const digit_sorter *s, const live_slice *slice, bool negative,
                      bool list) {
    size_t n_words = words_for_bits(slice->scalars.n);
    for (size_t i = 0; i < n_words; i++) {
        digit_batch batch;
        batch.n = 0;
        for (uint64_t bits = slice->live[i]; bits; bits &= bits - 1) {
            uint32_t index = slice->scalars.index[64 * i + (size_t)__builtin_ctzll(bits)];
            add_to_batch(&batch, s, 1, negative, index);
        }
        sort_batch(&batch, s, list);
    }
}

static void sort_window(const digit_sorter *s, const job_state *state, const msm_window *w,
                        bool list) {
    if (w->ones) {
        sort_ones(s, &state->slices[SCALAR_ONE], false, list);
        sort_ones(s, &state->slices[SCALAR_MINUS_ONE], true, list);
        return;
    }
    for (unsigned c = SCALAR_TINY; c < SCALAR_CLASS_COUNT; c++) {
        if (w->offset >= msm_class_end((scalar_class)c, state->job->scalars->fr)) continue;
        if (list)
            list_digits(s, &state->slices[c]);
        else
            count_digits(s, &state->slices[c]);
    }
}

/* Which buckets of a window a task has: weights [begin, begin + 2^log_n), and 2^(width-1) too
 * when it is the last (or only) part. */
static msm_bucket_run buckets_of(const task *t, const msm_window *w) {
    unsigned log_n = w->width - 1;
    for (unsigned n = t->n_parts; n > 1; n /= 2) log_n--;
    return (msm_bucket_run){.first = (size_t)t->part << log_n, .log_n = log_n};
}

/* [2^(bits of w)] acc plus the window's weighted sum; `at` is where its buckets start. */
static void add_window(point *acc, const msm_summer *s, const task *t, const msm_window *w,
                       size_t at) {
    const msm_bucket_run run = buckets_of(t, w);
    for (unsigned k = w->width; k-- > 0;) {
        point p;
        if (!w->ones) point_double(s->c, s->group, acc, acc);
        if (k < run.log_n || (k == w->width - 1 && t->part + 1 == t->n_parts)) {
            msm_load_bucket(s, at + ((size_t)1 << (k < run.log_n ? k : run.log_n)), &p);
            point_add(s->c, s->group, acc, acc, &p);
        }
        if (run.first >> k & 1) {
            msm_load_bucket(s, at, &p);
            point_add(s->c, s->group, acc, acc, &p);
        }
    }
}

static void run_task(void *arg, size_t i, unsigned thread_slot) {
    const msm_run_state *run = arg;
    task *t = &run->tasks[i];
    const job_state *state = &run->jobs[t->job];
    const msm_window *windows = state->plan.windows + t->first_window;
    const cuzk_msm_job *job = state->job;

    uint32_t *slot_end = (uint32_t *)(void *)(run->memory + thread_slot * run->slot_bytes);
    uint32_t *entries = slot_end + t->n_slots;
    uint8_t *rest = (uint8_t *)(entries + t->n_entries);
    msm_summer summer;
    msm_summer_init(&summer, job->curve, job->group, rest + (-(uintptr_t)rest & 63));

    msm_bucket_run runs[MSM_MAX_WINDOWS];
    digit_sorter sorters[MSM_MAX_WINDOWS];
    size_t n_slots = 0;
    for (unsigned k = 0; k < t->n_windows; k++) {
        const msm_window *w = &windows[k];
        const msm_bucket_run wanted = buckets_of(t, w);
        const bool last = t->part + 1 == t->n_parts;
        const uint32_t skip = wanted.first == 0; /* digit zero */
        const uint32_t n = (1u << wanted.log_n) + last;
        sorters[k] = (digit_sorter){.digits = &state->digits,
                                    .scalars = job->scalars,
                                    .first = job->first,
                                    .limb = w->offset / 64,
                                    .shift = w->offset % 64,
                                    .mask = ((uint64_t)1 << w->width) - 1,
                                    .half = 1u << (w->width - 1),
                                    .begin = (uint32_t)wanted.first + skip,
                                    .n_slots = n - skip,
                                    .slot = slot_end + n_slots + skip,
                                    .entries = entries};
        runs[k] = (msm_bucket_run){.first = n_slots, .log_n = wanted.log_n};
        n_slots += n;
    }

    memset(slot_end, 0, n_slots * sizeof *slot_end);
    for (unsigned k = 0; k < t->n_windows; k++)
        sort_window(&sorters[k], state, &windows[k], false);
    for (size_t k = 0, place_at = 0; k < n_slots; k++) {
        size_t count = slot_end[k];
        slot_end[k] = (uint32_t)place_at;
        place_at += count;
    }
    for (unsigned k = 0; k < t->n_windows; k++)
        sort_window(&sorters[k], state, &windows[k], true);

    msm_sum_buckets(&summer, state->points, entries, slot_end, n_slots);
    msm_sum_by_bit(&summer, runs, t->n_windows);

    point_set_infinity(job->curve, job->group, &t->sum);
    for (unsigned k = t->n_windows; k-- > 0;) {
        add_window(&t->sum, &summer, t, &windows[k], runs[k].first);
    }
}

static cuzk_status run_tasks(msm_run_state *run, cuzk_exec *exec, cuzk_err *err) {
    for (size_t i = 0; i < run->n_tasks; i++) {
        const task *t = &run->tasks[i];
        const cuzk_msm_job *job = run->jobs[t->job].job;
        size_t n_bytes = (t->n_slots + t->n_entries) * sizeof(uint32_t) + 64 +
                         msm_summer_bytes(job->curve, job->group, t->n_slots);
        n_bytes = (n_bytes + 63) & ~(size_t)63;
        if (n_bytes > run->slot_bytes) run->slot_bytes = n_bytes;
    }
    CUZK_TRY(cuzk_alloc(&run->memory, run->n_threads, run->slot_bytes, err));
    cuzk_exec_for(exec, run->n_tasks, run_task, run);
    return CUZK_OK;
}

/* ---- combine ---- */
static void combine(void *arg, size_t j, unsigned slot) {
    const msm_run_state *run = arg;
    const cuzk_msm_job *job = run->jobs[j].job;
    const msm_plan *plan = &run->jobs[j].plan;
    point acc;
    (void)slot;
    point_set_infinity(job->curve, job->group, &acc);
    for (unsigned w = plan->n_windows; w-- > 0;) {
        for (size_t i = 0; i < run->n_tasks; i++) {
            const task *t = &run->tasks[i];
            if (t->job != j || t->first_window != w) continue;
            point_add(job->curve, job->group, &acc, &acc, &t->sum);
        }
        unsigned below = w ? plan->windows[w - 1].offset : plan->windows[w].offset;
        for (unsigned k = below; k < plan->windows[w].offset; k++) {
            point_double(job->curve, job->group, &acc, &acc);
        }
    }
    *job->result = acc;
    cuzk_wipe(&acc, sizeof acc);
}

static cuzk_status run_jobs(msm_run_state *run, cuzk_exec *exec, cuzk_err *err) {
    CUZK_TRY(look_at_points(run, exec, err));
    CUZK_TRY(plan_tasks(run, err));
    CUZK_TRY(run_tasks(run, exec, err));
    cuzk_exec_for(exec, run->n_jobs, combine, run);
    return CUZK_OK;
}

cuzk_status cpu_msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                    cuzk_err *err) {
    cuzk_exec *exec = queue->dev->exec;
    msm_run_state run = {.n_jobs = n_jobs, .n_threads = cuzk_exec_n_threads(exec)};
    CUZK_TRY(cuzk_zalloc(&run.jobs, n_jobs, sizeof *run.jobs, err));
    for (size_t j = 0; j < n_jobs; j++) {
        CUZK_ASSERT(jobs[j].first <= jobs[j].scalars->n);
        CUZK_ASSERT(jobs[j].n <= jobs[j].scalars->n - jobs[j].first);
        run.jobs[j].job = &jobs[j];
        run.jobs[j].points = jobs[j].points.buf->p + jobs[j].points.offset;
    }
    cuzk_status status = run_jobs(&run, exec, err);
    cuzk_free_secret(run.memory, run.n_threads * run.slot_bytes);
    cuzk_free_secret(run.tasks, run.n_tasks * sizeof *run.tasks);
    cuzk_free_secret(run.looks, run.n_looks * sizeof *run.looks);
    cuzk_free_secret(run.live, run.n_live_words * sizeof *run.live);
    cuzk_free_secret(run.jobs, n_jobs * sizeof *run.jobs);
    return status;
}
