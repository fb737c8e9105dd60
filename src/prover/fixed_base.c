/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/fixed_base.h"
#include "base/alloc.h"
#include "base/bytes.h"

enum { BLOCK = 512, MAX_WINDOW = 12, MIN_WINDOW = 4, SCALAR_LIMBS = 4 };

struct fixed_base {
    const curve *c;
    group_id g;
    unsigned window, n_windows;
    size_t words;    /* 64-bit words of a packed point */
    uint64_t *table; /* [n_windows][2^window], packed: table[w][d] = d 2^(w window) G */
};

static limb_batch_add *batch_add_of(const fixed_base *fb) {
    const limb_ops *ops = fb->c->fq.ops;
    return fb->g == GROUP_G1 ? ops->batch_add1 : ops->batch_add2;
}

/* table[w] by doubling its filled part: t[m + i] = t[i] + m B for i < m. */
static cuzk_status fill_window(const fixed_base *fb, uint64_t *t, point *base, void *scratch,
                               uint64_t *addend, cuzk_err *err) {
    const size_t bytes = fb->words * 8;
    memset(t, 0, bytes);
    for (size_t m = 1; m < (size_t)1 << fb->window; m *= 2) {
        CUZK_TRY(point_store_packed_many(fb->c, fb->g, (uint8_t *)addend, base, 1, err));
        for (size_t i = 1; i < m; i++) memcpy(addend + i * fb->words, addend, bytes);
        batch_add_of(fb)(t + m * fb->words, t, addend, m, scratch, &fb->c->fq.m);
        point_double(fb->c, fb->g, base, base);
    }
    return CUZK_OK;
}

cuzk_status fixed_base_create(fixed_base **out, const curve *c, group_id g, size_t n_hint,
                              cuzk_err *err) {
    fixed_base *fb = NULL;
    void *scratch = NULL;
    uint64_t *addend = NULL;
    CUZK_TRY(cuzk_zalloc(&fb, 1, sizeof *fb, err));
    fb->c = c;
    fb->g = g;
    fb->words = point_packed_bytes(c, g) / 8;
    fb->window = MIN_WINDOW;
    while (fb->window < MAX_WINDOW && n_hint >> (fb->window + 2)) fb->window++;
    fb->n_windows = (c->fr.m.n_bits + fb->window - 1) / fb->window;
    const size_t n = (size_t)1 << fb->window;
    cuzk_status st = cuzk_alloc(&fb->table, n * fb->n_windows, fb->words * 8, err);
    if (st == CUZK_OK) st = cuzk_alloc(&addend, n, fb->words * 8, err);
    if (st == CUZK_OK)
        st = cuzk_alloc(&scratch, limb_batch_add_scratch(c->fq.m.n_limbs, (unsigned)g, n), 1,
                        err);
    point base;
    point_set_generator(c, g, &base);
    for (unsigned w = 0; w < fb->n_windows && st == CUZK_OK; w++)
        st = fill_window(fb, fb->table + w * n * fb->words, &base, scratch, addend, err);
    cuzk_free(addend);
    cuzk_free(scratch);
    if (st == CUZK_OK)
        *out = fb;
    else
        fixed_base_destroy(fb);
    return st;
}

void fixed_base_destroy(fixed_base *fb) {
    if (!fb) return;
    cuzk_free(fb->table);
    cuzk_free(fb);
}

typedef struct mul_job {
    const fixed_base *fb;
    uint8_t *packed;
    const uint64_t *k;
    size_t n, slot_words, scratch_words;
    uint64_t *work; /* a slot: BLOCK sums, BLOCK addends, then the scratch */
} mul_job;

static size_t digit_of(const uint64_t *k, unsigned bit, unsigned window) {
    const unsigned limb = bit / 64, shift = bit % 64;
    uint64_t d = k[limb] >> shift;
    if (shift + window > 64 && limb + 1 < SCALAR_LIMBS) d |= k[limb + 1] << (64 - shift);
    return (size_t)(d & (((uint64_t)1 << window) - 1));
}

static void mul_block(void *arg, size_t item, unsigned slot) {
    const mul_job *job = arg;
    const fixed_base *fb = job->fb;
    const size_t first = item * BLOCK, bytes = fb->words * 8;
    const size_t m = job->n - first < BLOCK ? job->n - first : BLOCK;
    uint64_t *sum = job->work + slot * job->slot_words, *addend = sum + BLOCK * fb->words;
    void *scratch = addend + BLOCK * fb->words;
    uint64_t k[BLOCK][SCALAR_LIMBS];
    memset(sum, 0, m * bytes);
    for (size_t i = 0; i < m; i++)
        fb->c->fr.ops->from_mont(k[i], job->k + (first + i) * SCALAR_LIMBS, &fb->c->fr.m);
    for (unsigned w = 0; w < fb->n_windows; w++) {
        const uint64_t *t = fb->table + ((size_t)w << fb->window) * fb->words;
        for (size_t i = 0; i < m; i++)
            memcpy(addend + i * fb->words,
                   t + digit_of(k[i], w * fb->window, fb->window) * fb->words, bytes);
        batch_add_of(fb)(sum, sum, addend, m, scratch, &fb->c->fq.m);
    }
    for (size_t i = 0; i < m * fb->words; i++)
        store_le64(job->packed + first * bytes + 8 * i, sum[i]);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the job */
cuzk_status fixed_base_mul(const fixed_base *fb, uint8_t *packed, const uint64_t *k, size_t n,
                           cuzk_exec *exec, cuzk_err *err) {
    const size_t scratch = limb_batch_add_scratch(fb->c->fq.m.n_limbs, (unsigned)fb->g, BLOCK);
    mul_job job = {.fb = fb, .packed = packed, .k = k, .n = n};
    job.slot_words = 2 * BLOCK * fb->words + (scratch + 63) / 64 * 8;
    CUZK_TRY(
        cuzk_alloc(&job.work, exec ? cuzk_exec_n_threads(exec) : 1, job.slot_words * 8, err));
    cuzk_exec_for(exec, (n + BLOCK - 1) / BLOCK, mul_block, &job);
    cuzk_free(job.work);
    return CUZK_OK;
}
