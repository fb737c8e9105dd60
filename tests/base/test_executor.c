/* SPDX-License-Identifier: Apache-2.0 */
/* base/executor: every item once, slots never shared, callers and loops in any mixture. */
#define _GNU_SOURCE /* cpu_set_t, RTLD_NEXT */
#include "base/executor.h"

#include "base/alloc.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MAX_SLOTS 16u
#define MAX_ITEMS 2000u

/* One loop under observation. The counters of items are plain: the executor alone must order
 * them, and the thread sanitizer would tell if it did not. */
typedef struct watch {
    unsigned times_run[MAX_ITEMS];
    atomic_bool slot_busy[MAX_SLOTS];
    atomic_uint n_slot_clashes;
    unsigned n_slots;
} watch;

static void enter_slot(watch *w, unsigned slot) {
    if (slot >= w->n_slots || atomic_exchange(&w->slot_busy[slot], true)) w->n_slot_clashes++;
}

static void leave_slot(watch *w, unsigned slot) { atomic_store(&w->slot_busy[slot], false); }

static void watch_item(void *arg, size_t item, unsigned slot) {
    watch *w = arg;
    enter_slot(w, slot);
    w->times_run[item]++;
    if (item % 7 == 0) (void)sched_yield();
    leave_slot(w, slot);
}

/* Not assert_*: loops also run on threads where cmocka can't jump. */
static bool ran_once_each(const watch *w, size_t n_items) {
    for (size_t i = 0; i < MAX_ITEMS; i++) {
        if (w->times_run[i] != (i < n_items ? 1u : 0u)) return false;
    }
    return w->n_slot_clashes == 0;
}

static bool loop_is_right(cuzk_exec *exec, size_t n_items) {
    watch *w;
    if (cuzk_zalloc(&w, 1, sizeof *w, NULL) != CUZK_OK) return false;
    w->n_slots = cuzk_exec_n_threads(exec);
    cuzk_exec_for(exec, n_items, watch_item, w);
    bool is_right = ran_once_each(w, n_items);
    cuzk_free(w);
    return is_right;
}

static cuzk_exec *make(unsigned n_threads) {
    cuzk_exec *exec;
    assert_int_equal(cuzk_exec_create(&exec, n_threads, NULL), CUZK_OK);
    return exec;
}

static void test_executor__runs_each_item_once_for_any_count(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 17, 100, MAX_ITEMS};
    for (unsigned n_threads = 1; n_threads <= 5; n_threads++) {
        cuzk_exec *exec = make(n_threads);
        assert_int_equal(cuzk_exec_n_threads(exec), n_threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            assert_true(loop_is_right(exec, counts[i]));
        }
        cuzk_exec_destroy(exec);
    }
}

static void test_executor__runs_inline_when_there_is_none(void **state) {
    (void)state;
    assert_int_equal(cuzk_exec_n_threads(NULL), 1);
    assert_true(loop_is_right(NULL, 100));
    cuzk_exec_destroy(NULL);
}

static void test_executor__wakes_workers_again_when_loops_follow_each_other(void **state) {
    (void)state;
    cuzk_exec *exec = make(4);
    for (unsigned i = 0; i < 500; i++) assert_true(loop_is_right(exec, i % 9));
    cuzk_exec_destroy(exec);
}

/* A lost wake-up shows as a hang: every item waits until as many threads as there are items
 * stand in the loop together. */
typedef struct meeting {
    atomic_uint n_present;
    unsigned n_wanted;
} meeting;

static void meet(void *arg, size_t item, unsigned slot) {
    meeting *m = arg;
    (void)item;
    (void)slot;
    m->n_present++;
    while (m->n_present < m->n_wanted) (void)sched_yield();
}

static void test_executor__uses_all_its_threads(void **state) {
    (void)state;
    cuzk_exec *exec = make(4);
    for (unsigned n_wanted = 1; n_wanted <= 4; n_wanted++) {
        for (int round = 0; round < 50; round++) {
            meeting m = {.n_wanted = n_wanted};
            cuzk_exec_for(exec, n_wanted, meet, &m);
            assert_int_equal(m.n_present, n_wanted);
        }
    }
    cuzk_exec_destroy(exec);
}

/* ---- nesting ---- */

typedef struct nest {
    cuzk_exec *exec;
    watch *outer;
    atomic_uint n_wrong;
} nest;

static void run_inner_loop(void *arg, size_t item, unsigned slot) {
    nest *n = arg;
    enter_slot(n->outer, slot);
    if (!loop_is_right(n->exec, item * 3)) n->n_wrong++;
    n->outer->times_run[item]++;
    leave_slot(n->outer, slot);
}

static void run_middle_loop(void *arg, size_t item, unsigned slot) {
    nest *n = arg;
    watch *w;
    (void)slot;
    if (cuzk_zalloc(&w, 1, sizeof *w, NULL) != CUZK_OK) {
        n->n_wrong++;
        return;
    }
    w->n_slots = cuzk_exec_n_threads(n->exec);
    nest inner = {.exec = n->exec, .outer = w};
    cuzk_exec_for(n->exec, 5 + item, run_inner_loop, &inner);
    if (!ran_once_each(w, 5 + item) || inner.n_wrong) n->n_wrong++;
    cuzk_free(w);
}

static void test_executor__keeps_slots_apart_when_loops_are_nested(void **state) {
    (void)state;
    for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
        nest n = {.exec = make(n_threads)};
        cuzk_exec_for(n.exec, 12, run_middle_loop, &n);
        assert_int_equal(n.n_wrong, 0);
        cuzk_exec_destroy(n.exec);
    }
}

/* ---- several callers ---- */

typedef struct caller {
    cuzk_exec *exec;
    unsigned seed;
    bool is_right;
} caller;

static void *call_often(void *arg) {
    caller *c = arg;
    c->is_right = true;
    for (unsigned i = 0; i < 60; i++) {
        if (!loop_is_right(c->exec, (c->seed * 31 + i * 7) % 90)) c->is_right = false;
        nest n = {.exec = c->exec};
        cuzk_exec_for(c->exec, 3, run_middle_loop, &n);
        if (n.n_wrong) c->is_right = false;
    }
    return NULL;
}

static void test_executor__serves_several_callers_at_once(void **state) {
    (void)state;
    enum { N_CALLERS = 5 };
    cuzk_exec *exec = make(3);
    caller callers[N_CALLERS];
    pthread_t threads[N_CALLERS];
    for (unsigned i = 0; i < N_CALLERS; i++) {
        callers[i] = (caller){.exec = exec, .seed = i};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (unsigned i = 0; i < N_CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(callers[i].is_right);
    }
    cuzk_exec_destroy(exec);
}

/* ---- creation ---- */

static void test_executor__has_a_thread_for_each_usable_cpu_when_told_zero(void **state) {
    (void)state;
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    cuzk_exec *exec = make(0);
    assert_int_equal(cuzk_exec_n_threads(exec), CPU_COUNT(&set));
    assert_true(loop_is_right(exec, 50));
    cuzk_exec_destroy(exec);
}

static void test_executor__refuses_an_absurd_number_of_threads(void **state) {
    (void)state;
    cuzk_exec *exec = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_exec_create(&exec, 1u << 20, &err), CUZK_ERR_ARG);
    assert_null(exec);
}

static unsigned count_threads(void) {
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    unsigned n = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) n += entry->d_name[0] != '.';
    (void)closedir(folder);
    return n;
}

/* A joined thread may still stand in the list for a moment. */
static bool threads_fall_to(unsigned n_wanted) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 5000; i++) {
        if (count_threads() <= n_wanted) return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* Stands before the system's function: threads_allowed more threads, then EAGAIN. */
static unsigned threads_allowed = 1000;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg) {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create, &symbol, sizeof create);
    if (threads_allowed == 0) return EAGAIN;
    threads_allowed--;
    return create(thread, attributes, run, arg);
}

static void test_executor__undoes_everything_when_a_thread_is_refused(void **state) {
    (void)state;
    unsigned n_before = count_threads();
    for (unsigned n_made = 0; n_made < 7; n_made++) {
        cuzk_exec *exec = NULL;
        cuzk_err err;
        threads_allowed = n_made;
        cuzk_status status = cuzk_exec_create(&exec, 8, &err);
        threads_allowed = 1000;
        assert_int_equal(status, CUZK_ERR_NOMEM);
        assert_null(exec);
        assert_non_null(strstr(err.text, "of 8"));
        assert_true(threads_fall_to(n_before));
    }
}

static void note_signal_mask(void *arg, size_t item, unsigned slot) {
    atomic_bool *is_wrong = arg;
    sigset_t mask;
    (void)item;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    bool blocks_term = sigismember(&mask, SIGTERM) == 1;
    if (slot == 0 ? blocks_term : !blocks_term) *is_wrong = true;
}

static void test_executor__leaves_signals_to_the_callers_threads(void **state) {
    (void)state;
    cuzk_exec *exec = make(3);
    atomic_bool is_wrong = false;
    for (int round = 0; round < 50; round++)
        cuzk_exec_for(exec, 64, note_signal_mask, &is_wrong);
    assert_false(is_wrong);
    cuzk_exec_destroy(exec);
}

static void test_executor__copies_every_byte_and_no_more(void **state) {
    (void)state;
    enum { N_MAX = (5 << 20) + 3 };
    static const size_t sizes[] = {0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, N_MAX};
    cuzk_exec *exec;
    uint8_t *from, *to;
    assert_int_equal(cuzk_exec_create(&exec, 4, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&from, N_MAX, 1, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&to, N_MAX + 1, 1, NULL), CUZK_OK);
    for (size_t i = 0; i < N_MAX; i++) from[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(to, 0xa5, N_MAX + 1);
        cuzk_exec_copy(i % 2 ? exec : NULL, to, from, sizes[i]);
        assert_memory_equal(to, from, sizes[i]);
        assert_int_equal(to[sizes[i]], 0xa5);
    }
    cuzk_free(from);
    cuzk_free(to);
    cuzk_exec_destroy(exec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_executor__runs_each_item_once_for_any_count),
        cmocka_unit_test(test_executor__runs_inline_when_there_is_none),
        cmocka_unit_test(test_executor__wakes_workers_again_when_loops_follow_each_other),
        cmocka_unit_test(test_executor__uses_all_its_threads),
        cmocka_unit_test(test_executor__keeps_slots_apart_when_loops_are_nested),
        cmocka_unit_test(test_executor__serves_several_callers_at_once),
        cmocka_unit_test(test_executor__has_a_thread_for_each_usable_cpu_when_told_zero),
        cmocka_unit_test(test_executor__refuses_an_absurd_number_of_threads),
        cmocka_unit_test(test_executor__undoes_everything_when_a_thread_is_refused),
        cmocka_unit_test(test_executor__leaves_signals_to_the_callers_threads),
        cmocka_unit_test(test_executor__copies_every_byte_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
