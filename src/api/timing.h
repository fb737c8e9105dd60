/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_API_TIMING_H
#define CUZK_API_TIMING_H
/* api/timing: one proof's trace as named numbers. In: its spans and report. Out: what
 * CUZK_TIMING prints (docs/howto/gpu.md has the meaning of each key). */
#include "base/trace.h"
#include "prover/groth16.h"

enum { TIMING_MAX = 32 };

typedef struct timing {
    const char *key; /* static; ends with its unit */
    double value;
} timing;

/* NOMEM. */
CUZK_MUST_CHECK cuzk_status timing_compute(timing out[TIMING_MAX], unsigned *n,
                                           cuzk_trace *trace, const groth16_report *report,
                                           cuzk_err *err);

#endif
