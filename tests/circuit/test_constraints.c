/* SPDX-License-Identifier: Apache-2.0 */
/* constraints_check: witnesses that satisfy a circuit and those that do not, and what is said. */
#include "circuit/constraints.h"
#include "format/circom/wtns.h"
#include "support/golden.h"
#include "support/testrand.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- circuits written by hand ---- */
typedef struct term {
    int coefficient;
    uint32_t wire;
} term;

static void put_u32(blob *b, uint32_t v) {
    uint8_t le[4];
    store_le32(le, v);
    assert_int_equal(blob_sink(b, le, 4, NULL), CUZK_OK);
}

static void put_value(blob *b, const field *fr, int v) {
    uint64_t x[LIMBS_MAX];
    uint8_t le[32];
    field_set_u64(fr, x, (uint64_t)abs(v));
    if (v < 0) field_neg(fr, x, x);
    field_store_le(fr, le, x);
    assert_int_equal(blob_sink(b, le, 32, NULL), CUZK_OK);
}

/* Terms end with coefficient 0. */
static void put_lc(blob *b, const field *fr, const term *terms) {
    uint32_t n = 0;
    while (terms[n].coefficient != 0) n++;
    put_u32(b, n);
    for (uint32_t i = 0; i < n; i++) {
        put_u32(b, terms[i].wire);
        put_value(b, fr, terms[i].coefficient);
    }
}

static void put_constraint(blob *b, const field *fr, const term *a, const term *k,
                           const term *c) {
    put_lc(b, fr, a);
    put_lc(b, fr, k);
    put_lc(b, fr, c);
}

static r1cs_view view_of(blob constraints, uint32_t n_wires, uint32_t n_constraints) {
    return (r1cs_view){.n_wires = n_wires,
                       .n_constraints = n_constraints,
                       .constraints = blob_span(constraints)};
}

static blob values_of(const field *fr, const int *values, size_t n) {
    blob b = {NULL, 0};
    for (size_t i = 0; i < n; i++) put_value(&b, fr, values[i]);
    return b;
}

static void expect(const r1cs_view *v, const uint8_t *values, uint32_t n, const field *fr,
                   cuzk_exec *exec, cuzk_status expected, const char *text) {
    cuzk_err err = {.code = CUZK_OK, .text = ""};
    const cuzk_status status = constraints_check(v, values, n, fr, exec, &err);
    if (status != expected || (text && strcmp(err.text, text) != 0))
        fail_msg("%s: \"%s\", expected %s: \"%s\"", cuzk_status_name(status), err.text,
                 cuzk_status_name(expected), text ? text : "");
}

/* (3 w1 - w2) * w1 = w3, checked with the given values of w1, w2, w3. */
static void check_small(const curve *c, int w1, int w2, int w3, cuzk_status expected,
                        const char *text) {
    const int w[] = {1, w1, w2, w3};
    blob k = {NULL, 0}, values = values_of(&c->fr, w, 4);
    put_constraint(&k, &c->fr, (term[]){{3, 1}, {-1, 2}, {0, 0}}, (term[]){{1, 1}, {0, 0}},
                   (term[]){{1, 3}, {0, 0}});
    const r1cs_view v = view_of(k, 4, 1);
    expect(&v, values.p, 4, &c->fr, NULL, expected, text);
    blob_free(&values);
    blob_free(&k);
}

static void test_check__follows_the_arithmetic(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        check_small(&c, 5, 2, 65, CUZK_OK, "");
        check_small(&c, 0, 0, 0, CUZK_OK, "");
        check_small(&c, -4, 1, 52, CUZK_OK, "");
        check_small(&c, 2, 100, -188, CUZK_OK, "");
        check_small(&c, 5, 2, 66, CUZK_ERR_WITNESS,
                    "constraint 0 of 1 does not hold: (3*w[1] - w[2]) * (w[1]) != (w[3]); "
                    "13 * 5 != 66");
        check_small(&c, 2, 100, 7, CUZK_ERR_WITNESS,
                    "constraint 0 of 1 does not hold: (3*w[1] - w[2]) * (w[1]) != (w[3]); "
                    "-94 * 2 != 7");
    }
}

static void test_check__accepts_a_circuit_without_constraints(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    const uint8_t one[32] = {1};
    const r1cs_view v = view_of((blob){NULL, 0}, 1, 0);
    expect(&v, one, 1, &c.fr, NULL, CUZK_OK, "");
}

static void test_check__takes_empty_and_repeated_terms(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BLS12_381, CUZK_CPU_PORTABLE);
    const int w[] = {1, 10};
    blob k = {NULL, 0}, values = values_of(&c.fr, w, 2);
    const term none[] = {{0, 0}}, one[] = {{1, 0}, {0, 0}};
    put_constraint(&k, &c.fr, (term[]){{2, 1}, {3, 1}, {1, 1}, {0, 0}}, one,
                   (term[]){{6, 1}, {0, 0}});
    put_constraint(&k, &c.fr, none, none, none);
    put_constraint(&k, &c.fr, one, one, none);
    r1cs_view v = view_of(k, 2, 3);
    expect(&v, values.p, 2, &c.fr, NULL, CUZK_ERR_WITNESS,
           "constraint 2 of 3 does not hold: (w[0]) * (w[0]) != (0); 1 * 1 != 0");
    blob_free(&values);
    blob_free(&k);
}

static void test_check__shortens_long_sums_and_numbers(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    blob k = {NULL, 0};
    uint8_t values[2 * 32] = {1};
    term terms[101];
    for (int i = 0; i < 100; i++) terms[i] = (term){1000 + i, 1};
    terms[100] = (term){0, 0};
    values[32 + 20] = 1; /* w[1] = 2^160 */
    put_constraint(&k, &c.fr, terms, terms, terms);
    const r1cs_view v = view_of(k, 2, 1);
    expect(&v, values, 2, &c.fr, NULL, CUZK_ERR_WITNESS,
           "constraint 0 of 1 does not hold: (1000*w[1] + 1001*w[1] + 98 more) * (1000*w[1] + "
           "1001*w[1] + 98 more) != (1000*w[1] + 1001*w[1] + 98 more); 1533..1200 * "
           "1533..1200 != "
           "1533..1200"); /* (1000 + ... + 1099) 2^160 */
    blob_free(&k);
}

static void test_check__refuses_a_wrong_number_of_values(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    const uint8_t one[64] = {1};
    const r1cs_view v = view_of((blob){NULL, 0}, 3, 0);
    expect(&v, one, 2, &c.fr, NULL, CUZK_ERR_WITNESS,
           "the witness has 2 values, expected 3 (the wires of the circuit)");
}

static void test_check__names_a_damaged_constraint(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    blob k = {NULL, 0};
    const uint8_t one[32] = {1};
    const term unit[] = {{1, 0}, {0, 0}};
    put_constraint(&k, &c.fr, unit, unit, unit);
    put_constraint(&k, &c.fr, unit, (term[]){{1, 9}, {0, 0}}, unit);
    r1cs_view v = view_of(k, 1, 2);
    expect(&v, one, 1, &c.fr, NULL, CUZK_ERR_FORMAT,
           "constraint 1 of 2, B term 0: wire is 9, expected below 1");
    v.n_constraints = 1;
    expect(&v, one, 1, &c.fr, NULL, CUZK_ERR_FORMAT,
           "120 bytes follow the last of 1 constraints at offset 120, expected the end of "
           "section "
           "2");
    v.n_constraints = 3;
    expect(
        &v, one, 1, &c.fr, NULL, CUZK_ERR_FORMAT,
        "constraint 2 of 3, A at offset 240: section 2 (constraints) ends, expected a number "
        "of terms");
    blob_free(&k);
}

/* Many chunks, several wrong constraints: the lowest is named, whatever the threads do. */
static void test_check__names_the_lowest_failing_constraint_when_threads_race(void **state) {
    (void)state;
    enum { N = 20000 };
    curve c;
    testrand rnd;
    cuzk_exec *exec;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    testrand_init(&rnd);
    assert_int_equal(cuzk_exec_create(&exec, 4, NULL), CUZK_OK);
    blob one = {NULL, 0}, k = {malloc((size_t)N * 120), (size_t)N * 120};
    assert_non_null(k.p);
    put_constraint(&one, &c.fr, (term[]){{1, 0}, {0, 0}}, (term[]){{1, 0}, {0, 0}},
                   (term[]){{1, 0}, {0, 0}});
    assert_int_equal(one.n_bytes, 120);
    for (size_t i = 0; i < N; i++) memcpy(k.p + i * 120, one.p, 120);
    const uint8_t w[32] = {1};
    const r1cs_view v = view_of(k, 1, N);
    expect(&v, w, 1, &c.fr, exec, CUZK_OK, "");

    uint64_t lowest = N;
    for (int round = 0; round < 12; round++) {
        char text[160];
        const uint64_t bad = round == 11 ? 0 : testrand_below(&rnd, N);
        k.p[bad * 120 + 8] = 2; /* 2 * 1 != 1 */
        if (bad < lowest) lowest = bad;
        (void)snprintf(text, sizeof text,
                       "constraint %u of %d does not hold: (2*w[0]) * (w[0]) != (w[0]); "
                       "2 * 1 != 1",
                       (unsigned)lowest, N);
        expect(&v, w, 1, &c.fr, exec, CUZK_ERR_WITNESS, text);
    }
    cuzk_exec_destroy(exec);
    blob_free(&one);
    blob_free(&k);
}

/* ---- golden circuits ---- */
static void
test_check__accepts_golden_witnesses_and_notices_every_changed_value(void **state) {
    (void)state;
    static const char *const circuits[] = {"one", "two", "nopub", "poseidon_4"};
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        for (size_t i = 0; i < 4; i++) {
            blob circuit = golden_load((curve_id)id, circuits[i], "circuit.r1cs");
            blob witness = golden_load((curve_id)id, circuits[i], "witness.wtns");
            r1cs_view v;
            wtns_view w;
            assert_int_equal(r1cs_parse(&v, blob_span(circuit), NULL), CUZK_OK);
            assert_int_equal(wtns_parse(&w, blob_span(witness), NULL), CUZK_OK);
            expect(&v, w.values.p, w.n_values, &c.fr, NULL, CUZK_OK, "");
            uint8_t *values = witness.p + blob_section(witness, 2);
            const uint32_t step = w.n_values > 100 ? 37 : 1;
            for (uint32_t j = 0; j < w.n_values; j += step) {
                values[(size_t)j * 32] ^= 1;
                if (w.n_values > 100 || i == 1) /* in the others some wires are free */
                    expect(&v, w.values.p, w.n_values, &c.fr, NULL,
                           j == 0 && i == 1 ? CUZK_OK : CUZK_ERR_WITNESS, NULL);
                values[(size_t)j * 32] ^= 1;
            }
            blob_free(&witness);
            blob_free(&circuit);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check__follows_the_arithmetic),
        cmocka_unit_test(test_check__accepts_a_circuit_without_constraints),
        cmocka_unit_test(test_check__takes_empty_and_repeated_terms),
        cmocka_unit_test(test_check__shortens_long_sums_and_numbers),
        cmocka_unit_test(test_check__refuses_a_wrong_number_of_values),
        cmocka_unit_test(test_check__names_a_damaged_constraint),
        cmocka_unit_test(test_check__names_the_lowest_failing_constraint_when_threads_race),
        cmocka_unit_test(test_check__accepts_golden_witnesses_and_notices_every_changed_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
