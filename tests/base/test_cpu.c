/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_cpu_select__takes_the_best_level_when_none_is_named(void **state) {
    (void)state;
    cuzk_cpu_level by_null, by_empty, named;
    assert_int_equal(cuzk_cpu_select(&by_null, NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_cpu_select(&by_empty, "", NULL), CUZK_OK);
    assert_int_equal(by_null, by_empty);
    const bool has_adx = cuzk_cpu_select(&named, "adx", NULL) == CUZK_OK;
    const bool has_ifma = cuzk_cpu_select(&named, "ifma", NULL) == CUZK_OK;
    assert_true(has_adx || !has_ifma); /* a level has all that those below it have */
    assert_int_equal(by_null, has_ifma  ? CUZK_CPU_IFMA
                              : has_adx ? CUZK_CPU_ADX
                                        : CUZK_CPU_PORTABLE);
}

static void test_cpu_select__portable_is_always_there(void **state) {
    (void)state;
    cuzk_cpu_level level = CUZK_CPU_ADX;
    assert_int_equal(cuzk_cpu_select(&level, "portable", NULL), CUZK_OK);
    assert_int_equal(level, CUZK_CPU_PORTABLE);
}

static void test_cpu_select__a_level_is_granted_or_refused_as_a_device(void **state) {
    (void)state;
    static const cuzk_cpu_level levels[] = {CUZK_CPU_ADX, CUZK_CPU_IFMA};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const char *name = cuzk_cpu_level_name(levels[i]);
        cuzk_cpu_level level = CUZK_CPU_PORTABLE;
        cuzk_err err;
        memset(&err, 0, sizeof err);
        const cuzk_status status = cuzk_cpu_select(&level, name, &err);
        if (status == CUZK_OK) {
            assert_int_equal(level, levels[i]);
        } else {
            assert_int_equal(status, CUZK_ERR_DEVICE);
            assert_int_equal(level, CUZK_CPU_PORTABLE); /* unchanged */
            assert_non_null(strstr(err.text, name));
        }
    }
}

static void test_cpu_select__refuses_unknown_names(void **state) {
    (void)state;
    static const char *const names[] = {"ADX", "adx ", "port", "portables", "avx512", "0"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cuzk_cpu_level level = CUZK_CPU_PORTABLE;
        cuzk_err err;
        memset(&err, 0, sizeof err);
        assert_int_equal(cuzk_cpu_select(&level, names[i], &err), CUZK_ERR_ARG);
        assert_int_equal(err.code, CUZK_ERR_ARG);
        assert_string_equal(err.where, "base.cpu");
        assert_non_null(strstr(err.text, names[i]));
        assert_int_equal(level, CUZK_CPU_PORTABLE);
    }
}

static void test_cpu_level_name__names_what_select_takes(void **state) {
    (void)state;
    assert_string_equal(cuzk_cpu_level_name(CUZK_CPU_PORTABLE), "portable");
    assert_string_equal(cuzk_cpu_level_name(CUZK_CPU_ADX), "adx");
    assert_string_equal(cuzk_cpu_level_name(CUZK_CPU_IFMA), "ifma");
    assert_string_equal(cuzk_cpu_level_name((cuzk_cpu_level)7), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_select__takes_the_best_level_when_none_is_named),
        cmocka_unit_test(test_cpu_select__portable_is_always_there),
        cmocka_unit_test(test_cpu_select__a_level_is_granted_or_refused_as_a_device),
        cmocka_unit_test(test_cpu_select__refuses_unknown_names),
        cmocka_unit_test(test_cpu_level_name__names_what_select_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
