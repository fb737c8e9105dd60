/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TESTS_ENGINE_JOURNAL_FIXTURE_H
#define CUZK_TESTS_ENGINE_JOURNAL_FIXTURE_H
/* tests/engine/journal_fixture: a state directory of a test's own, and the journal's calls for
 * when they must succeed. Includes cmocka; the test file defines _GNU_SOURCE. */
#include "engine/journal.h"

#include <dirent.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct fixture {
    char folder[40];
    char state[48]; /* folder/state, made by the journal */
} fixture;

static inline int fixture_setup(void **out) {
    fixture *f = malloc(sizeof *f);
    if (!f) return -1;
    /* In memory where possible: the tests flush a disk thousands of times. */
    const char *top = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(f->folder, sizeof f->folder, "%s/cuzk-journal-XXXXXX", top);
    if (!mkdtemp(f->folder)) return -1;
    (void)snprintf(f->state, sizeof f->state, "%s/state", f->folder);
    *out = f;
    return 0;
}

static inline int remove_entry(const char *path, const struct stat *st, int kind,
                               struct FTW *where) {
    (void)st, (void)kind, (void)where;
    return remove(path);
}

static inline int fixture_teardown(void **state) {
    fixture *f = *state;
    int rc = nftw(f->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(f);
    return rc;
}

/* "state/name". */
typedef struct fixture_path {
    char text[128];
} fixture_path;
static inline fixture_path path_in(const fixture *f, const char *name) {
    fixture_path path;
    (void)snprintf(path.text, sizeof path.text, "%s/%s", f->state, name);
    return path;
}
static inline fixture_path path_of_payload(const fixture *f, const journal_id *id) {
    char name[64];
    (void)snprintf(name, sizeof name, "spool/%s", id->hex);
    return path_in(f, name);
}
static inline bool exists(fixture_path path) { return access(path.text, F_OK) == 0; }

static inline unsigned count_payloads(const fixture *f) {
    DIR *dir = opendir(path_in(f, "spool").text);
    assert_non_null(dir);
    unsigned n = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) n += entry->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

static inline void must(cuzk_status status, const cuzk_err *err) {
    if (status != CUZK_OK)
        fail_msg("%s: %s: %s", cuzk_status_name(status), err->where, err->text);
}

static inline journal *open_journal(const fixture *f, journal_recovery *recovered) {
    journal *j = NULL;
    cuzk_err err;
    must(journal_open(&j, f->state, recovered, &err), &err);
    return j;
}

/* journal_accept of a payload in two pieces; any outcome. */
static inline cuzk_status try_accept(journal_accepted *out, journal *j,
                                     const journal_request *request, cuzk_span bytes,
                                     cuzk_err *err) {
    journal_payload *payload;
    const size_t half = bytes.n_bytes / 2;
    CUZK_TRY(journal_payload_begin(&payload, j, err));
    cuzk_status status = journal_payload_append(payload, bytes.p, half, err);
    if (status == CUZK_OK)
        status = journal_payload_append(payload, bytes.p + half, bytes.n_bytes - half, err);
    if (status != CUZK_OK) {
        journal_payload_abort(payload);
        return status;
    }
    return journal_accept(out, j, payload, request, err);
}

static inline cuzk_span text_span(const char *text) {
    return (cuzk_span){(const uint8_t *)text, strlen(text)};
}

/* Kind "circom", circuit "adder", priority 2. */
static inline journal_request request_named(const char *request_id) {
    return (journal_request){
        .request_id = request_id, .kind = "circom", .circuit = "adder", .priority = 2};
}

static inline journal_accepted accept_text(journal *j, const char *request_id,
                                           const char *payload) {
    journal_accepted accepted;
    cuzk_err err;
    const journal_request request = request_named(request_id);
    must(try_accept(&accepted, j, &request, text_span(payload), &err), &err);
    return accepted;
}

static inline journal_job get_job(journal *j, const journal_id *id) {
    journal_job job;
    cuzk_err err;
    must(journal_get(&job, j, id, &err), &err);
    return job;
}

static inline journal_state start_job(journal *j, const journal_id *id) {
    journal_state was;
    cuzk_err err;
    must(journal_start(&was, j, id, &err), &err);
    return was;
}

/* With the proof `proof` and the public signals "[]". */
static inline journal_state finish_job(journal *j, const journal_id *id, const char *proof) {
    journal_state was;
    cuzk_err err;
    must(journal_finish(&was, j, id, text_span(proof), text_span("[]"), &err), &err);
    return was;
}

static inline journal_state fail_job(journal *j, const journal_id *id, const char *reason) {
    journal_state was;
    cuzk_err err;
    must(journal_fail(&was, j, id, reason, &err), &err);
    return was;
}

static inline journal_state cancel_job(journal *j, const journal_id *id) {
    journal_state was;
    cuzk_err err;
    must(journal_cancel(&was, j, id, &err), &err);
    return was;
}

static inline journal_result take_result(journal *j, const journal_id *id) {
    journal_result result;
    cuzk_err err;
    must(journal_take_result(&result, j, id, &err), &err);
    return result;
}

static inline void assert_same_id(const journal_id *a, const journal_id *b) {
    assert_string_equal(a->hex, b->hex);
}

static inline void assert_bytes(cuzk_span bytes, const char *text) {
    assert_int_equal(bytes.n_bytes, strlen(text));
    assert_memory_equal(bytes.p, text, bytes.n_bytes);
}

static inline void assert_payload(journal *j, const journal_id *id, const char *text) {
    file_in map;
    journal_state state;
    cuzk_err err;
    must(journal_map_payload(&map, &state, j, id, &err), &err);
    assert_true(journal_is_unfinished(state));
    assert_bytes(map.bytes, text);
    file_in_close(&map);
}

static inline bool is_degraded(journal *j) {
    journal_health health;
    journal_get_health(&health, j);
    return health.is_degraded;
}

#endif
