/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CPU_MSM_PLAN_H
#define CUZK_BACKEND_CPU_MSM_PLAN_H
/* backend/cpu/msm_plan: into which signed digits the scalars of one MSM are cut.
 *
 * Windows tile the bits of a scalar from 0 up and need not be equally wide: few scalars reach
 * the upper bits of a real witness, and narrow windows serve those best. The cheapest tiling
 * is found exactly, by dynamic programming over a measured cost of one window. */
#include "backend/cpu/scalars.h"

#define MSM_MIN_WIDTH   5u /* see msm_class_end */
#define MSM_MAX_WIDTH   17u
#define MSM_MAX_WINDOWS (64u * CPU_FR_LIMBS / MSM_MIN_WIDTH + 2u)

/* Digit d of a window counts 2^offset d, with -2^(width-1) <= d < 2^(width-1); points are
 * gathered by |d|. The window of the scalars 1 and -1 has width 1 and digit +-1. */
typedef struct msm_window {
    unsigned offset, width;
    bool ones;
    size_t n_points; /* that may have a digit here */
    double cost;     /* in additions of two points */
} msm_window;

typedef struct msm_plan {
    msm_window windows[MSM_MAX_WINDOWS];
    unsigned n_windows;
} msm_plan;

/* The digits of scalars of class c end below this bit; no digit lies at or above it. */
unsigned msm_class_end(scalar_class c, const field *fr);

/* n_points[c]: scalars of class c whose point is not infinity. */
void msm_plan_make(msm_plan *plan, const field *fr, const curve *c, group_id group,
                   const size_t n_points[SCALAR_CLASS_COUNT]);

/* Buckets for |d| = 0 .. 2^(width-1); slot 0 stays empty. */
static inline size_t msm_window_slots(const msm_window *w) {
    return ((size_t)1 << (w->width - 1)) + 1;
}

#endif
