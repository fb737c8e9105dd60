/* SPDX-License-Identifier: Apache-2.0 */
/* engine/spool: payloads in and out, damage, sweeping. */
#define _GNU_SOURCE /* mkdtemp */
#include "journal_fixture.h"

#include "engine/spool.h"

#include <sys/stat.h>

static const char name_a[] = "0123456789abcdef0123456789abcdef";
static const char name_b[] = "fedcba9876543210fedcba9876543210";

static spool *open_spool(const fixture *f) {
    spool *s = NULL;
    cuzk_err err;
    must(spool_open(&s, f->state, &err), &err);
    return s;
}

static spool_sum store(spool *s, const char *name, const void *bytes, size_t n_bytes,
                       size_t n_piece) {
    spool_writer *w;
    spool_sum sum;
    cuzk_err err;
    must(spool_begin(&w, s, name, &err), &err);
    for (size_t i = 0; i < n_bytes; i += n_piece) {
        const size_t n = n_bytes - i < n_piece ? n_bytes - i : n_piece;
        must(spool_append(w, (const uint8_t *)bytes + i, n, &err), &err);
    }
    must(spool_finish(&sum, w, &err), &err);
    must(spool_commit(w, &err), &err);
    return sum;
}

static void test_spool__gives_back_what_was_appended(void **state) {
    const fixture *f = *state;
    enum { N = 100003 };
    static uint8_t bytes[N];
    for (size_t i = 0; i < N; i++) bytes[i] = (uint8_t)(i * 31 + i / 256);
    spool *s = open_spool(f);
    const spool_sum whole = store(s, name_a, bytes, N, N),
                    pieces = store(s, name_b, bytes, N, 7);
    assert_memory_equal(&whole, &pieces, sizeof whole);
    assert_int_equal(whole.n_bytes, N);
    spool_close(s);
    s = open_spool(f);
    file_in map;
    cuzk_err err;
    must(spool_check(s, name_a, N, &err), &err);
    must(spool_map(&map, s, name_a, &whole, &err), &err);
    assert_int_equal(map.bytes.n_bytes, N);
    assert_memory_equal(map.bytes.p, bytes, N);
    spool_remove(s, name_a);
    assert_memory_equal(map.bytes.p, bytes, N); /* a mapping outlives the name */
    file_in_close(&map);
    assert_int_equal(spool_check(s, name_a, N, &err), CUZK_ERR_FORMAT);
    must(spool_check(s, name_b, N, &err), &err);
    spool_close(s);
}

static void test_spool__refuses_a_name_in_use(void **state) {
    const fixture *f = *state;
    spool *s = open_spool(f);
    const spool_sum sum = store(s, name_a, "first", 5, 5);
    spool_writer *w = NULL;
    cuzk_err err;
    assert_int_equal(spool_begin(&w, s, name_a, &err), CUZK_ERR_IO);
    assert_null(w);
    file_in map;
    must(spool_map(&map, s, name_a, &sum, &err), &err);
    assert_bytes(map.bytes, "first");
    file_in_close(&map);
    spool_close(s);
}

static void test_spool__leaves_nothing_of_what_was_aborted(void **state) {
    const fixture *f = *state;
    spool *s = open_spool(f);
    spool_writer *w;
    assert_int_equal(spool_begin(&w, s, name_a, NULL), CUZK_OK);
    assert_true(exists(path_in(f, name_a)));
    assert_int_equal(spool_append(w, "x", 1, NULL), CUZK_OK);
    spool_abort(w);
    assert_false(exists(path_in(f, name_a)));
    spool_abort(NULL);
    spool_remove(s, name_a); /* nothing there: fine */
    spool_close(s);
    spool_close(NULL);
}

static void overwrite(fixture_path path, const char *text) {
    FILE *file = fopen(path.text, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void test_map__refuses_every_changed_byte(void **state) {
    const fixture *f = *state;
    static const char good[] = "forty-two";
    spool *s = open_spool(f);
    const spool_sum sum = store(s, name_a, good, strlen(good), 4);
    for (size_t i = 0; i < strlen(good); i++) {
        char bad[sizeof good];
        file_in map;
        cuzk_err err;
        memcpy(bad, good, sizeof bad);
        bad[i] ^= 1;
        overwrite(path_in(f, name_a), bad);
        assert_int_equal(spool_check(s, name_a, sum.n_bytes, NULL), CUZK_OK); /* length only */
        assert_int_equal(spool_map(&map, s, name_a, &sum, &err), CUZK_ERR_FORMAT);
        assert_non_null(strstr(err.text, "has changed"));
        bad[i] = 0;
        overwrite(path_in(f, name_a), bad);
        assert_int_equal(spool_check(s, name_a, sum.n_bytes, &err), CUZK_ERR_FORMAT);
        assert_non_null(strstr(err.text, "instead of 9"));
    }
    spool_close(s);
}

static cuzk_status keep_a(bool *out_keep, void *arg, const char *name, cuzk_err *err) {
    (void)err;
    *(unsigned *)arg += 1;
    *out_keep = strcmp(name, name_a) == 0;
    return CUZK_OK;
}

static cuzk_status give_up(bool *out_keep, void *arg, const char *name, cuzk_err *err) {
    (void)out_keep, (void)arg, (void)name;
    return cuzk_fail(err, CUZK_ERR_NOMEM, "test", "given up");
}

static void test_sweep__removes_only_what_is_ours_and_disowned(void **state) {
    const fixture *f = *state;
    spool *s = open_spool(f);
    (void)store(s, name_a, "a", 1, 1);
    (void)store(s, name_b, "b", 1, 1);
    static const char *const foreign[] = {"README", "0123456789ABCDEF0123456789abcdef",
                                          "0123456789abcdef0123456789abcdef0"};
    for (size_t i = 0; i < 3; i++) overwrite(path_in(f, foreign[i]), "x");
    uint64_t n_removed;
    unsigned n_asked = 0;
    assert_int_equal(spool_sweep(&n_removed, s, give_up, NULL, NULL), CUZK_ERR_NOMEM);
    assert_int_equal(n_removed, 0);
    assert_int_equal(spool_sweep(&n_removed, s, keep_a, &n_asked, NULL), CUZK_OK);
    assert_int_equal(n_removed, 1);
    assert_int_equal(n_asked, 2);
    assert_true(exists(path_in(f, name_a)));
    assert_false(exists(path_in(f, name_b)));
    for (size_t i = 0; i < 3; i++) assert_true(exists(path_in(f, foreign[i])));
    spool_close(s);
}

static void test_open__needs_a_folder(void **state) {
    const fixture *f = *state;
    spool *s = NULL;
    cuzk_err err;
    assert_int_equal(spool_open(&s, "/dev/null", &err), CUZK_ERR_IO);
    assert_non_null(strstr(err.text, "/dev/null: can't be opened: Not a directory"));
    assert_int_equal(spool_open(&s, path_in(f, "x").text, &err), CUZK_ERR_IO);
    assert_null(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_spool__gives_back_what_was_appended),
        TEST(test_spool__refuses_a_name_in_use),
        TEST(test_spool__leaves_nothing_of_what_was_aborted),
        TEST(test_map__refuses_every_changed_byte),
        TEST(test_sweep__removes_only_what_is_ours_and_disowned),
        TEST(test_open__needs_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
