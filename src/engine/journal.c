/* SPDX-License-Identifier: Apache-2.0 */
/* engine/journal: see journal.h.
 *
 * A payload's file is complete before its row is committed, and removed after the row says that
 * the job is over. So whatever moment the process dies at, an unfinished row has its payload,
 * and a file that no unfinished row wants is rubbish.
 *
 * What reads and writes rows is a step (journal_steps.h). Payloads are stored, mapped and hashed
 * outside of steps, by all threads at once. */
#define _GNU_SOURCE /* flock, getrandom */
#include "engine/journal.h"

#include "base/alloc.h"
#include "engine/journal_steps.h"
#include "engine/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

_Static_assert((int)JOURNAL_ID_CHARS == (int)SPOOL_NAME_CHARS, "an id names a payload");
_Static_assert((int)JOURNAL_SHA256_BYTES == (int)SPOOL_SHA256_BYTES, "one hash");

struct journal {
    int lock_fd;
    spool *payloads;
    journal_db *db; /* used inside steps only, once the journal is open */
    journal_steps steps;
    pthread_mutex_t health_lock; /* guards health; never held over anything slow */
    journal_health health;
};

struct journal_payload {
    journal *owner;
    spool_writer *writer;
    journal_id id;
};

/* ---- common ------------------------------------------------------------------------------- */

/* Never 0, which means "not yet". */
static uint64_t now_ms(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_REALTIME, &t) != 0 || t.tv_sec <= 0) return 1;
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

static cuzk_status fail_system(cuzk_err *err, cuzk_status code, const char *path,
                               const char *what) {
    (void)cuzk_fail(err, code, "engine.journal", "%s: %s", what, strerror(errno));
    cuzk_err_prefix(err, path);
    return code;
}

static cuzk_status make_id(journal_id *out, cuzk_err *err) {
    uint8_t bits[JOURNAL_ID_CHARS / 2];
    if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        return fail_system(err, CUZK_ERR_INTERNAL, "getrandom",
                           "no random bits for a job's id");
    for (size_t i = 0; i < sizeof bits; i++) {
        (void)snprintf(out->hex + 2 * i, 3, "%02x", bits[i]);
    }
    return CUZK_OK;
}

journal_id journal_id_from_text(const char *text) {
    journal_id id = {{0}};
    if (strlen(text) == JOURNAL_ID_CHARS) memcpy(id.hex, text, sizeof id.hex);
    return id;
}

/* Errors that speak of the disk. Want of memory, or a wrong call, says nothing about it. */
static bool is_disk_trouble(cuzk_status status) {
    return status == CUZK_ERR_BUDGET || status == CUZK_ERR_IO || status == CUZK_ERR_FORMAT ||
           status == CUZK_ERR_BUSY;
}

/* Every call that touched the disk ends here: notes how it went, passes the error on. */
static cuzk_status conclude(journal *j, cuzk_status status, journal_effect what,
                            const cuzk_err *why, cuzk_err *err) {
    pthread_mutex_lock(&j->health_lock);
    if (is_disk_trouble(status) && !j->health.is_degraded) {
        j->health = (journal_health){.is_degraded = true, .since_ms = now_ms(), .why = *why};
    } else if (status == CUZK_OK && what == JOURNAL_HAS_WRITTEN) {
        j->health = (journal_health){0};
    }
    pthread_mutex_unlock(&j->health_lock);
    if (status != CUZK_OK && err) *err = *why;
    return status;
}

void journal_get_health(journal_health *out, journal *j) {
    pthread_mutex_lock(&j->health_lock);
    *out = j->health;
    pthread_mutex_unlock(&j->health_lock);
}

/* Runs a step; returns its outcome and, in *what, whether it wrote. */
static cuzk_status run_step(journal_effect *what, journal *j, journal_step_fn *run, void *arg,
                            bool is_durable, cuzk_err *err) {
    journal_step step = {.run = run, .arg = arg, .is_durable = is_durable};
    cuzk_status status = journal_steps_run(&j->steps, &step, err);
    *what = step.effect;
    return status;
}

/* ---- open and close ----------------------------------------------------------------------- */

/* "folder/name"; owner: caller, cuzk_free(). */
static cuzk_status join(char **out, const char *folder, const char *name, cuzk_err *err) {
    const size_t capacity = strlen(folder) + sizeof "/" + strlen(name);
    CUZK_TRY(cuzk_alloc(out, 1, capacity, err));
    (void)snprintf(*out, capacity, "%s/%s", folder, name);
    return CUZK_OK;
}

/* A private file, made if need be; SQLite would make it readable for everybody. */
static cuzk_status open_private(int *out_fd, const char *path, cuzk_err *err) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0) {
        const bool is_full = errno == ENOSPC || errno == EDQUOT;
        return fail_system(err, is_full ? CUZK_ERR_BUDGET : CUZK_ERR_IO, path,
                           "can't be opened for writing (check the state directory)");
    }
    *out_fd = fd;
    return CUZK_OK;
}

/* The id of the process that has the lock is for people only, so that failing to note it does
 * no harm. */
static void write_pid(int fd) {
    char text[16];
    int n_chars = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n_chars, 0) == n_chars) return;
    (void)ftruncate(fd, 0);
}

static long read_pid(int fd) {
    char text[16] = {0};
    return pread(fd, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
}

static cuzk_status lock_folder(journal *j, const char *state_dir, cuzk_err *err) {
    char *path;
    CUZK_TRY(join(&path, state_dir, "lock", err));
    cuzk_status status = open_private(&j->lock_fd, path, err);
    if (status == CUZK_OK && flock(j->lock_fd, LOCK_EX | LOCK_NB) == 0) {
        write_pid(j->lock_fd);
    } else if (status == CUZK_OK && errno == EWOULDBLOCK) {
        status =
            cuzk_fail(err, CUZK_ERR_BUSY, "engine.journal",
                      "another daemon (process %ld) uses this state directory: end it, or "
                      "name another directory",
                      read_pid(j->lock_fd));
        cuzk_err_prefix(err, path);
    } else if (status == CUZK_OK) {
        status = fail_system(err, CUZK_ERR_IO, path, "can't be locked");
    }
    cuzk_free(path);
    return status;
}

/* A payload beside an empty journal. Payloads come after the journal, so that it was there. */
static cuzk_status refuse_payload(bool *out_keep, void *arg, const char *name, cuzk_err *err) {
    (void)name;
    *out_keep = true;
    (void)cuzk_fail(
        err, CUZK_ERR_FORMAT, "engine.journal",
        "missing or empty, though there are payloads in spool/: put back a copy, or "
        "empty spool/ and lose those jobs");
    cuzk_err_prefix(err, arg);
    return CUZK_ERR_FORMAT;
}

static cuzk_status check_is_first(journal *j, int fd, char *path, cuzk_err *err) {
    struct stat st;
    uint64_t none;
    if (fstat(fd, &st) != 0) return fail_system(err, CUZK_ERR_IO, path, "can't be examined");
    if (st.st_size > 0) return CUZK_OK;
    return spool_sweep(&none, j->payloads, refuse_payload, path, err);
}

static cuzk_status open_db(journal *j, const char *state_dir, cuzk_err *err) {
    char *path;
    int fd;
    CUZK_TRY(join(&path, state_dir, "journal.db", err));
    cuzk_status status = open_private(&fd, path, err);
    if (status == CUZK_OK) {
        status = check_is_first(j, fd, path, err);
        (void)close(fd); /* before SQLite opens it: closing would drop SQLite's locks */
    }
    if (status == CUZK_OK) status = journal_db_open(&j->db, path, err);
    cuzk_free(path);
    return status;
}

static cuzk_status open_spool(journal *j, const char *state_dir, cuzk_err *err) {
    char *path;
    CUZK_TRY(join(&path, state_dir, "spool", err));
    cuzk_status status = spool_open(&j->payloads, path, err);
    cuzk_free(path);
    return status;
}

static void end_job(journal_job *job, journal_state state, const char *reason) {
    job->state = state;
    job->finished_ms = now_ms();
    (void)snprintf(job->reason, sizeof job->reason, "%s", reason);
}

typedef struct recovery_step {
    const journal *j;
    journal_recovery found;
} recovery_step;

/* What an unfinished job that an earlier process left is from now on. */
static cuzk_status recover_job(journal_step *step, journal_db *db, const journal_id *id,
                               cuzk_err *err) {
    recovery_step *r = step->arg;
    journal_row row;
    cuzk_err lost;
    CUZK_TRY(journal_db_find(&row, db, id, err));
    journal_job *job = &row.job;
    cuzk_status status = spool_check(r->j->payloads, id->hex, job->payload_bytes, &lost);
    if (status == CUZK_ERR_FORMAT) {
        r->found.n_lost++;
        end_job(job, JOURNAL_FAILED, lost.text);
    } else if (status != CUZK_OK) {
        if (err) *err = lost;
        return status;
    } else {
        r->found.n_queued++;
        if (job->state == JOURNAL_QUEUED) return CUZK_OK;
        r->found.n_interrupted++;
        job->state = JOURNAL_QUEUED;
    }
    step->effect = JOURNAL_HAS_WRITTEN;
    return journal_db_update(db, &row, err);
}

static cuzk_status recover_jobs(journal_step *step, journal_db *db, cuzk_err *err) {
    recovery_step *r = step->arg;
    journal_id *ids = NULL;
    size_t n_ids = 0;
    r->found = (journal_recovery){0};
    CUZK_TRY(journal_db_list_unfinished(&ids, &n_ids, db, err));
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; status == CUZK_OK && i < n_ids; i++) {
        status = recover_job(step, db, &ids[i], err);
    }
    cuzk_free(ids);
    return status;
}

static cuzk_status is_wanted(bool *out, void *arg, const char *name, cuzk_err *err) {
    journal *j = arg;
    journal_row row;
    const journal_id id = journal_id_from_text(name);
    CUZK_TRY(journal_db_find(&row, j->db, &id, err));
    *out = journal_is_unfinished(row.job.state);
    return CUZK_OK;
}

static cuzk_status open_all(journal_recovery *r, journal *j, const char *state_dir,
                            cuzk_err *err) {
    CUZK_TRY(spool_make_folder(state_dir, err));
    CUZK_TRY(lock_folder(j, state_dir, err));
    CUZK_TRY(open_spool(j, state_dir, err));
    CUZK_TRY(open_db(j, state_dir, err));
    recovery_step recovery = {.j = j};
    journal_effect what;
    j->steps.db = j->db;
    CUZK_TRY(run_step(&what, j, recover_jobs, &recovery, true, err));
    *r = recovery.found;
    return spool_sweep(&r->n_orphans, j->payloads, is_wanted, j, err);
}

cuzk_status journal_open(journal **out, const char *state_dir, journal_recovery *recovered,
                         cuzk_err *err) {
    journal *j;
    journal_recovery r = {0};
    CUZK_TRY(cuzk_zalloc(&j, 1, sizeof *j, err));
    j->lock_fd = -1;
    pthread_mutex_init(&j->health_lock, NULL);
    journal_steps_init(&j->steps, NULL);
    cuzk_status status = open_all(&r, j, state_dir, err);
    if (status != CUZK_OK) {
        journal_close(j);
        return status;
    }
    if (recovered) *recovered = r;
    *out = j;
    return CUZK_OK;
}

/* The lock goes last: whoever gets it finds everything closed. */
void journal_close(journal *j) {
    if (!j) return;
    spool_close(j->payloads);
    journal_db_close(j->db);
    if (j->lock_fd >= 0) (void)close(j->lock_fd);
    journal_steps_fini(&j->steps);
    pthread_mutex_destroy(&j->health_lock);
    cuzk_free(j);
}

/* ---- accept ------------------------------------------------------------------------------- */

cuzk_status journal_payload_begin(journal_payload **out, journal *j, cuzk_err *err) {
    journal_payload *payload;
    cuzk_err why;
    CUZK_TRY(cuzk_zalloc(&payload, 1, sizeof *payload, err));
    payload->owner = j;
    cuzk_status status = make_id(&payload->id, &why);
    if (status == CUZK_OK)
        status = spool_begin(&payload->writer, j->payloads, payload->id.hex, &why);
    if (status != CUZK_OK) {
        cuzk_free(payload);
        return conclude(j, status, JOURNAL_HAS_READ, &why, err);
    }
    *out = payload;
    return CUZK_OK;
}

cuzk_status journal_payload_append(journal_payload *payload, const void *bytes, size_t n_bytes,
                                   cuzk_err *err) {
    cuzk_err why;
    cuzk_status status = spool_append(payload->writer, bytes, n_bytes, &why);
    return conclude(payload->owner, status, JOURNAL_HAS_READ, &why, err);
}

void journal_payload_abort(journal_payload *payload) {
    if (!payload) return;
    spool_abort(payload->writer);
    cuzk_free(payload);
}

static cuzk_status copy_text(char *out, size_t capacity, const char *text, const char *what,
                             cuzk_err *err) {
    const size_t n_chars = strlen(text);
    if (n_chars >= capacity) {
        return cuzk_fail(err, CUZK_ERR_ARG, "engine.journal",
                         "the %s has %zu bytes, and may have %zu", what, n_chars,
                         capacity - 1);
    }
    memcpy(out, text, n_chars + 1);
    return CUZK_OK;
}

static cuzk_status describe_job(journal_job *job, journal_payload *payload,
                                const journal_request *request, cuzk_err *err) {
    spool_sum sum;
    *job = (journal_job){.id = payload->id,
                         .state = JOURNAL_QUEUED,
                         .priority = request->priority,
                         .accepted_ms = now_ms()};
    CUZK_TRY(copy_text(job->request_id, sizeof job->request_id, request->request_id,
                       "request id", err));
    CUZK_TRY(copy_text(job->kind, sizeof job->kind, request->kind, "kind of job", err));
    CUZK_TRY(
        copy_text(job->circuit, sizeof job->circuit, request->circuit, "circuit id", err));
    CUZK_TRY(spool_finish(&sum, payload->writer, err));
    job->payload_bytes = sum.n_bytes;
    memcpy(job->payload_sha256, sum.sha256, sizeof sum.sha256);
    return CUZK_OK;
}

/* A job that is to be added, unless it turns out to be a retry. */
typedef struct accept_step {
    journal_job job;
    journal_accepted accepted;
} accept_step;

/* Sets what will be said: the job's own id, or that of the job that it is a retry of. */
static cuzk_status find_twin(accept_step *a, journal_db *db, cuzk_err *err) {
    journal_row twin = {0};
    a->accepted = (journal_accepted){.id = a->job.id, .answer = JOURNAL_ACCEPTED};
    if (a->job.request_id[0]) CUZK_TRY(journal_db_find_twin(&twin, db, &a->job, err));
    if (!twin.number) return CUZK_OK;
    const bool is_unfinished = journal_is_unfinished(twin.job.state);
    a->accepted.id = twin.job.id;
    a->accepted.answer = is_unfinished ? JOURNAL_JOINED : JOURNAL_FINISHED;
    return CUZK_OK;
}

/* A retry needs no second copy on the disk, so that this is asked before the payload is stored. */
static cuzk_status look_for_twin(accept_step *a, journal *j, cuzk_err *err) {
    journal_db *db = journal_steps_lock(&j->steps);
    cuzk_status status = find_twin(a, db, err);
    journal_steps_unlock(&j->steps);
    return status;
}

/* A twin may have come in while the payload was stored, so that it is asked again. */
static cuzk_status add_job(journal_step *step, journal_db *db, cuzk_err *err) {
    accept_step *a = step->arg;
    CUZK_TRY(find_twin(a, db, err));
    if (a->accepted.answer != JOURNAL_ACCEPTED) return CUZK_OK;
    step->effect = JOURNAL_HAS_WRITTEN;
    return journal_db_insert(db, &a->job, err);
}

/* Ends the writer. */
static cuzk_status store_job(journal_effect *what, accept_step *a, journal *j,
                             spool_writer *writer, cuzk_err *err) {
    *what = JOURNAL_HAS_READ;
    cuzk_status status = look_for_twin(a, j, err);
    if (status != CUZK_OK || a->accepted.answer != JOURNAL_ACCEPTED) {
        spool_abort(writer);
        return status;
    }
    CUZK_TRY(spool_commit(writer, err));
    status = run_step(what, j, add_job, a, true, err);
    if (status != CUZK_OK || a->accepted.answer != JOURNAL_ACCEPTED)
        spool_remove(j->payloads, a->job.id.hex);
    return status;
}

cuzk_status journal_accept(journal_accepted *out, journal *j, journal_payload *payload,
                           const journal_request *request, cuzk_err *err) {
    cuzk_err why;
    accept_step a;
    journal_effect what = JOURNAL_HAS_READ;
    cuzk_status status = describe_job(&a.job, payload, request, &why);
    if (status == CUZK_OK) {
        status = store_job(&what, &a, j, payload->writer, &why);
        cuzk_free(payload);
    } else {
        journal_payload_abort(payload);
    }
    if (status == CUZK_OK) *out = a.accepted;
    return conclude(j, status, what, &why, err);
}

/* ---- work --------------------------------------------------------------------------------- */

typedef struct change_step change_step;
/* Changes the row of an unfinished job, and what belongs to it. */
typedef cuzk_status change_fn(change_step *c, journal_db *db, cuzk_err *err);

struct change_step {
    const journal_id *id;
    change_fn *change;
    const char *reason;              /* of a failure */
    cuzk_span proof, public_signals; /* of a success */
    journal_row row;
    journal_state before;
};

static cuzk_status find_and_change(journal_step *step, journal_db *db, cuzk_err *err) {
    change_step *c = step->arg;
    CUZK_TRY(journal_db_find(&c->row, db, c->id, err));
    c->before = c->row.job.state;
    if (!journal_is_unfinished(c->before)) return CUZK_OK;
    step->effect = JOURNAL_HAS_WRITTEN;
    CUZK_TRY(c->change(c, db, err));
    return journal_db_update(db, &c->row, err);
}

static cuzk_status change_job(journal_state *was, journal *j, change_step *c, bool is_durable,
                              cuzk_err *err) {
    cuzk_err why;
    journal_effect what;
    cuzk_status status = run_step(&what, j, find_and_change, c, is_durable, &why);
    if (status == CUZK_OK) {
        const bool has_ended = !journal_is_unfinished(c->row.job.state);
        if (what == JOURNAL_HAS_WRITTEN && has_ended) spool_remove(j->payloads, c->id->hex);
        if (was) *was = c->before;
    }
    return conclude(j, status, what, &why, err);
}

static cuzk_status change_to_running(change_step *c, journal_db *db, cuzk_err *err) {
    (void)db, (void)err;
    c->row.job.state = JOURNAL_RUNNING;
    c->row.job.started_ms = now_ms();
    c->row.job.n_attempts++;
    return CUZK_OK;
}

cuzk_status journal_start(journal_state *was, journal *j, const journal_id *id,
                          cuzk_err *err) {
    change_step c = {.id = id, .change = change_to_running};
    return change_job(was, j, &c, false, err);
}

static cuzk_status change_to_done(change_step *c, journal_db *db, cuzk_err *err) {
    end_job(&c->row.job, JOURNAL_DONE, "");
    return journal_db_put_result(db, &c->row, c->proof, c->public_signals, err);
}

cuzk_status journal_finish(journal_state *was, journal *j, const journal_id *id,
                           cuzk_span proof, cuzk_span public_signals, cuzk_err *err) {
    if (proof.n_bytes > JOURNAL_MAX_RESULT_BYTES ||
        public_signals.n_bytes > JOURNAL_MAX_RESULT_BYTES - proof.n_bytes) {
        return cuzk_fail(err, CUZK_ERR_ARG, "engine.journal",
                         "a result of %zu + %zu bytes is more than %zu", proof.n_bytes,
                         public_signals.n_bytes, JOURNAL_MAX_RESULT_BYTES);
    }
    change_step c = {
        .id = id, .change = change_to_done, .proof = proof, .public_signals = public_signals};
    return change_job(was, j, &c, true, err);
}

static cuzk_status change_to_failed(change_step *c, journal_db *db, cuzk_err *err) {
    (void)db, (void)err;
    end_job(&c->row.job, JOURNAL_FAILED, c->reason);
    return CUZK_OK;
}

cuzk_status journal_fail(journal_state *was, journal *j, const journal_id *id,
                         const char *reason, cuzk_err *err) {
    change_step c = {.id = id, .change = change_to_failed, .reason = reason};
    return change_job(was, j, &c, true, err);
}

static cuzk_status change_to_cancelled(change_step *c, journal_db *db, cuzk_err *err) {
    (void)db, (void)err;
    end_job(&c->row.job, JOURNAL_CANCELLED, "");
    return CUZK_OK;
}

cuzk_status journal_cancel(journal_state *was, journal *j, const journal_id *id,
                           cuzk_err *err) {
    change_step c = {.id = id, .change = change_to_cancelled};
    return change_job(was, j, &c, true, err);
}

cuzk_status journal_map_payload(file_in *out, journal_state *state, journal *j,
                                const journal_id *id, cuzk_err *err) {
    cuzk_err why;
    journal_job job;
    CUZK_TRY(journal_get(&job, j, id, err));
    *state = job.state;
    if (!journal_is_unfinished(job.state)) return CUZK_OK;
    spool_sum expected = {.n_bytes = job.payload_bytes};
    memcpy(expected.sha256, job.payload_sha256, sizeof expected.sha256);
    cuzk_status status = spool_map(out, j->payloads, id->hex, &expected, &why);
    if (status != CUZK_ERR_FORMAT) return conclude(j, status, JOURNAL_HAS_READ, &why, err);

    /* The file is missing too when the job has ended meanwhile; *state then says how. */
    CUZK_TRY(journal_fail(state, j, id, why.text, err));
    if (journal_is_unfinished(*state)) *state = JOURNAL_FAILED;
    return CUZK_OK;
}

/* ---- results ------------------------------------------------------------------------------ */

typedef struct result_step {
    const journal_id *id;
    bool is_take;
    journal_row row;
    journal_result result;
} result_step;

/* Of a job that is DONE: reads the result, and notes in the row what that changes. */
static cuzk_status get_result(journal_step *step, journal_db *db, cuzk_err *err) {
    result_step *r = step->arg;
    journal_job *job = &r->row.job;
    bool is_damaged;
    r->result.was_handed_over = job->is_handed_over;
    CUZK_TRY(journal_db_get_result(&r->result, &is_damaged, db, &r->row, err));
    if (is_damaged) {
        end_job(job, JOURNAL_FAILED, "its result was damaged on the disk");
    } else if (r->is_take && !job->is_handed_over) {
        job->is_handed_over = true;
    } else {
        return CUZK_OK;
    }
    step->effect = JOURNAL_HAS_WRITTEN;
    return journal_db_update(db, &r->row, err);
}

static cuzk_status find_result(journal_step *step, journal_db *db, cuzk_err *err) {
    result_step *r = step->arg;
    journal_result_free(&r->result);
    CUZK_TRY(journal_db_find(&r->row, db, r->id, err));
    if (r->row.job.state == JOURNAL_DONE) CUZK_TRY(get_result(step, db, err));
    r->result.state = r->row.job.state;
    return CUZK_OK;
}

static cuzk_status fetch_result(journal_result *out, journal *j, const journal_id *id,
                                bool is_take, cuzk_err *err) {
    cuzk_err why;
    journal_effect what;
    result_step r = {.id = id, .is_take = is_take};
    cuzk_status status = run_step(&what, j, find_result, &r, true, &why);
    if (status == CUZK_OK) {
        *out = r.result;
    } else {
        journal_result_free(&r.result);
    }
    return conclude(j, status, what, &why, err);
}

cuzk_status journal_read_result(journal_result *out, journal *j, const journal_id *id,
                                cuzk_err *err) {
    return fetch_result(out, j, id, false, err);
}

cuzk_status journal_take_result(journal_result *out, journal *j, const journal_id *id,
                                cuzk_err *err) {
    return fetch_result(out, j, id, true, err);
}

void journal_result_free(journal_result *result) {
    cuzk_free((void *)(uintptr_t)result->proof.p); /* both are one block */
    *result = (journal_result){0};
}

/* ---- looking ------------------------------------------------------------------------------ */

cuzk_status journal_get(journal_job *out, journal *j, const journal_id *id, cuzk_err *err) {
    cuzk_err why;
    journal_row row;
    journal_db *db = journal_steps_lock(&j->steps);
    cuzk_status status = journal_db_find(&row, db, id, &why);
    journal_steps_unlock(&j->steps);
    if (status == CUZK_OK) *out = row.job;
    return conclude(j, status, JOURNAL_HAS_READ, &why, err);
}

cuzk_status journal_list_unfinished(journal_id **out, size_t *n_ids, journal *j,
                                    cuzk_err *err) {
    cuzk_err why;
    journal_db *db = journal_steps_lock(&j->steps);
    cuzk_status status = journal_db_list_unfinished(out, n_ids, db, &why);
    journal_steps_unlock(&j->steps);
    return conclude(j, status, JOURNAL_HAS_READ, &why, err);
}

typedef struct prune_step {
    uint64_t before_ms, n_removed;
} prune_step;

static cuzk_status prune_some(journal_step *step, journal_db *db, cuzk_err *err) {
    prune_step *p = step->arg;
    p->n_removed = 0;
    CUZK_TRY(journal_db_prune(&p->n_removed, db, p->before_ms, err));
    if (p->n_removed > 0) step->effect = JOURNAL_HAS_WRITTEN;
    return CUZK_OK;
}

cuzk_status journal_prune(uint64_t *n_removed, journal *j, uint64_t before_ms, cuzk_err *err) {
    cuzk_err why;
    cuzk_status status;
    journal_effect what;
    prune_step p = {.before_ms = before_ms};
    uint64_t n_all = 0;
    do {
        status = run_step(&what, j, prune_some, &p, true, &why);
        if (status == CUZK_OK) n_all += p.n_removed;
    } while (status == CUZK_OK && p.n_removed > 0);
    if (n_removed) *n_removed = n_all;
    return conclude(j, status, n_all ? JOURNAL_HAS_WRITTEN : JOURNAL_HAS_READ, &why, err);
}
