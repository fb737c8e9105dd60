/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/msm: several multi-scalar multiplications as one list of tasks.
 *
 *   look     which points are infinity (they are dropped): how many scalars of a class count;
 *            and whether all are packed as they should be
 *   plan     windows of each job (msm_plan), tasks of about equal cost
 *   sum      a task sorts its digits into buckets, sums the buckets, then sums those by weight
 *   combine  a job's tasks, from the top bit down
 *
 * A task is some windows of one job: several when the job is small, so that batches of
 * additions are long all the same; one window; or a part of one window's buckets when there
 * are too few tasks for the threads. */
#include "backend/cpu/msm_sum.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_BLOCK       16384u /* scalars; a multiple of 64 */
#define TASK_MIN_ENTRIES 16384u /* windows are joined up to here */
#define TASKS_PER_THREAD 8u
#define MAX_PARTS        16u /* of one window */

typedef struct job_state {
    const cuzk_msm_job *job;
    const uint8_t *points;
    msm_slice slices[SCALAR_CLASS_COUNT];
    size_t n_live[SCALAR_CLASS_COUNT];
    msm_plan plan;
    msm_offsets offsets;
} job_state;

typedef struct look_item {
    size_t job;
    unsigned class;
    size_t first, n, n_live;
    size_t bad; /* index of a point with a coordinate >= q, or SIZE_MAX */
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
    uint8_t *memory; /* for each slot: bucket ends; digits, then a summer; entries */
    size_t slot_bytes, n_threads;
    size_t *slot_used; /* bytes that hold secrets; the rest was never touched */
} msm_run_state;

static size_t words_for_bits(size_t n_bits) { return (n_bits + 63) / 64; }

/* ---- look: points at infinity, and those that no key should hold ---- */
static bool is_zero(const uint8_t *p, size_t n_bytes) {
    uint64_t any = 0;
    for (size_t i = 0; i < n_bytes && any == 0; i += sizeof any)
        memcpy(&any, p + i, sizeof any);
    return any == 0;
}

static bool all_below(const uint8_t *p, size_t n_values, const field *f) {
    for (; n_values > 0; n_values--, p += f->n_bytes)
        if (!field_is_canonical_le(f, p)) return false;
    return true;
}

static void look(void *arg, size_t i, unsigned slot) {
    const msm_run_state *run = arg;
    look_item *item = &run->looks[i];
    const job_state *state = &run->jobs[item->job];
    const msm_slice *slice = &state->slices[item->class];
    const size_t point_bytes = point_packed_bytes(state->job->curve, state->job->group);
    (void)slot;
    for (size_t k = item->first; k < item->first + item->n; k++) {
        size_t index = slice->scalars.index[k] - state->job->first;
        const uint8_t *p = state->points + index * point_bytes;
        bool live = !is_zero(p, point_bytes);
        if (!all_below(p, 2 * (size_t)state->job->group, &state->job->curve->fq))
            item->bad = index;
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
            msm_slice *slice = &run->jobs[j].slices[c];
            size_t n = slice->scalars.n;
            slice->live = live;
            live += words_for_bits(n);
            for (size_t first = 0; first < n; first += LOOK_BLOCK) {
                size_t n_left = n - first;
                *item++ = (look_item){.job = j,
                                      .class = c,
                                      .first = first,
                                      .n = n_left < LOOK_BLOCK ? n_left : LOOK_BLOCK,
                                      .bad = SIZE_MAX};
            }
        }
    }
    cuzk_exec_for(exec, run->n_looks, look, run);
    for (size_t i = 0; i < run->n_looks; i++) {
        const look_item *seen = &run->looks[i];
        if (seen->bad != SIZE_MAX) {
            return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.cpu.msm",
                             "point %zu of %zu in a G%d query: a coordinate is not below the "
                             "field's modulus",
                             seen->bad, run->jobs[seen->job].job->n,
                             (int)run->jobs[seen->job].job->group);
        }
        run->jobs[seen->job].n_live[seen->class] += seen->n_live;
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
        msm_offsets_init(&state->offsets, &state->plan, job->scalars);
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

static size_t align64(size_t n_bytes) { return (n_bytes + 63) & ~(size_t)63; }

/* Of digits, and later of the summer. */
static size_t rest_bytes(const cuzk_msm_job *job, size_t n_slots, size_t n_digits) {
    size_t n_digit_bytes = n_digits * sizeof(msm_digit);
    size_t n_summer_bytes = msm_summer_bytes(job->curve, job->group, n_slots);
    return align64(n_digit_bytes > n_summer_bytes ? n_digit_bytes : n_summer_bytes);
}

static void run_task(void *arg, size_t i, unsigned thread_slot) {
    const msm_run_state *run = arg;
    task *t = &run->tasks[i];
    const job_state *state = &run->jobs[t->job];
    const msm_window *windows = state->plan.windows + t->first_window;
    const cuzk_msm_job *job = state->job;

    uint8_t *memory = run->memory + thread_slot * run->slot_bytes;
    uint32_t *slot_end = (uint32_t *)(void *)memory;
    size_t used = align64(t->n_slots * sizeof *slot_end);
    msm_digit *digits = (msm_digit *)(void *)(memory + used);
    msm_digit_finder f = {.slices = state->slices,
                          .offsets = &state->offsets,
                          .scalars = job->scalars,
                          .first = job->first,
                          .count = slot_end,
                          .next = digits};
    msm_bucket_run runs[MSM_MAX_WINDOWS];
    uint32_t n_slots = 0;

    memset(slot_end, 0, t->n_slots * sizeof *slot_end);
    for (unsigned k = 0; k < t->n_windows; k++) {
        runs[k] = buckets_of(t, &windows[k]);
        const uint32_t n = (1u << runs[k].log_n) + (t->part + 1 == t->n_parts);
        const uint32_t skip = runs[k].first == 0; /* digit zero */
        f.begin = (uint32_t)runs[k].first + skip;
        f.n_wanted = n - skip;
        f.slot = n_slots + skip;
        msm_find_digits(&f, &windows[k]);
        runs[k].first = n_slots;
        n_slots += n;
    }

    /* The summer takes the place of the digits when they are sorted. */
    const size_t n_digits = (size_t)(f.next - digits);
    msm_summer summer;
    msm_summer_init(&summer, job->curve, job->group, digits);
    used += rest_bytes(job, n_slots, n_digits);
    uint32_t *entries = (uint32_t *)(void *)(memory + used);
    used += n_digits * sizeof *entries;
    if (used > run->slot_used[thread_slot]) run->slot_used[thread_slot] = used;
    msm_sort_digits(entries, slot_end, n_slots, digits, n_digits);
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
        size_t n_bytes = align64(t->n_slots * sizeof(uint32_t)) +
                         rest_bytes(job, t->n_slots, t->n_entries) +
                         align64(t->n_entries * sizeof(uint32_t));
        if (n_bytes > run->slot_bytes) run->slot_bytes = n_bytes;
    }
    CUZK_TRY(cuzk_zalloc(&run->slot_used, run->n_threads, sizeof *run->slot_used, err));
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

static cuzk_status check_job(job_state *state, const cuzk_msm_job *job, cuzk_err *err) {
    size_t n_scalars = job->scalars->n;
    if (job->first > n_scalars || job->n > n_scalars - job->first) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu.msm",
                         "scalars %zu to %zu of a set of %zu", job->first, job->first + job->n,
                         n_scalars);
    }
    state->job = job;
    return cpu_slice_bytes(&state->points, job->points, job->n,
                           point_packed_bytes(job->curve, job->group), "points", err);
}

cuzk_status cpu_msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                    cuzk_err *err) {
    cuzk_exec *exec = queue->dev->exec;
    msm_run_state run = {.n_jobs = n_jobs, .n_threads = cuzk_exec_n_threads(exec)};
    CUZK_TRY(cuzk_zalloc(&run.jobs, n_jobs, sizeof *run.jobs, err));
    cuzk_status status = CUZK_OK;
    for (size_t j = 0; j < n_jobs && status == CUZK_OK; j++) {
        status = check_job(&run.jobs[j], &jobs[j], err);
    }
    if (status == CUZK_OK) status = run_jobs(&run, exec, err);
    for (size_t i = 0; run.memory && i < run.n_threads; i++) {
        cuzk_wipe(run.memory + i * run.slot_bytes, run.slot_used[i]);
    }
    cuzk_free(run.memory);
    cuzk_free(run.slot_used);
    cuzk_free_secret(run.tasks, run.n_tasks * sizeof *run.tasks);
    cuzk_free_secret(run.looks, run.n_looks * sizeof *run.looks);
    cuzk_free_secret(run.live, run.n_live_words * sizeof *run.live);
    cuzk_free_secret(run.jobs, n_jobs * sizeof *run.jobs);
    return status;
}
