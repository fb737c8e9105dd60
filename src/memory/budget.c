/* SPDX-License-Identifier: Apache-2.0 */
/* memory/budget: see budget.h.
 *
 * Only the first waiter acts, on its own thread: it looks for a substitute, takes bytes, or
 * evicts. Everybody else sleeps on a condition of its own. So every change that could serve
 * the first one (bytes back, something idle, a new first one, an eviction over) has to wake
 * just that one, and wake_first() after each such change is all there is to get right. */
#define _DEFAULT_SOURCE /* CLOCK_MONOTONIC */
#include "memory/budget.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <time.h>

typedef struct waiter {
    uint64_t n_bytes;
    uint64_t stands_at_ns;      /* when it came, later for lower priorities */
    budget_instead_fn *instead; /* may be NULL */
    void *arg;
    uint64_t looked_at, nothing_idle_at; /* idle events when it last asked / evicted in vain */
    pthread_cond_t turn;                 /* it is the first, and something has changed */
    struct waiter *next;
} waiter;

typedef enum step { STEP_SERVED, STEP_AGAIN, STEP_WAIT } step;

typedef struct evictor {
    budget_evict_fn *fn;
    void *arg;
} evictor;

struct budget {
    uint64_t total_bytes, aging_ns;
    pthread_mutex_t lock; /* guards all below */
    uint64_t used_bytes, cached_bytes, peak_bytes;
    uint64_t n_reservations;
    waiter *first; /* in order of stands_at_ns */
    uint64_t n_idle_events;
    evictor evictors[BUDGET_N_RANKS];
    budget_rank evicting;             /* whose evictor runs; BUDGET_N_RANKS: none */
    pthread_cond_t eviction_finished; /* evicting became BUDGET_N_RANKS */
    bool is_closing;
};

cuzk_status budget_create(budget **out, uint64_t total_bytes, uint64_t aging_ns,
                          cuzk_err *err) {
    budget *b;
    CUZK_TRY(cuzk_zalloc(&b, 1, sizeof *b, err));
    b->total_bytes = total_bytes;
    b->aging_ns = aging_ns;
    b->evicting = BUDGET_N_RANKS;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->eviction_finished, NULL);
    *out = b;
    return CUZK_OK;
}

static void unlock_and_free_if_over(budget *b) {
    bool is_over = b->is_closing && b->n_reservations == 0;
    pthread_mutex_unlock(&b->lock);
    if (!is_over) return;
    pthread_cond_destroy(&b->eviction_finished);
    pthread_mutex_destroy(&b->lock);
    cuzk_free(b);
}

void budget_destroy(budget *b) {
    if (!b) return;
    pthread_mutex_lock(&b->lock);
    CUZK_ASSERT(!b->first);
    b->is_closing = true;
    unlock_and_free_if_over(b);
}

/* ---- the line of waiters ------------------------------------------------------------------ */

static void wake_first(budget *b) {
    if (b->first) pthread_cond_signal(&b->first->turn);
}

static uint64_t place_in_line(const budget *b, const budget_request *request) {
    uint64_t since_ns = request->since_ns ? request->since_ns : cuzk_clock_ns();
    return since_ns + (uint64_t)(BUDGET_CRITICAL - request->priority) * b->aging_ns;
}

static void join_line(budget *b, waiter *w) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->turn, &attributes);
    pthread_condattr_destroy(&attributes);

    w->looked_at = w->nothing_idle_at = b->n_idle_events - 1; /* never */
    waiter **at = &b->first;
    while (*at && (*at)->stands_at_ns <= w->stands_at_ns) at = &(*at)->next;
    w->next = *at;
    *at = w;
}

static void leave_line(budget *b, waiter *w) {
    waiter **at = &b->first;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
    pthread_cond_destroy(&w->turn);
    wake_first(b);
}

/* False once the deadline has passed. */
static bool wait_for_turn(budget *b, waiter *w, uint64_t deadline_ns) {
    if (deadline_ns == 0) return false;
    if (deadline_ns == BUDGET_FOREVER) return pthread_cond_wait(&w->turn, &b->lock) == 0;
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                                .tv_nsec = (long)(deadline_ns % 1000000000u)};
    return pthread_cond_timedwait(&w->turn, &b->lock, &deadline) != ETIMEDOUT;
}

/* ---- acquire ------------------------------------------------------------------------------ */

static bool fits(const budget *b, uint64_t n_bytes) {
    return n_bytes <= b->total_bytes - b->used_bytes;
}

static void take(reservation *out, budget *b, uint64_t n_bytes) {
    b->used_bytes += n_bytes;
    if (b->used_bytes > b->peak_bytes) b->peak_bytes = b->used_bytes;
    b->n_reservations++;
    *out = (reservation){.source = b, .n_bytes = n_bytes};
}

/* Asks one rank after the other for what is lacking. False when nothing idle is left anywhere.
 * One thread at a time, and nobody takes bytes meanwhile: what is evicted for the one is not
 * evicted again for the next. */
static bool evict(budget *b, uint64_t n_bytes) {
    for (int rank = 0; rank < BUDGET_N_RANKS && !fits(b, n_bytes); rank++) {
        evictor e = b->evictors[rank];
        if (!e.fn) continue;
        uint64_t n_lacking = n_bytes - (b->total_bytes - b->used_bytes);
        b->evicting = (budget_rank)rank;
        pthread_mutex_unlock(&b->lock);
        e.fn(e.arg, n_lacking);
        pthread_mutex_lock(&b->lock);
    }
    b->evicting = BUDGET_N_RANKS;
    pthread_cond_broadcast(&b->eviction_finished);
    wake_first(b); /* may be another by now, who slept through this */
    return fits(b, n_bytes);
}

static bool is_found_instead(budget *b, const waiter *w) {
    if (!w->instead) return false;
    pthread_mutex_unlock(&b->lock);
    bool is_found = w->instead(w->arg);
    pthread_mutex_lock(&b->lock);
    return is_found;
}

/* What the first waiter can do now. Both looks remember the count of idle events from before
 * they began: while it is unchanged nothing has become idle since, and it is safe to sleep. */
static step try_to_serve(reservation *out, budget *b, waiter *w) {
    if (b->first != w || b->evicting != BUDGET_N_RANKS) return STEP_WAIT;
    uint64_t now_at = b->n_idle_events;
    if (w->looked_at != now_at) {
        w->looked_at = now_at;
        if (!is_found_instead(b, w)) return STEP_AGAIN; /* the lock was away */
        *out = (reservation){0};
        return STEP_SERVED;
    }
    if (fits(b, w->n_bytes)) {
        take(out, b, w->n_bytes);
        return STEP_SERVED;
    }
    if (w->nothing_idle_at == now_at) return STEP_WAIT;
    if (!evict(b, w->n_bytes)) w->nothing_idle_at = now_at;
    return STEP_AGAIN;
}

static bool wait_and_take(reservation *out, budget *b, waiter *w, uint64_t deadline_ns) {
    for (;;) {
        step next = try_to_serve(out, b, w);
        if (next == STEP_SERVED) return true;
        if (next == STEP_WAIT && !wait_for_turn(b, w, deadline_ns)) return false;
    }
}

cuzk_status budget_acquire_or(reservation *out, budget *b, uint64_t n_bytes,
                              const budget_request *request, budget_instead_fn *instead,
                              void *arg, cuzk_err *err) {
    if (n_bytes > b->total_bytes) {
        return cuzk_fail(err, CUZK_ERR_BUDGET, "memory.budget",
                         "%" PRIu64 " bytes asked for, the whole budget is %" PRIu64, n_bytes,
                         b->total_bytes);
    }
    if (n_bytes == 0) {
        *out = (reservation){0};
        return CUZK_OK;
    }
    waiter w = {.n_bytes = n_bytes,
                .stands_at_ns = place_in_line(b, request),
                .instead = instead,
                .arg = arg};
    pthread_mutex_lock(&b->lock);
    join_line(b, &w);
    bool is_served = wait_and_take(out, b, &w, request->deadline_ns);
    uint64_t n_free = b->total_bytes - b->used_bytes;
    leave_line(b, &w);
    pthread_mutex_unlock(&b->lock);
    if (is_served) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_BUSY, "memory.budget",
                     "%" PRIu64 " bytes asked for, %" PRIu64 " of %" PRIu64
                     " are free, and others may come first",
                     n_bytes, n_free, b->total_bytes);
}

cuzk_status budget_acquire(reservation *out, budget *b, uint64_t n_bytes,
                           const budget_request *request, cuzk_err *err) {
    return budget_acquire_or(out, b, n_bytes, request, NULL, NULL, err);
}

/* ---- giving back -------------------------------------------------------------------------- */

void reservation_release_part(reservation *r, uint64_t n_bytes) {
    CUZK_ASSERT(n_bytes <= r->n_bytes);
    if (n_bytes == 0) return;
    budget *b = r->source;
    r->n_bytes -= n_bytes;
    pthread_mutex_lock(&b->lock);
    b->used_bytes -= n_bytes;
    if (r->is_cached) b->cached_bytes -= n_bytes;
    if (r->n_bytes == 0) {
        b->n_reservations--;
        *r = (reservation){0};
    }
    wake_first(b);
    unlock_and_free_if_over(b);
}

void reservation_release(reservation *r) { reservation_release_part(r, r->n_bytes); }

void reservation_to_cache(reservation *entry, reservation *from, uint64_t n_bytes) {
    CUZK_ASSERT(n_bytes <= from->n_bytes && !from->is_cached);
    *entry = (reservation){0};
    if (n_bytes == 0) return;
    budget *b = from->source;
    *entry = (reservation){.source = b, .n_bytes = n_bytes, .is_cached = true};
    from->n_bytes -= n_bytes;
    pthread_mutex_lock(&b->lock);
    b->cached_bytes += n_bytes;
    if (from->n_bytes == 0)
        *from = (reservation){0};
    else
        b->n_reservations++;
    pthread_mutex_unlock(&b->lock);
}

/* ---- eviction ----------------------------------------------------------------------------- */

void budget_set_evictor(budget *b, budget_rank rank, budget_evict_fn *fn, void *arg) {
    pthread_mutex_lock(&b->lock);
    CUZK_ASSERT(!fn || !b->evictors[rank].fn);
    b->evictors[rank] = (evictor){.fn = fn, .arg = arg};
    while (!fn && b->evicting == rank) pthread_cond_wait(&b->eviction_finished, &b->lock);
    b->n_idle_events++;
    wake_first(b);
    pthread_mutex_unlock(&b->lock);
}

void budget_notify_idle(budget *b) {
    pthread_mutex_lock(&b->lock);
    b->n_idle_events++;
    wake_first(b);
    pthread_mutex_unlock(&b->lock);
}

void budget_get_stats(budget *b, budget_stats *out) {
    pthread_mutex_lock(&b->lock);
    *out = (budget_stats){.total_bytes = b->total_bytes,
                          .used_bytes = b->used_bytes,
                          .peak_bytes = b->peak_bytes,
                          .cached_bytes = b->cached_bytes,
                          .n_reservations = b->n_reservations};
    for (const waiter *w = b->first; w; w = w->next) out->n_waiters++;
    pthread_mutex_unlock(&b->lock);
}
