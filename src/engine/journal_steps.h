/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_ENGINE_JOURNAL_STEPS_H
#define CUZK_ENGINE_JOURNAL_STEPS_H
/* engine/journal_steps: transactions of several threads, committed together. In: steps, each to
 * be done wholly or not at all. Out: their outcomes, when they are on the disk. While one thread
 * waits for the disk, the steps that come meanwhile gather, and the next flush serves them all;
 * so flushes, not jobs, are what a slow disk limits. */
#include "engine/journal_db.h"

#include <pthread.h>

typedef enum journal_effect { JOURNAL_HAS_READ, JOURNAL_HAS_WRITTEN } journal_effect;

typedef struct journal_step journal_step;
/* Reads and writes by `db`, and says in step->effect what it did. May be run twice, the first
 * time undone, so that it begins by setting all that it returns. Takes no lock. */
typedef cuzk_status journal_step_fn(journal_step *step, journal_db *db, cuzk_err *err);

struct journal_step { /* Owner: the caller, for the time of the call */
    journal_step_fn *run;
    void *arg;
    bool is_durable; /* wait for the disk */
    journal_effect effect;
    cuzk_status status; /* these are for journal_steps.c */
    cuzk_err why;
    bool is_done;
    journal_step *next;
};

typedef struct journal_steps { /* Thread: shared */
    journal_db *db;
    pthread_mutex_t db_lock;    /* guards db; held over its I/O */
    pthread_mutex_t queue_lock; /* guards the rest; never held together with db_lock */
    pthread_cond_t has_changed;
    journal_step *first, **end;
    bool is_busy; /* a thread runs steps, its own and those of others */
} journal_steps;

/* Retains db. */
void journal_steps_init(journal_steps *steps, journal_db *db);
void journal_steps_fini(journal_steps *steps);

/* Runs the step in a transaction, perhaps with those of other threads, and returns when that is
 * committed. On error nothing of the step has happened. */
CUZK_MUST_CHECK cuzk_status journal_steps_run(journal_steps *steps, journal_step *step,
                                              cuzk_err *err);
/* The connection, for reading one thing. Between lock and unlock no other call. */
journal_db *journal_steps_lock(journal_steps *steps);
void journal_steps_unlock(journal_steps *steps);

#endif
