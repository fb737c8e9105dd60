/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_ENGINE_JOURNAL_DB_H
#define CUZK_ENGINE_JOURNAL_DB_H
/* engine/journal_db: the journal's tables in SQLite. In: rows. Out: the same rows, or FORMAT: a
 * row is sealed with a checksum, which SQLite itself lacks. Knows no rules: what may follow
 * what is journal.c's.
 *
 * Status as in journal.h. After any error inside a transaction: roll back. */
#include "engine/journal.h"

typedef struct journal_db journal_db; /* Thread: owned */

typedef struct journal_row {
    int64_t number; /* in order of acceptance, from 1; 0 = there is no such row */
    journal_job job;
} journal_row;

/* Opens or makes the file, checks all of it and brings it to this version. The folder belongs
 * to this process alone (journal.c sees to it). */
CUZK_MUST_CHECK cuzk_status journal_db_open(journal_db **out, const char *path, cuzk_err *err);
void journal_db_close(journal_db *db); /* NULL is fine */

/* is_durable: commit waits for the disk. */
CUZK_MUST_CHECK cuzk_status journal_db_begin(journal_db *db, bool is_durable, cuzk_err *err);
CUZK_MUST_CHECK cuzk_status journal_db_commit(journal_db *db, cuzk_err *err);
void journal_db_rollback(journal_db *db); /* fine without a transaction, too */

CUZK_MUST_CHECK cuzk_status journal_db_find(journal_row *out, journal_db *db,
                                            const journal_id *id, cuzk_err *err);
/* The job that `like` is a retry of (same request id, kind, circuit and payload): an unfinished
 * one, else the latest that is DONE and not handed over. */
CUZK_MUST_CHECK cuzk_status journal_db_find_twin(journal_row *out, journal_db *db,
                                                 const journal_job *like, cuzk_err *err);
/* A new row. */
CUZK_MUST_CHECK cuzk_status journal_db_insert(journal_db *db, const journal_job *job,
                                              cuzk_err *err);
/* Stores what may change: state, times, attempts, is_handed_over, reason. */
CUZK_MUST_CHECK cuzk_status journal_db_update(journal_db *db, const journal_row *row,
                                              cuzk_err *err);

CUZK_MUST_CHECK cuzk_status journal_db_put_result(journal_db *db, const journal_row *row,
                                                  cuzk_span proof, cuzk_span public_signals,
                                                  cuzk_err *err);
/* Sets the two spans, one block that begins at proof.p; owner: caller, cuzk_free(). On a result
 * that is missing or damaged *is_damaged is set and there are no bytes. */
CUZK_MUST_CHECK cuzk_status journal_db_get_result(journal_result *out, bool *is_damaged,
                                                  journal_db *db, const journal_row *row,
                                                  cuzk_err *err);

/* The ids of the unfinished jobs, as journal_list_unfinished. */
CUZK_MUST_CHECK cuzk_status journal_db_list_unfinished(journal_id **out, size_t *n_ids,
                                                       journal_db *db, cuzk_err *err);
/* Removes up to 256 jobs that finished before, with their results. */
CUZK_MUST_CHECK cuzk_status journal_db_prune(uint64_t *n_removed, journal_db *db,
                                             uint64_t before_ms, cuzk_err *err);

#endif
