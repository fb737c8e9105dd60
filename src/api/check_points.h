/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_API_CHECK_POINTS_H
#define CUZK_API_CHECK_POINTS_H
/* api/check_points: is every point of a packed vector on its curve and in its group? */
#include "base/bytes.h"
#include "base/executor.h"
#include "math/group/group.h"

typedef struct check_points_job {
    const char *name; /* for the error: "A" gives "A[17] is not ..." */
    group_id group;
    cuzk_span points; /* packed, whole points */
} check_points_job;

/* FORMAT names the first one that is not. */
CUZK_MUST_CHECK cuzk_status check_points(const curve *c, const check_points_job *job,
                                         cuzk_exec *exec, cuzk_err *err);

#endif
