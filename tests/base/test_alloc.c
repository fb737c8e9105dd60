/* SPDX-License-Identifier: Apache-2.0 */
/* base/alloc: alignment, overflow, wiping. */
#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_alloc__is_aligned_and_writable_for_every_small_size(void **state) {
    (void)state;
    for (size_t n_bytes = 0; n_bytes < 300; n_bytes++) {
        uint8_t *block;
        assert_int_equal(cuzk_alloc(&block, n_bytes, 1, NULL), CUZK_OK);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        memset(block, 0xa5, n_bytes);
        cuzk_free(block);
    }
}

static void test_alloc__gives_zeros_when_asked(void **state) {
    (void)state;
    static const uint8_t zeros[4096];
    for (int round = 0; round < 4; round++) { /* the later ones likely reuse a dirty block */
        uint8_t *block;
        assert_int_equal(cuzk_zalloc(&block, sizeof zeros / 8, 8, NULL), CUZK_OK);
        assert_memory_equal(block, zeros, sizeof zeros);
        memset(block, 0xff, sizeof zeros);
        cuzk_free(block);
    }
}

static void test_alloc__refuses_when_the_product_overflows(void **state) {
    (void)state;
    static const size_t cases[][2] = {
        {SIZE_MAX, 2},         {2, SIZE_MAX},
        {SIZE_MAX / 2 + 1, 2}, {(size_t)1 << 33, (size_t)1 << 31},
        {SIZE_MAX, 1},         {1, SIZE_MAX - 62},
        {SIZE_MAX - 63, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int here;
        void *block = &here;
        cuzk_err err = {.code = CUZK_OK};
        assert_int_equal(cuzk_alloc(&block, cases[i][0], cases[i][1], &err), CUZK_ERR_NOMEM);
        assert_int_equal(err.code, CUZK_ERR_NOMEM);
        assert_ptr_equal(block, &here); /* unchanged on error */
    }
}

static void test_alloc__says_nomem_when_the_system_refuses(void **state) {
    (void)state;
    void *block;
    cuzk_err err;
    assert_int_equal(cuzk_zalloc(&block, (size_t)1 << 60, 1, &err), CUZK_ERR_NOMEM);
    assert_non_null(strstr(err.text, "1152921504606846976"));
}

/* The bytes are read back through the stack frame's own array after its last use, which is
 * what lets a compiler drop a plain memset. The volatile pointer keeps the reads honest. */
static void test_alloc__wipes_even_what_is_never_read_again(void **state) {
    (void)state;
    uint8_t secret[256];
    memset(secret, 0x5a, sizeof secret);
    cuzk_wipe(secret + 1, sizeof secret - 2);
    const volatile uint8_t *seen = secret;
    assert_int_equal(seen[0], 0x5a);
    assert_int_equal(seen[sizeof secret - 1], 0x5a);
    for (size_t i = 1; i < sizeof secret - 1; i++) assert_int_equal(seen[i], 0);
}

static void test_alloc__accepts_null_when_freeing(void **state) {
    (void)state;
    cuzk_free(NULL);
    cuzk_free_secret(NULL, 0);
    cuzk_wipe(NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc__is_aligned_and_writable_for_every_small_size),
        cmocka_unit_test(test_alloc__gives_zeros_when_asked),
        cmocka_unit_test(test_alloc__refuses_when_the_product_overflows),
        cmocka_unit_test(test_alloc__says_nomem_when_the_system_refuses),
        cmocka_unit_test(test_alloc__wipes_even_what_is_never_read_again),
        cmocka_unit_test(test_alloc__accepts_null_when_freeing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
