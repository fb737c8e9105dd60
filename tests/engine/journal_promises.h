/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TESTS_ENGINE_JOURNAL_PROMISES_H
#define CUZK_TESTS_ENGINE_JOURNAL_PROMISES_H
/* tests/engine/journal_promises: a client that writes down, in memory shared with the test, what
 * the journal has promised it, and a check that a journal keeps all that. The client may end
 * anywhere: before each call it notes what it is about to do, after it what it was told. */
#include "journal_fixture.h"
#include "testrand.h"

#include <sys/mman.h>

enum { MAX_PROMISES = 6000 };

typedef struct promise {
    journal_id id;
    unsigned number; /* from which request id, payload and proof follow */
    unsigned n_starts;
    journal_state told;     /* what the journal said it is */
    journal_state intended; /* what it was asked to become, and may be; 0 = nothing */
    bool is_taken, is_take_intended;
} promise;

typedef struct promises {
    unsigned n, next_number;
    unsigned n_errors; /* calls that failed */
    bool is_over;      /* the client came to its end */
    char fault[160];   /* what must never happen, and did */
    promise all[MAX_PROMISES];
} promises;

static inline promises *promises_create(void) {
    promises *p =
        mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static inline void promises_destroy(promises *p) { (void)munmap(p, sizeof *p); }

typedef struct client_text {
    char text[6000];
} client_text;

static inline client_text text_of(const char *what, unsigned number, size_t n_chars) {
    client_text t;
    memset(t.text, '.', sizeof t.text);
    int n_head = snprintf(t.text, 64, "%s-%u", what, number);
    if (n_chars > (size_t)n_head) t.text[n_head] = '.';
    t.text[n_chars > (size_t)n_head ? n_chars : (size_t)n_head] = 0;
    return t;
}
static inline client_text payload_of(unsigned number) {
    return text_of("payload", number, number * 977u % 5000);
}
static inline client_text proof_of(unsigned number) {
    return text_of("proof", number, number * 331u % 3000);
}

/* ---- the client: no assertions, since it runs in a child process ---- */

static inline bool went_well(promises *p, cuzk_status status, const cuzk_err *err) {
    if (status == CUZK_OK) return true;
    p->n_errors++;
    if (!err->text[0] || status == CUZK_ERR_INTERNAL || status == CUZK_ERR_ARG ||
        status == CUZK_ERR_FORMAT) {
        (void)snprintf(p->fault, sizeof p->fault, "%s: %.120s", cuzk_status_name(status),
                       err->text);
    }
    return false;
}

static inline void client_accept(promises *p, journal *j) {
    if (p->n == MAX_PROMISES) return;
    const unsigned number = p->next_number++;
    char request_id[32];
    (void)snprintf(request_id, sizeof request_id, "request-%u", number);
    const journal_request request = request_named(request_id);
    const client_text payload = payload_of(number);
    journal_accepted accepted;
    cuzk_err err;
    if (!went_well(p, try_accept(&accepted, j, &request, text_span(payload.text), &err), &err))
        return;
    p->all[p->n] = (promise){.id = accepted.id, .number = number, .told = JOURNAL_QUEUED};
    p->n++;
}

static inline void client_change(promises *p, journal *j, promise *job, journal_state to) {
    cuzk_err err;
    cuzk_status status = CUZK_OK;
    const client_text proof = proof_of(job->number);
    journal_state was = JOURNAL_UNKNOWN;
    job->intended = to;
    if (to == JOURNAL_RUNNING) status = journal_start(&was, j, &job->id, &err);
    if (to == JOURNAL_CANCELLED) status = journal_cancel(&was, j, &job->id, &err);
    if (to == JOURNAL_DONE)
        status =
            journal_finish(&was, j, &job->id, text_span(proof.text), text_span("[]"), &err);
    if (!went_well(p, status, &err)) return;
    if (!journal_is_unfinished(was)) {
        (void)snprintf(p->fault, sizeof p->fault, "job %u was %d", job->number, (int)was);
        return;
    }
    if (to == JOURNAL_RUNNING) job->n_starts++;
    job->told = to;
    job->intended = JOURNAL_UNKNOWN;
}

static inline void client_take(promises *p, journal *j, promise *job) {
    cuzk_err err;
    journal_result result;
    job->is_take_intended = true;
    if (!went_well(p, journal_take_result(&result, j, &job->id, &err), &err)) return;
    if (result.state != JOURNAL_DONE || result.was_handed_over)
        (void)snprintf(p->fault, sizeof p->fault, "job %u: no first result", job->number);
    journal_result_free(&result);
    job->is_taken = true;
}

/* One random call. Jobs of which it isn't known whether a call took effect are left alone. */
static inline void client_act(promises *p, journal *j, testrand *rnd) {
    const uint64_t choice = testrand_below(rnd, 8);
    if (choice < 3 || p->n == 0) {
        client_accept(p, j);
        return;
    }
    const unsigned n_recent = p->n < 12 ? p->n : 12;
    promise *job = &p->all[p->n - 1 - testrand_below(rnd, n_recent)];
    if (job->intended || job->is_take_intended) return;
    if (job->told == JOURNAL_DONE) {
        client_take(p, j, job);
    } else if (job->told == JOURNAL_QUEUED) {
        client_change(p, j, job, choice == 7 ? JOURNAL_CANCELLED : JOURNAL_RUNNING);
    } else if (job->told == JOURNAL_RUNNING) {
        client_change(p, j, job, choice == 7 ? JOURNAL_CANCELLED : JOURNAL_DONE);
    }
}

/* ---- the check ---- */

static inline void check_done(journal *j, const promise *promised, const journal_job *job) {
    journal_result result;
    cuzk_err err;
    must(journal_read_result(&result, j, &promised->id, &err), &err);
    assert_int_equal(result.state, JOURNAL_DONE);
    assert_bytes(result.proof, proof_of(promised->number).text);
    assert_bytes(result.public_signals, "[]");
    journal_result_free(&result);
    if (promised->is_taken) assert_true(job->is_handed_over);
    if (!promised->is_take_intended) assert_false(job->is_handed_over);
}

static inline void check_promise(journal *j, promise *promised, bool is_reopened) {
    const journal_job job = get_job(j, &promised->id);
    journal_state expected = promised->told;
    if (is_reopened && expected == JOURNAL_RUNNING) expected = JOURNAL_QUEUED;
    journal_state also = promised->intended;
    if (is_reopened && also == JOURNAL_RUNNING) also = JOURNAL_QUEUED;
    if (job.state != expected && (job.state != also || also == JOURNAL_UNKNOWN)) {
        fail_msg("job %u: told %d, about to be %d, is %d (%s)", promised->number,
                 (int)promised->told, (int)promised->intended, (int)job.state, job.reason);
    }
    assert_in_range(job.n_attempts, promised->n_starts,
                    promised->n_starts + (promised->intended == JOURNAL_RUNNING));
    if (journal_is_unfinished(job.state))
        assert_payload(j, &promised->id, payload_of(promised->number).text);
    if (job.state == JOURNAL_DONE) check_done(j, promised, &job);

    promised->told = job.state; /* from here on the journal is believed */
    promised->n_starts = job.n_attempts;
    promised->is_taken = promised->is_take_intended = job.is_handed_over;
    promised->intended = JOURNAL_UNKNOWN;
}

/* Everything from number `first` on. */
static inline void promises_check(promises *p, journal *j, unsigned first, bool is_reopened) {
    if (p->fault[0]) fail_msg("%s", p->fault);
    for (unsigned i = first; i < p->n; i++) check_promise(j, &p->all[i], is_reopened);
}

#endif
