/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/msm_plan: windows, parts and work space of a sum of products. */
#include "backend/cuda/msm.h"
#include "backend/cuda/sort.h"

#define WINDOW_BITS_MIN 4u
#define WINDOW_BITS_MAX 22u
#define TASK_LENGTH_MIN 32u
#define TASK_LENGTH_MAX 512u /* one full bucket still keeps the device busy */
/* In multiplications: of an entry, and of a bucket's way through the reduction. */
#define XYZZ_ENTRY_COST   10u
#define AFFINE_ENTRY_COST 7u
#define BUCKET_COST       24u
/* From here on the rounds' fixed costs are small beside what they save. */
#define AFFINE_ENTRIES_MIN ((uint64_t)14 << 20)
/* Of a part, unless one window has more: the device is busy, and the space bounded. */
#define PART_ENTRIES_MAX ((size_t)1 << 25)
/* Runs of buckets save the tree's traffic, but leave fewer threads. */
#define RUNS_MIN    (1u << 17)
#define RUN_LOG_MAX 4u

const msm_group_ops *msm_ops_of(const curve *c, group_id group) {
    const bool wide = c->fq.m.n_limbs == 6;
    if (group == GROUP_G1) return wide ? &msm_g1_12 : &msm_g1_8;
    return wide ? &msm_g2_12 : &msm_g2_8;
}

/* ---- windows ---- */
static uint32_t window_buckets(const msm_plan *plan) {
    return UINT32_C(1) << (plan->window_bits - 1);
}

/* A scalar of so many bits has digits in this many windows at most: digits are signed, and one
 * of 2^(window_bits - 1) - 1 and a carry from below carries on. */
static unsigned windows_of(unsigned n_bits, unsigned window_bits) {
    return (n_bits + 1) / window_bits + 1;
}

static uint64_t count_entries(const msm_plan *plan) {
    uint64_t sum = plan->n_units;
    for (unsigned w = 0; w < plan->n_windows; w++) sum += plan->window_entries[w];
    return sum;
}

static msm_plan plan_windows(unsigned n_bits, unsigned window_bits, size_t n,
                             const unsigned long long *n_by_bits) {
    msm_plan plan = {.n = n,
                     .window_bits = window_bits,
                     .n_windows = (n_bits + window_bits - 1) / window_bits};
    for (unsigned bits = 1; bits < CUDA_SCALAR_LENGTHS; bits++) {
        if (n_by_bits[bits] == 0) continue;
        const unsigned n_digits = windows_of(bits, window_bits);
        for (unsigned w = 0; w < n_digits && w < plan.n_windows; w++) {
            const uint64_t sum = plan.window_entries[w] + n_by_bits[bits];
            plan.window_entries[w] = sum < n ? (size_t)sum : n;
        }
    }
    while (plan.n_windows > 0 && plan.window_entries[plan.n_windows - 1] == 0)
        plan.n_windows--; /* all scalars are short */
    return plan;
}

/* Without the units in window 0. */
static void plan_rounds(msm_plan *plan, const unsigned long long *n_by_bits) {
    plan->affine = true;
    plan->n_units = n_by_bits[1] < plan->n ? (size_t)n_by_bits[1] : plan->n;
    uint64_t n_others = 0;
    for (unsigned bits = 2; bits < CUDA_SCALAR_LENGTHS; bits++) n_others += n_by_bits[bits];
    if (plan->window_entries[0] > n_others) plan->window_entries[0] = (size_t)n_others;
    if (n_others == 0) plan->n_windows = 0;
}

static uint64_t cost_of(const msm_plan *plan) {
    const uint64_t n_buckets = (uint64_t)plan->n_windows * window_buckets(plan);
    return count_entries(plan) * (plan->affine ? AFFINE_ENTRY_COST : XYZZ_ENTRY_COST) +
           n_buckets * BUCKET_COST;
}

static void set_run_log(msm_plan *plan) {
    const uint32_t n_buckets = plan->n_windows * window_buckets(plan);
    plan->run_log = 0;
    while (plan->run_log < RUN_LOG_MAX && n_buckets >> (plan->run_log + 1) >= RUNS_MIN)
        plan->run_log++;
}

msm_plan msm_make_plan(const cuzk_msm_job *job, const unsigned long long *n_by_bits) {
    const unsigned n_bits = job->curve->fr.m.n_bits; /* |k| has one less, its digits a sign */
    const bool has_affine = msm_ops_of(job->curve, job->group)->add_runs != NULL;
    msm_plan best = {0};
    for (unsigned c = WINDOW_BITS_MIN; c <= WINDOW_BITS_MAX; c++) {
        msm_plan plan = plan_windows(n_bits, c, job->n, n_by_bits);
        if (has_affine && count_entries(&plan) >= AFFINE_ENTRIES_MIN)
            plan_rounds(&plan, n_by_bits);
        if (c == WINDOW_BITS_MIN || cost_of(&plan) < cost_of(&best)) best = plan;
    }
    set_run_log(&best);
    return best;
}

unsigned msm_window_sums(const msm_plan *plan) {
    return 2 + plan->window_bits - 1 - plan->run_log;
}

/* ---- parts ---- */
/* The longest task leaves an evenly filled bucket in one piece. */
static void plan_tasks(msm_part *part) {
    if (part->n_buckets == 0) return;
    const size_t average = part->n_entries / part->n_buckets;
    part->task_length = TASK_LENGTH_MIN;
    while (part->task_length < TASK_LENGTH_MAX && part->task_length < 2 * average)
        part->task_length *= 2;
    const size_t n_occupied =
        part->n_entries < part->n_buckets ? part->n_entries : part->n_buckets;
    part->n_split = part->n_entries / part->task_length;
    part->n_tasks = n_occupied + part->n_split;
}

msm_part msm_part_at(const msm_plan *plan, unsigned window) {
    msm_part part = {.first_window = window, .n_units = window == 0 ? plan->n_units : 0};
    while (window < plan->n_windows) {
        const size_t n_more = plan->window_entries[window++];
        if (part.n_windows > 0 && part.n_sorted + part.n_units + n_more > PART_ENTRIES_MAX)
            break;
        part.n_sorted += n_more;
        part.n_windows++;
    }
    const size_t n_most = plan->n * (part.n_windows > 0 ? part.n_windows : 1);
    part.n_entries = part.n_sorted + part.n_units;
    if (part.n_entries > n_most) part.n_entries = n_most; /* a unit has no other digits */
    part.n_buckets = part.n_windows * window_buckets(plan);
    plan_tasks(&part);
    return part;
}

static size_t max_size(size_t a, size_t b) { return a > b ? a : b; }

/* As large as any part in every respect. */
static msm_part largest_part(const msm_plan *plan) {
    msm_part most = msm_part_at(plan, 0), part;
    for (unsigned w = most.n_windows; w < plan->n_windows; w += part.n_windows) {
        part = msm_part_at(plan, w);
        most.n_buckets = (uint32_t)max_size(most.n_buckets, part.n_buckets);
        most.n_entries = max_size(most.n_entries, part.n_entries);
        most.n_tasks = max_size(most.n_tasks, part.n_tasks);
        most.n_split = max_size(most.n_split, part.n_split);
    }
    return most;
}

/* ---- space ---- */
typedef struct carver {
    uint8_t *base; /* NULL: only counts */
    size_t n_bytes;
} carver;

static void *carve(carver *c, size_t n_items, size_t item_bytes) {
    const size_t at = c->n_bytes;
    c->n_bytes += (n_items * item_bytes + 255) / 256 * 256;
    return c->base ? c->base + at : NULL;
}
static uint32_t *carve_words(carver *c, size_t n) { return carve(c, n, sizeof(uint32_t)); }

static void carve_tasks(msm_space *s, carver *c, const msm_part *part, size_t sum_bytes) {
    msm_tasks *tasks = &s->tasks;
    tasks->first_task = carve_words(c, (size_t)part->n_buckets + 1);
    tasks->begin = carve_words(c, part->n_tasks);
    tasks->split = carve_words(c, part->n_split + 1);
    for (unsigned i = 0; i < 2; i++) {
        tasks->length[i] = carve_words(c, part->n_tasks);
        tasks->order[i] = carve_words(c, part->n_tasks);
    }
    s->sums = carve(c, part->n_tasks, sum_bytes);
}

static void carve_affine(msm_space *s, carver *c, const msm_part *part, size_t point_bytes) {
    affine_space *a = &s->affine;
    const size_t n_pairs = affine_pairs_most(part->n_entries, 0);
    s->first_pair = carve_words(c, (size_t)part->n_buckets + 2);
    s->unit_sum = carve(c, 1, point_bytes);
    for (unsigned round = 1; round < 3; round++) {
        const size_t n = affine_pairs_most(part->n_entries, round);
        a->pairs[round].first = carve_words(c, n);
        a->pairs[round].second = carve_words(c, n);
        a->pairs[round].place = carve_words(c, n);
    }
    a->counts = carve_words(c, AFFINE_ROUNDS_MAX);
    a->products = carve(c, n_pairs, point_bytes / 2);
    for (unsigned i = 0; i < 2; i++) {
        a->totals[i] = carve(c, affine_blocks_most(n_pairs) * AFFINE_BLOCK, point_bytes / 2);
    }
    s->sums =
        carve(c, affine_slots_most(part->n_entries, (size_t)part->n_buckets + 1), point_bytes);
}

static msm_block_bytes lay_out(msm_space *out, const msm_plan *plan, const msm_part *part,
                               unsigned point_words, const msm_blocks *blocks) {
    const size_t point_bytes = point_words * sizeof(uint32_t), n_buckets = part->n_buckets;
    carver secret = {blocks ? blocks->secret : NULL, 0};
    carver other = {blocks ? blocks->other : NULL, 0};
    for (unsigned i = 0; i < 2; i++) {
        out->entries.bucket[i] = carve_words(&secret, part->n_entries);
        out->entries.point[i] = carve_words(&secret, part->n_entries);
    }
    out->work_bytes = cuda_sort_work_most(max_size(part->n_entries, n_buckets + 2));
    out->work = carve(&secret, out->work_bytes, 1);
    out->entries.count = carve_words(&other, 1);
    out->entries.begin = carve_words(&other, n_buckets + 1);
    out->entries.end = carve_words(&other, n_buckets + 1);
    if (plan->affine)
        carve_affine(out, &other, part, point_bytes);
    else
        carve_tasks(out, &other, part, 2 * point_bytes);
    /* two sums a node; three for half as many nodes; four for a quarter ... */
    const size_t n_nodes = (plan->n_windows * (size_t)window_buckets(plan)) >> plan->run_log;
    out->levels[0] = carve(&other, 2 * n_nodes, 2 * point_bytes);
    out->levels[1] = carve(&other, n_nodes / 2 * 3, 2 * point_bytes);
    return (msm_block_bytes){secret.n_bytes, other.n_bytes};
}

msm_block_bytes msm_lay_out(msm_space *out, const msm_plan *plan, unsigned point_words,
                            const msm_blocks *blocks) {
    const msm_part part = largest_part(plan);
    return lay_out(out, plan, &part, point_words, blocks);
}

/* ---- bounds ---- */
/* Whether a plan for scalars of any kind may have these windows: not if smaller windows save
 * more in buckets than they cost in digits. */
static bool may_be_best(const msm_plan *plan) {
    const unsigned c = plan->window_bits, bits_most = c * plan->n_windows - 2;
    const uint64_t n_buckets = (uint64_t)plan->n_windows * window_buckets(plan);
    for (unsigned other = c > 8 ? c - 4 : WINDOW_BITS_MIN; other < c; other++) {
        const uint64_t n_others = (uint64_t)windows_of(bits_most, other) << (other - 1);
        unsigned n_more = 0; /* digits of one scalar */
        for (unsigned bits = other - 1; bits <= bits_most; bits += other) { /* one more here */
            const unsigned more = windows_of(bits, other) - windows_of(bits, c);
            if (more > n_more) n_more = more;
        }
        if (n_buckets * BUCKET_COST >
            n_others * BUCKET_COST + (uint64_t)n_more * plan->n * XYZZ_ENTRY_COST)
            return false;
    }
    return true;
}

/* The most that the best plan for n scalars of any kind costs: that of full ones, unless with
 * fewer entries than that it is the dearer way that is best. */
static uint64_t cost_most(const curve *c, group_id group, size_t n) {
    unsigned long long n_by_bits[CUDA_SCALAR_LENGTHS] = {0};
    n_by_bits[c->fr.m.n_bits - 1] = n;
    const cuzk_msm_job job = {.curve = c, .group = group, .n = n};
    msm_plan plan = msm_make_plan(&job, n_by_bits);
    const uint64_t cost = cost_of(&plan);
    if (!plan.affine) return cost;
    const uint64_t n_buckets = (uint64_t)plan.n_windows * window_buckets(&plan);
    const uint64_t other = AFFINE_ENTRIES_MIN * XYZZ_ENTRY_COST + n_buckets * BUCKET_COST;
    return cost > other ? cost : other;
}

/* Of plans with these windows and n_entries or fewer. */
static uint64_t bytes_at_most(const msm_plan *plan, uint64_t n_entries, unsigned point_words) {
    const size_t n_part = max_size(PART_ENTRIES_MAX, plan->n);
    if (n_entries > (uint64_t)plan->n * plan->n_windows)
        n_entries = (uint64_t)plan->n * plan->n_windows;
    if (plan->affine && n_entries < AFFINE_ENTRIES_MIN) return 0; /* there is none */
    if (n_entries > n_part) n_entries = n_part;
    msm_part part = {.n_buckets = plan->n_windows * window_buckets(plan),
                     .n_entries = (size_t)n_entries};
    part.n_split = part.n_entries / TASK_LENGTH_MIN; /* plan_tasks stays below both */
    const size_t n_even = part.n_buckets / 32 * 17 + part.n_entries / TASK_LENGTH_MAX + 32;
    if (part.n_split > n_even) part.n_split = n_even;
    part.n_tasks =
        part.n_split + (part.n_entries < part.n_buckets ? part.n_entries : part.n_buckets);
    msm_space space;
    const msm_block_bytes n_bytes = lay_out(&space, plan, &part, point_words, NULL);
    return n_bytes.secret + n_bytes.other;
}

uint64_t cuda_msm_bytes(const curve *c, group_id group, size_t n) {
    const msm_group_ops *ops = msm_ops_of(c, group);
    const bool has_rounds = ops->add_runs != NULL;
    const unsigned n_bits = c->fr.m.n_bits;
    const uint64_t cost = cost_most(c, group, n), n_xyzz = cost / XYZZ_ENTRY_COST;
    uint64_t most = 0;
    for (unsigned w = WINDOW_BITS_MIN; w <= WINDOW_BITS_MAX; w++) {
        msm_plan plan = {.n = n, .window_bits = w};
        for (plan.n_windows = 1; plan.n_windows <= (n_bits + w - 1) / w; plan.n_windows++) {
            if (!may_be_best(&plan)) continue;
            set_run_log(&plan);
            uint64_t n_bytes = bytes_at_most(
                &plan, has_rounds && n_xyzz > AFFINE_ENTRIES_MIN ? AFFINE_ENTRIES_MIN : n_xyzz,
                ops->point_words);
            if (n_bytes > most) most = n_bytes;
            plan.affine = has_rounds;
            n_bytes = bytes_at_most(&plan, cost / AFFINE_ENTRY_COST, ops->point_words);
            if (n_bytes > most) most = n_bytes;
            plan.affine = false;
        }
    }
    return most;
}
