/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CPU_MSM_SUM_H
#define CUZK_BACKEND_CPU_MSM_SUM_H
/* backend/cpu/msm_sum: points that were sorted into buckets -> the sum of every bucket -> the
 * sum of buckets by weight. All additions are affine and go through the limb table in batches
 * of independent pairs, whatever the distribution: a bucket is summed as a tree, so one bucket
 * that holds everything costs the same as many small ones. */
#include "backend/cpu/msm_digits.h"

/* What one thread needs to sum one task's buckets. Thread: owned. */
typedef struct msm_summer {
    const curve *c;
    group_id group;
    unsigned n_words; /* of one packed point */
    limb_batch_add *batch_add;
    uint64_t *a, *b;  /* operands of the next batch; sums replace a where they are scattered */
    uint32_t *target; /* bucket of each sum, when scattered */
    uint64_t *work;   /* partial sums of a chunk, bucket after bucket */
    struct msm_run *runs; /* the chunk's buckets that are not finished */
    void *scratch;
    uint64_t *buckets; /* sums, packed affine */
} msm_summer;

/* Bytes of memory that a summer for up to n_slots buckets needs. */
size_t msm_summer_bytes(const curve *c, group_id group, size_t n_slots);
void msm_summer_init(msm_summer *s, const curve *c, group_id group, void *memory);

/* buckets[slot] = sum of the points that entries[slot_end[slot - 1] .. slot_end[slot]) name
 * (from 0 for the first). None of them is infinity. */
void msm_sum_buckets(msm_summer *s, const uint8_t *points, const uint32_t *entries,
                     const uint32_t *slot_end, size_t n_slots);

/* One run of 2^log_n buckets, weights 0 .. 2^log_n - 1, from `first` on. */
typedef struct msm_bucket_run {
    size_t first;
    unsigned log_n;
} msm_bucket_run;

/* For each run: bucket[first] becomes the sum of all its buckets and bucket[first + 2^k] the
 * sum of those whose weight has bit k; the others are used up. */
void msm_sum_by_bit(msm_summer *s, const msm_bucket_run *runs, size_t n_runs);

void msm_load_bucket(const msm_summer *s, size_t slot, point *out);

#endif
