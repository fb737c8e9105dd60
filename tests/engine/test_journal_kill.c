/* SPDX-License-Identifier: Apache-2.0 */
/* engine/journal: a process killed at any moment loses nothing that it was promised. */
#define _GNU_SOURCE /* mkdtemp, MAP_ANONYMOUS */
#include "journal_promises.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static unsigned n_kills(void) { return getenv("CUZK_TEST_FULL") ? 200 : 12; }

static void work_until_killed(const fixture *f, promises *p, uint64_t seed) {
    journal *j;
    cuzk_err err;
    testrand rnd = {seed};
    if (!went_well(p, journal_open(&j, f->state, NULL, &err), &err)) _exit(1);
    for (;;) client_act(p, j, &rnd);
}

static void pause_us(uint64_t n) {
    const struct timespec t = {.tv_nsec = (long)n * 1000};
    (void)nanosleep(&t, NULL);
}

static void test_journal__loses_nothing_when_killed(void **state) {
    const fixture *f = *state;
    testrand rnd;
    testrand_init(&rnd);
    promises *p = promises_create();
    unsigned n_checked = 0;
    for (unsigned i = 0; i < n_kills(); i++) {
        p->n = 0; /* each life has its own; those of earlier ones are counted below */
        const uint64_t seed = testrand_u64(&rnd), life_us = testrand_below(&rnd, 40000);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) work_until_killed(f, p, seed);
        pause_us(life_us);
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

        journal *j = open_journal(f, NULL);
        promises_check(p, j, 0, true);
        n_checked += p->n;
        for (unsigned k = 0; k < p->n; k++) { /* an unfinished one goes on, and ends */
            if (!journal_is_unfinished(p->all[k].told)) continue;
            (void)start_job(j, &p->all[k].id);
            (void)finish_job(j, &p->all[k].id, proof_of(p->all[k].number).text);
            p->all[k].told = JOURNAL_DONE;
            p->all[k].n_starts++;
        }
        promises_check(p, j, 0, false);
        journal_close(j);
    }
    print_message("%u promises\n", n_checked);
    assert_true(n_checked > n_kills());
    promises_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_journal__loses_nothing_when_killed, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
