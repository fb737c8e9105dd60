/* SPDX-License-Identifier: Apache-2.0 */
/* prover/synthetic: the rows hold, the profiles are what they say, and keys of them prove. */
#include "prover/synthetic.h"

#include "api/runtime.h"
#include "base/alloc.h"
#include "prover/groth16.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOG_ROWS = 10, N_VARS = 1 << LOG_ROWS, FR_BYTES = 32, SEED = 7 };

static const synthetic_profile profiles[] = {SYNTHETIC_DENSE, SYNTHETIC_SHA, SYNTHETIC_POREP};
enum { N_PROFILES = sizeof profiles / sizeof profiles[0] };

typedef struct made {
    cuzk_runtime *rt;
    const curve *c;
    setup_circuit circuit;
    uint8_t *witness;
} made;

static made make(curve_id id, synthetic_profile profile, unsigned log_rows,
                 unsigned n_threads) {
    cuzk_runtime_options options = CUZK_RUNTIME_OPTIONS_INIT;
    options.n_threads = n_threads;
    options.backend = "cpu";
    made m;
    assert_int_equal(cuzk_runtime_create(&m.rt, &options, NULL), CUZK_OK);
    m.c = m.rt->curve_of[id];
    assert_int_equal(synthetic_make(&m.circuit, &m.witness, &m.c->fr, profile, log_rows, SEED,
                                    m.rt->exec, NULL),
                     CUZK_OK);
    return m;
}

static void drop(made *m) {
    setup_circuit_fini(&m->circuit);
    cuzk_free(m->witness);
    cuzk_runtime_destroy(m->rt);
}

/* ---- rows ---- */
/* Adds each term to the sum of its row and matrix, [n][3]. */
static void add_terms(fe (*sums)[3], const made *m, const uint8_t *triplets, uint64_t n) {
    const field *fr = &m->c->fr;
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *t = triplets + i * MATRIX_TRIPLET_BYTES;
        const uint32_t matrix = load_le32(t), row = load_le32(t + 4),
                       column = load_le32(t + 8);
        fe v, w;
        assert_true(matrix < 3 && row < N_VARS && column < m->circuit.n_vars);
        assert_true(field_load_mont(fr, v.l, t + 12));
        fr->ops->from_mont(v.l, v.l, &fr->m); /* v R^2 -> v R */
        assert_true(field_load_le(fr, w.l, m->witness + (size_t)column * FR_BYTES));
        field_mul(fr, v.l, v.l, w.l);
        field_add(fr, sums[row][matrix].l, sums[row][matrix].l, v.l);
    }
}

static void check_rows(const made *m) {
    const field *fr = &m->c->fr;
    fe(*sums)[3], product;
    assert_int_equal(cuzk_zalloc(&sums, N_VARS, sizeof *sums, NULL), CUZK_OK);
    add_terms(sums, m, m->circuit.triplets, m->circuit.n_triplets);
    add_terms(sums, m, m->circuit.c_triplets, m->circuit.n_c_triplets);
    unsigned n_not_zero = 0;
    for (uint32_t i = 0; i < m->circuit.n_constraints; i++) {
        field_mul(fr, product.l, sums[i][0].l, sums[i][1].l);
        assert_true(field_equal(fr, product.l, sums[i][2].l));
        if (!field_is_zero(fr, product.l)) n_not_zero++;
    }
    assert_true(n_not_zero > 20); /* rows that hold for nothing would prove nothing */
    for (uint32_t i = 0; i <= m->circuit.n_public; i++) { /* rows of the public values */
        fe w;
        assert_true(field_load_le(fr, w.l, m->witness + (size_t)i * FR_BYTES));
        assert_true(field_equal(fr, w.l, sums[m->circuit.n_constraints + i][0].l));
    }
    cuzk_free(sums);
}

static void test_synthetic__witness_satisfies_every_row(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++)
        for (unsigned i = 0; i < N_PROFILES; i++) {
            made m = make((curve_id)id, profiles[i], LOG_ROWS, 2);
            assert_int_equal(m.circuit.n_vars, N_VARS);
            assert_int_equal(m.circuit.n_constraints + m.circuit.n_public + 1, N_VARS);
            check_rows(&m);
            drop(&m);
        }
}

/* ---- profiles ---- */
typedef struct shares { /* of all variables */
    double wide, ones, zeros, in_a, in_b, terms;
} shares;

static double count(const bool *flags, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += flags[i];
    return (double)sum;
}

static shares measure(synthetic_profile profile) {
    enum { LOG_N = 14, N = 1 << LOG_N };
    made m = make(CURVE_BLS12_381, profile, LOG_N, 2);
    static const uint8_t nothing[FR_BYTES - 1];
    bool *seen[2];
    shares s = {0};
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(cuzk_zalloc(&seen[i], N, sizeof *seen[i], NULL), CUZK_OK);
    for (size_t i = 0; i < N; i++) {
        const uint8_t *w = m.witness + i * FR_BYTES;
        const bool small = w[0] < 2 && memcmp(w + 1, nothing, sizeof nothing) == 0;
        if (!small && memcmp(w + 8, nothing, 24) != 0) s.wide += 1. / N;
        if (small && w[0]) s.ones += 1. / N;
        if (small && !w[0]) s.zeros += 1. / N;
    }
    for (uint32_t i = 0; i < m.circuit.n_triplets; i++) {
        const uint8_t *t = m.circuit.triplets + (size_t)i * MATRIX_TRIPLET_BYTES;
        seen[load_le32(t)][load_le32(t + 8)] = true;
    }
    s.in_a = count(seen[0], N) / N;
    s.in_b = count(seen[1], N) / N;
    s.terms = m.circuit.n_triplets / (double)N;
    for (unsigned i = 0; i < 2; i++) cuzk_free(seen[i]);
    drop(&m);
    return s;
}

static void assert_near(double value, double expected) {
    assert_true(value > expected - 0.02 && value < expected + 0.02);
}

static void test_synthetic__profiles_have_their_shares(void **state) {
    (void)state;
    const shares dense = measure(SYNTHETIC_DENSE), sha = measure(SYNTHETIC_SHA),
                 porep = measure(SYNTHETIC_POREP);
    assert_near(dense.wide, 1);
    assert_near(dense.in_a, 1);
    assert_near(dense.in_b, 1);
    assert_near(dense.terms, 2);
    assert_near(sha.wide, 1. / 33 / 16);
    assert_near(sha.ones, 0.5 * 32 / 33);
    assert_near(sha.zeros, 0.5 * 32 / 33);
    assert_near(sha.in_a, 1 - 1. / 33); /* words are in C */
    assert_near(porep.wide, 0.01);
    assert_near(porep.ones, 0.495);
    assert_near(porep.zeros, 0.495);
    assert_near(porep.in_b, 0.254);
    assert_near(porep.terms, 3);
}

static void
test_synthetic__is_the_same_from_the_same_seed_on_any_number_of_threads(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_PROFILES; i++) {
        made one = make(CURVE_BN254, profiles[i], LOG_ROWS, 1);
        made three = make(CURVE_BN254, profiles[i], LOG_ROWS, 3);
        assert_int_equal(one.circuit.n_triplets, three.circuit.n_triplets);
        assert_memory_equal(one.circuit.triplets, three.circuit.triplets,
                            (size_t)one.circuit.n_triplets * MATRIX_TRIPLET_BYTES);
        assert_memory_equal(one.circuit.c_triplets, three.circuit.c_triplets,
                            (size_t)one.circuit.n_c_triplets * MATRIX_TRIPLET_BYTES);
        assert_memory_equal(one.witness, three.witness, (size_t)N_VARS * FR_BYTES);
        drop(&one);
        drop(&three);
    }
}

static void test_synthetic__refuses_sizes_that_the_field_has_no_domain_for(void **state) {
    (void)state;
    made m = make(CURVE_BN254, SYNTHETIC_DENSE, SYNTHETIC_LOG_MIN, 1);
    setup_circuit circuit;
    uint8_t *witness;
    cuzk_err err;
    const unsigned bad[] = {0, SYNTHETIC_LOG_MIN - 1, m.c->fr.two_adicity, 64};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(synthetic_make(&circuit, &witness, &m.c->fr, SYNTHETIC_DENSE, bad[i],
                                        SEED, NULL, &err),
                         CUZK_ERR_ARG);
        assert_non_null(strstr(err.text, "expected 2^3 to 2^27"));
    }
    drop(&m);
}

static void test_synthetic__profiles_are_found_by_name(void **state) {
    (void)state;
    synthetic_profile p;
    assert_true(synthetic_profile_find(&p, "dense") && p == SYNTHETIC_DENSE);
    assert_true(synthetic_profile_find(&p, "sha") && p == SYNTHETIC_SHA);
    assert_true(synthetic_profile_find(&p, "porep") && p == SYNTHETIC_POREP);
    assert_false(synthetic_profile_find(&p, "por"));
}

/* ---- proofs ---- */
static void check_proof(curve_id id, synthetic_profile profile, quotient_kind kind) {
    made m = make(id, profile, LOG_ROWS, 2);
    const cuzk_backend *be = m.rt->backend;
    const setup_options options = {kind, be, m.rt->device, m.rt->exec, NULL, NULL, NULL};
    const groth16_options unchecked = {.skip_check = true};
    setup_trapdoor t;
    setup_key made_key;
    proving_key key;
    groth16_proof proof;
    assert_int_equal(setup_trapdoor_make(&t, &m.c->fr, "test", NULL), CUZK_OK);
    assert_int_equal(setup_make(&made_key, m.c, &m.circuit, &t, &options, NULL), CUZK_OK);
    assert_int_equal(setup_key_open(&key, &made_key, be, m.rt->device, NULL), CUZK_OK);
    assert_int_equal(groth16_prove(&proof, &key, m.witness, &unchecked, NULL), CUZK_OK);
    const verifying_key vk = groth16_verifying_key(&key);
    assert_int_equal(groth16_verify(&vk, be, m.rt->device, &proof, m.witness, NULL), CUZK_OK);
    m.witness[FR_BYTES] ^= 1; /* another statement */
    assert_int_equal(groth16_verify(&vk, be, m.rt->device, &proof, m.witness, NULL),
                     CUZK_ERR_INVALID);
    proving_key_close(&key);
    setup_key_fini(&made_key);
    drop(&m);
}

static void test_synthetic__keys_prove_on_either_quotient_convention(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++)
        for (unsigned i = 0; i < N_PROFILES; i++) {
            check_proof((curve_id)id, profiles[i], QUOTIENT_LAGRANGE_ODD);
            check_proof((curve_id)id, profiles[i], QUOTIENT_MONOMIAL);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synthetic__witness_satisfies_every_row),
        cmocka_unit_test(test_synthetic__profiles_have_their_shares),
        cmocka_unit_test(
            test_synthetic__is_the_same_from_the_same_seed_on_any_number_of_threads),
        cmocka_unit_test(test_synthetic__refuses_sizes_that_the_field_has_no_domain_for),
        cmocka_unit_test(test_synthetic__profiles_are_found_by_name),
        cmocka_unit_test(test_synthetic__keys_prove_on_either_quotient_convention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
