/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/msm_plan: see msm_plan.h. */
#include "backend/cpu/msm_plan.h"

#define MAX_BITS  (64u * CPU_FR_LIMBS)
#define HUGE_COST 1e300

unsigned msm_class_end(scalar_class c, const field *fr) {
    unsigned n_bits = fr->m.n_bits;
    /* Signed digits of E bits reach 2^(E-1), less a part of about 2^-width of the top window.
     * |k| < r/2 < 2^(n_bits-1) fits into n_bits of them, unless r begins with four ones. */
    unsigned shift = (n_bits - 4) % 64;
    uint64_t top = fr->m.p[(n_bits - 4) / 64] >> shift;
    if (shift > 60) top |= fr->m.p[(n_bits - 4) / 64 + 1] << (64 - shift);
    unsigned full = n_bits + ((top & 15) == 15);
    unsigned end = scalar_class_bits(c, n_bits) + 2;
    return end < full ? end : full;
}

/* What one window costs, in additions of two points: every point beyond the first of its
 * bucket is added, every bucket is added twice when buckets are summed by weight, and every
 * digit is found and sorted. */
static double window_cost(size_t n_points, unsigned width, double sort_cost) {
    const double small_batches = 30.0;
    double n = (double)n_points, n_buckets = (double)((size_t)1 << (width - 1));
    double n_filled = n < n_buckets ? n : n_buckets;
    return n * (1.0 + sort_cost) - n_filled + 2.0 * n_buckets + small_batches;
}

void msm_plan_make(msm_plan *plan, const field *fr, const curve *c, group_id group,
                   const size_t n_points[SCALAR_CLASS_COUNT]) {
    /* Sorting one digit against one addition over Fq (by width of Fq) or Fq2. */
    const double sort_cost = (c->fq.m.n_limbs == 4 ? 0.1 : 0.05) / (group == GROUP_G1 ? 1 : 3);
    size_t reaching[MAX_BITS] = {0}; /* scalars that may have a digit at or above this bit */
    double best[MAX_BITS + 1] = {0}; /* for all bits from this one up */
    unsigned width[MAX_BITS] = {0}, end = 0;

    for (unsigned k = SCALAR_TINY; k < SCALAR_CLASS_COUNT; k++) {
        if (n_points[k] == 0) continue;
        unsigned class_end = msm_class_end((scalar_class)k, fr);
        for (unsigned bit = 0; bit < class_end; bit++) reaching[bit] += n_points[k];
        if (class_end > end) end = class_end;
    }
    for (unsigned bit = end; bit-- > 0;) {
        best[bit] = HUGE_COST;
        for (unsigned w = MSM_MIN_WIDTH; w <= MSM_MAX_WIDTH && bit + w <= MAX_BITS; w++) {
            double cost = window_cost(reaching[bit], w, sort_cost) + best[bit + w];
            if (cost < best[bit]) {
                best[bit] = cost;
                width[bit] = w;
            }
        }
    }

    plan->n_windows = 0;
    size_t n_ones = n_points[SCALAR_ONE] + n_points[SCALAR_MINUS_ONE];
    if (n_ones > 0) {
        plan->windows[plan->n_windows++] =
            (msm_window){.width = 1, .ones = true, .n_points = n_ones, .cost = (double)n_ones};
    }
    for (unsigned bit = 0; bit < end; bit += width[bit]) {
        plan->windows[plan->n_windows++] =
            (msm_window){.offset = bit,
                         .width = width[bit],
                         .n_points = reaching[bit],
                         .cost = window_cost(reaching[bit], width[bit], sort_cost)};
    }
}
