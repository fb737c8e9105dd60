/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/msm_sum: see msm_sum.h. */
#include "backend/cpu/msm_sum.h"

#include <string.h>

#define BATCH_PAIRS      1024u
#define CHUNK_ENTRIES    (8u * BATCH_PAIRS)
#define PREFETCH_ENTRIES 16u /* how far ahead points are fetched from the key */

/* What is left of one bucket in this chunk: `count` items that follow one another in the list
 * or in `work`, and, when `pending`, one more that waits in the bucket itself. */
typedef struct msm_run {
    uint32_t slot, count;
    bool pending;
} msm_run;

static size_t align64(size_t n_bytes) { return (n_bytes + 63) & ~(size_t)63; }

static size_t operand_bytes(const curve *c, group_id group) {
    return align64(BATCH_PAIRS * point_packed_bytes(c, group));
}

static size_t work_bytes(const curve *c, group_id group) {
    return align64((CHUNK_ENTRIES / 2 + 1) * point_packed_bytes(c, group));
}

static size_t scratch_bytes(const curve *c, group_id group) {
    return align64(limb_batch_add_scratch(c->fq.m.n_limbs, (unsigned)group, BATCH_PAIRS));
}

size_t msm_summer_bytes(const curve *c, group_id group, size_t n_slots) {
    return 2 * operand_bytes(c, group) + align64(BATCH_PAIRS * sizeof(uint32_t)) +
           work_bytes(c, group) + align64(CHUNK_ENTRIES * sizeof(msm_run)) +
           scratch_bytes(c, group) + n_slots * point_packed_bytes(c, group);
}

static void *carve(uint8_t **memory, size_t n_bytes) {
    void *p = *memory;
    *memory += n_bytes;
    return p;
}

void msm_summer_init(msm_summer *s, const curve *c, group_id group, void *memory) {
    uint8_t *next = memory;
    s->c = c;
    s->group = group;
    s->n_words = (unsigned)(point_packed_bytes(c, group) / sizeof(uint64_t));
    s->batch_add = group == GROUP_G1 ? c->fq.ops->batch_add1 : c->fq.ops->batch_add2;
    s->a = carve(&next, operand_bytes(c, group));
    s->b = carve(&next, operand_bytes(c, group));
    s->target = carve(&next, align64(BATCH_PAIRS * sizeof(uint32_t)));
    s->work = carve(&next, work_bytes(c, group));
    s->runs = carve(&next, align64(CHUNK_ENTRIES * sizeof(msm_run)));
    s->scratch = carve(&next, scratch_bytes(c, group));
    s->buckets = (uint64_t *)(void *)next;
}

/* ---- single points ---- */
/* Called with constant lengths, so that it becomes a few vector moves. */
CUZK_INLINE void copy_point(uint64_t *out, const void *in, unsigned n_words) {
    memcpy(out, in, n_words * sizeof *out);
}

static bool is_infinity(const uint64_t *p, unsigned n_words) {
    if (CUZK_LIKELY(p[0] != 0)) return false;
    uint64_t any = 0;
    for (unsigned i = 1; i < n_words; i++) any |= p[i];
    return any == 0;
}

/* y = -y when negate; without a branch, because signs are random. */
CUZK_INLINE void negate_if(uint64_t *y, bool negate, const uint64_t *p, unsigned n_limbs) {
    uint64_t any = 0;
    for (unsigned i = 0; i < n_limbs; i++) any |= y[i];
    const uint64_t mask = -(uint64_t)(negate & (any != 0));
    uint64_t carry = mask & 1;
    for (unsigned i = 0; i < n_limbs; i++) { /* p + ~y + 1 */
        cuzk_u128 t = (cuzk_u128)(y[i] ^ mask) + (p[i] & mask) + carry;
        y[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

static uint64_t *bucket(const msm_summer *s, size_t slot) {
    return s->buckets + slot * s->n_words;
}

void msm_load_bucket(const msm_summer *s, size_t slot, point *out) {
    point_load_packed_unchecked(s->c, s->group, out, (const uint8_t *)bucket(s, slot));
}

/* ---- bucket sums ---- */
/* Where a round takes its items from: the key, by the sorted list, or the round before. */
typedef struct item_source {
    const uint8_t *points;
    const uint32_t *entries; /* NULL: from work */
    size_t n_entries;
} item_source;

/* n_words and n_limbs are the summer's, as constants. */
CUZK_INLINE void fetch(const msm_summer *s, const item_source *from, uint64_t *out,
                       size_t item, unsigned n_words, unsigned n_limbs) {
    if (!from->entries) {
        copy_point(out, s->work + item * n_words, n_words);
        return;
    }
    const size_t n_bytes = n_words * sizeof(uint64_t);
    if (item + PREFETCH_ENTRIES < from->n_entries) {
        uint32_t ahead = from->entries[item + PREFETCH_ENTRIES] & ~MSM_ENTRY_NEGATE;
        const uint8_t *p = from->points + ahead * n_bytes;
        for (size_t at = 0; at < n_bytes; at += 64) CUZK_PREFETCH(p + at);
        CUZK_PREFETCH(p + n_bytes - 1);
    }
    uint32_t entry = from->entries[item];
    copy_point(out, from->points + (entry & ~MSM_ENTRY_NEGATE) * n_bytes, n_words);
    for (unsigned i = n_words / 2; i < n_words; i += n_limbs) {
        negate_if(out + i, entry >> 31, s->c->fq.m.p, n_limbs);
    }
}

typedef struct round_state {
    size_t n_pairs;  /* in the batch */
    size_t n_summed; /* items written to work */
} round_state;

static void add_batch(msm_summer *s, round_state *r) {
    s->batch_add(s->work + r->n_summed * s->n_words, s->a, s->b, r->n_pairs, s->scratch,
                 &s->c->fq.m);
    r->n_summed += r->n_pairs;
    r->n_pairs = 0;
}

/* Adds the items of every run in pairs; an odd one waits in the bucket, or is added to the one
 * that waits there. Sums go to the front of `work`: never past an item that was not yet used,
 * because every pair uses up one item at least. Returns the number of runs still open. */
CUZK_INLINE size_t sum_round(msm_summer *s, const item_source *from, size_t n_runs, unsigned w,
                             unsigned n_limbs) {
    round_state r = {0};
    size_t item = 0, n_open = 0;
    for (size_t i = 0; i < n_runs; i++) {
        msm_run run = s->runs[i];
        uint32_t n_sums = run.count / 2;
        for (uint32_t k = 0; k < n_sums; k++) {
            fetch(s, from, s->a + r.n_pairs * w, item++, w, n_limbs);
            fetch(s, from, s->b + r.n_pairs * w, item++, w, n_limbs);
            if (++r.n_pairs == BATCH_PAIRS) add_batch(s, &r);
        }
        if (run.count % 2 == 1 && run.pending) {
            fetch(s, from, s->a + r.n_pairs * w, item++, w, n_limbs);
            copy_point(s->b + r.n_pairs * w, bucket(s, run.slot), w);
            run.pending = false;
            n_sums++;
            if (++r.n_pairs == BATCH_PAIRS) add_batch(s, &r);
        } else if (run.count % 2 == 1) {
            fetch(s, from, bucket(s, run.slot), item++, w, n_limbs);
            run.pending = true;
        }
        run.count = n_sums;
        if (n_sums > 0) s->runs[n_open++] = run;
    }
    add_batch(s, &r);
    return n_open;
}

CUZK_INLINE void sum_rounds(msm_summer *s, const item_source *list, size_t n_runs, unsigned w,
                            unsigned n_limbs) {
    const item_source work = {0};
    n_runs = sum_round(s, list, n_runs, w, n_limbs);
    while (n_runs > 0) n_runs = sum_round(s, &work, n_runs, w, n_limbs);
}

static void sum_chunk(msm_summer *s, const item_source *list, size_t n_runs) {
    switch (s->n_words) {
    case 8:
        sum_rounds(s, list, n_runs, 8, 4);
        break;
    case 12:
        sum_rounds(s, list, n_runs, 12, 6);
        break;
    case 16:
        sum_rounds(s, list, n_runs, 16, 4);
        break;
    default:
        sum_rounds(s, list, n_runs, 24, 6);
        break;
    }
}

void msm_sum_buckets(msm_summer *s, const uint8_t *points, const uint32_t *entries,
                     const uint32_t *slot_end, size_t n_slots) {
    memset(s->buckets, 0, n_slots * s->n_words * sizeof(uint64_t));
    const size_t n_entries = n_slots ? slot_end[n_slots - 1] : 0;
    size_t slot = 0, begin = 0;
    while (begin < n_entries) {
        size_t end = n_entries - begin > CHUNK_ENTRIES ? begin + CHUNK_ENTRIES : n_entries;
        size_t at = begin, n_runs = 0;
        while (at < end) {
            size_t slot_begin = slot ? slot_end[slot - 1] : 0;
            size_t run_end = slot_end[slot] < end ? slot_end[slot] : end;
            if (run_end > at) { /* pending: the chunk before began this bucket */
                s->runs[n_runs++] = (msm_run){.slot = (uint32_t)slot,
                                              .count = (uint32_t)(run_end - at),
                                              .pending = at > slot_begin};
            }
            at = run_end;
            if (at == slot_end[slot]) slot++;
        }
        const item_source list = {points, entries + begin, n_entries - begin};
        sum_chunk(s, &list, n_runs);
        begin = end;
    }
}

/* ---- sums by weight ---- */
static void add_scattered(msm_summer *s, size_t n_pairs) {
    s->batch_add(s->a, s->a, s->b, n_pairs, s->scratch, &s->c->fq.m);
    for (size_t i = 0; i < n_pairs; i++) {
        copy_point(bucket(s, s->target[i]), s->a + i * s->n_words, s->n_words);
    }
}

/* Queues bucket[to] += bucket[from]; returns the number of queued pairs. */
CUZK_INLINE size_t queue_sum(msm_summer *s, size_t to, size_t from, size_t n_pairs) {
    const unsigned w = s->n_words;
    if (is_infinity(bucket(s, from), w)) return n_pairs;
    if (is_infinity(bucket(s, to), w)) {
        copy_point(bucket(s, to), bucket(s, from), w);
        return n_pairs;
    }
    copy_point(s->a + n_pairs * w, bucket(s, to), w);
    copy_point(s->b + n_pairs * w, bucket(s, from), w);
    s->target[n_pairs] = (uint32_t)to;
    if (++n_pairs < BATCH_PAIRS) return n_pairs;
    add_scattered(s, n_pairs);
    return 0;
}

/* A block of 2^h buckets holds, in place, its sum T (at 0) and S_k (at 2^k, k < h), the sum of
 * those with bit k in their weight. Two neighbours join: T and all S_k add up, and the new S_h
 * is the right one's T, which is already where it belongs. Two additions a bucket in all. */
void msm_sum_by_bit(msm_summer *s, const msm_bucket_run *runs, size_t n_runs) {
    bool joined = true;
    for (unsigned h = 0; joined; h++) {
        size_t half = (size_t)1 << h, n_pairs = 0;
        joined = false;
        for (size_t i = 0; i < n_runs; i++) {
            if (runs[i].log_n <= h) continue;
            joined = true;
            size_t end = runs[i].first + ((size_t)1 << runs[i].log_n);
            for (size_t left = runs[i].first; left < end; left += 2 * half) {
                n_pairs = queue_sum(s, left, left + half, n_pairs);
                for (size_t bit = 1; bit < half; bit *= 2) {
                    n_pairs = queue_sum(s, left + bit, left + half + bit, n_pairs);
                }
            }
        }
        add_scattered(s, n_pairs);
    }
}
