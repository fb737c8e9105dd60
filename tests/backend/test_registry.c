/* SPDX-License-Identifier: Apache-2.0 */
/* backend/registry: finding a backend by name, or the best. */
#include "backend/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_backend_find__gives_the_backend_when_it_is_named(void **state) {
    (void)state;
    const cuzk_backend *found = NULL;
    assert_int_equal(cuzk_backend_find(&found, "cpu", NULL), CUZK_OK);
    assert_ptr_equal(found, &cuzk_backend_cpu);
    assert_int_equal(found->abi, CUZK_BACKEND_ABI);
}

static void test_backend_find__gives_a_usable_one_when_none_is_named(void **state) {
    (void)state;
    const cuzk_backend *found = NULL;
    int score = 0;
    unsigned n_devices = 0;
    assert_int_equal(cuzk_backend_find(&found, NULL, NULL), CUZK_OK);
    assert_int_equal(found->probe(&score, &n_devices, NULL), CUZK_OK);
    assert_true(score > 0 && n_devices > 0);
}

static void test_backend_find__names_those_there_are_when_the_name_is_unknown(void **state) {
    (void)state;
    const cuzk_backend *found = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_backend_find(&found, "abacus", &err), CUZK_ERR_DEVICE);
    assert_null(found);
    assert_string_equal(err.where, "backend.registry");
    assert_non_null(strstr(err.text, "\"abacus\""));
    assert_non_null(strstr(err.text, "cpu"));
    assert_int_equal(cuzk_backend_find(&found, "", NULL), CUZK_ERR_DEVICE);
}

static void test_backend_find_best__tells_what_was_passed_over(void **state) {
    (void)state;
    const cuzk_backend *found = NULL;
    cuzk_err why_not = {.text = "stale"};
    unsigned n = 0;
    assert_int_equal(cuzk_backend_find_best(&found, &why_not, NULL), CUZK_OK);
    while (cuzk_backend_at(n)) n++;
    if (n == 1 || found != &cuzk_backend_cpu) assert_string_equal(why_not.text, "");
    if (n > 1 && found == &cuzk_backend_cpu) {
        assert_true(strlen(why_not.text) > 0);
        cuzk_err err; /* and the same reason is given to who insists */
        assert_int_equal(cuzk_backend_find(&found, cuzk_backend_at(1)->name, &err),
                         CUZK_ERR_DEVICE);
        assert_non_null(strstr(err.text, why_not.text));
    }
}

static void test_backend__is_refused_when_the_device_does_not_exist(void **state) {
    (void)state;
    cuzk_device *dev = NULL;
    cuzk_err err;
    assert_int_equal(
        cuzk_backend_cpu.open(&dev, &(cuzk_device_options){.index = 1}, NULL, &err),
        CUZK_ERR_ARG);
    assert_string_equal(err.text, "device 1, expected 0");
    assert_null(dev);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backend_find__gives_the_backend_when_it_is_named),
        cmocka_unit_test(test_backend_find__gives_a_usable_one_when_none_is_named),
        cmocka_unit_test(test_backend_find__names_those_there_are_when_the_name_is_unknown),
        cmocka_unit_test(test_backend_find_best__tells_what_was_passed_over),
        cmocka_unit_test(test_backend__is_refused_when_the_device_does_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
