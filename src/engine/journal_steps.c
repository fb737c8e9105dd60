/* SPDX-License-Identifier: Apache-2.0 */
/* engine/journal_steps: see journal_steps.h. */
#include "engine/journal_steps.h"

void journal_steps_init(journal_steps *steps, journal_db *db) {
    *steps = (journal_steps){.db = db};
    steps->end = &steps->first;
    pthread_mutex_init(&steps->db_lock, NULL);
    pthread_mutex_init(&steps->queue_lock, NULL);
    pthread_cond_init(&steps->has_changed, NULL);
}

void journal_steps_fini(journal_steps *steps) {
    pthread_cond_destroy(&steps->has_changed);
    pthread_mutex_destroy(&steps->queue_lock);
    pthread_mutex_destroy(&steps->db_lock);
}

journal_db *journal_steps_lock(journal_steps *steps) {
    pthread_mutex_lock(&steps->db_lock);
    return steps->db;
}

void journal_steps_unlock(journal_steps *steps) { pthread_mutex_unlock(&steps->db_lock); }

/* The steps from `first` to before `end` in one transaction: all of them, or none. */
static cuzk_status run_together(journal_db *db, journal_step *first, const journal_step *end,
                                cuzk_err *err) {
    bool is_durable = false, has_written = false;
    for (const journal_step *s = first; s != end; s = s->next) is_durable |= s->is_durable;
    cuzk_status status = journal_db_begin(db, is_durable, err);
    for (journal_step *s = first; status == CUZK_OK && s != end; s = s->next) {
        s->effect = JOURNAL_HAS_READ;
        status = s->run(s, db, err);
        has_written |= s->effect == JOURNAL_HAS_WRITTEN;
    }
    if (status == CUZK_OK && has_written) status = journal_db_commit(db, err);
    journal_db_rollback(db); /* what an error, or reading alone, has left open */
    return status;
}

/* One that fails must not take the others with it: then each is run for itself. */
static void run_all(journal_steps *steps, journal_step *first) {
    journal_db *db = journal_steps_lock(steps);
    const bool is_alone = !first->next;
    const cuzk_status together = run_together(db, first, NULL, &first->why);
    for (journal_step *s = first; s; s = s->next) {
        const bool is_settled = is_alone || together == CUZK_OK;
        s->status = is_settled ? together : run_together(db, s, s->next, &s->why);
    }
    journal_steps_unlock(steps);
}

static void append(journal_steps *steps, journal_step *step) {
    step->is_done = false;
    step->next = NULL;
    *steps->end = step;
    steps->end = &step->next;
}

static journal_step *take_all(journal_steps *steps) {
    journal_step *first = steps->first;
    steps->first = NULL;
    steps->end = &steps->first;
    return first;
}

cuzk_status journal_steps_run(journal_steps *steps, journal_step *step, cuzk_err *err) {
    pthread_mutex_lock(&steps->queue_lock);
    append(steps, step);
    while (!step->is_done && steps->is_busy) {
        pthread_cond_wait(&steps->has_changed, &steps->queue_lock);
    }
    if (!step->is_done) { /* nobody at work: this thread runs all that wait, its own too */
        journal_step *first = take_all(steps);
        steps->is_busy = true;
        pthread_mutex_unlock(&steps->queue_lock);
        run_all(steps, first);
        pthread_mutex_lock(&steps->queue_lock);
        for (; first; first = first->next)
            first->is_done = true; /* they wait for queue_lock */
        steps->is_busy = false;
        pthread_cond_broadcast(&steps->has_changed);
    }
    pthread_mutex_unlock(&steps->queue_lock);
    if (step->status != CUZK_OK && err) *err = step->why;
    return step->status;
}
