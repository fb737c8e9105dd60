/* SPDX-License-Identifier: Apache-2.0 */
/* The verification key of a proving key is the one snarkjs exports, byte for byte. */
#include "api/runtime.h"
#include "cuzk/cuzk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect_export(cuzk_runtime *rt, const char *dir, const char *circuit) {
    char path[256];
    file_in want;
    cuzk_key *key = NULL;
    char *json = NULL;
    (void)snprintf(path, sizeof path, "tests/golden/%s/%s/circuit_final.zkey", dir, circuit);
    assert_int_equal(cuzk_key_open(&key, rt, path, NULL), CUZK_OK);
    assert_int_equal(cuzk_key_export_vkey(&json, key, NULL), CUZK_OK);
    (void)snprintf(path, sizeof path, "tests/golden/%s/%s/verification_key.json", dir,
                   circuit);
    assert_int_equal(file_in_open(&want, path, NULL), CUZK_OK);
    assert_int_equal(strlen(json), want.bytes.n_bytes);
    assert_memory_equal(json, want.bytes.p, want.bytes.n_bytes);
    file_in_close(&want);
    cuzk_string_free(json);
    cuzk_key_close(key);
}

static void test_export_vkey__equals_snarkjs(void **state) {
    static const char *const dirs[] = {"bn128", "bls12381"}, *const circuits[] = {"one", "two",
                                                                                  "nopub"};
    cuzk_runtime *rt = NULL;
    (void)state;
    assert_int_equal(cuzk_runtime_create(&rt, NULL, NULL), CUZK_OK);
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; i < 3; i++) expect_export(rt, dirs[d], circuits[i]);
    cuzk_runtime_destroy(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_export_vkey__equals_snarkjs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
