/* SPDX-License-Identifier: Apache-2.0 */
/* engine/journal: damaged files. Whatever byte is wrong: no crash, and either the right data or
 * a clear error. */
#define _GNU_SOURCE /* mkdtemp */
#include "journal_fixture.h"

#include "base/alloc.h"
#include "testrand.h"

#include <sys/stat.h>

enum { N_JOBS = 24 };

static bool is_full_form(void) { return getenv("CUZK_TEST_FULL") != NULL; }

/* ---- files ---- */

typedef struct bytes_of_file { /* Owner: the test, free(p) */
    uint8_t *p;
    size_t n_bytes;
} bytes_of_file;

static bytes_of_file read_file(fixture_path path) {
    FILE *file = fopen(path.text, "rb");
    assert_non_null(file);
    bytes_of_file b = {NULL, 0};
    struct stat st;
    assert_int_equal(fstat(fileno(file), &st), 0);
    b.n_bytes = (size_t)st.st_size;
    b.p = malloc(b.n_bytes + 1);
    assert_non_null(b.p);
    assert_int_equal(fread(b.p, 1, b.n_bytes, file), b.n_bytes);
    assert_int_equal(fclose(file), 0);
    return b;
}

static void write_file(fixture_path path, const uint8_t *bytes, size_t n_bytes) {
    FILE *file = fopen(path.text, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
}

/* ---- a journal with jobs of all kinds ---- */

typedef struct known_jobs {
    journal_job jobs[N_JOBS];
} known_jobs;

static void add_jobs(known_jobs *known, journal *j) {
    for (unsigned i = 0; i < N_JOBS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "request %u", i);
        const journal_accepted a = accept_text(j, name, name);
        if (i % 6 == 1) (void)start_job(j, &a.id);
        if (i % 6 == 2 || i % 6 == 3) (void)finish_job(j, &a.id, name);
        if (i % 6 == 4) (void)fail_job(j, &a.id, "a reason");
        if (i % 6 == 5) (void)cancel_job(j, &a.id);
        known->jobs[i] = get_job(j, &a.id);
    }
}

/* What is there must be what it was, but that RUNNING became QUEUED. */
static void check_job(const journal_job *job, const journal_job *known) {
    journal_job expected = *known;
    if (expected.state == JOURNAL_RUNNING) expected.state = JOURNAL_QUEUED;
    assert_int_equal(job->state, expected.state);
    assert_string_equal(job->request_id, expected.request_id);
    assert_string_equal(job->kind, expected.kind);
    assert_string_equal(job->circuit, expected.circuit);
    assert_string_equal(job->reason, expected.reason);
    assert_int_equal(job->priority, expected.priority);
    assert_int_equal(job->n_attempts, expected.n_attempts);
    assert_int_equal(job->accepted_ms, expected.accepted_ms);
    assert_int_equal(job->finished_ms, expected.finished_ms);
    assert_memory_equal(job->payload_sha256, expected.payload_sha256, JOURNAL_SHA256_BYTES);
}

/* Returns how many of the jobs the journal still knows. A result may be lost to damage, if the
 * journal says so; it is never another one. */
static unsigned check_jobs(const known_jobs *known, journal *j) {
    unsigned n = 0;
    for (unsigned i = 0; i < N_JOBS; i++) {
        const journal_job job = get_job(j, &known->jobs[i].id);
        if (job.state == JOURNAL_UNKNOWN) continue;
        n++;
        check_job(&job, &known->jobs[i]);
        journal_result result;
        if (job.state != JOURNAL_DONE) continue;
        assert_int_equal(journal_read_result(&result, j, &job.id, NULL), CUZK_OK);
        if (result.state == JOURNAL_DONE) {
            assert_bytes(result.proof, job.request_id);
            assert_bytes(result.public_signals, "[]");
        } else {
            assert_non_null(strstr(get_job(j, &job.id).reason, "damaged"));
        }
        journal_result_free(&result);
    }
    return n;
}

static void put_payloads(const fixture *f, const known_jobs *known) {
    for (unsigned i = 0; i < N_JOBS; i++) {
        const journal_job *job = &known->jobs[i];
        if (!journal_is_unfinished(job->state)) continue;
        write_file(path_of_payload(f, &job->id), (const uint8_t *)job->request_id,
                   strlen(job->request_id));
    }
}

static void check_error(cuzk_status status, const cuzk_err *err) {
    if (status != CUZK_ERR_FORMAT && status != CUZK_ERR_IO && status != CUZK_ERR_BUSY)
        fail_msg("%s: %s", cuzk_status_name(status), err->text);
    if (!strstr(err->text, "journal.db")) fail_msg("no file is named: %s", err->text);
}

typedef struct tally {
    unsigned n_refused, n_right;
} tally;

/* Opens a journal whose journal.db is these bytes. All jobs, or none. */
static void try_database(tally *t, const fixture *f, const known_jobs *known,
                         const uint8_t *bytes, size_t n_bytes, size_t offset) {
    journal *j = NULL;
    cuzk_err err;
    (void)unlink(path_in(f, "journal.db-wal").text);
    (void)unlink(path_in(f, "journal.db-journal").text);
    write_file(path_in(f, "journal.db"), bytes, n_bytes);
    cuzk_status status = journal_open(&j, f->state, NULL, &err);
    if (status != CUZK_OK) {
        check_error(status, &err);
        t->n_refused++;
        return;
    }
    t->n_right++;
    const unsigned n = check_jobs(known, j);
    if (n != N_JOBS) fail_msg("byte %zu: %u of %u jobs, and no word of it", offset, n, N_JOBS);
    journal_accepted accepted; /* it may work or not, but it doesn't crash */
    const journal_request request = request_named("one more");
    if (try_accept(&accepted, j, &request, text_span("x"), NULL) == CUZK_OK)
        (void)cancel_job(j, &accepted.id);
    journal_close(j);
}

static bytes_of_file make_database(const fixture *f, known_jobs *known) {
    journal *j = open_journal(f, NULL);
    add_jobs(known, j);
    journal_close(j);
    return read_file(path_in(f, "journal.db"));
}

static void test_open__survives_a_wrong_byte_anywhere(void **state) {
    const fixture *f = *state;
    known_jobs known;
    testrand rnd;
    tally t = {0, 0};
    testrand_init(&rnd);
    bytes_of_file db = make_database(f, &known);
    for (size_t at = 0; at < db.n_bytes;) {
        const uint8_t old = db.p[at];
        db.p[at] ^= (uint8_t)(1 + testrand_below(&rnd, 255));
        put_payloads(f, &known);
        try_database(&t, f, &known, db.p, db.n_bytes, at);
        db.p[at] = old;
        at += at < 100 || is_full_form() ? 1 : 1 + testrand_below(&rnd, 180);
    }
    print_message("%u refused, %u right all the same\n", t.n_refused, t.n_right);
    assert_true(t.n_refused > 50 && t.n_right > 50);
    free(db.p);
}

static void test_open__survives_a_page_of_garbage(void **state) {
    const fixture *f = *state;
    known_jobs known;
    testrand rnd;
    tally t = {0, 0};
    testrand_init(&rnd);
    bytes_of_file db = make_database(f, &known);
    uint8_t page[4096];
    for (size_t at = 0; at + sizeof page <= db.n_bytes; at += sizeof page) {
        for (int kind = 0; kind < 3; kind++) {
            memcpy(page, db.p + at, sizeof page);
            memset(db.p + at, kind == 0 ? 0 : 0xff, sizeof page);
            if (kind == 2) testrand_bytes(&rnd, db.p + at, sizeof page);
            put_payloads(f, &known);
            try_database(&t, f, &known, db.p, db.n_bytes, at);
            memcpy(db.p + at, page, sizeof page);
        }
    }
    assert_true(t.n_refused > t.n_right);
    free(db.p);
}

static void test_open__survives_a_truncated_database(void **state) {
    const fixture *f = *state;
    known_jobs known;
    tally t = {0, 0};
    bytes_of_file db = make_database(f, &known);
    for (size_t n = 1; n < db.n_bytes; n += is_full_form() ? 61 : 997) {
        put_payloads(f, &known);
        try_database(&t, f, &known, db.p, n, n);
    }
    assert_int_equal(t.n_right, 0);
    free(db.p);
}

/* Else the jobs' payloads would be removed as rubbish, without a word. */
static void test_open__refuses_payloads_without_their_journal(void **state) {
    const fixture *f = *state;
    known_jobs known;
    journal *j = NULL;
    cuzk_err err;
    bytes_of_file db = make_database(f, &known);
    for (int i = 0; i < 4; i++) {
        put_payloads(f, &known);
        if (i % 2) {
            assert_int_equal(unlink(path_in(f, "journal.db").text), 0);
        } else {
            write_file(path_in(f, "journal.db"), db.p, 0);
        }
        assert_int_equal(journal_open(&j, f->state, NULL, &err), CUZK_ERR_FORMAT);
        assert_non_null(strstr(err.text, "journal.db: missing or empty"));
        assert_int_equal(count_payloads(f), N_JOBS / 3);
    }
    write_file(path_in(f, "journal.db"), db.p, db.n_bytes);
    j = open_journal(f, NULL);
    assert_int_equal(check_jobs(&known, j), N_JOBS);
    journal_close(j);
    free(db.p);
}

/* SQLite takes the log up to the first frame whose checksum is wrong, as after a power cut. So
 * the latest changes may be missing, but what is there is what was written, in order. */
static void test_open__takes_a_damaged_log_up_to_the_damage(void **state) {
    const fixture *f = *state;
    known_jobs known = {0};
    testrand rnd;
    testrand_init(&rnd);
    journal *j = open_journal(f, NULL);
    for (unsigned i = 0; i < N_JOBS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "request %u", i);
        const journal_accepted a = accept_text(j, name, name);
        known.jobs[i] = get_job(j, &a.id);
    }
    bytes_of_file db = read_file(path_in(f, "journal.db")),
                  log = read_file(path_in(f, "journal.db-wal"));
    journal_close(j);
    assert_true(log.n_bytes > 4096);
    for (size_t at = 0; at < log.n_bytes; at += is_full_form() ? 131 : 4099) {
        cuzk_err err;
        log.p[at] ^= (uint8_t)(1 + testrand_below(&rnd, 255));
        write_file(path_in(f, "journal.db"), db.p, db.n_bytes);
        write_file(path_in(f, "journal.db-wal"), log.p, log.n_bytes);
        put_payloads(f, &known);
        cuzk_status status = journal_open(&j, f->state, NULL, &err);
        if (status == CUZK_OK) {
            const unsigned n = check_jobs(&known, j);
            for (unsigned i = 0; i < N_JOBS; i++) { /* the first n, none behind them */
                const journal_state is = get_job(j, &known.jobs[i].id).state;
                assert_int_equal(is != JOURNAL_UNKNOWN, i < n);
            }
            journal_close(j);
        } else {
            check_error(status, &err);
        }
        log.p[at] ^= 1; /* damage adds up */
    }
    free(db.p);
    free(log.p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_open__survives_a_wrong_byte_anywhere),
        TEST(test_open__survives_a_page_of_garbage),
        TEST(test_open__survives_a_truncated_database),
        TEST(test_open__refuses_payloads_without_their_journal),
        TEST(test_open__takes_a_damaged_log_up_to_the_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
