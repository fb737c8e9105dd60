/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MEMORY_BUDGET_H
#define CUZK_MEMORY_BUDGET_H
/* memory/budget: how many bytes may be in use at once, and whose turn it is. One instance for
 * the host, one for each device's memory. It only counts; who asks it allocates.
 *
 * Waiters are served strictly in order, so a large request is never starved by small ones. A
 * waiter of priority p stands where one of priority 0 would that came p * aging_ns earlier:
 * the urgent go first, and nobody is overtaken by whoever comes more than 3 * aging_ns later.
 *
 * When the first in line does not fit, idle memory is evicted: pool buffers, then circuits,
 * then keys. Callbacks run on the waiting thread without a lock. */
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct budget budget; /* Thread: shared (locks inside) */

/* Bytes that were granted. Zeroed, or given back: holds nothing. Move it, don't copy it. */
typedef struct reservation { /* Thread: owned */
    budget *source;          /* NULL when n_bytes is 0 */
    uint64_t n_bytes;
    bool is_cached;
} reservation;

typedef enum budget_priority {
    BUDGET_LOW = 0,
    BUDGET_NORMAL = 1,
    BUDGET_HIGH = 2,
    BUDGET_CRITICAL = 3
} budget_priority;

/* What is evicted first comes first. */
typedef enum budget_rank {
    BUDGET_POOL_BUFFERS,
    BUDGET_CIRCUITS,
    BUDGET_KEYS,
    BUDGET_N_RANKS
} budget_rank;

#define BUDGET_FOREVER UINT64_MAX

typedef struct budget_request {
    budget_priority priority;
    uint64_t deadline_ns; /* absolute, cuzk_clock_ns(); 0 = do not wait, or BUDGET_FOREVER */
    uint64_t since_ns;    /* age counts from here, so a caller that waits in slices (to see a
                             cancellation) keeps its place; 0 = from now */
} budget_request;

typedef struct budget_stats {
    uint64_t total_bytes, used_bytes, peak_bytes;
    uint64_t cached_bytes; /* the part of used_bytes that waits for eviction */
    uint64_t n_reservations, n_waiters;
} budget_stats;

#define BUDGET_AGING_NS 60000000000u

/* aging_ns: what one priority is worth, e.g. BUDGET_AGING_NS. NOMEM. */
CUZK_MUST_CHECK cuzk_status budget_create(budget **out, uint64_t total_bytes,
                                          uint64_t aging_ns, cuzk_err *err);
/* Nobody may be waiting. Reservations that are still out stay valid; the last one given back
 * frees the budget (n_reservations of budget_get_stats is the leak count). NULL is fine. */
void budget_destroy(budget *b);

/* Waits for n_bytes (0 holds nothing and succeeds). Something that waits for ever must hold
 * nothing that others wait for. Evicting may overrun the deadline.
 * BUDGET: n_bytes exceeds the whole budget; at once, a retry is pointless.
 * BUSY:   the deadline passed; a retry may succeed.
 * On error *out is unchanged. */
CUZK_MUST_CHECK cuzk_status budget_acquire(reservation *out, budget *b, uint64_t n_bytes,
                                           const budget_request *request, cuzk_err *err);

/* True when the caller has found what it needs elsewhere. May lock; must not acquire. */
typedef bool budget_instead_fn(void *arg);
/* The same, but whenever the caller's turn comes, and again when something became idle,
 * `instead` is asked first; when it says true the call succeeds and *out holds nothing. Thus a
 * pool hands its buffers on without overtaking those who wait for bytes. */
CUZK_MUST_CHECK cuzk_status budget_acquire_or(reservation *out, budget *b, uint64_t n_bytes,
                                              const budget_request *request,
                                              budget_instead_fn *instead, void *arg,
                                              cuzk_err *err);

/* Gives back n_bytes (at most what is held), or all. Cannot fail; an empty one is fine. */
void reservation_release_part(reservation *r, uint64_t n_bytes);
void reservation_release(reservation *r);
/* Moves n_bytes of `from` to `entry` (overwritten), the charge of a cache entry: it is given
 * back when the entry is evicted, not when the job ends. */
void reservation_to_cache(reservation *entry, reservation *from, uint64_t n_bytes);

/* Gives back at least n_bytes of what is idle, or all of it; never what is in use. Locks as it
 * likes; must not acquire from this budget. */
typedef void budget_evict_fn(void *arg, uint64_t n_bytes);
/* One evictor a rank; fn NULL removes it and waits until it has returned, so not from within. */
void budget_set_evictor(budget *b, budget_rank rank, budget_evict_fn *fn, void *arg);
/* To be called, without locks, after anything has become idle: else who waits never learns. */
void budget_notify_idle(budget *b);

void budget_get_stats(budget *b, budget_stats *out);

#endif
