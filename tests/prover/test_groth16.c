/* SPDX-License-Identifier: Apache-2.0 */
/* prover/groth16: whole proofs on keys made in memory, so both quotient conventions are proved
 * right by the pairing, and the plan is checked against itself across threads and CPU levels. */
#include "keyfixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const circuits[] = {"one", "two", "nopub", "poseidon_4"};

static void test_groth16__proof_verifies_on_either_quotient_convention(void **state) {
    (void)state;
    for (unsigned id = 0; id < CURVE_COUNT; id++)
        for (unsigned kind = 0; kind < 2; kind++)
            for (size_t i = 0; i < sizeof circuits / sizeof circuits[0]; i++) {
                keyfixture f;
                groth16_proof proof;
                keyfixture_begin(&f, (curve_id)id, circuits[i], (quotient_kind)kind, 2, NULL,
                                 NULL);
                assert_int_equal(
                    groth16_prove(&proof, &f.key, f.witness, &(groth16_options){0}, NULL),
                    CUZK_OK); /* it checks itself */
                const verifying_key vk = groth16_verifying_key(&f.key);
                assert_int_equal(
                    groth16_verify(&vk, f.backend, f.device, &proof, f.witness, NULL),
                    CUZK_OK);
                keyfixture_end(&f);
            }
}

static void test_groth16__proof_is_the_same_on_any_threads_and_cpu_level(void **state) {
    (void)state;
    static const struct {
        unsigned threads;
        const char *cpu;
    } how[] = {{1, "portable"}, {3, "portable"}, {1, NULL}, {2, NULL}};
    for (unsigned id = 0; id < CURVE_COUNT; id++) {
        groth16_proof first, proof;
        for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
            keyfixture f;
            keyfixture_begin(&f, (curve_id)id, "poseidon_4", QUOTIENT_LAGRANGE_ODD,
                             how[i].threads, how[i].cpu, NULL);
            const curve *c = f.key.curve;
            const blinders b = keyfixture_blinders(c);
            assert_int_equal(groth16_prove(&proof, &f.key, f.witness,
                                           &(groth16_options){.fixed = &b}, NULL),
                             CUZK_OK);
            if (i == 0) first = proof;
            assert_true(keyfixture_same_proof(c, &proof, &first));
            keyfixture_end(&f);
        }
    }
}

static void test_groth16__names_the_witness_when_it_does_not_satisfy(void **state) {
    (void)state;
    for (unsigned id = 0; id < CURVE_COUNT; id++) {
        keyfixture f;
        groth16_proof proof;
        cuzk_err err;
        keyfixture_begin(&f, (curve_id)id, "poseidon_4", QUOTIENT_LAGRANGE_ODD, 1, NULL, NULL);
        f.witness[32 * 500] ^= 1;
        assert_int_equal(groth16_prove(&proof, &f.key, f.witness, &(groth16_options){0}, &err),
                         CUZK_ERR_WITNESS);
        assert_non_null(strstr(err.text, "does not satisfy the circuit"));
        assert_int_equal(groth16_prove(&proof, &f.key, f.witness,
                                       &(groth16_options){.skip_check = true}, &err),
                         CUZK_OK);
        const verifying_key vk = groth16_verifying_key(&f.key);
        assert_int_equal(groth16_verify(&vk, f.backend, f.device, &proof, f.witness, &err),
                         CUZK_ERR_INVALID);
        keyfixture_end(&f);
    }
}

static void test_groth16__two_proofs_of_one_witness_differ(void **state) {
    (void)state;
    keyfixture f;
    groth16_proof a, b;
    keyfixture_begin(&f, CURVE_BN254, "one", QUOTIENT_LAGRANGE_ODD, 1, NULL, NULL);
    assert_int_equal(groth16_prove(&a, &f.key, f.witness, &(groth16_options){0}, NULL),
                     CUZK_OK);
    assert_int_equal(groth16_prove(&b, &f.key, f.witness, &(groth16_options){0}, NULL),
                     CUZK_OK);
    assert_false(field_equal(&f.key.curve->fq, a.a.x.l, b.a.x.l));
    assert_false(field_equal(&f.key.curve->fq, a.c.x.l, b.c.x.l));
    keyfixture_end(&f);
}

static int stop_at(void *arg, const char *stage, unsigned done, unsigned total) {
    unsigned *left = arg;
    (void)stage;
    (void)done;
    (void)total;
    return (*left)-- == 0;
}

static void test_groth16__is_cancelled_at_any_stage(void **state) {
    (void)state;
    keyfixture f;
    keyfixture_begin(&f, CURVE_BN254, "two", QUOTIENT_LAGRANGE_ODD, 2, NULL, NULL);
    for (unsigned n = 0;; n++) {
        unsigned left = n;
        groth16_proof proof;
        cuzk_status st =
            groth16_prove(&proof, &f.key, f.witness,
                          &(groth16_options){.stage = stop_at, .stage_arg = &left}, NULL);
        if (st == CUZK_OK) {
            assert_int_equal(n, 5);
            break;
        }
        assert_int_equal(st, CUZK_ERR_CANCELLED);
    }
    keyfixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groth16__proof_verifies_on_either_quotient_convention),
        cmocka_unit_test(test_groth16__proof_is_the_same_on_any_threads_and_cpu_level),
        cmocka_unit_test(test_groth16__names_the_witness_when_it_does_not_satisfy),
        cmocka_unit_test(test_groth16__two_proofs_of_one_witness_differ),
        cmocka_unit_test(test_groth16__is_cancelled_at_any_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
