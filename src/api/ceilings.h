/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_API_CEILINGS_H
#define CUZK_API_CEILINGS_H
/* api/ceilings: what a device can do at most, as measured with kernels that do nothing else
 * (docs/performance.md). In: its name. Out: rates, to hold measurements against. */
#include "math/field/field.h"

typedef struct ceilings {
    const char *device;               /* part of its name */
    double mul_381, mul_254, mul_255; /* Montgomery multiplications a second, by bits of p */
    double memory_bytes;              /* read and written a second, together */
    double bus_bytes;                 /* from pinned memory of the host, one way */
} ceilings;

/* NULL: not measured. */
const ceilings *ceilings_of(const char *device_name);
/* Multiplications a second in f; 0: not known. */
double ceilings_mul_rate(const ceilings *c, const field *f);

#endif
