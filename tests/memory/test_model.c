/* SPDX-License-Identifier: Apache-2.0 */
/* memory: budget, pool and evictor under random load from several threads, against a model that
 * counts for itself. Proves, as far as running can:
 *   - never over the total: the model adds bytes after they were granted and subtracts them
 *     before they are given back, so its sum never exceeds what the budget says is out;
 *   - no lost wake-up: who waits without a deadline holds nothing, so everyone must be served.
 *     All threads meet after every few steps: there the last ones must come through with
 *     nobody left to wake them by chance, and a watchdog ends the test when they don't;
 *   - no buffer has two holders, nothing in use is evicted, and every byte comes back.
 * CUZK_MEMORY_STEPS: how many steps in all; a million takes some five seconds. */
#define _DEFAULT_SOURCE /* nanosleep */
#include "memory/pinned_pool.h"

#include "base/clock.h"
#include "testrand.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define STEPS_A_ROUND    4u
#define N_THREADS        6u
#define N_ENTRIES        8u
#define DEFAULT_STEPS    150000u
#define AGING_NS         1000000u /* short, so that ages and priorities mix */
#define WATCHDOG_SECONDS 60u
#define ANY_SIZE         24u /* pages; the total is only twice that */
#define TOTAL_PAGES      48u

/* A cached key or circuit: loaded when first used, evicted when idle. */
typedef struct entry {
    unsigned n_users;
    reservation charge;
} entry;

typedef struct world {
    size_t page_bytes;
    budget *b;
    pinned_pool *pool;
    atomic_uint_fast64_t bytes_out; /* the model's own sum: reserved, cached and pinned */
    uint64_t n_rounds;
    atomic_uint_fast64_t n_steps_done;
    pthread_barrier_t meeting;
    atomic_uint n_faults;
    _Atomic(const char *) fault; /* the latest */
    pthread_mutex_t cache_lock;
    entry cache[N_ENTRIES];
    atomic_uint_fast64_t n_busy, n_evicted, n_waited;
} world;

typedef struct actor {
    world *w;
    testrand random;
    pthread_t thread;
} actor;

static void fault(world *w, const char *what) {
    w->fault = what;
    w->n_faults++;
}

static void came_out(world *w, uint64_t n_bytes) {
    uint64_t n_now = atomic_fetch_add(&w->bytes_out, n_bytes) + n_bytes;
    if (n_now > TOTAL_PAGES * w->page_bytes) fault(w, "more bytes are out than the total");
}

static void goes_back(world *w, uint64_t n_bytes) { atomic_fetch_sub(&w->bytes_out, n_bytes); }

/* ---- a device that refuses now and then --------------------------------------------------- */

static cuzk_status pin(void *arg, void *data, size_t n_bytes, cuzk_err *err) {
    world *w = arg;
    came_out(w, n_bytes);
    if (((uintptr_t)data / w->page_bytes) % 16 != 0) return CUZK_OK;
    goes_back(w, n_bytes); /* unpinned buffers are left out of the sum, which stays a bound */
    return cuzk_fail(err, CUZK_ERR_NOMEM, "test", "no pins here");
}

static void unpin(void *arg, void *data, size_t n_bytes) {
    (void)data;
    (void)sched_yield(); /* time to be seen in, should the bytes be free already */
    goes_back(arg, n_bytes);
}

/* ---- a cache ------------------------------------------------------------------------------ */

static void evict_entries(void *arg, uint64_t n_bytes) {
    world *w = arg;
    uint64_t n_freed = 0;
    pthread_mutex_lock(&w->cache_lock);
    for (unsigned i = 0; i < N_ENTRIES && n_freed < n_bytes; i++) {
        entry *e = &w->cache[i];
        if (e->n_users > 0 || e->charge.n_bytes == 0) continue;
        n_freed += e->charge.n_bytes;
        goes_back(w, e->charge.n_bytes);
        reservation_release(&e->charge);
        w->n_evicted++;
    }
    pthread_mutex_unlock(&w->cache_lock);
}

static bool use_if_loaded(world *w, entry *e) {
    pthread_mutex_lock(&w->cache_lock);
    bool is_loaded = e->charge.n_bytes > 0;
    e->n_users += is_loaded;
    pthread_mutex_unlock(&w->cache_lock);
    return is_loaded;
}

static void stop_using(world *w, entry *e) {
    pthread_mutex_lock(&w->cache_lock);
    if (e->charge.n_bytes == 0) fault(w, "an entry was evicted while in use");
    bool is_idle = --e->n_users == 0;
    pthread_mutex_unlock(&w->cache_lock);
    if (is_idle) budget_notify_idle(w->b);
}

/* ---- what threads do ---------------------------------------------------------------------- */

/* Some wait for ever, some for a little, some not at all; who holds something never for ever. */
static budget_request some_request(actor *a, bool holds_something) {
    budget_request request = {.priority = (budget_priority)testrand_below(&a->random, 4)};
    switch (testrand_below(&a->random, holds_something ? 2 : 4)) {
    case 0:
        break;
    case 1:
        request.deadline_ns = cuzk_clock_ns() + testrand_below(&a->random, 200000);
        break;
    default:
        request.deadline_ns = BUDGET_FOREVER;
        break;
    }
    if (testrand_below(&a->random, 8) == 0) {
        request.since_ns = cuzk_clock_ns() - testrand_below(&a->random, 8 * AGING_NS);
    }
    return request;
}

static uint64_t some_bytes(actor *a) {
    uint64_t range = testrand_below(&a->random, 4) == 0 ? ANY_SIZE : ANY_SIZE / 4;
    return (1 + testrand_below(&a->random, range)) * a->w->page_bytes;
}

static void dawdle(actor *a) {
    if (testrand_below(&a->random, 4) == 0) (void)sched_yield();
}

/* Whether to go on; a failure must be a refusal that this request allows. */
static bool granted(actor *a, cuzk_status status, const budget_request *request) {
    if (status == CUZK_OK) {
        a->w->n_waited += request->deadline_ns == BUDGET_FOREVER;
        return true;
    }
    a->w->n_busy++;
    if (status != CUZK_ERR_BUSY) fault(a->w, "a status other than OK and BUSY");
    if (request->deadline_ns == BUDGET_FOREVER) fault(a->w, "gave up without a deadline");
    return false;
}

static bool reserve(actor *a, reservation *out, uint64_t n_bytes, bool holds_something) {
    budget_request request = some_request(a, holds_something);
    cuzk_status status = budget_acquire(out, a->w->b, n_bytes, &request, NULL);
    if (!granted(a, status, &request)) return false;
    came_out(a->w, n_bytes);
    return true;
}

static void do_reserve(actor *a, bool holds_something) {
    reservation r;
    if (!reserve(a, &r, some_bytes(a), holds_something)) return;
    dawdle(a);
    uint64_t part = testrand_below(&a->random, r.n_bytes + 1);
    goes_back(a->w, part);
    reservation_release_part(&r, part);
    dawdle(a);
    goes_back(a->w, r.n_bytes);
    reservation_release(&r);
}

static void do_cache(actor *a) {
    world *w = a->w;
    entry *e = &w->cache[testrand_below(&a->random, N_ENTRIES)];
    if (!use_if_loaded(w, e)) {
        reservation r;
        if (!reserve(a, &r, some_bytes(a), false)) return;
        pthread_mutex_lock(&w->cache_lock);
        if (e->charge.n_bytes == 0) reservation_to_cache(&e->charge, &r, r.n_bytes);
        e->n_users++;
        pthread_mutex_unlock(&w->cache_lock);
        goes_back(w, r.n_bytes); /* empty unless another thread loaded it meanwhile */
        reservation_release(&r);
    }
    dawdle(a);
    if (testrand_below(&a->random, 4) == 0) do_reserve(a, true);
    stop_using(w, e);
}

/* Marks both ends of the buffer, to see whether someone else does too. */
static void do_pool(actor *a, unsigned depth) {
    world *w = a->w;
    lease l;
    size_t n_bytes = (size_t)some_bytes(a) - testrand_below(&a->random, w->page_bytes / 2);
    budget_request request = some_request(a, depth > 0);
    bool is_secret = testrand_below(&a->random, 8) == 0;
    cuzk_status status = pinned_pool_checkout(&l, w->pool, n_bytes, is_secret, &request, NULL);
    if (!granted(a, status, &request)) return;

    uint64_t mark = testrand_u64(&a->random), seen[2];
    uint8_t *first = l.data, *last = first + l.n_bytes - sizeof mark;
    memcpy(first, &mark, sizeof mark);
    memcpy(last, &mark, sizeof mark);
    dawdle(a);
    if (depth < 2 && testrand_below(&a->random, 3) == 0) do_pool(a, depth + 1);
    memcpy(&seen[0], first, sizeof mark);
    memcpy(&seen[1], last, sizeof mark);
    if (seen[0] != mark || seen[1] != mark) fault(w, "a buffer had two holders");
    lease_release(&l);
}

static void do_housekeeping(actor *a) {
    pinned_pool *pool = a->w->pool;
    if (testrand_below(&a->random, 2) == 0)
        (void)pinned_pool_shrink(pool, some_bytes(a));
    else
        (void)pinned_pool_trim(pool, cuzk_clock_ns() - testrand_below(&a->random, 1000000));
    budget_stats stats;
    budget_get_stats(a->w->b, &stats);
    if (stats.used_bytes > stats.total_bytes) fault(a->w, "used_bytes above total_bytes");
    if (stats.cached_bytes > stats.used_bytes) fault(a->w, "cached_bytes above used_bytes");
}

static void do_step(actor *a) {
    uint64_t dice = testrand_below(&a->random, 64);
    if (dice < 24)
        do_reserve(a, false);
    else if (dice < 40)
        do_cache(a);
    else if (dice < 63)
        do_pool(a, 0);
    else
        do_housekeeping(a);
    a->w->n_steps_done++;
}

static void *actor_main(void *arg) {
    actor *a = arg;
    for (uint64_t round = 0; round < a->w->n_rounds; round++) {
        for (unsigned i = 0; i < STEPS_A_ROUND; i++) do_step(a);
        (void)pthread_barrier_wait(&a->w->meeting);
    }
    return NULL;
}

/* ---- the run ------------------------------------------------------------------------------ */

static void open_world(world *w, uint64_t n_steps) {
    memset(w, 0, sizeof *w);
    w->page_bytes = pages_round_up(1);
    w->n_rounds = n_steps / (N_THREADS * STEPS_A_ROUND) + 1;
    assert_int_equal(pthread_barrier_init(&w->meeting, NULL, N_THREADS), 0);
    pthread_mutex_init(&w->cache_lock, NULL);
    pinned_pool_options options = {.pinner = {.pin = pin, .unpin = unpin, .arg = w}};
    uint64_t total_bytes = TOTAL_PAGES * w->page_bytes;
    assert_int_equal(budget_create(&w->b, total_bytes, AGING_NS, NULL), CUZK_OK);
    assert_int_equal(pinned_pool_create(&w->pool, w->b, &options, NULL), CUZK_OK);
    budget_set_evictor(w->b, BUDGET_CIRCUITS, evict_entries, w);
}

/* Returns when all steps are done. A hang can't be told from inside the threads that hang. */
static void watch(world *w) {
    uint64_t n_steps = w->n_rounds * N_THREADS * STEPS_A_ROUND;
    uint64_t n_seen = 0, seen_at_ns = cuzk_clock_ns();
    while (w->n_steps_done < n_steps) {
        struct timespec t = {.tv_nsec = 2000000};
        (void)nanosleep(&t, NULL);
        uint64_t n_done = w->n_steps_done, now_ns = cuzk_clock_ns();
        if (n_done != n_seen) seen_at_ns = now_ns;
        n_seen = n_done;
        if (now_ns - seen_at_ns > WATCHDOG_SECONDS * 1000000000ull) {
            (void)fprintf(stderr, "no step in %u s after %llu: a wake-up was lost\n",
                          WATCHDOG_SECONDS, (unsigned long long)n_done);
            abort();
        }
    }
}

static void close_world(world *w) {
    budget_set_evictor(w->b, BUDGET_CIRCUITS, NULL, NULL);
    evict_entries(w, UINT64_MAX);
    pinned_pool_stats pool_stats;
    pinned_pool_get_stats(w->pool, &pool_stats);
    pinned_pool_destroy(w->pool);
    budget_stats stats;
    budget_get_stats(w->b, &stats);
    budget_destroy(w->b);
    pthread_mutex_destroy(&w->cache_lock);
    pthread_barrier_destroy(&w->meeting);

    print_message(
        "made %llu, reused %llu, heap %llu, evicted %llu, waited %llu, busy %llu\n",
        (unsigned long long)pool_stats.n_made, (unsigned long long)pool_stats.n_reused,
        (unsigned long long)pool_stats.n_heap_fallbacks, (unsigned long long)w->n_evicted,
        (unsigned long long)w->n_waited, (unsigned long long)w->n_busy);
    assert_int_equal(w->bytes_out, 0);
    assert_int_equal(pool_stats.n_leased, 0);
    assert_int_equal(pool_stats.n_double_returns, 0);
    assert_int_equal(stats.used_bytes, 0);
    assert_int_equal(stats.cached_bytes, 0);
    assert_int_equal(stats.n_reservations, 0);
    assert_int_equal(stats.n_waiters, 0);
    assert_true(stats.peak_bytes <= stats.total_bytes);
    /* the run was worth something only if all of this happened */
    assert_true(pool_stats.n_made > 0 && pool_stats.n_reused > 0 && w->n_evicted > 0);
    assert_true(w->n_waited > 0 && w->n_busy > 0);
}

static void test_memory__keeps_its_promises_when_driven_at_random(void **state) {
    (void)state;
    const char *steps = getenv("CUZK_MEMORY_STEPS");
    uint64_t n_steps = steps ? strtoull(steps, NULL, 10) : DEFAULT_STEPS;
    testrand seeds;
    testrand_init(&seeds);
    static world w;
    open_world(&w, n_steps);
    static actor actors[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        actors[i].w = &w;
        actors[i].random.state = testrand_u64(&seeds);
        assert_int_equal(pthread_create(&actors[i].thread, NULL, actor_main, &actors[i]), 0);
    }
    watch(&w);
    for (unsigned i = 0; i < N_THREADS; i++) pthread_join(actors[i].thread, NULL);
    if (w.n_faults > 0) fail_msg("%s", w.fault);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__keeps_its_promises_when_driven_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
