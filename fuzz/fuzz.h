/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FUZZ_H
#define CUZK_FUZZ_H
/* fuzz: what the targets of the readers share. A target asserts more than "does not crash": what
 * was accepted must be written and read again to the same. */
#include "base/bytes.h"
#include "math/curves/curve.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Made once: deriving a curve takes longer than reading a file. */
CUZK_INLINE const curve *fuzz_curve(curve_id id) {
    static curve curves[CURVE_COUNT];
    static bool is_made[CURVE_COUNT];
    if (!is_made[id]) curve_init(&curves[id], id, CUZK_CPU_PORTABLE);
    is_made[id] = true;
    return &curves[id];
}

/* A sink that collects what a writer writes. */
typedef struct fuzz_buffer {
    uint8_t *p;
    size_t n_bytes;
} fuzz_buffer;

CUZK_INLINE cuzk_status fuzz_collect(void *arg, const void *bytes, size_t n_bytes,
                                     cuzk_err *err) {
    fuzz_buffer *b = (fuzz_buffer *)arg;
    (void)err;
    b->p = (uint8_t *)realloc(b->p, b->n_bytes + n_bytes);
    CUZK_ASSERT(b->p != NULL);
    memcpy(b->p + b->n_bytes, bytes, n_bytes);
    b->n_bytes += n_bytes;
    return CUZK_OK;
}

/* Every byte of a span can be read: a sanitizer sees it if not. */
CUZK_INLINE void fuzz_touch(cuzk_span s) {
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < s.n_bytes; i++) sum = (uint8_t)(sum + s.p[i]);
}

#endif
