/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_ENGINE_JOURNAL_H
#define CUZK_ENGINE_JOURNAL_H
/* engine/journal: the durable record of jobs. In: payloads and what becomes of them. Out: the
 * same after a crash, a kill or a power cut. Knows nothing of proofs, queues or devices.
 *
 *   journal_payload_begin, _append...   a request comes in, of any size
 *   journal_accept                      now it is a job: nothing loses it any more
 *   journal_start, journal_map_payload  somebody works on it (again)
 *   journal_finish | _fail | _cancel    it is over; its payload (a witness) is removed
 *   journal_take_result                 its proof is handed over
 *   journal_prune                       it is forgotten
 *
 * One state directory, which one journal at a time may use:
 *   lock          held while open; holds the process id
 *   journal.db    SQLite (and journal.db-wal); every row and result carries a checksum
 *   spool/<id>    the payload of each unfinished job
 *
 * What a call says was done is on the disk when it returns. (journal_start alone may be
 * forgotten by a power cut, though not by a kill.) A call that fails has changed nothing that
 * later calls show; after a crash a job may come to light whose id was never returned.
 *
 * Status, in all calls:
 *   BUDGET  the disk is full or a quota is used up
 *   IO      the disk, or who may write there: the system's reason
 *   BUSY    another process has the state directory
 *   FORMAT  journal.db is damaged, missing beside payloads, of a newer version, or no journal
 *   NOMEM
 *   ARG     a call against what is written here
 * The text names the file and what to do. Times are milliseconds since 1970 (UTC). */
#include "base/file.h"

typedef struct journal journal;                 /* Thread: shared (locks inside) */
typedef struct journal_payload journal_payload; /* Thread: owned */

enum {
    JOURNAL_ID_CHARS = 32,
    JOURNAL_REQUEST_ID_CHARS = 1024, /* bytes, terminators not counted */
    JOURNAL_NAME_CHARS = 127,
    JOURNAL_REASON_CHARS = 255,
    JOURNAL_SHA256_BYTES = 32
};
#define JOURNAL_MAX_RESULT_BYTES ((size_t)64 << 20) /* proof and public signals together */

/* 128 random bits, in hexadecimal. Plain data. */
typedef struct journal_id {
    char hex[JOURNAL_ID_CHARS + 1];
} journal_id;
/* The id that a client wrote; a text that can't be one gives an id that no job has. */
journal_id journal_id_from_text(const char *text);

/* The numbers are on disks: frozen. */
typedef enum journal_state {
    JOURNAL_UNKNOWN = 0, /* no job has this id (any more) */
    JOURNAL_QUEUED = 1,
    JOURNAL_RUNNING = 2,
    JOURNAL_DONE = 3, /* this and the next two are for ever (but see journal_read_result) */
    JOURNAL_FAILED = 4,
    JOURNAL_CANCELLED = 5
} journal_state;

/* Queued or running. */
CUZK_INLINE bool journal_is_unfinished(journal_state state) {
    return state == JOURNAL_QUEUED || state == JOURNAL_RUNNING;
}

/* Plain data. */
typedef struct journal_job {
    journal_id id;
    journal_state state;
    uint32_t priority;   /* larger runs first */
    uint32_t n_attempts; /* how often it was started; more than 1: again, after a crash */
    bool is_handed_over; /* its result was taken */
    uint64_t accepted_ms, started_ms, finished_ms; /* 0 = not yet; started: the last time */
    uint64_t payload_bytes;
    uint8_t payload_sha256[JOURNAL_SHA256_BYTES];
    char request_id[JOURNAL_REQUEST_ID_CHARS + 1];
    char kind[JOURNAL_NAME_CHARS + 1];
    char circuit[JOURNAL_NAME_CHARS + 1];
    char reason[JOURNAL_REASON_CHARS + 1]; /* FAILED: why; else empty */
} journal_job;

/* ---- open --------------------------------------------------------------------------------- */

/* What was found at opening, for the log. */
typedef struct journal_recovery {
    uint64_t n_queued;      /* unfinished jobs, including */
    uint64_t n_interrupted; /* those that were running when the last process ended */
    uint64_t n_lost;        /* jobs that are FAILED now, since their payload is missing */
    uint64_t n_orphans;     /* payloads of no unfinished job, removed */
} journal_recovery;

/* Makes the directory (mode 0700) if there is none; those above it must exist. Checks all of
 * journal.db and brings it to this version. RUNNING jobs become QUEUED, and keep their place.
 * The time it takes grows with the jobs kept (about 10 us each), not with their payloads.
 * *recovered is unchanged on error; NULL is fine. */
CUZK_MUST_CHECK cuzk_status journal_open(journal **out, const char *state_dir,
                                         journal_recovery *recovered, cuzk_err *err);
/* No other call may be in progress, every payload ended. NULL is fine. */
void journal_close(journal *j);

/* ---- accept ------------------------------------------------------------------------------- */

/* The bytes from which the job can be run (again), whatever they mean. */
CUZK_MUST_CHECK cuzk_status journal_payload_begin(journal_payload **out, journal *j,
                                                  cuzk_err *err);
/* Pieces of any size. After an error only abort makes sense. */
CUZK_MUST_CHECK cuzk_status journal_payload_append(journal_payload *payload, const void *bytes,
                                                   size_t n_bytes, cuzk_err *err);
void journal_payload_abort(journal_payload *payload); /* NULL is fine */

/* What a client says about its request. Texts end with a NUL, are otherwise any bytes, and are
 * never kept. */
typedef struct journal_request {
    const char *request_id; /* the client's name for it, by no means unique; "" = none */
    const char *kind;       /* "circom", "porep-c2" */
    const char *circuit;    /* "porep-32g" */
    uint32_t priority;
} journal_request;

typedef enum journal_answer {
    JOURNAL_ACCEPTED, /* a new job */
    JOURNAL_JOINED,   /* a retry: this job is queued or running */
    JOURNAL_FINISHED  /* a retry: this job is DONE, and its result wasn't taken yet */
} journal_answer;

typedef struct journal_accepted {
    journal_id id;
    journal_answer answer;
} journal_accepted;

/* Makes a job of the payload; it is durable when this returns OK. Always ends the payload.
 * A retry is the same request_id (not ""), kind, circuit and payload; its priority is ignored.
 * Retries of a job that FAILED, was CANCELLED or was handed over are new jobs.
 * ARG: a text is too long. Any other error: not accepted; the client should come again. */
CUZK_MUST_CHECK cuzk_status journal_accept(journal_accepted *out, journal *j,
                                           journal_payload *payload,
                                           const journal_request *request, cuzk_err *err);

/* ---- work --------------------------------------------------------------------------------- */

/* The payload, mapped read-only and checked against its SHA-256 (about 1 s per GiB), of a job
 * that is unfinished. Owner: caller, file_in_close(); outlives the job. *state tells what the
 * job was; unless that is QUEUED or RUNNING, *out is unchanged. A payload that is missing or
 * damaged makes the job FAILED: *state and, in journal_get, the reason say so. */
CUZK_MUST_CHECK cuzk_status journal_map_payload(file_in *out, journal_state *state, journal *j,
                                                const journal_id *id, cuzk_err *err);

/* Changes of state. *was: the state before. The call has changed something if and only if that
 * is QUEUED or RUNNING, so whoever comes second (finish after cancel, cancel after finish, a
 * start of what is over) learns what came first. was NULL: nobody wants to know.
 * On error the job is as before: the call may be repeated, with the result still in hand. */
CUZK_MUST_CHECK cuzk_status journal_start(journal_state *was, journal *j, const journal_id *id,
                                          cuzk_err *err);
/* ARG: the result is larger than JOURNAL_MAX_RESULT_BYTES. */
CUZK_MUST_CHECK cuzk_status journal_finish(journal_state *was, journal *j,
                                           const journal_id *id, cuzk_span proof,
                                           cuzk_span public_signals, cuzk_err *err);
/* A long reason is cut. */
CUZK_MUST_CHECK cuzk_status journal_fail(journal_state *was, journal *j, const journal_id *id,
                                         const char *reason, cuzk_err *err);
CUZK_MUST_CHECK cuzk_status journal_cancel(journal_state *was, journal *j,
                                           const journal_id *id, cuzk_err *err);

/* ---- results ------------------------------------------------------------------------------ */

/* Zeroed: none. */
typedef struct journal_result { /* Thread: owned */
    journal_state state;        /* of the job; there are bytes only when it is DONE */
    bool was_handed_over;       /* before this call */
    cuzk_span proof, public_signals;
} journal_result;

/* Reads the result, any number of times. Owner: caller, journal_result_free(). A result that is
 * damaged on the disk is never returned: the job is FAILED from then on. */
CUZK_MUST_CHECK cuzk_status journal_read_result(journal_result *out, journal *j,
                                                const journal_id *id, cuzk_err *err);
/* The same, and marks it as handed over, in one step: of all calls for one job exactly one finds
 * was_handed_over false. From then on a retry of its request proves anew. To lose no proof on a
 * broken connection: read, send, and take when the client has it. */
CUZK_MUST_CHECK cuzk_status journal_take_result(journal_result *out, journal *j,
                                                const journal_id *id, cuzk_err *err);
void journal_result_free(journal_result *result);

/* ---- looking ------------------------------------------------------------------------------ */

/* state UNKNOWN when there is no such job (or id isn't an id): not an error. */
CUZK_MUST_CHECK cuzk_status journal_get(journal_job *out, journal *j, const journal_id *id,
                                        cuzk_err *err);
/* The queued and running jobs in the order in which they should run: by priority, then by
 * acceptance. Owner of *out: caller, cuzk_free(). */
CUZK_MUST_CHECK cuzk_status journal_list_unfinished(journal_id **out, size_t *n_ids,
                                                    journal *j, cuzk_err *err);
/* Forgets the jobs that finished before `before_ms`, results and all, handed over or not. Does
 * so in small steps, so that others need not wait. *n_removed counts them, on error too; NULL
 * is fine. */
CUZK_MUST_CHECK cuzk_status journal_prune(uint64_t *n_removed, journal *j, uint64_t before_ms,
                                          cuzk_err *err);

/* Whether the last write to the disk went well. If not, new jobs are still tried, and the first
 * write that goes well (disk space was freed) makes the journal healthy. Never waits for the
 * disk. */
typedef struct journal_health {
    bool is_degraded;
    uint64_t since_ms; /* 0 unless degraded */
    cuzk_err why;      /* the first error since then */
} journal_health;
void journal_get_health(journal_health *out, journal *j);

#endif
