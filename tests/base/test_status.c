/* SPDX-License-Identifier: Apache-2.0 */
/* base/status: the text of an error, and what a status becomes outside. */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_status__keeps_code_place_and_text_when_failing(void **state) {
    (void)state;
    cuzk_err err;
    cuzk_status status =
        cuzk_fail(&err, CUZK_ERR_FORMAT, "format.zkey", "%d of %s", 3, "four");
    assert_int_equal(status, CUZK_ERR_FORMAT);
    assert_int_equal(err.code, CUZK_ERR_FORMAT);
    assert_string_equal(err.where, "format.zkey");
    assert_string_equal(err.text, "3 of four");
}

static void test_status__needs_no_place_for_the_text(void **state) {
    (void)state;
    assert_int_equal(cuzk_fail(NULL, CUZK_ERR_IO, "x", "%s", "y"), CUZK_ERR_IO);
    cuzk_err_prefix(NULL, "file");
}

static void test_status__marks_the_cut_when_the_text_is_too_long(void **state) {
    (void)state;
    char longest[sizeof((cuzk_err *)0)->text], too_long[400];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = 0;
    memset(too_long, 'b', sizeof too_long);
    too_long[sizeof too_long - 1] = 0;

    cuzk_err err;
    (void)cuzk_fail(&err, CUZK_ERR_IO, "x", "%s", longest);
    assert_string_equal(err.text, longest);
    (void)cuzk_fail(&err, CUZK_ERR_IO, "x", "%s", too_long);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_string_equal(err.text + sizeof err.text - 5, "b...");
}

static void test_status__stays_one_printable_line_when_the_text_is_hostile(void **state) {
    (void)state;
    cuzk_err err;
    (void)cuzk_fail(&err, CUZK_ERR_IO, "x", "%s", "a\nerror: b\t\x1b[31m\x7f\x9b\xc3\xa9 ~");
    assert_string_equal(err.text, "a?error: b??[31m???? ~");
    cuzk_err_prefix(&err, "c\rd");
    assert_string_equal(err.text, "c?d: a?error: b??[31m???? ~");
}

static void test_status__puts_the_prefix_first_and_marks_the_cut(void **state) {
    (void)state;
    cuzk_err err;
    char name[sizeof err.text];
    (void)cuzk_fail(&err, CUZK_ERR_FORMAT, "x", "bad magic");
    cuzk_err_prefix(&err, "k.zkey");
    assert_string_equal(err.text, "k.zkey: bad magic");
    assert_int_equal(err.code, CUZK_ERR_FORMAT);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    (void)cuzk_fail(&err, CUZK_ERR_FORMAT, "x", "%s", name);
    cuzk_err_prefix(&err, "k.zkey");
    assert_string_equal(err.text + sizeof err.text - 5, "n...");
}

static void
test_status__keeps_the_reason_and_the_end_of_the_path_when_both_are_long(void **state) {
    (void)state;
    static const unsigned n_reason[] = {1, 50, 129, 130, 150, 205};
    for (size_t i = 0; i < sizeof n_reason / sizeof *n_reason; i++) {
        char path[4096], reason[sizeof((cuzk_err *)0)->text];
        cuzk_err err;
        memset(path, 'd', sizeof path);
        memcpy(path + sizeof path - 8, "/k.zkey", 8);
        memset(reason, 'r', n_reason[i]);
        reason[n_reason[i]] = 0;
        (void)cuzk_fail(&err, CUZK_ERR_FORMAT, "x", "%s", reason);
        cuzk_err_prefix(&err, path);
        assert_int_equal(strncmp(err.text, "...dd", 5), 0);
        const char *colon = strstr(err.text, "dd/k.zkey: ");
        assert_non_null(colon);
        assert_string_equal(colon + 11, reason);
        assert_true(colon + 9 - err.text <= 100);
    }
}

static void test_status__has_a_name_and_an_exit_code_for_everything(void **state) {
    (void)state;
    static const struct {
        cuzk_status status;
        int exit_code;
        const char *name;
    } rows[] = {
        {CUZK_OK, 0, "OK"},
        {CUZK_ERR_INVALID, 1, "INVALID"},
        {CUZK_ERR_ARG, 2, "ARG"},
        {CUZK_ERR_FORMAT, 3, "FORMAT"},
        {CUZK_ERR_IO, 3, "IO"},
        {CUZK_ERR_WITNESS, 4, "WITNESS"},
        {CUZK_ERR_NOMEM, 5, "NOMEM"},
        {CUZK_ERR_BUDGET, 5, "BUDGET"},
        {CUZK_ERR_BUSY, 5, "BUSY"},
        {CUZK_ERR_CANCELLED, 5, "CANCELLED"},
        {CUZK_ERR_DEVICE, 5, "DEVICE"},
        {CUZK_ERR_INTERNAL, 6, "INTERNAL"},
        {(cuzk_status)-89, 6, "UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(cuzk_status_exit_code(rows[i].status), rows[i].exit_code);
        assert_string_equal(cuzk_status_name(rows[i].status), rows[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status__keeps_code_place_and_text_when_failing),
        cmocka_unit_test(test_status__needs_no_place_for_the_text),
        cmocka_unit_test(test_status__marks_the_cut_when_the_text_is_too_long),
        cmocka_unit_test(test_status__stays_one_printable_line_when_the_text_is_hostile),
        cmocka_unit_test(test_status__puts_the_prefix_first_and_marks_the_cut),
        cmocka_unit_test(
            test_status__keeps_the_reason_and_the_end_of_the_path_when_both_are_long),
        cmocka_unit_test(test_status__has_a_name_and_an_exit_code_for_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
