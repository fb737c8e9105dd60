/* SPDX-License-Identifier: Apache-2.0 */
/* engine/journal_db: see journal_db.h.
 *
 * One connection in exclusive mode, so that the index of the write-ahead log lives on the heap:
 * no second file is mapped, and a full disk can't raise SIGBUS. */
#include "engine/journal_db.h"

#include "base/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define APPLICATION_ID 0x63757a6b /* "cuzk", in the header of the file */
#define SEAL_BYTES     16         /* of a SHA-256: against accidents, not against forgers */

/* The steps from each version to the next; the version is how many were done. Steps that were
 * released never change. */
static const char *const upgrades[] = {
    "CREATE TABLE job("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  request_id TEXT NOT NULL, kind TEXT NOT NULL, circuit TEXT NOT NULL,"
    "  priority INTEGER NOT NULL, payload_bytes INTEGER NOT NULL, payload_sha256 BLOB NOT "
    "NULL,"
    "  accepted_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL, finished_ms INTEGER NOT "
    "NULL,"
    "  attempts INTEGER NOT NULL, state INTEGER NOT NULL, handed_over INTEGER NOT NULL,"
    "  reason TEXT NOT NULL, seal BLOB NOT NULL"
    ") STRICT;"
    "CREATE INDEX job_by_request ON job(payload_sha256, request_id)"
    "  WHERE finished_ms = 0 OR (state = 3 AND handed_over = 0);" /* what a retry may want */
    "CREATE INDEX job_by_end ON job(finished_ms);"                /* 0 = unfinished */
    "CREATE TABLE result("
    "  number INTEGER PRIMARY KEY, proof BLOB NOT NULL, public_signals BLOB NOT NULL,"
    "  seal BLOB NOT NULL"
    ") STRICT;",
};
#define VERSION ((int)(sizeof upgrades / sizeof *upgrades))

#define JOB_COLUMNS                                                                           \
    "number, id, request_id, kind, circuit, priority, payload_bytes, payload_sha256,"         \
    " accepted_ms, started_ms, finished_ms, attempts, state, handed_over, reason, seal"
#define OLD_JOBS                                                                              \
    "(SELECT number FROM job WHERE finished_ms > 0 AND finished_ms < ?1 LIMIT 256)"

typedef enum statement {
    BEGIN,
    COMMIT,
    FIND,
    FIND_TWIN,
    INSERT,
    UPDATE,
    PUT_RESULT,
    GET_RESULT,
    COUNT_UNFINISHED,
    LIST_UNFINISHED,
    ALL,
    PRUNE_RESULTS,
    PRUNE_JOBS,
    N_STATEMENTS
} statement;

static const char *const statement_texts[N_STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [FIND] = "SELECT " JOB_COLUMNS " FROM job WHERE id = ?1",
    [FIND_TWIN] = "SELECT " JOB_COLUMNS " FROM job WHERE payload_sha256 = ?1"
                  " AND request_id = ?2 AND kind = ?3 AND circuit = ?4"
                  " AND (finished_ms = 0 OR (state = 3 AND handed_over = 0))"
                  " ORDER BY finished_ms = 0 DESC, number DESC LIMIT 1",
    [INSERT] = "INSERT INTO job(" JOB_COLUMNS ") VALUES(NULL, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
               " ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    [UPDATE] = "UPDATE job SET started_ms = ?10, finished_ms = ?11, attempts = ?12,"
               " state = ?13, handed_over = ?14, reason = ?15, seal = ?16 WHERE number = ?1",
    [PUT_RESULT] = "INSERT INTO result(number, proof, public_signals, seal)"
                   " VALUES(?1, ?2, ?3, ?4)",
    [GET_RESULT] = "SELECT proof, public_signals, seal FROM result WHERE number = ?1",
    [COUNT_UNFINISHED] = "SELECT count(*) FROM job WHERE finished_ms = 0",
    [LIST_UNFINISHED] = "SELECT id FROM job WHERE finished_ms = 0"
                        " ORDER BY priority DESC, number",
    [ALL] = "SELECT " JOB_COLUMNS " FROM job",
    [PRUNE_RESULTS] = "DELETE FROM result WHERE number IN " OLD_JOBS,
    [PRUNE_JOBS] = "DELETE FROM job WHERE number IN " OLD_JOBS,
};

struct journal_db {
    sqlite3 *sqlite;
    char *path;
    sqlite3_stmt *statements[N_STATEMENTS];
};

/* ---- errors ------------------------------------------------------------------------------- */

static cuzk_status fail_at(cuzk_err *err, const journal_db *db, cuzk_status code,
                           const char *what) {
    (void)cuzk_fail(err, code, "engine.journal", "%s", what);
    cuzk_err_prefix(err, db->path);
    return code;
}

static cuzk_status fail_damaged(cuzk_err *err, const journal_db *db, const char *what) {
    char text[200];
    (void)snprintf(
        text, sizeof text,
        "damaged (%.80s): put back a copy, or move the folder away and lose its jobs", what);
    return fail_at(err, db, CUZK_ERR_FORMAT, text);
}

static bool is_full(int rc, int error) {
    return rc == SQLITE_FULL || error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* What SQLite said last, in our words. Our statements are fixed, so that SQLITE_ERROR (no such
 * table...) means that the tables are not ours. */
static cuzk_status fail_sqlite(cuzk_err *err, const journal_db *db, int extended) {
    const int rc = extended & 0xff, error = sqlite3_system_errno(db->sqlite);
    const char *message = sqlite3_errmsg(db->sqlite);
    char text[200];
    if (rc == SQLITE_NOMEM || extended == SQLITE_IOERR_NOMEM)
        return fail_at(err, db, CUZK_ERR_NOMEM, "no memory");
    if (rc == SQLITE_FULL || (rc == SQLITE_IOERR && is_full(rc, error))) {
        return fail_at(err, db, CUZK_ERR_BUDGET,
                       "the disk is full or a quota used up: make room there and try again");
    }
    switch (rc) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
        return fail_damaged(err, db, message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fail_at(err, db, CUZK_ERR_BUSY,
                       "another program has it open: end that one, and try again");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        (void)snprintf(text, sizeof text, "%.60s (%d%s%.60s): check the disk and the folder",
                       message, extended, error ? ", " : "", error ? strerror(error) : "");
        return fail_at(err, db, CUZK_ERR_IO, text);
    default:
        (void)snprintf(text, sizeof text, "%.100s (%d)", message, extended);
        return fail_at(err, db, CUZK_ERR_INTERNAL, text);
    }
}

static cuzk_status check(cuzk_err *err, const journal_db *db, int rc) {
    return rc == SQLITE_OK ? CUZK_OK : fail_sqlite(err, db, rc);
}

/* ---- statements --------------------------------------------------------------------------- */

static cuzk_status execute(journal_db *db, const char *text, cuzk_err *err) {
    return check(err, db, sqlite3_exec(db->sqlite, text, NULL, NULL, NULL));
}

/* The first column of the first row of a one-off query. */
static cuzk_status ask(char *out, size_t capacity, journal_db *db, const char *query,
                       cuzk_err *err) {
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db->sqlite, query, -1, &s, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(s);
        const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
        (void)snprintf(out, capacity, "%s", text ? text : "");
    }
    cuzk_status status = CUZK_OK;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) status = fail_sqlite(err, db, rc);
    (void)sqlite3_finalize(s);
    return status;
}

/* Lets go of what a statement was given and of the row where it stands. */
static void reset(sqlite3_stmt *s) {
    (void)sqlite3_reset(s);
    (void)sqlite3_clear_bindings(s);
}

/* The next row, if there is one. */
static cuzk_status step(bool *out_is_row, journal_db *db, sqlite3_stmt *s, cuzk_err *err) {
    int rc = sqlite3_step(s);
    *out_is_row = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) return CUZK_OK;
    return fail_sqlite(err, db, rc);
}

/* A statement without rows, to its end. */
static cuzk_status run(journal_db *db, sqlite3_stmt *s, cuzk_err *err) {
    bool is_row;
    cuzk_status status = step(&is_row, db, s, err);
    reset(s);
    return status;
}

/* Binding fails for want of memory only. What is bound stays until the step is over. */
static int bind_text(sqlite3_stmt *s, int column, const char *text) {
    return sqlite3_bind_text(s, column, text, -1, SQLITE_STATIC);
}

static int bind_blob(sqlite3_stmt *s, int column, const void *bytes, size_t n_bytes) {
    return sqlite3_bind_blob64(s, column, n_bytes ? bytes : "", n_bytes, SQLITE_STATIC);
}

static int bind_u64(sqlite3_stmt *s, int column, uint64_t value) {
    return sqlite3_bind_int64(s, column, (sqlite3_int64)value);
}

/* ---- seals -------------------------------------------------------------------------------- */

typedef struct seal {
    uint8_t bytes[SEAL_BYTES];
} seal;

/* The parts with their lengths in front, so that bytes can't move from one to the next. */
static cuzk_status make_seal(seal *out, const cuzk_span *parts, size_t n_parts,
                             cuzk_err *err) {
    uint8_t sha256[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool ok = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1;
    for (size_t i = 0; ok && i < n_parts; i++) {
        uint8_t length[8];
        store_le64(length, parts[i].n_bytes);
        ok = EVP_DigestUpdate(hash, length, sizeof length) == 1 &&
             EVP_DigestUpdate(hash, parts[i].p, parts[i].n_bytes) == 1;
    }
    ok = ok && EVP_DigestFinal_ex(hash, sha256, NULL) == 1;
    EVP_MD_CTX_free(hash);
    if (!ok)
        return cuzk_fail(err, CUZK_ERR_NOMEM, "engine.journal", "no memory to hash a row");
    memcpy(out->bytes, sha256, SEAL_BYTES);
    return CUZK_OK;
}

static cuzk_span text_span(const char *text) {
    return (cuzk_span){(const uint8_t *)text, strlen(text)};
}

static cuzk_status seal_job(seal *out, const journal_job *job, cuzk_err *err) {
    const uint64_t values[] = {job->priority,   job->payload_bytes, job->accepted_ms,
                               job->started_ms, job->finished_ms,   job->n_attempts,
                               job->state,      job->is_handed_over};
    uint8_t numbers[sizeof values];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        store_le64(numbers + 8 * i, values[i]);
    }
    const cuzk_span parts[] = {
        text_span(job->id.hex),    text_span(job->request_id),
        text_span(job->kind),      text_span(job->circuit),
        text_span(job->reason),    {job->payload_sha256, sizeof job->payload_sha256},
        {numbers, sizeof numbers},
    };
    return make_seal(out, parts, sizeof parts / sizeof *parts, err);
}

static cuzk_status seal_result(seal *out, const journal_row *row, cuzk_span proof,
                               cuzk_span public_signals, cuzk_err *err) {
    const cuzk_span parts[] = {text_span(row->job.id.hex), proof, public_signals};
    return make_seal(out, parts, sizeof parts / sizeof *parts, err);
}

static bool holds_seal(sqlite3_stmt *s, int column, const seal *expected) {
    const void *bytes = sqlite3_column_blob(s, column);
    return bytes && sqlite3_column_bytes(s, column) == SEAL_BYTES &&
           memcmp(bytes, expected->bytes, SEAL_BYTES) == 0;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* These three say whether what is there fits: what was cut would have the seal of the rest. */
static bool read_text(char *out, size_t capacity, sqlite3_stmt *s, int column) {
    const char *text = (const char *)sqlite3_column_text(s, column);
    const int n_chars = snprintf(out, capacity, "%s", text ? text : "");
    return text && n_chars == sqlite3_column_bytes(s, column) && (size_t)n_chars < capacity;
}

static bool read_sha256(uint8_t out[JOURNAL_SHA256_BYTES], sqlite3_stmt *s, int column) {
    const void *bytes = sqlite3_column_blob(s, column);
    if (!bytes || sqlite3_column_bytes(s, column) != JOURNAL_SHA256_BYTES) return false;
    memcpy(out, bytes, JOURNAL_SHA256_BYTES);
    return true;
}

static uint64_t read_u64(sqlite3_stmt *s, int column) {
    return (uint64_t)sqlite3_column_int64(s, column);
}

static bool read_u32(uint32_t *out, sqlite3_stmt *s, int column) {
    const uint64_t value = read_u64(s, column);
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
}

/* The row where s stands, columns as in JOB_COLUMNS. FORMAT when its seal is broken. */
static cuzk_status read_row(journal_row *out, const journal_db *db, sqlite3_stmt *s,
                            cuzk_err *err) {
    journal_row row = {.number = sqlite3_column_int64(s, 0)};
    journal_job *job = &row.job;
    uint32_t state, handed_over;
    bool fits = read_text(job->id.hex, sizeof job->id.hex, s, 1);
    fits &= read_text(job->request_id, sizeof job->request_id, s, 2);
    fits &= read_text(job->kind, sizeof job->kind, s, 3);
    fits &= read_text(job->circuit, sizeof job->circuit, s, 4);
    fits &= read_u32(&job->priority, s, 5);
    job->payload_bytes = read_u64(s, 6);
    fits &= read_sha256(job->payload_sha256, s, 7);
    job->accepted_ms = read_u64(s, 8);
    job->started_ms = read_u64(s, 9);
    job->finished_ms = read_u64(s, 10);
    fits &= read_u32(&job->n_attempts, s, 11);
    fits &= read_u32(&state, s, 12) && state <= JOURNAL_CANCELLED;
    fits &= read_u32(&handed_over, s, 13) && handed_over <= 1;
    fits &= read_text(job->reason, sizeof job->reason, s, 14);
    job->state = fits ? (journal_state)state : JOURNAL_UNKNOWN;
    job->is_handed_over = handed_over == 1;

    seal expected;
    CUZK_TRY(seal_job(&expected, job, err));
    if (!fits || !holds_seal(s, 15, &expected)) {
        char what[64];
        (void)snprintf(what, sizeof what, "the row of job %" PRId64 " has changed",
                       row.number);
        return fail_damaged(err, db, what);
    }
    *out = row;
    return CUZK_OK;
}

/* Parameters are numbered as in JOB_COLUMNS; what never changes is bound for a new row only. */
static cuzk_status bind_row(journal_db *db, sqlite3_stmt *s, const journal_row *row,
                            const seal *sealed, bool is_new, cuzk_err *err) {
    const journal_job *job = &row->job;
    int rc = SQLITE_OK;
    if (is_new) {
        rc |= bind_text(s, 2, job->id.hex);
        rc |= bind_text(s, 3, job->request_id);
        rc |= bind_text(s, 4, job->kind);
        rc |= bind_text(s, 5, job->circuit);
        rc |= bind_u64(s, 6, job->priority);
        rc |= bind_u64(s, 7, job->payload_bytes);
        rc |= bind_blob(s, 8, job->payload_sha256, sizeof job->payload_sha256);
        rc |= bind_u64(s, 9, job->accepted_ms);
    } else {
        rc |= sqlite3_bind_int64(s, 1, row->number);
    }
    rc |= bind_u64(s, 10, job->started_ms);
    rc |= bind_u64(s, 11, job->finished_ms);
    rc |= bind_u64(s, 12, job->n_attempts);
    rc |= bind_u64(s, 13, job->state);
    rc |= bind_u64(s, 14, job->is_handed_over);
    rc |= bind_text(s, 15, job->reason);
    rc |= bind_blob(s, 16, sealed->bytes, sizeof sealed->bytes);
    if (rc == SQLITE_OK) return CUZK_OK;
    reset(s);
    return fail_at(err, db, CUZK_ERR_NOMEM, "no memory");
}

static cuzk_status store_row(journal_db *db, statement which, const journal_row *row,
                             cuzk_err *err) {
    seal sealed;
    sqlite3_stmt *s = db->statements[which];
    CUZK_TRY(seal_job(&sealed, &row->job, err));
    CUZK_TRY(bind_row(db, s, row, &sealed, which == INSERT, err));
    return run(db, s, err);
}

cuzk_status journal_db_insert(journal_db *db, const journal_job *job, cuzk_err *err) {
    const journal_row row = {.job = *job};
    return store_row(db, INSERT, &row, err);
}

cuzk_status journal_db_update(journal_db *db, const journal_row *row, cuzk_err *err) {
    return store_row(db, UPDATE, row, err);
}

/* The one row that a bound statement finds, if any. rc: of the binding. */
static cuzk_status find_row(journal_row *out, journal_db *db, sqlite3_stmt *s, int rc,
                            cuzk_err *err) {
    bool is_row = false;
    cuzk_status status = rc == SQLITE_OK ? step(&is_row, db, s, err)
                                         : fail_at(err, db, CUZK_ERR_NOMEM, "no memory");
    if (status == CUZK_OK && is_row) status = read_row(out, db, s, err);
    if (status == CUZK_OK && !is_row) *out = (journal_row){0};
    reset(s);
    return status;
}

cuzk_status journal_db_find(journal_row *out, journal_db *db, const journal_id *id,
                            cuzk_err *err) {
    sqlite3_stmt *s = db->statements[FIND];
    return find_row(out, db, s, bind_text(s, 1, id->hex), err);
}

cuzk_status journal_db_find_twin(journal_row *out, journal_db *db, const journal_job *like,
                                 cuzk_err *err) {
    sqlite3_stmt *s = db->statements[FIND_TWIN];
    int rc = bind_blob(s, 1, like->payload_sha256, sizeof like->payload_sha256);
    rc |= bind_text(s, 2, like->request_id);
    rc |= bind_text(s, 3, like->kind);
    rc |= bind_text(s, 4, like->circuit);
    return find_row(out, db, s, rc, err);
}

/* ---- results ------------------------------------------------------------------------------ */

cuzk_status journal_db_put_result(journal_db *db, const journal_row *row, cuzk_span proof,
                                  cuzk_span public_signals, cuzk_err *err) {
    seal sealed;
    sqlite3_stmt *s = db->statements[PUT_RESULT];
    CUZK_TRY(seal_result(&sealed, row, proof, public_signals, err));
    int rc = sqlite3_bind_int64(s, 1, row->number);
    rc |= bind_blob(s, 2, proof.p, proof.n_bytes);
    rc |= bind_blob(s, 3, public_signals.p, public_signals.n_bytes);
    rc |= bind_blob(s, 4, sealed.bytes, sizeof sealed.bytes);
    if (rc != SQLITE_OK) {
        reset(s);
        return fail_at(err, db, CUZK_ERR_NOMEM, "no memory");
    }
    return run(db, s, err);
}

static cuzk_span read_blob(sqlite3_stmt *s, int column) {
    const uint8_t *p = sqlite3_column_blob(s, column);
    return (cuzk_span){p, p ? (size_t)sqlite3_column_bytes(s, column) : 0};
}

static cuzk_status copy_result(journal_result *out, cuzk_span proof, cuzk_span public_signals,
                               cuzk_err *err) {
    uint8_t *block;
    CUZK_TRY(cuzk_alloc(&block, 1, proof.n_bytes + public_signals.n_bytes, err));
    if (proof.n_bytes) memcpy(block, proof.p, proof.n_bytes);
    if (public_signals.n_bytes)
        memcpy(block + proof.n_bytes, public_signals.p, public_signals.n_bytes);
    out->proof = (cuzk_span){block, proof.n_bytes};
    out->public_signals = (cuzk_span){block + proof.n_bytes, public_signals.n_bytes};
    return CUZK_OK;
}

cuzk_status journal_db_get_result(journal_result *out, bool *is_damaged, journal_db *db,
                                  const journal_row *row, cuzk_err *err) {
    sqlite3_stmt *s = db->statements[GET_RESULT];
    bool is_row;
    *is_damaged = true;
    cuzk_status status = check(err, db, sqlite3_bind_int64(s, 1, row->number));
    if (status == CUZK_OK) status = step(&is_row, db, s, err);
    if (status == CUZK_OK && is_row) {
        seal expected;
        cuzk_span proof = read_blob(s, 0), public_signals = read_blob(s, 1);
        status = seal_result(&expected, row, proof, public_signals, err);
        *is_damaged = status == CUZK_OK && !holds_seal(s, 2, &expected);
        if (status == CUZK_OK && !*is_damaged)
            status = copy_result(out, proof, public_signals, err);
    }
    reset(s);
    return status;
}

/* ---- many rows ---------------------------------------------------------------------------- */

static cuzk_status count_unfinished(uint64_t *out, journal_db *db, cuzk_err *err) {
    sqlite3_stmt *s = db->statements[COUNT_UNFINISHED];
    bool is_row;
    cuzk_status status = step(&is_row, db, s, err);
    if (status == CUZK_OK) *out = is_row ? read_u64(s, 0) : 0;
    reset(s);
    return status;
}

cuzk_status journal_db_list_unfinished(journal_id **out, size_t *n_ids, journal_db *db,
                                       cuzk_err *err) {
    uint64_t n_most;
    journal_id *ids;
    CUZK_TRY(count_unfinished(&n_most, db, err));
    CUZK_TRY(cuzk_alloc(&ids, (size_t)n_most, sizeof *ids, err));
    sqlite3_stmt *s = db->statements[LIST_UNFINISHED];
    size_t n = 0;
    cuzk_status status = CUZK_OK;
    while (status == CUZK_OK) {
        bool is_row;
        status = step(&is_row, db, s, err);
        if (status != CUZK_OK || !is_row || n == n_most) break;
        if (!read_text(ids[n].hex, sizeof ids[n].hex, s, 0)) {
            status = fail_damaged(err, db, "a job's id has changed");
        }
        n++;
    }
    reset(s);
    if (status != CUZK_OK) {
        cuzk_free(ids);
        return status;
    }
    *out = ids;
    *n_ids = n;
    return CUZK_OK;
}

cuzk_status journal_db_prune(uint64_t *n_removed, journal_db *db, uint64_t before_ms,
                             cuzk_err *err) {
    static const statement order[] = {PRUNE_RESULTS, PRUNE_JOBS}; /* both find the same jobs */
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        sqlite3_stmt *s = db->statements[order[i]];
        const uint64_t limit = before_ms < INT64_MAX ? before_ms : INT64_MAX;
        CUZK_TRY(check(err, db, bind_u64(s, 1, limit)));
        CUZK_TRY(run(db, s, err));
    }
    *n_removed = (uint64_t)sqlite3_changes(db->sqlite);
    return CUZK_OK;
}

/* ---- transactions ------------------------------------------------------------------------- */

cuzk_status journal_db_begin(journal_db *db, bool is_durable, cuzk_err *err) {
    CUZK_TRY(execute(db, is_durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
                     err));
    return run(db, db->statements[BEGIN], err);
}

cuzk_status journal_db_commit(journal_db *db, cuzk_err *err) {
    return run(db, db->statements[COMMIT], err);
}

void journal_db_rollback(journal_db *db) {
    if (sqlite3_get_autocommit(db->sqlite)) return;
    (void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- open and close ----------------------------------------------------------------------- */

/* secure_delete: freed pages are overwritten. journal_size_limit: a burst doesn't leave a large
 * log behind. The rest distrusts a file that somebody may have changed. */
static cuzk_status configure(journal_db *db, cuzk_err *err) {
    (void)sqlite3_extended_result_codes(db->sqlite, 1);
    (void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    char mode[16];
    CUZK_TRY(execute(db,
                     "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                     "PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA secure_delete=ON;"
                     "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_size_limit=16777216",
                     err));
    CUZK_TRY(ask(mode, sizeof mode, db, "PRAGMA journal_mode=WAL", err));
    if (strcmp(mode, "wal") != 0)
        return fail_at(err, db, CUZK_ERR_IO, "the disk does not allow a write-ahead log");
    return CUZK_OK;
}

static cuzk_status check_pages(journal_db *db, cuzk_err *err) {
    char verdict[128];
    CUZK_TRY(ask(verdict, sizeof verdict, db, "PRAGMA integrity_check(1)", err));
    return strcmp(verdict, "ok") == 0 ? CUZK_OK : fail_damaged(err, db, verdict);
}

static cuzk_status ask_number(int *out, journal_db *db, const char *query, cuzk_err *err) {
    char text[32];
    CUZK_TRY(ask(text, sizeof text, db, query, err));
    *out = (int)strtol(text, NULL, 10); /* SQLite's own text of a number of 32 bits */
    return CUZK_OK;
}

static cuzk_status upgrade_by_one(journal_db *db, int version, cuzk_err *err) {
    char mark[96];
    (void)snprintf(mark, sizeof mark, "PRAGMA application_id=%d; PRAGMA user_version=%d",
                   APPLICATION_ID, version + 1);
    CUZK_TRY(run(db, db->statements[BEGIN], err));
    cuzk_status status = execute(db, upgrades[version], err);
    if (status == CUZK_OK) status = execute(db, mark, err);
    if (status == CUZK_OK) status = journal_db_commit(db, err);
    if (status != CUZK_OK) journal_db_rollback(db);
    return status;
}

static cuzk_status upgrade(journal_db *db, cuzk_err *err) {
    int version, application, n_tables;
    CUZK_TRY(ask_number(&version, db, "PRAGMA user_version", err));
    CUZK_TRY(ask_number(&application, db, "PRAGMA application_id", err));
    CUZK_TRY(ask_number(&n_tables, db, "SELECT count(*) FROM sqlite_schema", err));
    if (application != APPLICATION_ID && (application || version || n_tables)) {
        return fail_at(err, db, CUZK_ERR_FORMAT,
                       "is not a cuzk journal: name another state directory");
    }
    if (version < 0 || version > VERSION) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "was written by a newer cuzk (version %d of the tables, this one knows "
                       "%d): install that one again, or name another state directory",
                       version, VERSION);
        return fail_at(err, db, CUZK_ERR_FORMAT, text);
    }
    for (; version < VERSION; version++) CUZK_TRY(upgrade_by_one(db, version, err));
    return CUZK_OK;
}

static cuzk_status prepare(journal_db *db, statement first, statement end, cuzk_err *err) {
    for (statement i = first; i < end; i++) {
        int rc = sqlite3_prepare_v3(db->sqlite, statement_texts[i], -1,
                                    SQLITE_PREPARE_PERSISTENT, &db->statements[i], NULL);
        CUZK_TRY(check(err, db, rc));
    }
    return CUZK_OK;
}

static cuzk_status check_seals(journal_db *db, cuzk_err *err) {
    sqlite3_stmt *s = db->statements[ALL];
    journal_row row;
    bool is_row = true;
    cuzk_status status = CUZK_OK;
    while (status == CUZK_OK && is_row) {
        status = step(&is_row, db, s, err);
        if (status == CUZK_OK && is_row) status = read_row(&row, db, s, err);
    }
    reset(s);
    return status;
}

/* SQLite takes a file of less than its smallest page for an empty one. */
static cuzk_status check_length(const journal_db *db, cuzk_err *err) {
    struct stat st;
    if (stat(db->path, &st) != 0) return fail_at(err, db, CUZK_ERR_IO, strerror(errno));
    const bool is_part = st.st_size > 0 && st.st_size < 512;
    return is_part ? fail_damaged(err, db, "all but the first bytes are gone") : CUZK_OK;
}

static cuzk_status open_checked(journal_db *db, cuzk_err *err) {
    CUZK_TRY(check_length(db, err));
    int rc = sqlite3_open_v2(db->path, &db->sqlite,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!db->sqlite) return fail_at(err, db, CUZK_ERR_NOMEM, "no memory");
    CUZK_TRY(check(err, db, rc));
    CUZK_TRY(configure(db, err));
    CUZK_TRY(check_pages(db, err));
    CUZK_TRY(prepare(db, BEGIN, FIND, err));
    CUZK_TRY(upgrade(db, err));
    CUZK_TRY(prepare(db, FIND, N_STATEMENTS, err));
    return check_seals(db, err);
}

cuzk_status journal_db_open(journal_db **out, const char *path, cuzk_err *err) {
    journal_db *db;
    const size_t n_path = strlen(path) + 1;
    CUZK_TRY(cuzk_zalloc(&db, 1, sizeof *db, err));
    cuzk_status status = cuzk_alloc(&db->path, 1, n_path, err);
    if (status == CUZK_OK) {
        memcpy(db->path, path, n_path);
        status = open_checked(db, err);
    }
    if (status != CUZK_OK) {
        journal_db_close(db);
        return status;
    }
    *out = db;
    return CUZK_OK;
}

void journal_db_close(journal_db *db) {
    if (!db) return;
    for (int i = 0; i < N_STATEMENTS; i++) (void)sqlite3_finalize(db->statements[i]);
    (void)sqlite3_close(db->sqlite);
    cuzk_free(db->path);
    cuzk_free(db);
}
