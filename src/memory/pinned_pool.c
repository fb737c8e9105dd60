/* SPDX-License-Identifier: Apache-2.0 */
/* memory/pinned_pool: see pinned_pool.h.
 *
 * A buffer in state BUSY belongs to the one thread that put it there, which makes, cleans or
 * frees its memory without the lock. Descriptors of freed buffers are kept and used again
 * until the pool dies, so that a lease given back late can still be told by its serial. */
#include "memory/pinned_pool.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#define SLACK_BYTES ((size_t)1 << 20) /* a buffer may always be this much too large */
#define POISON      0xA5

typedef enum buffer_state {
    BUFFER_EMPTY,
    BUFFER_BUSY,
    BUFFER_IDLE,
    BUFFER_LEASED
} buffer_state;

typedef struct pinned_buffer {
    pinned_pool *pool;
    struct pinned_buffer *next;
    buffer_state state; /* under the pool's lock */
    uint64_t serial;    /* of the latest lease; under the pool's lock */
    uint64_t idle_since_ns;
    pages memory;
    reservation charge; /* for memory */
    bool is_secret;
    size_t n_lent;     /* bytes for the holder of the lease */
    size_t n_poisoned; /* bytes that nobody may have changed since */
} pinned_buffer;

struct pinned_pool {
    budget *budget_used;
    pinned_pool_options options;
    pthread_mutex_t lock; /* guards all below */
    pinned_buffer *buffers;
    uint64_t n_users; /* the owner, and leases */
    bool is_closing;
    uint64_t n_reused, n_made, n_heap_fallbacks, n_double_returns, n_late_writes;
};

/* ---- common ------------------------------------------------------------------------------- */

static void report(const pinned_pool *pool, const cuzk_err *what) {
    if (pool->options.report) pool->options.report(pool->options.report_arg, what);
}

static void count_made(pinned_pool *pool, const pages *memory, const cuzk_err *why_unpinned) {
    pthread_mutex_lock(&pool->lock);
    pool->n_made++;
    bool is_first = !memory->is_pinned && pool->n_heap_fallbacks++ == 0;
    pthread_mutex_unlock(&pool->lock);
    if (!is_first) return;
    cuzk_err what;
    (void)cuzk_fail(&what, CUZK_ERR_NOMEM, "memory.pinned_pool",
                    "%zu bytes could not be pinned, and are copied slower (%s); said once",
                    memory->n_bytes, why_unpinned->text);
    report(pool, &what);
}

static void set_state(pinned_buffer *buffer, buffer_state state) {
    pthread_mutex_lock(&buffer->pool->lock);
    buffer->state = state;
    pthread_mutex_unlock(&buffer->pool->lock);
}

/* Frees the memory of a BUSY buffer, then its charge: what the budget says is free, is. */
static void free_memory(pinned_buffer *buffer) {
    pages_free(&buffer->memory, &buffer->pool->options.pinner);
    reservation_release(&buffer->charge);
    set_state(buffer, BUFFER_EMPTY);
}

/* ---- create and destroy ------------------------------------------------------------------- */

static void evict_idle(void *pool, uint64_t n_bytes) {
    (void)pinned_pool_shrink(pool, n_bytes);
}

cuzk_status pinned_pool_create(pinned_pool **out, budget *b,
                               const pinned_pool_options *options, cuzk_err *err) {
    pinned_pool *pool;
    CUZK_TRY(cuzk_zalloc(&pool, 1, sizeof *pool, err));
    pool->budget_used = b;
    if (options) pool->options = *options;
    if (!pool->options.pinner.pin) pool->options.pinner = pages_pinner_mlock;
    pool->n_users = 1;
    pthread_mutex_init(&pool->lock, NULL);
    budget_set_evictor(b, BUDGET_POOL_BUFFERS, evict_idle, pool);
    *out = pool;
    return CUZK_OK;
}

static void drop_user(pinned_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    bool is_last = --pool->n_users == 0;
    pthread_mutex_unlock(&pool->lock);
    if (!is_last) return;
    while (pool->buffers) {
        pinned_buffer *buffer = pool->buffers;
        pool->buffers = buffer->next;
        cuzk_free(buffer);
    }
    pthread_mutex_destroy(&pool->lock);
    cuzk_free(pool);
}

void pinned_pool_destroy(pinned_pool *pool) {
    if (!pool) return;
    budget_set_evictor(pool->budget_used, BUDGET_POOL_BUFFERS, NULL, NULL);
    pthread_mutex_lock(&pool->lock);
    pool->is_closing = true;
    uint64_t n_leaked = pool->n_users - 1;
    pthread_mutex_unlock(&pool->lock);
    (void)pinned_pool_shrink(pool, UINT64_MAX);
    if (n_leaked > 0) {
        cuzk_err what;
        (void)cuzk_fail(&what, CUZK_ERR_INTERNAL, "memory.pinned_pool",
                        "%" PRIu64 " leases were not given back before the pool's end",
                        n_leaked);
        report(pool, &what);
    }
    drop_user(pool);
}

/* ---- checkout ----------------------------------------------------------------------------- */

typedef struct search {
    pinned_pool *pool;
    size_t n_bytes;
    pinned_buffer *found; /* BUSY when found */
} search;

/* A few bytes don't get a giant buffer: the next one who needs it would have to make another. */
static bool is_good_for(const pinned_buffer *buffer, size_t n_bytes) {
    if (buffer->state != BUFFER_IDLE || buffer->memory.n_bytes < n_bytes) return false;
    return buffer->memory.n_bytes - n_bytes <= (n_bytes > SLACK_BYTES ? n_bytes : SLACK_BYTES);
}

static bool take_best_fit(void *arg) {
    search *s = arg;
    pthread_mutex_lock(&s->pool->lock);
    for (pinned_buffer *buffer = s->pool->buffers; buffer; buffer = buffer->next) {
        if (is_good_for(buffer, s->n_bytes) &&
            (!s->found || buffer->memory.n_bytes < s->found->memory.n_bytes)) {
            s->found = buffer;
        }
    }
    if (s->found) {
        s->found->state = BUFFER_BUSY;
        s->pool->n_reused++;
    }
    pthread_mutex_unlock(&s->pool->lock);
    return s->found != NULL;
}

static pinned_buffer *take_empty(pinned_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pinned_buffer *buffer = pool->buffers;
    while (buffer && buffer->state != BUFFER_EMPTY) buffer = buffer->next;
    if (buffer) buffer->state = BUFFER_BUSY;
    pthread_mutex_unlock(&pool->lock);
    return buffer;
}

static cuzk_status add_descriptor(pinned_buffer **out, pinned_pool *pool, cuzk_err *err) {
    CUZK_TRY(cuzk_zalloc(out, 1, sizeof **out, err));
    (*out)->pool = pool;
    (*out)->state = BUFFER_BUSY;
    pthread_mutex_lock(&pool->lock);
    (*out)->next = pool->buffers;
    pool->buffers = *out;
    pthread_mutex_unlock(&pool->lock);
    return CUZK_OK;
}

/* Takes over `granted` unless it fails. */
static cuzk_status make_buffer(pinned_buffer **out, pinned_pool *pool, reservation *granted,
                               cuzk_err *err) {
    pinned_buffer *buffer = take_empty(pool);
    if (!buffer) CUZK_TRY(add_descriptor(&buffer, pool, err));
    cuzk_err why;
    cuzk_status status = pages_alloc(&buffer->memory, (size_t)granted->n_bytes,
                                     &pool->options.pinner, &why, err);
    if (status != CUZK_OK) {
        set_state(buffer, BUFFER_EMPTY);
        return status;
    }
    reservation_to_cache(&buffer->charge, granted, granted->n_bytes);
    buffer->n_poisoned = 0;
    count_made(pool, &buffer->memory, &why);
    *out = buffer;
    return CUZK_OK;
}

static void check_poison(pinned_buffer *buffer) {
    const uint8_t *bytes = buffer->memory.data;
    size_t i = 0;
    while (i < buffer->n_poisoned && bytes[i] == POISON) i++;
    if (i == buffer->n_poisoned) return;
    pthread_mutex_lock(&buffer->pool->lock);
    buffer->pool->n_late_writes++;
    pthread_mutex_unlock(&buffer->pool->lock);
    cuzk_err what;
    (void)cuzk_fail(&what, CUZK_ERR_INTERNAL, "memory.pinned_pool",
                    "byte %zu of a buffer of %zu was written after it was given back", i,
                    buffer->memory.n_bytes);
    report(buffer->pool, &what);
}

static lease lend(pinned_buffer *buffer, size_t n_bytes, bool is_secret) {
    check_poison(buffer);
    buffer->n_lent = n_bytes;
    buffer->is_secret = is_secret;
    pinned_pool *pool = buffer->pool;
    pthread_mutex_lock(&pool->lock);
    buffer->state = BUFFER_LEASED;
    lease l = {.data = buffer->memory.data,
               .n_bytes = n_bytes,
               .is_pinned = buffer->memory.is_pinned,
               .buffer = buffer,
               .serial = ++buffer->serial};
    pool->n_users++;
    pthread_mutex_unlock(&pool->lock);
    return l;
}

cuzk_status pinned_pool_checkout(lease *out, pinned_pool *pool, size_t n_bytes, bool is_secret,
                                 const budget_request *request, cuzk_err *err) {
    search s = {.pool = pool, .n_bytes = pages_round_up(n_bytes)};
    if (s.n_bytes == 0) {
        return cuzk_fail(err, CUZK_ERR_BUDGET, "memory.pinned_pool",
                         "%zu bytes are more than an address can reach", n_bytes);
    }
    reservation granted;
    CUZK_TRY(budget_acquire_or(&granted, pool->budget_used, s.n_bytes, request, take_best_fit,
                               &s, err));
    cuzk_status status = CUZK_OK;
    if (!s.found) status = make_buffer(&s.found, pool, &granted, err);
    reservation_release(&granted); /* empty unless that failed */
    if (status != CUZK_OK) return status;
    *out = lend(s.found, n_bytes, is_secret);
    return CUZK_OK;
}

/* ---- giving back -------------------------------------------------------------------------- */

/* LEASED -> BUSY, unless this very lease is back already. */
static bool take_back(const lease *l) {
    pinned_buffer *buffer = l->buffer;
    pinned_pool *pool = buffer->pool;
    pthread_mutex_lock(&pool->lock);
    bool is_out = buffer->state == BUFFER_LEASED && buffer->serial == l->serial;
    if (is_out) buffer->state = BUFFER_BUSY;
    pool->n_double_returns += !is_out;
    pthread_mutex_unlock(&pool->lock);
    return is_out;
}

static void clean(pinned_buffer *buffer) {
    if (buffer->is_secret) cuzk_wipe(buffer->memory.data, buffer->n_lent);
    if (!buffer->pool->options.poison) return;
    memset(buffer->memory.data, POISON, buffer->n_lent);
    if (buffer->n_poisoned < buffer->n_lent) buffer->n_poisoned = buffer->n_lent;
}

void lease_release(lease *l) {
    lease given = *l;
    *l = (lease){0};
    if (!given.buffer) return;
    pinned_pool *pool = given.buffer->pool;
    if (!take_back(&given)) {
        cuzk_err what;
        (void)cuzk_fail(&what, CUZK_ERR_INTERNAL, "memory.pinned_pool",
                        "a lease of %zu bytes was given back twice", given.n_bytes);
        report(pool, &what);
        return;
    }
    clean(given.buffer);
    pthread_mutex_lock(&pool->lock);
    bool is_kept = !pool->is_closing;
    if (is_kept) {
        given.buffer->idle_since_ns = cuzk_clock_ns();
        given.buffer->state = BUFFER_IDLE;
    }
    pthread_mutex_unlock(&pool->lock);
    if (is_kept) budget_notify_idle(pool->budget_used);
    if (!is_kept) free_memory(given.buffer);
    drop_user(pool);
}

/* ---- shrinking ---------------------------------------------------------------------------- */

static pinned_buffer *take_largest(pinned_pool *pool, uint64_t idle_before_ns) {
    pinned_buffer *largest = NULL;
    pthread_mutex_lock(&pool->lock);
    for (pinned_buffer *buffer = pool->buffers; buffer; buffer = buffer->next) {
        if (buffer->state == BUFFER_IDLE && buffer->idle_since_ns <= idle_before_ns &&
            (!largest || buffer->memory.n_bytes > largest->memory.n_bytes)) {
            largest = buffer;
        }
    }
    if (largest) largest->state = BUFFER_BUSY;
    pthread_mutex_unlock(&pool->lock);
    return largest;
}

static uint64_t free_idle(pinned_pool *pool, uint64_t n_bytes, uint64_t idle_before_ns) {
    uint64_t n_freed = 0;
    while (n_freed < n_bytes) {
        pinned_buffer *buffer = take_largest(pool, idle_before_ns);
        if (!buffer) break;
        n_freed += buffer->memory.n_bytes;
        free_memory(buffer);
    }
    return n_freed;
}

uint64_t pinned_pool_shrink(pinned_pool *pool, uint64_t n_bytes) {
    return free_idle(pool, n_bytes, UINT64_MAX);
}

uint64_t pinned_pool_trim(pinned_pool *pool, uint64_t before_ns) {
    return free_idle(pool, UINT64_MAX, before_ns);
}

void pinned_pool_get_stats(pinned_pool *pool, pinned_pool_stats *out) {
    pthread_mutex_lock(&pool->lock);
    *out = (pinned_pool_stats){.n_reused = pool->n_reused,
                               .n_made = pool->n_made,
                               .n_heap_fallbacks = pool->n_heap_fallbacks,
                               .n_double_returns = pool->n_double_returns,
                               .n_late_writes = pool->n_late_writes};
    for (const pinned_buffer *buffer = pool->buffers; buffer; buffer = buffer->next) {
        bool is_leased = buffer->state == BUFFER_LEASED;
        if (!is_leased && buffer->state != BUFFER_IDLE) continue;
        *(is_leased ? &out->n_leased : &out->n_idle) += 1;
        *(is_leased ? &out->leased_bytes : &out->idle_bytes) += buffer->memory.n_bytes;
        if (buffer->memory.is_pinned) continue;
        out->n_unpinned++;
        out->unpinned_bytes += buffer->memory.n_bytes;
    }
    pthread_mutex_unlock(&pool->lock);
}
