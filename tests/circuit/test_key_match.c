/* SPDX-License-Identifier: Apache-2.0 */
/* constraints_match_key: each golden key belongs to its circuit and to no other; damaged twins. */
#include "circuit/constraints.h"
#include "circuit/matrix.h"
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const circuits[] = {"one", "two", "nopub", "poseidon_4"};
#define N_CIRCUITS 4

typedef struct pair {
    blob circuit, key;
    r1cs_view r1cs;
    zkey_view zkey;
    uint8_t *triplets; /* of the key, to be damaged */
} pair;

static void pair_load(pair *p, curve_id circuit_curve, const char *circuit, curve_id key_curve,
                      const char *key) {
    p->circuit = golden_load(circuit_curve, circuit, "circuit.r1cs");
    p->key = golden_load(key_curve, key, "circuit_final.zkey");
    assert_int_equal(r1cs_parse(&p->r1cs, blob_span(p->circuit), NULL), CUZK_OK);
    assert_int_equal(zkey_parse(&p->zkey, blob_span(p->key), NULL), CUZK_OK);
    p->triplets = p->key.p + blob_section(p->key, 4) + 4;
}

static void pair_free(pair *p) {
    blob_free(&p->circuit);
    blob_free(&p->key);
}

static void expect(const pair *p, const field *fr, const char *says) {
    cuzk_err err = {.code = CUZK_OK, .text = ""};
    const cuzk_status status = constraints_match_key(&p->r1cs, &p->zkey, fr, &err);
    if (status != (says ? CUZK_ERR_FORMAT : CUZK_OK) ||
        (says && strstr(err.text, says) == NULL))
        fail_msg("%s: \"%s\", expected \"%s\"", cuzk_status_name(status), err.text,
                 says ? says : "OK");
}

static void test_match_key__accepts_the_key_of_the_circuit_and_no_other(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        for (size_t i = 0; i < N_CIRCUITS; i++)
            for (size_t j = 0; j < N_CIRCUITS; j++) {
                pair p;
                pair_load(&p, (curve_id)id, circuits[i], (curve_id)id, circuits[j]);
                expect(&p, &c.fr, i == j ? NULL : "the key has");
                pair_free(&p);
            }
    }
}

static void test_match_key__accepts_a_circuit_of_public_signals_only(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    pair p;
    pair_load(&p, CURVE_BN254, "pub512", CURVE_BN254, "pub512");
    expect(&p, &c.fr, NULL);
    pair_free(&p);
}

static void test_match_key__refuses_the_other_curve(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    pair p;
    pair_load(&p, CURVE_BN254, "two", CURVE_BLS12_381, "two");
    expect(&p, &c.fr, "the key is on curve bls12_381, expected bn254");
    pair_free(&p);
}

static void test_match_key__says_which_count_differs(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    pair p;
    pair_load(&p, CURVE_BN254, "two", CURVE_BN254, "two");
    zkey_view key = p.zkey;
    p.zkey.n_vars++;
    expect(&p, &c.fr, "the key has 9 variables, expected 8");
    p.zkey = key;
    p.zkey.n_public--;
    expect(&p, &c.fr, "the key has 1 public signals, expected 2");
    p.zkey = key;
    p.zkey.domain_size = 16; /* larger than snarkjs would make it */
    expect(&p, &c.fr, "the key has domain size 16, expected 8 (for 5 constraints, 2 public");
    p.zkey.domain_size = 4;
    expect(&p, &c.fr, "the key has domain size 4, expected 8");
    pair_free(&p);
}

static void test_match_key__takes_coefficients_in_any_order(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        pair p;
        pair_load(&p, (curve_id)id, "poseidon_4", (curve_id)id, "poseidon_4");
        uint8_t *first = p.triplets;
        uint8_t *last =
            p.triplets + (size_t)(p.zkey.n_coefficients - 1) * MATRIX_TRIPLET_BYTES;
        for (; first < last; first += MATRIX_TRIPLET_BYTES, last -= MATRIX_TRIPLET_BYTES) {
            uint8_t swap[MATRIX_TRIPLET_BYTES];
            memcpy(swap, first, sizeof swap);
            memcpy(first, last, sizeof swap);
            memcpy(last, swap, sizeof swap);
        }
        expect(&p, &c.fr, NULL);
        pair_free(&p);
    }
}

/* Matrix, row, signal, value: no bit of any coefficient is free. */
static void test_match_key__notices_any_change_of_a_coefficient(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        for (size_t i = 0; i < 3; i++) {
            pair p;
            pair_load(&p, (curve_id)id, circuits[i], (curve_id)id, circuits[i]);
            for (size_t at = 0; at < p.zkey.coefficients.n_bytes; at++)
                for (unsigned bit = 0; bit < 8; bit++) {
                    p.triplets[at] ^= (uint8_t)(1u << bit);
                    expect(&p, &c.fr, "");
                    p.triplets[at] ^= (uint8_t)(1u << bit);
                }
            pair_free(&p);
        }
    }
}

static void test_match_key__says_what_is_wrong_with_a_coefficient(void **state) {
    (void)state;
    const struct {
        size_t field;
        uint32_t value;
        const char *says;
    } cases[] = {
        {0, 2, "coefficient 3 of 13: matrix is 2, expected 0 (A) or 1 (B)"},
        {0, 0,
         "row 1 of the key: a coefficient of A for signal 2, expected of A for signal 4"},
        {4, 8, "coefficient 3 of 13: row is 8, expected below 8"},
        {4, 0xffffffff, "coefficient 3 of 13: row is 4294967295"},
        {4, 0, "row 0 of the key has 3 coefficients, expected 2 as the circuit"},
        {4, 7, "row 1 of the key has 1 coefficients, expected 2"},
        {8, 8, "coefficient 3 of 13: signal is 8, expected below 8"},
        {8, 0x7fffffff, "coefficient 3 of 13: signal is 2147483647, expected below 8"},
        {8, 5,
         "row 1 of the key: a coefficient of B for signal 5, expected of B for signal 2"},
        {12, 12345, "row 1 of the key: the coefficient of B for signal 2 differs"},
        {40, 0xffffffff, "coefficient 3 of 13: value is not below r"},
    };
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pair p;
        pair_load(&p, CURVE_BN254, "two", CURVE_BN254, "two");
        store_le32(p.triplets + (size_t)3 * MATRIX_TRIPLET_BYTES + cases[i].field,
                   cases[i].value);
        expect(&p, &c.fr, cases[i].says);
        pair_free(&p);
    }
}

static void test_match_key__wants_the_rows_of_the_public_signals(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    pair p;
    pair_load(&p, CURVE_BN254, "two", CURVE_BN254, "two");
    p.zkey.n_coefficients--; /* the last one is row 7, 1 * w[2] */
    p.zkey.coefficients.n_bytes -= MATRIX_TRIPLET_BYTES;
    expect(&p, &c.fr, "row 7 of the key has 0 coefficients, expected 1");
    p.zkey.n_coefficients = 0;
    p.zkey.coefficients.n_bytes = 0;
    expect(&p, &c.fr, "row 0 of the key has 0 coefficients, expected 2");
    pair_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match_key__accepts_the_key_of_the_circuit_and_no_other),
        cmocka_unit_test(test_match_key__accepts_a_circuit_of_public_signals_only),
        cmocka_unit_test(test_match_key__refuses_the_other_curve),
        cmocka_unit_test(test_match_key__says_which_count_differs),
        cmocka_unit_test(test_match_key__takes_coefficients_in_any_order),
        cmocka_unit_test(test_match_key__notices_any_change_of_a_coefficient),
        cmocka_unit_test(test_match_key__says_what_is_wrong_with_a_coefficient),
        cmocka_unit_test(test_match_key__wants_the_rows_of_the_public_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
