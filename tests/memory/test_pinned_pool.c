/* SPDX-License-Identifier: Apache-2.0 */
/* memory/pinned_pool: leases, reuse, shrinking, fallback, broken rules. */
#define _DEFAULT_SOURCE /* nanosleep */
#include "memory/pinned_pool.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MIB   ((size_t)1 << 20)
#define PAGE  (pages_round_up(1))
#define TOTAL (64 * MIB)

static const budget_request now_or_never = {.priority = BUDGET_NORMAL};
static const budget_request patient = {.priority = BUDGET_NORMAL,
                                       .deadline_ns = BUDGET_FOREVER};

/* A pool on a pretended device that pins anything until told not to, and the reports. */
typedef struct bench {
    budget *b;
    pinned_pool *pool;
    bool refuses;
    atomic_size_t pinned_bytes;
    atomic_uint n_pinned;
    unsigned n_reports;
    cuzk_err last_report;
    size_t last_unpinned_bytes;
} bench;

static cuzk_status pretend_pin(void *arg, void *data, size_t n_bytes, cuzk_err *err) {
    bench *t = arg;
    if ((uintptr_t)data % PAGE != 0 || n_bytes % PAGE != 0) {
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "test", "not whole pages");
    }
    if (t->refuses) return cuzk_fail(err, CUZK_ERR_DEVICE, "test", "the card says no");
    t->pinned_bytes += n_bytes;
    t->n_pinned++;
    return CUZK_OK;
}

static void pretend_unpin(void *arg, void *data, size_t n_bytes) {
    bench *t = arg;
    (void)data;
    t->pinned_bytes -= n_bytes;
    t->n_pinned--;
    t->last_unpinned_bytes = n_bytes;
}

static void note_report(void *arg, const cuzk_err *what) {
    bench *t = arg;
    t->n_reports++;
    t->last_report = *what;
}

static void open_bench(bench *t, bool poison) {
    *t = (bench){0};
    pinned_pool_options options = {
        .pinner = {.pin = pretend_pin, .unpin = pretend_unpin, .arg = t},
        .poison = poison,
        .report = note_report,
        .report_arg = t};
    assert_int_equal(budget_create(&t->b, TOTAL, BUDGET_AGING_NS, NULL), CUZK_OK);
    assert_int_equal(pinned_pool_create(&t->pool, t->b, &options, NULL), CUZK_OK);
}

static pinned_pool_stats stats_of(const bench *t) {
    pinned_pool_stats stats;
    pinned_pool_get_stats(t->pool, &stats);
    return stats;
}

static uint64_t used_bytes(const bench *t) {
    budget_stats stats;
    budget_get_stats(t->b, &stats);
    return stats.used_bytes;
}

/* Everything must be back: leases, pins, bytes. */
static void close_bench(bench *t) {
    assert_int_equal(stats_of(t).n_leased, 0);
    pinned_pool_destroy(t->pool);
    assert_int_equal(t->n_pinned, 0);
    assert_int_equal(t->pinned_bytes, 0);
    assert_int_equal(used_bytes(t), 0);
    budget_destroy(t->b);
}

static lease checkout(bench *t, size_t n_bytes) {
    lease l;
    assert_int_equal(pinned_pool_checkout(&l, t->pool, n_bytes, false, &now_or_never, NULL),
                     CUZK_OK);
    assert_int_equal((uintptr_t)l.data % 4096, 0);
    assert_int_equal(l.n_bytes, n_bytes);
    memset(l.data, 0, n_bytes);
    return l;
}

/* ---- lending ------------------------------------------------------------------------------ */

static void test_pinned_pool__lends_a_buffer_again_when_given_back(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    lease l = checkout(&t, 3 * MIB);
    const void *first = l.data;
    assert_true(l.is_pinned);
    assert_int_equal(t.pinned_bytes, 3 * MIB);
    lease_release(&l);
    assert_null(l.data);
    lease_release(&l); /* empty: fine */
    assert_int_equal(stats_of(&t).idle_bytes, 3 * MIB);
    l = checkout(&t, 2 * MIB);
    assert_ptr_equal(l.data, first);
    pinned_pool_stats stats = stats_of(&t);
    assert_int_equal(stats.n_made, 1);
    assert_int_equal(stats.n_reused, 1);
    assert_int_equal(stats.leased_bytes, 3 * MIB);
    lease_release(&l);
    assert_int_equal(t.n_reports, 0);
    close_bench(&t);
}

static void
test_pinned_pool__picks_the_smallest_that_fits_when_several_are_idle(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    static const size_t sizes[4] = {8 * MIB, 2 * MIB, 4 * MIB, 1 * MIB};
    lease l[4];
    const void *data[4];
    for (int i = 0; i < 4; i++) l[i] = checkout(&t, sizes[i]);
    for (int i = 0; i < 4; i++) data[i] = l[i].data;
    for (int i = 0; i < 4; i++) lease_release(&l[i]);
    l[0] = checkout(&t, 3 * MIB);
    assert_ptr_equal(l[0].data, data[2]);
    l[1] = checkout(&t, 1 * MIB);
    assert_ptr_equal(l[1].data, data[3]);
    l[2] = checkout(&t, 1 * MIB + 1);
    assert_ptr_equal(l[2].data, data[1]);
    l[3] = checkout(&t, 1 * MIB); /* the 8 MiB one is not wasted on this */
    assert_ptr_not_equal(l[3].data, data[0]);
    assert_int_equal(stats_of(&t).n_made, 5);
    for (int i = 0; i < 4; i++) lease_release(&l[i]);
    close_bench(&t);
}

static void test_pinned_pool__charges_whole_pages_when_size_is_odd(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    lease none = checkout(&t, 0), odd = checkout(&t, PAGE + 1);
    assert_int_equal(used_bytes(&t), 3 * PAGE);
    lease_release(&none);
    lease_release(&odd);
    close_bench(&t);
}

static void test_pinned_pool__fails_at_once_when_larger_than_the_budget(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    lease l = {.n_bytes = 7};
    cuzk_err err;
    assert_int_equal(pinned_pool_checkout(&l, t.pool, TOTAL + 1, false, &patient, &err),
                     CUZK_ERR_BUDGET);
    assert_int_equal(pinned_pool_checkout(&l, t.pool, SIZE_MAX, false, &patient, &err),
                     CUZK_ERR_BUDGET);
    assert_int_equal(l.n_bytes, 7);
    lease all = checkout(&t, TOTAL);
    assert_int_equal(pinned_pool_checkout(&l, t.pool, 1, false, &now_or_never, &err),
                     CUZK_ERR_BUSY);
    lease_release(&all);
    close_bench(&t);
}

typedef struct borrower {
    pthread_t thread;
    bench *t;
    size_t n_bytes;
    cuzk_status status;
    lease got;
} borrower;

static void *borrower_main(void *arg) {
    borrower *who = arg;
    who->status =
        pinned_pool_checkout(&who->got, who->t->pool, who->n_bytes, false, &patient, NULL);
    return NULL;
}

static void start_borrower(borrower *who) {
    assert_int_equal(pthread_create(&who->thread, NULL, borrower_main, who), 0);
    for (budget_stats stats = {0}; stats.n_waiters == 0;) {
        struct timespec t = {.tv_nsec = 1000000};
        (void)nanosleep(&t, NULL);
        budget_get_stats(who->t->b, &stats);
    }
}

static void test_pinned_pool__hands_the_buffer_on_when_someone_waits(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    lease l = checkout(&t, TOTAL);
    const void *data = l.data;
    borrower who = {.t = &t, .n_bytes = TOTAL};
    start_borrower(&who);
    lease_release(&l);
    assert_int_equal(pthread_join(who.thread, NULL), 0);
    assert_int_equal(who.status, CUZK_OK);
    assert_ptr_equal(who.got.data, data); /* not freed and made again */
    assert_int_equal(stats_of(&t).n_made, 1);
    lease_release(&who.got);
    close_bench(&t);
}

static void test_pinned_pool__evicts_and_makes_anew_when_a_waiter_needs_more(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    lease one = checkout(&t, TOTAL / 2), two = checkout(&t, TOTAL / 2);
    borrower who = {.t = &t, .n_bytes = TOTAL};
    start_borrower(&who);
    lease_release(&one);
    lease_release(&two);
    assert_int_equal(pthread_join(who.thread, NULL), 0);
    assert_int_equal(who.status, CUZK_OK);
    assert_int_equal(stats_of(&t).n_idle, 0);
    lease_release(&who.got);
    close_bench(&t);
}

/* ---- shrinking ---------------------------------------------------------------------------- */

static void make_idle(bench *t, const size_t *sizes, int n) {
    lease l[8];
    for (int i = 0; i < n; i++) l[i] = checkout(t, sizes[i]);
    for (int i = 0; i < n; i++) lease_release(&l[i]);
}

static void test_pinned_pool__frees_the_largest_first_when_shrunk(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    make_idle(&t, (const size_t[]){2 * MIB, 16 * MIB, 1 * MIB, 4 * MIB}, 4);
    lease in_use = checkout(&t, 16 * MIB); /* the largest is not idle */
    assert_int_equal(pinned_pool_shrink(t.pool, 1), 4 * MIB);
    assert_int_equal(t.last_unpinned_bytes, 4 * MIB);
    assert_int_equal(pinned_pool_shrink(t.pool, 2 * MIB + 1), 3 * MIB);
    assert_int_equal(t.last_unpinned_bytes, 1 * MIB);
    assert_int_equal(pinned_pool_shrink(t.pool, 1), 0);
    assert_int_equal(used_bytes(&t), 16 * MIB);
    lease_release(&in_use);
    close_bench(&t);
}

static void test_pinned_pool__is_evicted_when_others_need_the_bytes(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    make_idle(&t, (const size_t[]){16 * MIB, 32 * MIB, 8 * MIB}, 3);
    reservation r;
    assert_int_equal(budget_acquire(&r, t.b, 20 * MIB, &now_or_never, NULL), CUZK_OK);
    assert_int_equal(stats_of(&t).idle_bytes, 24 * MIB);
    reservation_release(&r);
    close_bench(&t);
}

static void test_pinned_pool__frees_only_the_old_when_trimmed(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    make_idle(&t, (const size_t[]){2 * MIB}, 1);
    uint64_t between_ns = cuzk_clock_ns();
    while (cuzk_clock_ns() == between_ns) {}
    make_idle(&t, (const size_t[]){8 * MIB}, 1);
    assert_int_equal(pinned_pool_trim(t.pool, between_ns), 2 * MIB);
    assert_int_equal(pinned_pool_trim(t.pool, between_ns), 0);
    assert_int_equal(stats_of(&t).idle_bytes, 8 * MIB);
    close_bench(&t);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void
test_pinned_pool__falls_back_to_the_heap_and_says_so_once_when_refused(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    t.refuses = true;
    lease one = checkout(&t, MIB), two = checkout(&t, MIB);
    assert_false(one.is_pinned || two.is_pinned);
    pinned_pool_stats stats = stats_of(&t);
    assert_int_equal(stats.n_heap_fallbacks, 2);
    assert_int_equal(stats.n_made, 2);
    assert_int_equal(stats.n_unpinned, 2);
    assert_int_equal(stats.unpinned_bytes, 2 * MIB);
    assert_int_equal(t.n_reports, 1);
    assert_int_equal(t.last_report.code, CUZK_ERR_NOMEM);
    assert_non_null(strstr(t.last_report.text, "the card says no"));
    assert_int_equal(used_bytes(&t), 2 * MIB);

    t.refuses = false;
    lease three = checkout(&t, MIB);
    assert_true(three.is_pinned);
    lease_release(&one);
    lease_release(&two);
    lease_release(&three);
    close_bench(&t); /* and only the pinned one was unpinned */
}

static void test_pinned_pool__gives_the_bytes_back_when_there_is_no_memory(void **state) {
    (void)state;
    budget *b;
    pinned_pool *pool;
    assert_int_equal(budget_create(&b, UINT64_MAX / 2, BUDGET_AGING_NS, NULL), CUZK_OK);
    assert_int_equal(pinned_pool_create(&pool, b, NULL, NULL), CUZK_OK);
    lease l;
    cuzk_err err;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            pinned_pool_checkout(&l, pool, (size_t)1 << 60, false, &now_or_never, &err),
            CUZK_ERR_NOMEM);
    }
    budget_stats stats;
    budget_get_stats(b, &stats);
    assert_int_equal(stats.used_bytes, 0);
    pinned_pool_destroy(pool);
    budget_destroy(b);
}

static void test_pinned_pool__works_with_mlock_when_no_pinner_is_given(void **state) {
    (void)state;
    budget *b;
    pinned_pool *pool;
    assert_int_equal(budget_create(&b, TOTAL, BUDGET_AGING_NS, NULL), CUZK_OK);
    assert_int_equal(pinned_pool_create(&pool, b, NULL, NULL), CUZK_OK);
    lease l;
    for (size_t n_bytes = 1; n_bytes <= 16 * MIB; n_bytes <<= 12) {
        assert_int_equal(pinned_pool_checkout(&l, pool, n_bytes, false, &now_or_never, NULL),
                         CUZK_OK);
        memset(l.data, 1, n_bytes);
        lease_release(&l);
    }
    pinned_pool_destroy(pool);
    budget_destroy(b);
}

/* ---- rules -------------------------------------------------------------------------------- */

static void test_pinned_pool__catches_a_lease_when_given_back_twice(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    lease l = checkout(&t, MIB), copy = l, later_copy = l;
    lease_release(&l);
    lease_release(&copy); /* the buffer is idle */
    assert_int_equal(stats_of(&t).n_double_returns, 1);
    assert_int_equal(t.last_report.code, CUZK_ERR_INTERNAL);
    lease other = checkout(&t, MIB);
    lease_release(&later_copy); /* the buffer is somebody else's by now */
    pinned_pool_stats stats = stats_of(&t);
    assert_int_equal(stats.n_double_returns, 2);
    assert_int_equal(stats.n_leased, 1);
    later_copy = other;
    lease_release(&other);
    (void)pinned_pool_shrink(t.pool, UINT64_MAX);
    lease_release(&later_copy); /* the buffer's memory is gone */
    assert_int_equal(stats_of(&t).n_double_returns, 3);
    assert_int_equal(t.n_reports, 3);
    close_bench(&t);
}

typedef struct returner {
    pthread_t thread;
    pthread_barrier_t *start;
    lease l;
} returner;

static void *returner_main(void *arg) {
    returner *who = arg;
    (void)pthread_barrier_wait(who->start);
    lease_release(&who->l);
    return NULL;
}

static void test_pinned_pool__takes_one_back_when_two_give_it_back_at_once(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
    for (unsigned i = 1; i <= 50; i++) {
        lease l;
        assert_int_equal(pinned_pool_checkout(&l, t.pool, 4 * MIB, true, &now_or_never, NULL),
                         CUZK_OK);
        returner who[2] = {{.start = &start, .l = l}, {.start = &start, .l = l}};
        for (int k = 0; k < 2; k++) {
            assert_int_equal(pthread_create(&who[k].thread, NULL, returner_main, &who[k]), 0);
        }
        for (int k = 0; k < 2; k++) assert_int_equal(pthread_join(who[k].thread, NULL), 0);
        assert_int_equal(stats_of(&t).n_double_returns, i);
        assert_int_equal(t.n_reports, i);
    }
    pthread_barrier_destroy(&start);
    close_bench(&t);
}

static void test_pinned_pool__leaves_its_budget_to_another_when_destroyed(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    make_idle(&t, (const size_t[]){TOTAL}, 1);
    pinned_pool_destroy(t.pool);
    assert_int_equal(pinned_pool_create(&t.pool, t.b, NULL, NULL), CUZK_OK);
    lease l = checkout(&t, TOTAL);
    lease_release(&l);
    close_bench(&t);
}

static void test_pinned_pool__wipes_what_is_secret_when_given_back(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    lease l;
    assert_int_equal(pinned_pool_checkout(&l, t.pool, 2 * PAGE, true, &now_or_never, NULL),
                     CUZK_OK);
    uint8_t *data = l.data;
    memset(data, 0x5e, 2 * PAGE);
    lease_release(&l);
    /* the same buffer, without looking at memory that is not lent */
    assert_int_equal(pinned_pool_checkout(&l, t.pool, 2 * PAGE, false, &now_or_never, NULL),
                     CUZK_OK);
    assert_ptr_equal(l.data, data);
    for (size_t i = 0; i < 2 * PAGE; i++) assert_int_equal(data[i], 0);
    memset(data, 0x77, 2 * PAGE);
    lease_release(&l); /* not secret: left alone, as wiping takes time */
    assert_int_equal(pinned_pool_checkout(&l, t.pool, 2 * PAGE, true, &now_or_never, NULL),
                     CUZK_OK);
    assert_int_equal(data[2 * PAGE - 1], 0x77);
    lease_release(&l);
    close_bench(&t);
}

static void test_pinned_pool__poisons_and_sees_late_writes_when_asked_to(void **state) {
    (void)state;
    bench t;
    open_bench(&t, true);
    lease l = checkout(&t, 2 * PAGE);
    uint8_t *data = l.data;
    lease_release(&l);
    assert_int_equal(pinned_pool_checkout(&l, t.pool, PAGE, false, &now_or_never, NULL),
                     CUZK_OK);
    assert_ptr_equal(l.data, data);
    for (size_t i = 0; i < 2 * PAGE; i++) assert_int_equal(data[i], 0xA5);
    data[0] = 1; /* allowed */
    lease_release(&l);
    l = checkout(&t, PAGE);
    assert_int_equal(t.n_reports, 0);
    lease_release(&l);
    data[PAGE + 3] = 1; /* by nobody's leave, beyond the latest lease even */
    l = checkout(&t, PAGE);
    assert_int_equal(stats_of(&t).n_late_writes, 1);
    assert_int_equal(t.last_report.code, CUZK_ERR_INTERNAL);
    lease_release(&l);
    (void)pinned_pool_shrink(t.pool, UINT64_MAX);
    l = checkout(&t, 2 * PAGE); /* fresh memory was never poisoned */
    assert_int_equal(t.n_reports, 1);
    lease_release(&l);
    close_bench(&t);
}

static void test_pinned_pool__reports_the_leak_and_outlives_it_when_destroyed(void **state) {
    (void)state;
    bench t;
    open_bench(&t, false);
    lease one = checkout(&t, MIB), two = checkout(&t, MIB), three = checkout(&t, 4 * MIB);
    lease_release(&three);
    assert_int_equal(stats_of(&t).n_leased, 2);
    pinned_pool_destroy(t.pool);
    assert_int_equal(t.n_reports, 1);
    assert_int_equal(t.last_report.code, CUZK_ERR_INTERNAL);
    assert_non_null(strstr(t.last_report.text, "2 leases"));
    assert_int_equal(used_bytes(&t), 2 * MIB); /* what was idle is gone */
    memset(two.data, 1, MIB);                  /* what is out is still there */
    lease_release(&one);
    lease_release(&two); /* the leak checker sees whether this freed the pool */
    assert_int_equal(t.n_pinned, 0);
    assert_int_equal(used_bytes(&t), 0);
    budget_destroy(t.b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pinned_pool__lends_a_buffer_again_when_given_back),
        cmocka_unit_test(test_pinned_pool__picks_the_smallest_that_fits_when_several_are_idle),
        cmocka_unit_test(test_pinned_pool__charges_whole_pages_when_size_is_odd),
        cmocka_unit_test(test_pinned_pool__fails_at_once_when_larger_than_the_budget),
        cmocka_unit_test(test_pinned_pool__hands_the_buffer_on_when_someone_waits),
        cmocka_unit_test(test_pinned_pool__evicts_and_makes_anew_when_a_waiter_needs_more),
        cmocka_unit_test(test_pinned_pool__frees_the_largest_first_when_shrunk),
        cmocka_unit_test(test_pinned_pool__is_evicted_when_others_need_the_bytes),
        cmocka_unit_test(test_pinned_pool__frees_only_the_old_when_trimmed),
        cmocka_unit_test(
            test_pinned_pool__falls_back_to_the_heap_and_says_so_once_when_refused),
        cmocka_unit_test(test_pinned_pool__gives_the_bytes_back_when_there_is_no_memory),
        cmocka_unit_test(test_pinned_pool__works_with_mlock_when_no_pinner_is_given),
        cmocka_unit_test(test_pinned_pool__catches_a_lease_when_given_back_twice),
        cmocka_unit_test(test_pinned_pool__takes_one_back_when_two_give_it_back_at_once),
        cmocka_unit_test(test_pinned_pool__leaves_its_budget_to_another_when_destroyed),
        cmocka_unit_test(test_pinned_pool__wipes_what_is_secret_when_given_back),
        cmocka_unit_test(test_pinned_pool__poisons_and_sees_late_writes_when_asked_to),
        cmocka_unit_test(test_pinned_pool__reports_the_leak_and_outlives_it_when_destroyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
