/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads and more prove with one opened key at once. Run under ThreadSanitizer as well. */
#include "cuzk/cuzk.h"
#include <pthread.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { THREADS = 3, PROOFS = 4 };

typedef struct worker {
    cuzk_runtime *rt;
    cuzk_key *key;
    const char *vkey;
    unsigned n_valid;
} worker;

static void *prove_some(void *arg) {
    worker *w = arg;
    for (unsigned i = 0; i < PROOFS; i++) {
        cuzk_proof *proof = NULL;
        if (cuzk_prove_file(&proof, w->key, "tests/golden/bn128/poseidon_4/witness.wtns", NULL,
                            NULL) != CUZK_OK)
            continue;
        const char *json = cuzk_proof_json(proof), *publics = cuzk_proof_public_json(proof);
        if (cuzk_verify(w->rt, w->vkey, strlen(w->vkey), publics, strlen(publics), json,
                        strlen(json), NULL) == CUZK_OK)
            w->n_valid++;
        cuzk_proof_free(proof);
    }
    return NULL;
}

static void test_key__proves_in_several_threads_at_once(void **state) {
    (void)state;
    cuzk_runtime *rt = NULL;
    cuzk_key *key = NULL;
    char *vkey = NULL;
    cuzk_runtime_options o = CUZK_RUNTIME_OPTIONS_INIT;
    o.n_threads = 2;
    assert_int_equal(cuzk_runtime_create(&rt, &o, NULL), CUZK_OK);
    assert_int_equal(
        cuzk_key_open(&key, rt, "tests/golden/bn128/poseidon_4/circuit_final.zkey", NULL),
        CUZK_OK);
    assert_int_equal(cuzk_key_export_vkey(&vkey, key, NULL), CUZK_OK);
    pthread_t thread[THREADS];
    worker w[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        w[i] = (worker){rt, key, vkey, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, prove_some, &w[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(w[i].n_valid, PROOFS);
    }
    cuzk_string_free(vkey);
    cuzk_key_close(key);
    cuzk_runtime_destroy(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key__proves_in_several_threads_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
