/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_EXECUTOR_H
#define CUZK_BASE_EXECUTOR_H
/* base/executor: parallel loops over a fixed set of threads. Knows nothing of proofs.
 * Several threads may run loops on one executor at once; they share its workers, and the
 * calling thread always works too, so a loop finishes even when every worker is busy.
 * Loops may be nested. */
#include "base/status.h"
#include <stddef.h>

typedef struct cuzk_exec cuzk_exec; /* Thread: shared */

/* n_threads counts the caller: 1 makes no thread at all, 0 means one per online CPU that
 * this process may run on. */
CUZK_MUST_CHECK cuzk_status cuzk_exec_create(cuzk_exec **out, unsigned n_threads,
                                             cuzk_err *err);
/* No loop may be running. NULL is fine. */
void cuzk_exec_destroy(cuzk_exec *exec);
unsigned cuzk_exec_n_threads(const cuzk_exec *exec);

/* Runs fn(arg, i, slot) for every i in [0, n_items), in order of i but concurrently.
 * slot < cuzk_exec_n_threads(): no two calls of one loop that run at once share a slot, so
 * it indexes per-thread scratch; the calling thread has slot 0. Returns when all are done.
 * exec NULL = run inline. */
typedef void cuzk_exec_fn(void *arg, size_t item, unsigned slot);
void cuzk_exec_for(cuzk_exec *exec, size_t n_items, cuzk_exec_fn *fn, void *arg);
/* memcpy by all threads: one alone can't saturate the memory. */
void cuzk_exec_copy(cuzk_exec *exec, void *to, const void *from, size_t n_bytes);

#endif
