/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_CPU_H
#define CUZK_BASE_CPU_H
/* base/cpu: what this processor can do, and what CUZK_CPU asks for. */
#include "base/status.h"

typedef enum cuzk_cpu_level {
    CUZK_CPU_PORTABLE = 0, /* C only                                  */
    CUZK_CPU_ADX = 1,      /* x86-64 with BMI2 (mulx) and ADX          */
    CUZK_CPU_IFMA = 2      /* and AVX-512 F and IFMA                   */
} cuzk_cpu_level;

/* The best level this processor has, or the one that `forced` names ("portable", "adx",
 * "ifma"; NULL or "" = best). ARG for an unknown name, DEVICE for a level this processor lacks. */
CUZK_MUST_CHECK cuzk_status cuzk_cpu_select(cuzk_cpu_level *out, const char *forced,
                                            cuzk_err *err);
const char *cuzk_cpu_level_name(cuzk_cpu_level level);

#endif
