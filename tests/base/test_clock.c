/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock: the clocks run, and memory that was touched is counted. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_clock__counts_work_in_both_clocks(void **state) {
    (void)state;
    uint64_t wall = cuzk_clock_ns(), cpu = cuzk_clock_cpu_ns();
    assert_true(wall > 0 && cpu > 0);
    while (cuzk_clock_cpu_ns() - cpu < 2000000u) {}
    assert_true(cuzk_clock_ns() - wall >= 1000000u);
}

static void test_clock__sees_memory_that_was_touched(void **state) {
    (void)state;
    const size_t n_bytes = (size_t)48 << 20;
    uint64_t before = cuzk_peak_rss_bytes();
    assert_true(before > 0);
    volatile char *block = malloc(n_bytes);
    assert_non_null(block);
    for (size_t i = 0; i < n_bytes; i += 1024) block[i] = 1;
    uint64_t after = cuzk_peak_rss_bytes();
    free((void *)(uintptr_t)block);
    assert_true(after >= before + n_bytes / 2);
    assert_true(cuzk_peak_rss_bytes() >= after - n_bytes / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock__counts_work_in_both_clocks),
        cmocka_unit_test(test_clock__sees_memory_that_was_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
