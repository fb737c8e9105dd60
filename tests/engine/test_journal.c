/* SPDX-License-Identifier: Apache-2.0 */
/* engine/journal: the life of a job, retries, order, recovery, results, pruning, health. */
#define _GNU_SOURCE /* mkdtemp */
#include "journal_fixture.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- the life of a job ---- */

static void test_journal__keeps_what_it_was_told(void **state) {
    const fixture *f = *state;
    static const char id[] = "wdpost-f01234-0-[179 146 \xc3\xa9]", payload[] = "a \0 witness";
    const journal_request request = {id, "porep-c2", "porep-32g", 4};
    const cuzk_span bytes = {(const uint8_t *)payload, sizeof payload};
    journal *j = open_journal(f, NULL);
    journal_accepted accepted;
    cuzk_err err;
    must(try_accept(&accepted, j, &request, bytes, &err), &err);
    assert_int_equal(accepted.answer, JOURNAL_ACCEPTED);
    journal_close(j);

    j = open_journal(f, NULL);
    const journal_job job = get_job(j, &accepted.id);
    assert_same_id(&job.id, &accepted.id);
    assert_int_equal(job.state, JOURNAL_QUEUED);
    assert_string_equal(job.request_id, id);
    assert_string_equal(job.kind, "porep-c2");
    assert_string_equal(job.circuit, "porep-32g");
    assert_int_equal(job.priority, 4);
    assert_int_equal(job.payload_bytes, sizeof payload);
    assert_int_equal(job.n_attempts, 0);
    assert_true(job.accepted_ms > 1600000000000u);
    assert_int_equal(job.started_ms, 0);
    assert_int_equal(job.finished_ms, 0);
    assert_false(job.is_handed_over);
    assert_string_equal(job.reason, "");

    file_in map;
    journal_state was;
    must(journal_map_payload(&map, &was, j, &accepted.id, &err), &err);
    assert_int_equal(was, JOURNAL_QUEUED);
    assert_int_equal(map.bytes.n_bytes, sizeof payload);
    assert_memory_equal(map.bytes.p, payload, sizeof payload);
    file_in_close(&map);
    journal_close(j);
}

static void test_journal__hashes_the_payload(void **state) {
    static const uint8_t abc[] = {/* FIPS 180-2, appendix B.1 */
                                  0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                  0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                  0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                  0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    journal *j = open_journal(*state, NULL);
    const journal_accepted a = accept_text(j, "r", "abc");
    const journal_job job = get_job(j, &a.id);
    assert_memory_equal(job.payload_sha256, abc, sizeof abc);
    journal_close(j);
}

static void test_journal__takes_an_empty_payload(void **state) {
    journal *j = open_journal(*state, NULL);
    const journal_accepted a = accept_text(j, "r", "");
    assert_payload(j, &a.id, "");
    journal_close(j);
}

static void test_journal__removes_the_payload_when_the_job_ends(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    const journal_accepted done = accept_text(j, "", "1"), failed = accept_text(j, "", "2"),
                           cancelled = accept_text(j, "", "3");
    assert_int_equal(count_payloads(f), 3);
    assert_int_equal(start_job(j, &done.id), JOURNAL_QUEUED);
    assert_int_equal(finish_job(j, &done.id, "proof"), JOURNAL_RUNNING);
    assert_int_equal(start_job(j, &failed.id), JOURNAL_QUEUED);
    assert_int_equal(fail_job(j, &failed.id, "constraint 7"), JOURNAL_RUNNING);
    assert_int_equal(cancel_job(j, &cancelled.id), JOURNAL_QUEUED);
    assert_int_equal(count_payloads(f), 0);

    assert_int_equal(get_job(j, &done.id).state, JOURNAL_DONE);
    assert_int_equal(get_job(j, &done.id).n_attempts, 1);
    assert_true(get_job(j, &done.id).finished_ms >= get_job(j, &done.id).started_ms);
    assert_int_equal(get_job(j, &failed.id).state, JOURNAL_FAILED);
    assert_string_equal(get_job(j, &failed.id).reason, "constraint 7");
    assert_int_equal(get_job(j, &cancelled.id).state, JOURNAL_CANCELLED);
    journal_close(j);
}

/* Whoever comes second changes nothing, and learns what came first. */
static void test_journal__ends_a_job_once(void **state) {
    journal *j = open_journal(*state, NULL);
    const journal_accepted a = accept_text(j, "r", "x");
    assert_int_equal(cancel_job(j, &a.id), JOURNAL_QUEUED);
    assert_int_equal(finish_job(j, &a.id, "late"), JOURNAL_CANCELLED);
    assert_int_equal(fail_job(j, &a.id, "late"), JOURNAL_CANCELLED);
    assert_int_equal(start_job(j, &a.id), JOURNAL_CANCELLED);
    const journal_job job = get_job(j, &a.id);
    assert_int_equal(job.state, JOURNAL_CANCELLED);
    assert_int_equal(job.n_attempts, 0);
    assert_string_equal(job.reason, "");
    journal_result result = take_result(j, &a.id);
    assert_int_equal(result.state, JOURNAL_CANCELLED);
    assert_null(result.proof.p);
    journal_close(j);
}

static void test_journal__knows_no_job_of_another_id(void **state) {
    static const char *const texts[] = {"", "x", "0123456789abcdef0123456789abcdef",
                                        "0123456789abcdef0123456789abcdef0"};
    journal *j = open_journal(*state, NULL);
    (void)accept_text(j, "", "x");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const journal_id id = journal_id_from_text(texts[i]);
        assert_int_equal(get_job(j, &id).state, JOURNAL_UNKNOWN);
        assert_int_equal(start_job(j, &id), JOURNAL_UNKNOWN);
        assert_int_equal(finish_job(j, &id, "p"), JOURNAL_UNKNOWN);
        assert_int_equal(cancel_job(j, &id), JOURNAL_UNKNOWN);
        assert_int_equal(take_result(j, &id).state, JOURNAL_UNKNOWN);
        file_in map;
        journal_state was;
        assert_int_equal(journal_map_payload(&map, &was, j, &id, NULL), CUZK_OK);
        assert_int_equal(was, JOURNAL_UNKNOWN);
    }
    journal_close(j);
}

static void test_journal__refuses_texts_that_are_too_long(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    char longest[JOURNAL_REQUEST_ID_CHARS + 1], longer[JOURNAL_REQUEST_ID_CHARS + 2];
    memset(longest, 'x', sizeof longest);
    memset(longer, 'x', sizeof longer);
    longest[sizeof longest - 1] = longer[sizeof longer - 1] = 0;
    const journal_accepted a = accept_text(j, longest, "x");
    assert_string_equal(get_job(j, &a.id).request_id, longest);

    const journal_request bad[] = {
        {longer, "k", "c", 0}, {"r", longer, "c", 0}, {"r", "k", longer, 0}};
    for (size_t i = 0; i < 3; i++) {
        journal_accepted none;
        cuzk_err err;
        assert_int_equal(try_accept(&none, j, &bad[i], text_span("x"), &err), CUZK_ERR_ARG);
        assert_non_null(strstr(err.text, "and may have"));
    }
    assert_int_equal(count_payloads(f), 1);
    assert_false(is_degraded(j));
    journal_close(j);
}

static void test_journal__forgets_an_aborted_payload(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    journal_payload *payload;
    assert_int_equal(journal_payload_begin(&payload, j, NULL), CUZK_OK);
    assert_int_equal(journal_payload_append(payload, "secret", 6, NULL), CUZK_OK);
    assert_int_equal(count_payloads(f), 1);
    journal_payload_abort(payload);
    assert_int_equal(count_payloads(f), 0);
    journal_payload_abort(NULL);
    journal_close(j);
    journal_close(NULL);
}

/* ---- retries ---- */

static void test_accept__joins_the_job_when_it_is_unfinished(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    const journal_accepted first = accept_text(j, "r", "x"), queued = accept_text(j, "r", "x");
    (void)start_job(j, &first.id);
    const journal_accepted running = accept_text(j, "r", "x");
    assert_int_equal(queued.answer, JOURNAL_JOINED);
    assert_same_id(&queued.id, &first.id);
    assert_int_equal(running.answer, JOURNAL_JOINED);
    assert_same_id(&running.id, &first.id);
    assert_int_equal(count_payloads(f), 1);
    journal_close(j);
}

static void test_accept__gives_a_finished_proof_once(void **state) {
    journal *j = open_journal(*state, NULL);
    const journal_accepted first = accept_text(j, "r", "x");
    (void)finish_job(j, &first.id, "proof");
    const journal_accepted second = accept_text(j, "r", "x");
    assert_int_equal(second.answer, JOURNAL_FINISHED);
    assert_same_id(&second.id, &first.id);
    journal_result result = take_result(j, &second.id);
    assert_false(result.was_handed_over);
    journal_result_free(&result);
    const journal_accepted third = accept_text(j, "r", "x");
    assert_int_equal(third.answer, JOURNAL_ACCEPTED);
    assert_string_not_equal(third.id.hex, first.id.hex);
    journal_close(j);
}

static void test_accept__proves_anew_when_the_job_failed_or_was_cancelled(void **state) {
    journal *j = open_journal(*state, NULL);
    const journal_accepted first = accept_text(j, "r", "x");
    (void)fail_job(j, &first.id, "no");
    const journal_accepted second = accept_text(j, "r", "x");
    assert_int_equal(second.answer, JOURNAL_ACCEPTED);
    (void)cancel_job(j, &second.id);
    const journal_accepted third = accept_text(j, "r", "x");
    assert_int_equal(third.answer, JOURNAL_ACCEPTED);
    journal_close(j);
}

/* Clients send one id for several statements at once. */
static void test_accept__makes_a_new_job_when_anything_differs(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    const journal_request requests[] = {
        {"r", "k", "c", 1}, {"r", "k", "d", 1}, {"r", "l", "c", 1}, {"s", "k", "c", 1}};
    journal_accepted a;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(try_accept(&a, j, &requests[i], text_span("x"), NULL), CUZK_OK);
        assert_int_equal(a.answer, JOURNAL_ACCEPTED);
    }
    assert_int_equal(try_accept(&a, j, &requests[0], text_span("y"), NULL), CUZK_OK);
    assert_int_equal(a.answer, JOURNAL_ACCEPTED);
    assert_int_equal(count_payloads(f), 5);

    const journal_request urgent = {"r", "k", "c", 4}; /* priority is not identity */
    assert_int_equal(try_accept(&a, j, &urgent, text_span("x"), NULL), CUZK_OK);
    assert_int_equal(a.answer, JOURNAL_JOINED);
    journal_close(j);
}

static void test_accept__never_joins_without_a_request_id(void **state) {
    journal *j = open_journal(*state, NULL);
    (void)accept_text(j, "", "x");
    assert_int_equal(accept_text(j, "", "x").answer, JOURNAL_ACCEPTED);
    journal_close(j);
}

static void test_accept__joins_rather_than_hands_over(void **state) {
    journal *j = open_journal(*state, NULL);
    const journal_accepted first = accept_text(j, "r", "x");
    (void)finish_job(j, &first.id, "p");
    journal_result result = take_result(j, &first.id);
    journal_result_free(&result);
    const journal_accepted second = accept_text(j, "r", "x");
    const journal_accepted third = accept_text(j, "r", "x");
    assert_int_equal(third.answer, JOURNAL_JOINED);
    assert_same_id(&third.id, &second.id);
    journal_close(j);
}

static void test_accept__knows_retries_after_reopening(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    const journal_accepted done = accept_text(j, "done", "x"),
                           open = accept_text(j, "open", "x");
    (void)finish_job(j, &done.id, "p");
    journal_close(j);
    j = open_journal(f, NULL);
    const journal_accepted a = accept_text(j, "done", "x"), b = accept_text(j, "open", "x");
    assert_int_equal(a.answer, JOURNAL_FINISHED);
    assert_same_id(&a.id, &done.id);
    assert_int_equal(b.answer, JOURNAL_JOINED);
    assert_same_id(&b.id, &open.id);
    journal_close(j);
}

/* ---- order and recovery ---- */

static void test_list__goes_by_priority_then_by_acceptance(void **state) {
    const fixture *f = *state;
    static const uint32_t priorities[] = {2, 1, 4, 2, 4, 1, 3};
    static const unsigned order[] = {2, 4, 6, 0, 3, 1, 5};
    enum { N = sizeof priorities / sizeof *priorities };
    journal *j = open_journal(f, NULL);
    journal_accepted a[N];
    for (size_t i = 0; i < N; i++) {
        const journal_request request = {"", "k", "c", priorities[i]};
        assert_int_equal(try_accept(&a[i], j, &request, text_span("x"), NULL), CUZK_OK);
    }
    (void)start_job(j, &a[3].id);
    const journal_accepted over = accept_text(j, "", "x");
    (void)cancel_job(j, &over.id);
    for (int round = 0; round < 2; round++) {
        journal_id *ids;
        size_t n_ids;
        assert_int_equal(journal_list_unfinished(&ids, &n_ids, j, NULL), CUZK_OK);
        assert_int_equal(n_ids, N);
        for (size_t i = 0; i < N; i++) assert_same_id(&ids[i], &a[order[i]].id);
        cuzk_free(ids);
        journal_close(j);
        j = open_journal(f, NULL);
    }
    journal_close(j);
}

static void test_open__queues_again_what_was_running(void **state) {
    const fixture *f = *state;
    journal_recovery r;
    journal *j = open_journal(f, &r);
    assert_int_equal(r.n_queued, 0);
    const journal_accepted a = accept_text(j, "", "x"), b = accept_text(j, "", "y");
    (void)start_job(j, &a.id);
    journal_close(j);

    j = open_journal(f, &r);
    assert_int_equal(r.n_queued, 2);
    assert_int_equal(r.n_interrupted, 1);
    assert_int_equal(r.n_lost, 0);
    assert_int_equal(r.n_orphans, 0);
    assert_int_equal(get_job(j, &a.id).state, JOURNAL_QUEUED);
    assert_int_equal(get_job(j, &a.id).n_attempts, 1);
    assert_int_equal(start_job(j, &a.id), JOURNAL_QUEUED);
    assert_int_equal(get_job(j, &a.id).n_attempts, 2);
    assert_int_equal(get_job(j, &b.id).n_attempts, 0);
    journal_close(j);
}

static void put_file(fixture_path path, const char *text) {
    FILE *file = fopen(path.text, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void test_open__removes_payloads_that_nobody_wants(void **state) {
    const fixture *f = *state;
    journal_recovery r;
    journal *j = open_journal(f, NULL);
    const journal_accepted kept = accept_text(j, "", "x"), over = accept_text(j, "", "y");
    (void)cancel_job(j, &over.id);
    journal_close(j);
    const journal_id stray = {"00112233445566778899aabbccddeeff"};
    put_file(path_of_payload(f, &stray), "half an upload");
    put_file(path_of_payload(f, &over.id), "not removed in time");
    put_file(path_in(f, "spool/README"), "not ours");

    j = open_journal(f, &r);
    assert_int_equal(r.n_orphans, 2);
    assert_false(exists(path_of_payload(f, &stray)));
    assert_false(exists(path_of_payload(f, &over.id)));
    assert_true(exists(path_in(f, "spool/README")));
    assert_payload(j, &kept.id, "x");
    journal_close(j);
}

static void test_open__fails_jobs_whose_payload_is_gone(void **state) {
    const fixture *f = *state;
    journal_recovery r;
    journal *j = open_journal(f, NULL);
    const journal_accepted missing = accept_text(j, "r", "x"),
                           shorter = accept_text(j, "", "long"),
                           folder = accept_text(j, "", "z"), fine = accept_text(j, "", "w");
    journal_close(j);
    assert_int_equal(unlink(path_of_payload(f, &missing.id).text), 0);
    put_file(path_of_payload(f, &shorter.id), "lon");
    assert_int_equal(unlink(path_of_payload(f, &folder.id).text), 0);
    assert_int_equal(symlink("/dev/null", path_of_payload(f, &folder.id).text), 0);

    j = open_journal(f, &r);
    assert_int_equal(r.n_lost, 3);
    assert_int_equal(r.n_queued, 1);
    assert_int_equal(get_job(j, &missing.id).state, JOURNAL_FAILED);
    assert_non_null(strstr(get_job(j, &missing.id).reason, "is missing"));
    assert_int_equal(get_job(j, &shorter.id).state, JOURNAL_FAILED);
    assert_non_null(strstr(get_job(j, &shorter.id).reason, "3 bytes instead of 4"));
    assert_int_equal(get_job(j, &folder.id).state, JOURNAL_FAILED);
    assert_int_equal(get_job(j, &fine.id).state, JOURNAL_QUEUED);
    assert_int_equal(accept_text(j, "r", "x").answer, JOURNAL_ACCEPTED);
    journal_close(j);
}

static void test_map_payload__fails_the_job_when_the_payload_changed(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    const journal_accepted a = accept_text(j, "r", "witness");
    (void)start_job(j, &a.id);
    put_file(path_of_payload(f, &a.id), "Witness");
    file_in map;
    journal_state was;
    cuzk_err err;
    must(journal_map_payload(&map, &was, j, &a.id, &err), &err);
    assert_int_equal(was, JOURNAL_FAILED);
    assert_non_null(strstr(get_job(j, &a.id).reason, "SHA-256"));
    assert_false(exists(path_of_payload(f, &a.id)));
    assert_false(is_degraded(j));
    journal_close(j);
}

static void test_map_payload__outlives_the_job(void **state) {
    journal *j = open_journal(*state, NULL);
    const journal_accepted a = accept_text(j, "r", "witness");
    file_in map;
    journal_state was;
    assert_int_equal(journal_map_payload(&map, &was, j, &a.id, NULL), CUZK_OK);
    (void)cancel_job(j, &a.id);
    assert_bytes(map.bytes, "witness");
    file_in_close(&map);
    assert_int_equal(journal_map_payload(&map, &was, j, &a.id, NULL), CUZK_OK);
    assert_int_equal(was, JOURNAL_CANCELLED);
    journal_close(j);
}

/* ---- results ---- */

static void test_result__is_taken_once_and_read_often(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    const journal_accepted a = accept_text(j, "r", "x");
    journal_result result;
    assert_int_equal(journal_read_result(&result, j, &a.id, NULL), CUZK_OK);
    assert_int_equal(result.state, JOURNAL_QUEUED);
    assert_null(result.proof.p);
    (void)finish_job(j, &a.id, "{\"pi_a\": 1}");
    for (int i = 0; i < 6; i++) {
        const bool is_take = i == 1 || i == 4, was_taken = i > 1;
        cuzk_status status = is_take ? journal_take_result(&result, j, &a.id, NULL)
                                     : journal_read_result(&result, j, &a.id, NULL);
        assert_int_equal(status, CUZK_OK);
        assert_int_equal(result.state, JOURNAL_DONE);
        assert_int_equal(result.was_handed_over, was_taken);
        assert_bytes(result.proof, "{\"pi_a\": 1}");
        assert_bytes(result.public_signals, "[]");
        journal_result_free(&result);
        journal_result_free(&result);
        if (i == 3) {
            journal_close(j);
            j = open_journal(f, NULL);
        }
    }
    assert_true(get_job(j, &a.id).is_handed_over);
    journal_close(j);
}

static void test_result__may_be_megabytes_or_nothing(void **state) {
    journal *j = open_journal(*state, NULL);
    const size_t n_bytes = 5u << 20;
    uint8_t *big = malloc(n_bytes);
    assert_non_null(big);
    for (size_t i = 0; i < n_bytes; i++) big[i] = (uint8_t)(i * 7 + (i >> 11));
    const journal_accepted a = accept_text(j, "", "x"), b = accept_text(j, "", "x"),
                           c = accept_text(j, "", "x");
    cuzk_err err;
    must(journal_finish(NULL, j, &a.id, (cuzk_span){big, n_bytes}, (cuzk_span){0}, &err),
         &err);
    must(journal_finish(NULL, j, &b.id, (cuzk_span){0}, (cuzk_span){0}, &err), &err);
    const cuzk_span too_much = {big, JOURNAL_MAX_RESULT_BYTES};
    assert_int_equal(journal_finish(NULL, j, &c.id, too_much, (cuzk_span){big, 1}, &err),
                     CUZK_ERR_ARG);
    journal_result result = take_result(j, &a.id);
    assert_int_equal(result.proof.n_bytes, n_bytes);
    assert_memory_equal(result.proof.p, big, n_bytes);
    assert_int_equal(result.public_signals.n_bytes, 0);
    journal_result_free(&result);
    result = take_result(j, &b.id);
    assert_int_equal(result.state, JOURNAL_DONE);
    assert_int_equal(result.proof.n_bytes, 0);
    journal_result_free(&result);
    assert_int_equal(get_job(j, &c.id).state, JOURNAL_QUEUED);
    free(big);
    journal_close(j);
}

/* Runs SQL on the file of a closed journal. */
static void tamper(const fixture *f, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path_in(f, "journal.db").text, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void test_result__is_never_returned_when_damaged(void **state) {
    const fixture *f = *state;
    static const char *const damages[] = {
        "UPDATE result SET proof = x'00'", "UPDATE result SET public_signals = x'5b31'",
        "UPDATE result SET seal = x'00'", "DELETE FROM result"};
    for (size_t i = 0; i < 4; i++) {
        journal *j = open_journal(f, NULL);
        const journal_accepted a = accept_text(j, "r", "x");
        assert_int_equal(a.answer, JOURNAL_ACCEPTED);
        (void)finish_job(j, &a.id, "proof");
        journal_close(j);
        tamper(f, damages[i]);
        j = open_journal(f, NULL);
        assert_int_equal(accept_text(j, "r", "x").answer, JOURNAL_FINISHED);
        journal_result result = take_result(j, &a.id);
        assert_int_equal(result.state, JOURNAL_FAILED);
        assert_null(result.proof.p);
        assert_non_null(strstr(get_job(j, &a.id).reason, "damaged"));
        journal_close(j);
    }
}

/* ---- pruning ---- */

static void test_prune__forgets_what_ended_before(void **state) {
    const fixture *f = *state;
    enum { N = 600 }; /* more than one step of it */
    journal *j = open_journal(f, NULL);
    const journal_accepted running = accept_text(j, "", "x");
    for (int i = 0; i < N; i++) {
        const journal_accepted a = accept_text(j, "", "y");
        (void)finish_job(j, &a.id, "p");
    }
    uint64_t n_removed = 7;
    assert_int_equal(journal_prune(&n_removed, j, get_job(j, &running.id).accepted_ms, NULL),
                     CUZK_OK);
    assert_int_equal(n_removed, 0);
    assert_int_equal(journal_prune(&n_removed, j, UINT64_MAX, NULL), CUZK_OK);
    assert_int_equal(n_removed, N);
    assert_payload(j, &running.id, "x");
    const journal_accepted next = accept_text(j, "", "z");
    (void)finish_job(j, &next.id, "q"); /* its number may be one that was used before */
    journal_result result = take_result(j, &next.id);
    assert_bytes(result.proof, "q");
    journal_result_free(&result);
    journal_close(j);
}

/* ---- the folder ---- */

static void test_open__is_private(void **state) {
    const fixture *f = *state;
    static const char *const names[] = {".", "spool", "journal.db", "lock"};
    (void)umask(0);
    journal *j = open_journal(f, NULL);
    const journal_accepted a = accept_text(j, "", "x");
    struct stat st;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(stat(path_in(f, names[i]).text, &st), 0);
        assert_int_equal(st.st_mode & 077, 0);
    }
    assert_int_equal(stat(path_in(f, "journal.db-wal").text, &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    assert_int_equal(stat(path_of_payload(f, &a.id).text, &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    (void)umask(022);
    journal_close(j);
}

static void test_open__refuses_a_folder_that_is_in_use(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL), *second = NULL;
    cuzk_err err;
    char pid[32];
    (void)snprintf(pid, sizeof pid, "process %ld", (long)getpid());
    assert_int_equal(journal_open(&second, f->state, NULL, &err), CUZK_ERR_BUSY);
    assert_null(second);
    assert_non_null(strstr(err.text, pid));
    assert_non_null(strstr(err.text, "/lock"));
    journal_close(j);
    journal_close(open_journal(f, NULL));
}

static void expect_no_open(const char *folder, cuzk_status expected, const char *words) {
    journal *j = NULL;
    cuzk_err err;
    assert_int_equal(journal_open(&j, folder, NULL, &err), expected);
    assert_null(j);
    if (!strstr(err.text, words)) fail_msg("'%s' is not in: %s", words, err.text);
}

static void test_open__says_what_is_wrong_with_the_folder(void **state) {
    const fixture *f = *state;
    char deep[160];
    (void)snprintf(deep, sizeof deep, "%s/none/deeper", f->folder);
    expect_no_open(deep, CUZK_ERR_IO, "No such file or directory");
    expect_no_open("", CUZK_ERR_IO, "No such file");
    expect_no_open("/dev/null", CUZK_ERR_IO, "Not a directory");
    expect_no_open("/proc/cuzk", CUZK_ERR_IO, "/proc/cuzk");
}

static void test_open__refuses_a_newer_journal(void **state) {
    const fixture *f = *state;
    journal_close(open_journal(f, NULL));
    tamper(f, "PRAGMA user_version = 99");
    expect_no_open(f->state, CUZK_ERR_FORMAT, "newer cuzk (version 99");
    tamper(f, "PRAGMA user_version = 1");
    journal_close(open_journal(f, NULL));
}

static void test_open__refuses_another_programs_database(void **state) {
    const fixture *f = *state;
    assert_int_equal(mkdir(f->state, 0700), 0);
    tamper(f, "CREATE TABLE recipe(name TEXT)");
    expect_no_open(f->state, CUZK_ERR_FORMAT, "not a cuzk journal");
}

static void test_open__notices_changed_rows(void **state) {
    const fixture *f = *state;
    static const char *const damages[] = {
        "UPDATE job SET state = 3",
        "UPDATE job SET request_id = 's'",
        "UPDATE job SET priority = priority + 4294967296",
        "UPDATE job SET handed_over = 1",
        "UPDATE job SET payload_sha256 = x'00'",
        "UPDATE job SET seal = x'00'",
        "UPDATE job SET payload_bytes = 2",
        "UPDATE job SET request_id = CAST(x'720078' AS TEXT)",
        "UPDATE job SET state = 7",
        "UPDATE job SET id = replace(hex(zeroblob(16)), '0', 'a')"};
    journal *j = open_journal(f, NULL);
    const journal_accepted a = accept_text(j, "r", "x");
    (void)cancel_job(j, &a.id); /* of no interest to recovery, but checked like all others */
    journal_close(j);
    tamper(f, "PRAGMA journal_mode = DELETE; CREATE TABLE keep AS SELECT * FROM job");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        tamper(f, damages[i]);
        expect_no_open(f->state, CUZK_ERR_FORMAT, "damaged");
        tamper(f, "DELETE FROM job; INSERT INTO job SELECT * FROM keep");
    }
    journal_close(open_journal(f, NULL));
}

/* ---- health ---- */

static void test_health__degrades_and_heals(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    const journal_accepted done = accept_text(j, "r", "x");
    (void)finish_job(j, &done.id, "proof");
    assert_false(is_degraded(j));

    static const uint8_t big[1 << 20] = {1};
    const journal_request request = request_named("big");
    journal_accepted none;
    cuzk_err err;
    struct rlimit before, small;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 256 << 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(try_accept(&none, j, &request, (cuzk_span){big, sizeof big}, &err),
                     CUZK_ERR_BUDGET);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);

    assert_non_null(strstr(err.text, "make room"));
    journal_health health;
    journal_get_health(&health, j);
    assert_true(health.is_degraded);
    assert_true(health.since_ms > 0);
    assert_string_equal(health.why.text, err.text);
    assert_int_equal(count_payloads(f), 0);
    journal_result result; /* what is there can still be read */
    assert_int_equal(journal_read_result(&result, j, &done.id, NULL), CUZK_OK);
    assert_bytes(result.proof, "proof");
    journal_result_free(&result);
    assert_true(is_degraded(j));

    assert_int_equal(try_accept(&none, j, &request, (cuzk_span){big, sizeof big}, NULL),
                     CUZK_OK);
    assert_false(is_degraded(j));
    journal_close(j);
}

/* ---- threads ---- */

enum { N_THREADS = 8, N_ROUNDS = 60 };

typedef struct worker {
    pthread_t thread;
    journal *j;
    pthread_barrier_t *at_once;
    unsigned number, n_new, n_joined, n_first_takes;
    const char *fault;
} worker;

/* All threads ask for the same jobs, and each for some of its own. */
static void *work(void *arg) {
    worker *w = arg;
    for (unsigned i = 0; i < N_ROUNDS; i++) {
        char request_id[32];
        const bool is_shared = i % 2 == 0;
        (void)pthread_barrier_wait(w->at_once);
        (void)snprintf(request_id, sizeof request_id, "%s-%u", is_shared ? "all" : "own",
                       is_shared ? i : i + 1000 * w->number);
        const journal_request request = request_named(request_id);
        journal_accepted a;
        journal_result result = {0};
        if (try_accept(&a, w->j, &request, text_span(request_id), NULL) != CUZK_OK ||
            journal_start(NULL, w->j, &a.id, NULL) != CUZK_OK ||
            journal_finish(NULL, w->j, &a.id, text_span(request_id), text_span("[]"), NULL) ||
            journal_read_result(&result, w->j, &a.id, NULL) != CUZK_OK) {
            w->fault = "a call failed";
        } else if (result.state != JOURNAL_DONE ||
                   result.proof.n_bytes != strlen(request_id) ||
                   memcmp(result.proof.p, request_id, result.proof.n_bytes) != 0) {
            w->fault = "wrong result";
        }
        w->n_new += a.answer == JOURNAL_ACCEPTED;
        w->n_joined += a.answer != JOURNAL_ACCEPTED;
        journal_result_free(&result);
    }
    return NULL;
}

static void *take_all(void *arg) {
    worker *w = arg;
    for (unsigned i = 0; i < N_ROUNDS; i += 2) {
        char request_id[32];
        (void)snprintf(request_id, sizeof request_id, "all-%u", i);
        const journal_request request = request_named(request_id);
        journal_accepted a;
        journal_result result = {0};
        if (try_accept(&a, w->j, &request, text_span(request_id), NULL) != CUZK_OK ||
            journal_take_result(&result, w->j, &a.id, NULL) != CUZK_OK)
            w->fault = "a call failed";
        w->n_first_takes += result.state == JOURNAL_DONE && !result.was_handed_over;
        journal_result_free(&result);
    }
    return NULL;
}

static void run_workers(worker *workers, journal *j, void *(*body)(void *)) {
    pthread_barrier_t at_once;
    assert_int_equal(pthread_barrier_init(&at_once, NULL, N_THREADS), 0);
    for (unsigned i = 0; i < N_THREADS; i++) {
        workers[i] = (worker){.j = j, .at_once = &at_once, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, body, &workers[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        if (workers[i].fault) fail_msg("thread %u: %s", i, workers[i].fault);
    }
    (void)pthread_barrier_destroy(&at_once);
}

static void test_journal__is_shared_by_threads(void **state) {
    journal *j = open_journal(*state, NULL);
    worker workers[N_THREADS];
    unsigned n_new = 0, n_joined = 0, n_first_takes = 0;
    run_workers(workers, j, work);
    for (unsigned i = 0; i < N_THREADS; i++) {
        n_new += workers[i].n_new;
        n_joined += workers[i].n_joined;
    }
    assert_int_equal(n_new, N_ROUNDS / 2 + N_THREADS * N_ROUNDS / 2);
    assert_int_equal(n_joined, (N_THREADS - 1) * N_ROUNDS / 2);
    run_workers(workers, j, take_all);
    for (unsigned i = 0; i < N_THREADS; i++) n_first_takes += workers[i].n_first_takes;
    assert_int_equal(n_first_takes, N_ROUNDS / 2);
    assert_false(is_degraded(j));
    journal_close(j);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_journal__keeps_what_it_was_told),
        TEST(test_journal__hashes_the_payload),
        TEST(test_journal__takes_an_empty_payload),
        TEST(test_journal__removes_the_payload_when_the_job_ends),
        TEST(test_journal__ends_a_job_once),
        TEST(test_journal__knows_no_job_of_another_id),
        TEST(test_journal__refuses_texts_that_are_too_long),
        TEST(test_journal__forgets_an_aborted_payload),
        TEST(test_accept__joins_the_job_when_it_is_unfinished),
        TEST(test_accept__gives_a_finished_proof_once),
        TEST(test_accept__proves_anew_when_the_job_failed_or_was_cancelled),
        TEST(test_accept__makes_a_new_job_when_anything_differs),
        TEST(test_accept__never_joins_without_a_request_id),
        TEST(test_accept__joins_rather_than_hands_over),
        TEST(test_accept__knows_retries_after_reopening),
        TEST(test_list__goes_by_priority_then_by_acceptance),
        TEST(test_open__queues_again_what_was_running),
        TEST(test_open__removes_payloads_that_nobody_wants),
        TEST(test_open__fails_jobs_whose_payload_is_gone),
        TEST(test_map_payload__fails_the_job_when_the_payload_changed),
        TEST(test_map_payload__outlives_the_job),
        TEST(test_result__is_taken_once_and_read_often),
        TEST(test_result__may_be_megabytes_or_nothing),
        TEST(test_result__is_never_returned_when_damaged),
        TEST(test_prune__forgets_what_ended_before),
        TEST(test_open__is_private),
        TEST(test_open__refuses_a_folder_that_is_in_use),
        TEST(test_open__says_what_is_wrong_with_the_folder),
        TEST(test_open__refuses_a_newer_journal),
        TEST(test_open__refuses_another_programs_database),
        TEST(test_open__notices_changed_rows),
        TEST(test_health__degrades_and_heals),
        TEST(test_journal__is_shared_by_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
