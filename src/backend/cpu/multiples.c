/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/multiples: many multiples of a generator, by a table of its windowed multiples
 * and batched affine additions; a few of them one by one. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"
#include "math/group/multiples_table.h"

enum { BLOCK = 512, WINDOW_MIN = 2, WINDOW_MAX = 14 };

/* In batched additions, measured on both curves: an inversion, and a multiple made alone. */
enum { INVERSION_COST = 40, ALONE_COST = 600 };

typedef struct multiples_run {
    const curve *c;
    group_id group;
    size_t n;
    const uint64_t *k;
    uint8_t *out;
    const multiples_table *table;
    limb_batch_add *batch_add;
    size_t slot_words;
    uint64_t *work; /* a slot: BLOCK sums, BLOCK addends, then the scratch */
} multiples_run;

/* ---- one by one ---- */
static void multiply_alone(void *arg, size_t i, unsigned slot) {
    (void)slot;
    const multiples_run *run = arg;
    const curve *c = run->c;
    uint64_t k[CPU_FR_LIMBS];
    point p;
    point_set_generator(c, run->group, &p);
    c->fr.ops->from_mont(k, run->k + i * CPU_FR_LIMBS, &c->fr.m);
    point_mul_vt(c, run->group, &p, &p, k, CPU_FR_LIMBS);
    point_store_packed(c, run->group, run->out + i * point_packed_bytes(c, run->group), &p);
}

/* ---- by table ---- */
static size_t digit_of(const uint64_t *k, unsigned bit, unsigned window_bits) {
    const unsigned limb = bit / 64, shift = bit % 64;
    uint64_t d = k[limb] >> shift;
    if (shift + window_bits > 64 && limb + 1 < CPU_FR_LIMBS) d |= k[limb + 1] << (64 - shift);
    return (size_t)(d & (((uint64_t)1 << window_bits) - 1));
}

static void multiply_block(void *arg, size_t item, unsigned slot) {
    const multiples_run *run = arg;
    const multiples_table *t = run->table;
    const limb_mod *q = &run->c->fq.m;
    const size_t first = item * BLOCK, words = t->point_words,
                 bytes = words * sizeof(uint64_t);
    const size_t m = run->n - first < BLOCK ? run->n - first : BLOCK;
    uint64_t *sum = run->work + slot * run->slot_words, *addend = sum + BLOCK * words;
    uint64_t k[BLOCK][CPU_FR_LIMBS];
    memset(sum, 0, m * bytes);
    for (size_t i = 0; i < m; i++)
        run->c->fr.ops->from_mont(k[i], run->k + (first + i) * CPU_FR_LIMBS, &run->c->fr.m);
    for (unsigned w = 0; w < t->n_windows; w++) {
        const uint64_t *row = t->points + ((size_t)w << t->window_bits) * words;
        for (size_t i = 0; i < m; i++)
            memcpy(addend + i * words,
                   row + digit_of(k[i], w * t->window_bits, t->window_bits) * words, bytes);
        run->batch_add(sum, sum, addend, m, addend + BLOCK * words, q);
    }
    for (size_t i = 0; i < m * words; i++)
        store_le64(run->out + first * bytes + 8 * i, sum[i]);
}

static cuzk_status multiply_by_table(multiples_run *run, unsigned window_bits, cuzk_exec *exec,
                                     cuzk_err *err) {
    const curve *c = run->c;
    const limb_ops *ops = c->fq.ops;
    multiples_table table;
    CUZK_TRY(multiples_table_init(&table, c, run->group, window_bits, err));
    run->table = &table;
    run->batch_add = run->group == GROUP_G1 ? ops->batch_add1 : ops->batch_add2;
    const size_t scratch =
        limb_batch_add_scratch(c->fq.m.n_limbs, (unsigned)run->group, BLOCK);
    run->slot_words = 2 * BLOCK * table.point_words + (scratch + 63) / 64 * 8;
    const unsigned n_slots = exec ? cuzk_exec_n_threads(exec) : 1;
    cuzk_status st = cuzk_alloc(&run->work, n_slots, run->slot_words * 8, err);
    if (st == CUZK_OK) cuzk_exec_for(exec, (run->n + BLOCK - 1) / BLOCK, multiply_block, run);
    cuzk_free(run->work);
    multiples_table_fini(&table);
    return st;
}

/* The cheapest window for n multiples, the making of the table counted; 0 = no table. */
static unsigned choose_window(const curve *c, size_t n) {
    uint64_t best = (uint64_t)n * ALONE_COST;
    unsigned window_bits = 0;
    for (unsigned w = WINDOW_MIN; w <= WINDOW_MAX; w++) {
        const uint64_t n_inversions = 2 * w + (n + BLOCK - 1) / BLOCK;
        const uint64_t a_window = ((uint64_t)1 << w) + n + n_inversions * INVERSION_COST;
        const uint64_t cost = multiples_n_windows(c, w) * a_window;
        if (cost >= best) continue;
        best = cost;
        window_bits = w;
    }
    return window_bits;
}

cuzk_status cpu_multiples(cuzk_queue *queue, const cuzk_multiples_job *job, cuzk_err *err) {
    multiples_run run = {.c = job->curve, .group = job->group, .n = job->n};
    uint64_t *k, *out;
    CUZK_TRY(cpu_check_fr(&job->curve->fr, err));
    CUZK_TRY(cpu_slice_fr(&k, job->k, job->n, CPU_READ, "k", err));
    const size_t n_fr = point_packed_bytes(job->curve, job->group) / CPU_FR_BYTES;
    CUZK_TRY(cpu_slice_fr(&out, job->out, job->n * n_fr, CPU_WRITE, "out", err));
    run.k = k;
    run.out = (uint8_t *)out;
    const unsigned window_bits = choose_window(job->curve, job->n);
    if (window_bits) return multiply_by_table(&run, window_bits, queue->dev->exec, err);
    cuzk_exec_for(queue->dev->exec, job->n, multiply_alone, &run);
    return CUZK_OK;
}
