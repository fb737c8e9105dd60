/* SPDX-License-Identifier: Apache-2.0 */
/* base/executor: see executor.h.
 *
 * A loop lives on its caller's stack and hangs in the executor's list while it has items to
 * give. Idle workers join the loop with the fewest helpers. Worker k always uses slot k and a
 * caller slot 0, so slots of one loop can't collide; to keep that true, a caller that waits
 * for its helpers does not pick up items of other loops (it might be inside one of them).
 * A thread that waits thus always waits for a thread deeper in the nesting that runs. */
#define _GNU_SOURCE /* sched_getaffinity, pthread_setname_np */
#include "base/executor.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 1024u

typedef struct loop {
    cuzk_exec_fn *fn;
    void *arg;
    size_t n_items;
    atomic_size_t next_item;
    unsigned n_helpers;         /* workers inside; under the executor's lock */
    pthread_cond_t helper_left; /* n_helpers fell to 0 */
    struct loop *prev, *next;
} loop;

typedef struct worker {
    cuzk_exec *exec;
    unsigned slot;
    pthread_t thread;
} worker;

struct cuzk_exec {
    pthread_mutex_t lock;
    pthread_cond_t work_arrived;
    loop *loops;     /* newest first; under lock */
    unsigned n_idle; /* workers waiting for work_arrived; under lock */
    bool stopping;   /* under lock */
    unsigned n_workers;
    worker workers[];
};

static void run_items(loop *l, unsigned slot) {
    for (;;) {
        size_t item = atomic_fetch_add_explicit(&l->next_item, 1, memory_order_relaxed);
        if (item >= l->n_items) return;
        l->fn(l->arg, item, slot);
    }
}

static bool has_items(loop *l) {
    return atomic_load_explicit(&l->next_item, memory_order_relaxed) < l->n_items;
}

static loop *pick_loop(const cuzk_exec *exec) {
    loop *best = NULL;
    for (loop *l = exec->loops; l; l = l->next) {
        if (has_items(l) && (!best || l->n_helpers < best->n_helpers)) best = l;
    }
    return best;
}

static void *worker_main(void *arg) {
    const worker *self = arg;
    cuzk_exec *exec = self->exec;
    pthread_mutex_lock(&exec->lock);
    while (!exec->stopping) {
        loop *l = pick_loop(exec);
        if (!l) {
            exec->n_idle++;
            pthread_cond_wait(&exec->work_arrived, &exec->lock);
            exec->n_idle--;
            continue;
        }
        l->n_helpers++;
        pthread_mutex_unlock(&exec->lock);
        run_items(l, self->slot);
        pthread_mutex_lock(&exec->lock);
        if (--l->n_helpers == 0) pthread_cond_signal(&l->helper_left);
    }
    pthread_mutex_unlock(&exec->lock);
    return NULL;
}

/* Signals of the host program are for its own threads. */
static int start_worker(worker *w) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&w->thread, NULL, worker_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        char name[16];
        (void)snprintf(name, sizeof name, "cuzk-%u", w->slot);
        (void)pthread_setname_np(w->thread, name);
    }
    return error;
}

static unsigned usable_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return (unsigned)CPU_COUNT(&set);
    long n_online = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than cpu_set_t holds */
    if (n_online < 1) return 1;
    return n_online < (long)MAX_THREADS ? (unsigned)n_online : MAX_THREADS;
}

cuzk_status cuzk_exec_create(cuzk_exec **out, unsigned n_threads, cuzk_err *err) {
    if (n_threads > MAX_THREADS) {
        return cuzk_fail(err, CUZK_ERR_ARG, "base.executor",
                         "%u threads asked for, at most %u can be made", n_threads,
                         MAX_THREADS);
    }
    if (n_threads == 0) n_threads = usable_cpus();
    unsigned n_workers = n_threads - 1;

    cuzk_exec *exec;
    size_t n_bytes = sizeof *exec + n_workers * sizeof exec->workers[0];
    CUZK_TRY(cuzk_zalloc(&exec, 1, n_bytes, err));
    pthread_mutex_init(&exec->lock, NULL);
    pthread_cond_init(&exec->work_arrived, NULL);
    while (exec->n_workers < n_workers) {
        worker *w = &exec->workers[exec->n_workers];
        w->exec = exec;
        w->slot = exec->n_workers + 1;
        int error = start_worker(w);
        if (error != 0) {
            unsigned n_made = exec->n_workers + 1;
            cuzk_exec_destroy(exec);
            return cuzk_fail(err, CUZK_ERR_NOMEM, "base.executor",
                             "the system refused thread %u of %u: %s", n_made + 1, n_threads,
                             strerror(error));
        }
        exec->n_workers++;
    }
    *out = exec;
    return CUZK_OK;
}

void cuzk_exec_destroy(cuzk_exec *exec) {
    if (!exec) return;
    pthread_mutex_lock(&exec->lock);
    exec->stopping = true;
    pthread_cond_broadcast(&exec->work_arrived);
    pthread_mutex_unlock(&exec->lock);
    for (unsigned i = 0; i < exec->n_workers; i++) pthread_join(exec->workers[i].thread, NULL);
    pthread_cond_destroy(&exec->work_arrived);
    pthread_mutex_destroy(&exec->lock);
    cuzk_free(exec);
}

unsigned cuzk_exec_n_threads(const cuzk_exec *exec) { return exec ? exec->n_workers + 1 : 1; }

static void publish(cuzk_exec *exec, loop *l) {
    pthread_mutex_lock(&exec->lock);
    l->next = exec->loops;
    if (l->next) l->next->prev = l;
    exec->loops = l;
    size_t n_wanted = l->n_items - 1; /* the caller takes one */
    if (n_wanted >= exec->n_idle) {
        pthread_cond_broadcast(&exec->work_arrived);
    } else {
        for (; n_wanted > 0; n_wanted--) pthread_cond_signal(&exec->work_arrived);
    }
    pthread_mutex_unlock(&exec->lock);
}

static void withdraw(cuzk_exec *exec, loop *l) {
    pthread_mutex_lock(&exec->lock);
    if (l->prev)
        l->prev->next = l->next;
    else
        exec->loops = l->next;
    if (l->next) l->next->prev = l->prev;
    while (l->n_helpers > 0) pthread_cond_wait(&l->helper_left, &exec->lock);
    pthread_mutex_unlock(&exec->lock);
}

void cuzk_exec_for(cuzk_exec *exec, size_t n_items, cuzk_exec_fn *fn, void *arg) {
    if (!exec || exec->n_workers == 0 || n_items <= 1) {
        for (size_t i = 0; i < n_items; i++) fn(arg, i, 0);
        return;
    }
    loop l = {.fn = fn, .arg = arg, .n_items = n_items};
    pthread_cond_init(&l.helper_left, NULL);
    publish(exec, &l);
    run_items(&l, 0);
    withdraw(exec, &l);
    pthread_cond_destroy(&l.helper_left);
}

/* ---- copies ---- */
#define COPY_BYTES ((size_t)1 << 20) /* that one thread takes at a time */

typedef struct copying {
    uint8_t *to;
    const uint8_t *from;
    size_t n_bytes;
} copying;

static void copy_piece(void *arg, size_t item, unsigned slot) {
    const copying *c = arg;
    const size_t begin = item * COPY_BYTES, left = c->n_bytes - begin;
    (void)slot;
    memcpy(c->to + begin, c->from + begin, left < COPY_BYTES ? left : COPY_BYTES);
}

void cuzk_exec_copy(cuzk_exec *exec, void *to, const void *from, size_t n_bytes) {
    copying c = {to, from, n_bytes};
    const size_t n_pieces = n_bytes / COPY_BYTES + (n_bytes % COPY_BYTES != 0);
    cuzk_exec_for(exec, n_pieces, copy_piece, &c);
}
