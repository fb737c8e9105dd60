/* SPDX-License-Identifier: Apache-2.0 */
/* engine/journal_steps: steps that meet in one transaction, and one of them that fails. */
#define _GNU_SOURCE /* mkdtemp */
#include "journal_fixture.h"

#include "engine/journal_steps.h"

#include <semaphore.h>
#include <time.h>

enum { N_STEPS = 6 };

typedef struct insertion {
    journal_steps *steps;
    journal_job job;
    bool fails;
    sem_t *started, *may_go; /* NULL: it need not wait */
    unsigned n_runs;
    cuzk_status status;
    cuzk_err err;
    pthread_t thread;
} insertion;

static cuzk_status insert(journal_step *step, journal_db *db, cuzk_err *err) {
    insertion *in = step->arg;
    in->n_runs++;
    if (in->started) {
        (void)sem_post(in->started);
        (void)sem_wait(in->may_go);
    }
    step->effect = JOURNAL_HAS_WRITTEN;
    CUZK_TRY(journal_db_insert(db, &in->job, err));
    return in->fails ? cuzk_fail(err, CUZK_ERR_NOMEM, "test", "no memory") : CUZK_OK;
}

static void *run(void *arg) {
    insertion *in = arg;
    journal_step step = {.run = insert, .arg = in, .is_durable = true};
    in->status = journal_steps_run(in->steps, &step, &in->err);
    return NULL;
}

static unsigned count_waiting(journal_steps *steps) {
    unsigned n = 0;
    pthread_mutex_lock(&steps->queue_lock);
    for (const journal_step *s = steps->first; s; s = s->next) n++;
    pthread_mutex_unlock(&steps->queue_lock);
    return n;
}

/* The first holds the journal until the others wait behind it, so that these share one. */
static void run_together(insertion *all, journal_steps *steps) {
    sem_t started, may_go;
    assert_int_equal(sem_init(&started, 0, 0), 0);
    assert_int_equal(sem_init(&may_go, 0, 0), 0);
    all[0].started = &started;
    all[0].may_go = &may_go;
    for (unsigned i = 0; i < N_STEPS; i++) {
        all[i].steps = steps;
        (void)snprintf(all[i].job.id.hex, sizeof all[i].job.id.hex, "%032u", i);
        all[i].job.state = JOURNAL_QUEUED;
        assert_int_equal(pthread_create(&all[i].thread, NULL, run, &all[i]), 0);
        if (i == 0) (void)sem_wait(&started);
    }
    while (count_waiting(steps) < N_STEPS - 1) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    (void)sem_post(&may_go);
    for (unsigned i = 0; i < N_STEPS; i++)
        assert_int_equal(pthread_join(all[i].thread, NULL), 0);
    (void)sem_destroy(&started);
    (void)sem_destroy(&may_go);
}

static void check(const fixture *f, insertion *all) {
    journal_db *db;
    journal_steps steps;
    cuzk_err err;
    char path[64];
    (void)snprintf(path, sizeof path, "%s/journal.db", f->folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    must(journal_db_open(&db, path, &err), &err);
    journal_steps_init(&steps, db);
    run_together(all, &steps);
    for (unsigned i = 0; i < N_STEPS; i++) {
        journal_row row;
        assert_int_equal(all[i].status, all[i].fails ? CUZK_ERR_NOMEM : CUZK_OK);
        if (all[i].fails) assert_string_equal(all[i].err.text, "no memory");
        must(journal_db_find(&row, journal_steps_lock(&steps), &all[i].job.id, &err), &err);
        journal_steps_unlock(&steps);
        assert_int_equal(row.number != 0, !all[i].fails);
    }
    journal_steps_fini(&steps);
    journal_db_close(db);
}

static void test_steps__share_a_transaction(void **state) {
    insertion all[N_STEPS] = {0};
    check(*state, all);
    for (unsigned i = 0; i < N_STEPS; i++) assert_int_equal(all[i].n_runs, 1);
}

static void test_steps__stand_for_themselves_when_one_fails(void **state) {
    insertion all[N_STEPS] = {0};
    unsigned n_runs = 0;
    all[2].fails = all[N_STEPS - 1].fails = true;
    check(*state, all);
    for (unsigned i = 0; i < N_STEPS; i++) n_runs += all[i].n_runs;
    assert_true(n_runs > N_STEPS); /* they had met, and were run again */
}

static void test_steps__fail_alone(void **state) {
    insertion all[N_STEPS] = {0};
    all[0].fails = true;
    check(*state, all);
    for (unsigned i = 0; i < N_STEPS; i++) assert_int_equal(all[i].n_runs, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_steps__share_a_transaction),
        TEST(test_steps__stand_for_themselves_when_one_fails),
        TEST(test_steps__fail_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
