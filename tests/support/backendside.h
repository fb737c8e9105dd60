/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TESTS_SUPPORT_BACKENDSIDE_H
#define CUZK_TESTS_SUPPORT_BACKENDSIDE_H
/* tests/support/backendside: one of two backends that a test compares: its device 0 and a
 * queue there. Failures fail the test. */
#include "backend/backend.h"

typedef struct side {
    const cuzk_backend *be;
    cuzk_device *dev;
    cuzk_queue *queue;
} side;

/* exec may be NULL; outlives the side. */
void side_open(side *out, const char *backend, cuzk_exec *exec);
void side_close(side *a);

/* CUZK_TEST_SMALL=1: for tools that slow kernels down a hundredfold. */
bool side_is_small(void);

#endif
