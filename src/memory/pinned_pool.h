/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MEMORY_PINNED_POOL_H
#define CUZK_MEMORY_PINNED_POOL_H
/* memory/pinned_pool: page-locked buffers, made once and reused under one budget, because
 * pinning costs more than proving. In: sizes. Out: leases. Knows nothing of proofs.
 *
 * A lease is taken once and given back once, whatever path its owner takes. A buffer that the
 * system refuses to pin is ordinary memory: counted, and reported once. */
#include "memory/budget.h"
#include "memory/pages.h"
#include <stddef.h>

typedef struct pinned_pool pinned_pool; /* Thread: shared (locks inside) */

typedef struct pinned_pool_options {
    pages_pinner pinner; /* zeroed: pages_pinner_mlock */
    bool poison; /* debug: overwrite what is given back, and see who writes there later */
    /* Called, rarely and without a lock, with what somebody should know: NOMEM when memory
     * could not be pinned (the first time), INTERNAL for a broken rule. May be NULL. */
    void (*report)(void *arg, const cuzk_err *what);
    void *report_arg;
} pinned_pool_options;

typedef struct pinned_pool_stats {
    uint64_t n_leased, leased_bytes; /* out now, whole buffers; at shutdown: the leak count */
    uint64_t n_idle, idle_bytes;
    uint64_t n_unpinned, unpinned_bytes; /* of both kinds above, in ordinary memory */
    /* since creation: checkouts served from idle buffers; by new ones; of these, not pinned */
    uint64_t n_reused, n_made, n_heap_fallbacks;
    uint64_t n_double_returns, n_late_writes; /* broken rules */
} pinned_pool_stats;

/* Bytes on loan. Zeroed: none. Move it, don't copy it. */
typedef struct lease { /* Thread: owned */
    void *data;        /* page aligned; contents unspecified */
    size_t n_bytes;    /* as asked for */
    bool is_pinned;
    struct pinned_buffer *buffer;
    uint64_t serial;
} lease;

/* Draws on `b`, whose evictor of rank BUDGET_POOL_BUFFERS it becomes, and which must outlive it.
 * options NULL: all defaults. NOMEM. */
CUZK_MUST_CHECK cuzk_status pinned_pool_create(pinned_pool **out, budget *b,
                                               const pinned_pool_options *options,
                                               cuzk_err *err);
/* No other call may be in progress. Leases still out are reported as a leak and stay valid, for
 * a device may be writing there; giving back the last one frees the pool. NULL is fine. */
void pinned_pool_destroy(pinned_pool *pool);

/* Waits for a buffer of at least n_bytes: the smallest idle one that fits and is not wasted on
 * so few, else a new one (whole pages, charged to the budget) once the budget has room. To
 * grow the pool off the critical path, check out and give back ahead of need.
 * is_secret: wiped when given back.
 * Errors and order of service as budget_acquire; NOMEM: no memory even on the heap.
 * On error *out is unchanged. */
CUZK_MUST_CHECK cuzk_status pinned_pool_checkout(lease *out, pinned_pool *pool, size_t n_bytes,
                                                 bool is_secret, const budget_request *request,
                                                 cuzk_err *err);
/* Gives it back and zeroes *l; nothing may read or write there any more, devices included.
 * An empty lease is fine. Giving back a copy of one that is back already changes nothing but is
 * counted and reported as INTERNAL. Cannot fail. */
void lease_release(lease *l);

/* Frees idle buffers, the largest first, until n_bytes are freed or none is left; returns how
 * many bytes were. */
uint64_t pinned_pool_shrink(pinned_pool *pool, uint64_t n_bytes);
/* Frees what has been idle since `before_ns` (cuzk_clock_ns()) or longer. */
uint64_t pinned_pool_trim(pinned_pool *pool, uint64_t before_ns);

void pinned_pool_get_stats(pinned_pool *pool, pinned_pool_stats *out);

#endif
