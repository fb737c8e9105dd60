/* SPDX-License-Identifier: Apache-2.0 */
/* memory/budget: counting, order of service, deadlines, eviction. */
#define _DEFAULT_SOURCE /* nanosleep */
#include "memory/budget.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define AGING_NS    1000000000u
#define MS          1000000u
#define MAX_WAITERS 8

static const budget_request now_or_never = {.priority = BUDGET_NORMAL};
static const budget_request patient = {.priority = BUDGET_NORMAL,
                                       .deadline_ns = BUDGET_FOREVER};

static budget *create(uint64_t total_bytes) {
    budget *b = NULL;
    assert_int_equal(budget_create(&b, total_bytes, AGING_NS, NULL), CUZK_OK);
    return b;
}

static budget_stats stats_of(budget *b) {
    budget_stats stats;
    budget_get_stats(b, &stats);
    return stats;
}

static reservation take(budget *b, uint64_t n_bytes) {
    reservation r;
    assert_int_equal(budget_acquire(&r, b, n_bytes, &now_or_never, NULL), CUZK_OK);
    return r;
}

static void pause_ms(unsigned n) {
    struct timespec t = {.tv_nsec = (long)n * MS};
    (void)nanosleep(&t, NULL);
}

static void destroy_empty(budget *b) {
    budget_stats stats = stats_of(b);
    assert_int_equal(stats.used_bytes, 0);
    assert_int_equal(stats.cached_bytes, 0);
    assert_int_equal(stats.n_reservations, 0);
    assert_int_equal(stats.n_waiters, 0);
    budget_destroy(b);
}

/* A thread that acquires once, notes as which it was served, and keeps what it got. */
typedef struct customer {
    pthread_t thread;
    budget *b;
    uint64_t n_bytes;
    budget_request request;
    atomic_uint *n_served;
    bool gives_back;
    unsigned turn; /* 0 = served first */
    cuzk_status status;
    reservation got;
} customer;

static void *customer_main(void *arg) {
    customer *c = arg;
    c->status = budget_acquire(&c->got, c->b, c->n_bytes, &c->request, NULL);
    if (c->status != CUZK_OK) return NULL;
    c->turn = atomic_fetch_add(c->n_served, 1);
    if (c->gives_back) reservation_release(&c->got);
    return NULL;
}

/* Returns when it stands in line. */
static void queue_up(customer *c) {
    uint64_t n_before = stats_of(c->b).n_waiters;
    assert_int_equal(pthread_create(&c->thread, NULL, customer_main, c), 0);
    while (stats_of(c->b).n_waiters == n_before) pause_ms(1);
}

static void join(customer *c) { assert_int_equal(pthread_join(c->thread, NULL), 0); }

/* ---- counting ----------------------------------------------------------------------------- */

static void test_budget__counts_what_is_out_when_taken_and_given_back(void **state) {
    (void)state;
    budget *b = create(100);
    reservation one = take(b, 60), two = take(b, 40), none = take(b, 0);
    assert_null(none.source);
    budget_stats stats = stats_of(b);
    assert_int_equal(stats.total_bytes, 100);
    assert_int_equal(stats.used_bytes, 100);
    assert_int_equal(stats.n_reservations, 2);

    reservation_release(&one);
    assert_int_equal(stats_of(b).used_bytes, 40);
    reservation_release(&one); /* empty by now */
    assert_int_equal(stats_of(b).used_bytes, 40);
    reservation_release(&two);
    reservation_release(&none);
    assert_int_equal(stats_of(b).peak_bytes, 100);
    destroy_empty(b);
}

static void test_budget__says_both_numbers_at_once_when_request_exceeds_total(void **state) {
    (void)state;
    budget *b = create(1000);
    reservation r = {.n_bytes = 7};
    cuzk_err err;
    assert_int_equal(budget_acquire(&r, b, 1001, &patient, &err), CUZK_ERR_BUDGET);
    assert_non_null(strstr(err.text, "1001"));
    assert_non_null(strstr(err.text, "1000"));
    assert_string_equal(err.where, "memory.budget");
    assert_int_equal(r.n_bytes, 7);
    assert_int_equal(budget_acquire(&r, b, UINT64_MAX, &patient, &err), CUZK_ERR_BUDGET);
    destroy_empty(b);
}

static void test_budget__does_not_wait_when_deadline_is_zero(void **state) {
    (void)state;
    budget *b = create(100);
    reservation held = take(b, 61), r = {.n_bytes = 7};
    cuzk_err err;
    assert_int_equal(budget_acquire(&r, b, 40, &now_or_never, &err), CUZK_ERR_BUSY);
    assert_non_null(strstr(err.text, "40 bytes"));
    assert_non_null(strstr(err.text, "39 of 100"));
    assert_int_equal(r.n_bytes, 7);
    reservation rest = take(b, 39);
    reservation_release(&rest);
    reservation_release(&held);
    destroy_empty(b);
}

static void test_budget__gives_up_at_the_deadline_when_nothing_comes_back(void **state) {
    (void)state;
    budget *b = create(100);
    reservation held = take(b, 100), r;
    uint64_t deadline_ns = cuzk_clock_ns() + 30 * MS;
    budget_request request = {.priority = BUDGET_NORMAL, .deadline_ns = deadline_ns};
    assert_int_equal(budget_acquire(&r, b, 1, &request, NULL), CUZK_ERR_BUSY);
    assert_true(cuzk_clock_ns() >= deadline_ns);
    reservation_release(&held);
    destroy_empty(b);
}

static void test_budget__serves_a_waiter_when_a_part_is_given_back(void **state) {
    (void)state;
    budget *b = create(100);
    atomic_uint n_served = 0;
    reservation held = take(b, 100);
    customer c = {.b = b, .n_bytes = 30, .request = patient, .n_served = &n_served};
    queue_up(&c);
    reservation_release_part(&held, 29);
    pause_ms(5);
    assert_int_equal(n_served, 0);
    reservation_release_part(&held, 1);
    join(&c);
    assert_int_equal(c.status, CUZK_OK);
    assert_int_equal(held.n_bytes, 70);
    assert_int_equal(stats_of(b).used_bytes, 100);
    reservation_release(&c.got);
    reservation_release(&held);
    destroy_empty(b);
}

static void test_budget__keeps_the_charge_when_moved_to_a_cache(void **state) {
    (void)state;
    budget *b = create(100);
    reservation job = take(b, 50), part, rest, none;
    reservation_to_cache(&part, &job, 20);
    assert_int_equal(job.n_bytes, 30);
    assert_int_equal(stats_of(b).used_bytes, 50);
    assert_int_equal(stats_of(b).cached_bytes, 20);
    assert_int_equal(stats_of(b).n_reservations, 2);
    reservation_to_cache(&rest, &job, 30);
    assert_null(job.source);
    reservation_to_cache(&none, &job, 0);
    assert_null(none.source);
    reservation_release(&job); /* the job's end changes nothing */
    assert_int_equal(stats_of(b).used_bytes, 50);
    assert_int_equal(stats_of(b).cached_bytes, 50);

    reservation_release_part(&rest, 10);
    assert_int_equal(stats_of(b).cached_bytes, 40);
    reservation_release(&rest);
    reservation_release(&part);
    destroy_empty(b);
}

static void test_budget__outlives_its_owner_when_reservations_are_out(void **state) {
    (void)state;
    budget *b = create(100);
    reservation leaked = take(b, 10), another = take(b, 10);
    assert_int_equal(stats_of(b).n_reservations, 2);
    budget_destroy(b);
    reservation_release(&leaked);
    reservation_release(&another); /* the leak checker sees whether this freed it */
}

/* ---- order of service --------------------------------------------------------------------- */

/* Lines the customers up behind a full budget; each wants all of it, so that they are served
 * one by one. */
static void serve_in_line(customer *customers, unsigned n) {
    budget *b = create(100);
    atomic_uint n_served = 0;
    reservation held = take(b, 100);
    for (unsigned i = 0; i < n; i++) {
        customers[i].b = b;
        customers[i].n_bytes = 100;
        customers[i].gives_back = true;
        customers[i].n_served = &n_served;
        customers[i].request.deadline_ns = BUDGET_FOREVER;
        queue_up(&customers[i]);
    }
    reservation_release(&held);
    for (unsigned i = 0; i < n; i++) join(&customers[i]);
    assert_int_equal(n_served, n);
    destroy_empty(b);
}

static void test_budget__serves_by_age_when_priorities_are_equal(void **state) {
    (void)state;
    customer c[MAX_WAITERS] = {0};
    serve_in_line(c, MAX_WAITERS);
    for (unsigned i = 0; i < MAX_WAITERS; i++) assert_int_equal(c[i].turn, i);
}

static void test_budget__serves_in_order_of_arrival_when_ages_are_the_same(void **state) {
    (void)state;
    uint64_t now_ns = cuzk_clock_ns();
    customer c[3] = {{.request.since_ns = now_ns},
                     {.request.since_ns = now_ns},
                     {.request.since_ns = now_ns}};
    serve_in_line(c, 3);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(c[i].turn, i);
}

static void test_budget__serves_by_priority_when_ages_are_close(void **state) {
    (void)state;
    customer c[5] = {{.request.priority = BUDGET_LOW},
                     {.request.priority = BUDGET_HIGH},
                     {.request.priority = BUDGET_NORMAL},
                     {.request.priority = BUDGET_CRITICAL},
                     {.request.priority = BUDGET_HIGH}};
    serve_in_line(c, 5);
    static const unsigned expected[5] = {4, 1, 3, 0, 2};
    for (unsigned i = 0; i < 5; i++) assert_int_equal(c[i].turn, expected[i]);
}

static void test_budget__serves_the_old_first_when_it_has_aged(void **state) {
    (void)state;
    uint64_t now_ns = cuzk_clock_ns();
    customer c[3] = {
        {.request = {.priority = BUDGET_CRITICAL, .since_ns = now_ns}},
        {.request = {.priority = BUDGET_LOW, .since_ns = now_ns - 3u * AGING_NS - 1}},
        {.request = {.priority = BUDGET_LOW, .since_ns = now_ns - 3u * AGING_NS + 1}}};
    serve_in_line(c, 3);
    static const unsigned expected[3] = {1, 0, 2};
    for (unsigned i = 0; i < 3; i++) assert_int_equal(c[i].turn, expected[i]);
}

static void test_budget__does_not_let_small_ones_pass_when_a_large_one_waits(void **state) {
    (void)state;
    budget *b = create(100);
    atomic_uint n_served = 0;
    reservation held = take(b, 50), r;
    customer large = {.b = b, .n_bytes = 80, .request = patient, .n_served = &n_served};
    large.gives_back = true;
    queue_up(&large);
    /* 50 are free, but the large one stands in front */
    assert_int_equal(budget_acquire(&r, b, 10, &now_or_never, NULL), CUZK_ERR_BUSY);
    customer small = {.b = b, .n_bytes = 30, .request = patient, .n_served = &n_served};
    queue_up(&small);
    /* the urgent may pass */
    budget_request urgent = {.priority = BUDGET_CRITICAL};
    assert_int_equal(budget_acquire(&r, b, 10, &urgent, NULL), CUZK_OK);
    reservation_release(&r);
    assert_int_equal(n_served, 0);
    reservation_release(&held);
    join(&large);
    join(&small);
    assert_int_equal(large.turn, 0);
    reservation_release(&small.got);
    destroy_empty(b);
}

static void test_budget__serves_the_next_when_the_first_gives_up(void **state) {
    (void)state;
    budget *b = create(100);
    atomic_uint n_served = 0;
    reservation held = take(b, 50);
    customer first = {.b = b, .n_bytes = 80, .n_served = &n_served};
    first.request =
        (budget_request){.priority = BUDGET_NORMAL, .deadline_ns = cuzk_clock_ns() + 300 * MS};
    customer second = {.b = b, .n_bytes = 50, .request = patient, .n_served = &n_served};
    queue_up(&first);
    queue_up(&second);
    join(&first);
    join(&second);
    assert_int_equal(first.status, CUZK_ERR_BUSY);
    assert_int_equal(second.status, CUZK_OK);
    reservation_release(&second.got);
    reservation_release(&held);
    destroy_empty(b);
}

/* ---- eviction ----------------------------------------------------------------------------- */

/* A cache of equal entries; entry 0 is always in use. */
typedef struct cache {
    budget *b;
    reservation entries[4];
    atomic_uint n_calls;          /* that have ended */
    uint64_t n_asked, first_call; /* first_call: its number among all caches */
    uint64_t *n_all_calls;
    atomic_bool may_return, is_inside;
} cache;

static void evict_entries(void *arg, uint64_t n_bytes) {
    cache *c = arg;
    c->is_inside = true;
    (void)stats_of(c->b); /* would hang if a lock were held */
    while (!c->may_return) pause_ms(1);
    if (c->n_calls == 0) c->first_call = ++*c->n_all_calls;
    c->n_asked = n_bytes;
    uint64_t n_freed = 0;
    for (int i = 1; i < 4 && n_freed < n_bytes; i++) {
        n_freed += c->entries[i].n_bytes;
        reservation_release(&c->entries[i]);
    }
    c->n_calls++;
    c->is_inside = false;
}

static void fill_cache(cache *c, budget *b, budget_rank rank, uint64_t *n_all_calls) {
    memset(c, 0, sizeof *c);
    c->b = b;
    c->n_all_calls = n_all_calls;
    c->may_return = true;
    for (int i = 0; i < 4; i++) {
        reservation r = take(b, 10);
        reservation_to_cache(&c->entries[i], &r, 10);
    }
    budget_set_evictor(b, rank, evict_entries, c);
}

static void empty_cache(cache *c, budget_rank rank) {
    budget_set_evictor(c->b, rank, NULL, NULL);
    for (int i = 0; i < 4; i++) reservation_release(&c->entries[i]);
}

static void test_budget__evicts_by_rank_and_no_more_than_needed_when_full(void **state) {
    (void)state;
    budget *b = create(120);
    uint64_t n_all_calls = 0;
    cache buffers, circuits, keys;
    fill_cache(&keys, b, BUDGET_KEYS, &n_all_calls);
    fill_cache(&circuits, b, BUDGET_CIRCUITS, &n_all_calls);
    fill_cache(&buffers, b, BUDGET_POOL_BUFFERS, &n_all_calls);

    reservation one = take(b, 25); /* 30 bytes of buffers are idle */
    assert_int_equal(buffers.n_asked, 25);
    assert_int_equal(circuits.n_calls + keys.n_calls, 0);
    reservation two = take(b, 5); /* still there */
    assert_int_equal(buffers.n_calls, 1);
    reservation three = take(b, 35); /* all of circuits and one of keys */
    assert_int_equal(circuits.n_asked, 35);
    assert_int_equal(keys.n_asked, 5);
    assert_int_equal(buffers.first_call, 1);
    assert_int_equal(circuits.first_call, 2);
    assert_int_equal(keys.first_call, 3);

    /* what is in use stays, whoever asks */
    reservation r;
    assert_int_equal(budget_acquire(&r, b, 26, &now_or_never, NULL), CUZK_ERR_BUSY);
    assert_int_equal(stats_of(b).cached_bytes, 30);

    reservation_release(&one);
    reservation_release(&two);
    reservation_release(&three);
    empty_cache(&buffers, BUDGET_POOL_BUFFERS);
    empty_cache(&circuits, BUDGET_CIRCUITS);
    empty_cache(&keys, BUDGET_KEYS);
    destroy_empty(b);
}

static void test_budget__looks_again_when_something_became_idle(void **state) {
    (void)state;
    budget *b = create(40);
    uint64_t n_all_calls = 0;
    atomic_uint n_served = 0;
    cache keys;
    fill_cache(&keys, b, BUDGET_KEYS, &n_all_calls);
    reservation in_use[3]; /* hide what is idle */
    for (int i = 0; i < 3; i++) {
        in_use[i] = keys.entries[i + 1];
        keys.entries[i + 1] = (reservation){0};
    }
    customer c = {.b = b, .n_bytes = 30, .request = patient, .n_served = &n_served};
    queue_up(&c);
    while (keys.n_calls == 0) pause_ms(1); /* it has looked in vain */
    pause_ms(5);
    assert_int_equal(n_served, 0);
    for (int i = 0; i < 3; i++) keys.entries[i + 1] = in_use[i];
    budget_notify_idle(b);
    join(&c);
    assert_int_equal(c.status, CUZK_OK);
    reservation_release(&c.got);
    empty_cache(&keys, BUDGET_KEYS);
    destroy_empty(b);
}

static void *remove_keys_evictor(void *arg) {
    budget_set_evictor(arg, BUDGET_KEYS, NULL, NULL);
    return NULL;
}

static void test_budget__waits_for_the_evictor_when_it_is_removed(void **state) {
    (void)state;
    budget *b = create(40);
    uint64_t n_all_calls = 0;
    atomic_uint n_served = 0;
    cache keys;
    fill_cache(&keys, b, BUDGET_KEYS, &n_all_calls);
    keys.may_return = false;
    customer c = {.b = b, .n_bytes = 30, .request = patient, .n_served = &n_served};
    queue_up(&c);
    while (!keys.is_inside) pause_ms(1);

    /* nobody else evicts meanwhile, not even the urgent */
    budget_request urgent = {.priority = BUDGET_CRITICAL};
    reservation r;
    assert_int_equal(budget_acquire(&r, b, 10, &urgent, NULL), CUZK_ERR_BUSY);

    pthread_t remover;
    assert_int_equal(pthread_create(&remover, NULL, remove_keys_evictor, b), 0);
    pause_ms(5);
    keys.may_return = true;
    assert_int_equal(pthread_join(remover, NULL), 0);
    assert_int_equal(keys.n_calls, 1);
    join(&c);
    reservation_release(&c.got);
    empty_cache(&keys, BUDGET_KEYS);
    destroy_empty(b);
}

/* Bytes that came back while ranks were asked, and went to somebody else, don't count. */
static void test_budget__asks_all_ranks_when_bytes_were_snatched(void **state) {
    (void)state;
    budget *b = create(130);
    uint64_t n_all_calls = 0;
    atomic_uint n_served = 0;
    cache buffers, keys;
    fill_cache(&keys, b, BUDGET_KEYS, &n_all_calls);
    fill_cache(&buffers, b, BUDGET_POOL_BUFFERS, &n_all_calls);
    reservation held = take(b, 50), rest = take(b, 30); /* takes all idle buffers */
    assert_int_equal(keys.n_calls, 0);
    buffers.may_return = false;
    buffers.is_inside = false;
    customer c = {.b = b, .n_bytes = 30, .request = patient, .n_served = &n_served};
    queue_up(&c);
    while (!buffers.is_inside) pause_ms(1);
    customer urgent = {.b = b, .n_bytes = 50, .request = patient, .n_served = &n_served};
    urgent.request.priority = BUDGET_CRITICAL;
    queue_up(&urgent);
    reservation_release(&held); /* room for c, until the urgent one takes it */
    buffers.may_return = true;
    join(&urgent);
    join(&c);
    assert_int_equal(keys.n_calls, 1);

    reservation_release(&urgent.got);
    reservation_release(&c.got);
    reservation_release(&rest);
    empty_cache(&buffers, BUDGET_POOL_BUFFERS);
    empty_cache(&keys, BUDGET_KEYS);
    destroy_empty(b);
}

/* The rank that was asked already, while a later one is being asked. */
static void test_budget__looks_again_when_something_became_idle_meanwhile(void **state) {
    (void)state;
    budget *b = create(80);
    uint64_t n_all_calls = 0;
    atomic_uint n_served = 0;
    cache circuits, keys;
    fill_cache(&circuits, b, BUDGET_CIRCUITS, &n_all_calls);
    fill_cache(&keys, b, BUDGET_KEYS, &n_all_calls);
    reservation in_use = circuits.entries[1];
    circuits.entries[1] = (reservation){0};
    keys.may_return = false;
    customer c = {.b = b, .n_bytes = 60, .request = patient, .n_served = &n_served};
    queue_up(&c);
    while (!keys.is_inside) pause_ms(1);
    circuits.entries[1] = in_use;
    budget_notify_idle(b);
    keys.may_return = true;
    join(&c);
    assert_int_equal(c.status, CUZK_OK);
    reservation_release(&c.got);
    empty_cache(&circuits, BUDGET_CIRCUITS);
    empty_cache(&keys, BUDGET_KEYS);
    destroy_empty(b);
}

typedef struct stock {
    budget *b;
    atomic_uint n_asked, n_have;
    atomic_bool may_return;
} stock;

static bool take_from_stock(void *arg) {
    stock *s = arg;
    (void)stats_of(s->b); /* would hang if a lock were held */
    bool is_there = s->n_have > 0;
    if (is_there) s->n_have--;
    s->n_asked++;
    while (!s->may_return) pause_ms(1);
    return is_there;
}

static void *take_stock_main(void *arg) {
    stock *s = arg;
    reservation r;
    cuzk_status status = budget_acquire_or(&r, s->b, 40, &patient, take_from_stock, s, NULL);
    return status == CUZK_OK && !r.source ? s : NULL;
}

static void test_budget__takes_no_bytes_when_found_instead(void **state) {
    (void)state;
    budget *b = create(100);
    stock s = {.b = b, .n_have = 1, .may_return = true};
    reservation r;
    assert_int_equal(budget_acquire_or(&r, b, 40, &now_or_never, take_from_stock, &s, NULL),
                     CUZK_OK);
    assert_null(r.source);
    assert_int_equal(stats_of(b).used_bytes, 0);
    assert_int_equal(budget_acquire_or(&r, b, 40, &now_or_never, take_from_stock, &s, NULL),
                     CUZK_OK);
    assert_int_equal(r.n_bytes, 40);
    assert_int_equal(s.n_asked, 2);
    reservation_release(&r);
    destroy_empty(b);
}

static void test_budget__asks_again_when_something_became_idle_meanwhile(void **state) {
    (void)state;
    budget *b = create(100);
    reservation held = take(b, 100);
    stock s = {.b = b};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take_stock_main, &s), 0);
    while (s.n_asked == 0) pause_ms(1);
    s.n_have = 1; /* too late for this look */
    budget_notify_idle(b);
    s.may_return = true;
    void *result;
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &s);
    reservation_release(&held);
    destroy_empty(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget__counts_what_is_out_when_taken_and_given_back),
        cmocka_unit_test(test_budget__says_both_numbers_at_once_when_request_exceeds_total),
        cmocka_unit_test(test_budget__does_not_wait_when_deadline_is_zero),
        cmocka_unit_test(test_budget__gives_up_at_the_deadline_when_nothing_comes_back),
        cmocka_unit_test(test_budget__serves_a_waiter_when_a_part_is_given_back),
        cmocka_unit_test(test_budget__keeps_the_charge_when_moved_to_a_cache),
        cmocka_unit_test(test_budget__outlives_its_owner_when_reservations_are_out),
        cmocka_unit_test(test_budget__serves_by_age_when_priorities_are_equal),
        cmocka_unit_test(test_budget__serves_in_order_of_arrival_when_ages_are_the_same),
        cmocka_unit_test(test_budget__serves_by_priority_when_ages_are_close),
        cmocka_unit_test(test_budget__serves_the_old_first_when_it_has_aged),
        cmocka_unit_test(test_budget__does_not_let_small_ones_pass_when_a_large_one_waits),
        cmocka_unit_test(test_budget__serves_the_next_when_the_first_gives_up),
        cmocka_unit_test(test_budget__evicts_by_rank_and_no_more_than_needed_when_full),
        cmocka_unit_test(test_budget__looks_again_when_something_became_idle),
        cmocka_unit_test(test_budget__looks_again_when_something_became_idle_meanwhile),
        cmocka_unit_test(test_budget__asks_all_ranks_when_bytes_were_snatched),
        cmocka_unit_test(test_budget__asks_again_when_something_became_idle_meanwhile),
        cmocka_unit_test(test_budget__waits_for_the_evictor_when_it_is_removed),
        cmocka_unit_test(test_budget__takes_no_bytes_when_found_instead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
