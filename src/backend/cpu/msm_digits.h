/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CPU_MSM_DIGITS_H
#define CUZK_BACKEND_CPU_MSM_DIGITS_H
/* backend/cpu/msm_digits: scalars -> signed digits of a plan's windows -> points by bucket. */
#include "backend/cpu/msm_plan.h"

/* One class of a job's scalars, and which of them have a point that is not infinity. */
typedef struct msm_slice {
    scalar_slice scalars;
    uint64_t *live; /* bit i: scalars.index[i] */
} msm_slice;

/* Digits are cut out without a carry chain: with K = sum of 2^(offset + width - 1) over all
 * windows, digit j of k is bits j of k + K, minus 2^(width-1). Negative scalars (k - r) take
 * K - r instead. */
typedef struct msm_offsets {
    uint64_t add[2][CPU_FR_LIMBS]; /* K, K - r */
} msm_offsets;

void msm_offsets_init(msm_offsets *offsets, const msm_plan *plan, const cuzk_scalars *scalars);

typedef struct msm_digit {
    uint32_t slot;  /* bucket */
    uint32_t entry; /* index of the point in the job, and MSM_ENTRY_NEGATE */
} msm_digit;

#define MSM_ENTRY_NEGATE 0x80000000u

/* Where digits come from, and where they go. */
typedef struct msm_digit_finder {
    const msm_slice *slices; /* by class */
    const msm_offsets *offsets;
    const cuzk_scalars *scalars;
    size_t first;             /* of the job, in the scalar set */
    uint32_t begin, n_wanted; /* the digits that are wanted: begin <= |d| < begin + n_wanted */
    uint32_t slot;            /* bucket of |d| = begin */
    uint32_t *count;          /* of each bucket; counted up */
    msm_digit *next;          /* where the next digit is put */
} msm_digit_finder;

/* Finds the wanted digits of one window, other than 0, and moves `next` behind them. */
void msm_find_digits(msm_digit_finder *finder, const msm_window *window);

/* entries = those of the digits, bucket after bucket. slot_end: counts in; out, where each
 * bucket's entries end. */
void msm_sort_digits(uint32_t *entries, uint32_t *slot_end, size_t n_slots,
                     const msm_digit *digits, size_t n_digits);

#endif
