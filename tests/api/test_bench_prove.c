/* SPDX-License-Identifier: Apache-2.0 */
/* cuzk_bench_prove: its lines are JSON with what they promise, and it says what it can't do. */
#include "cuzk/tools.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_LINES_MAX = 16 };

typedef struct lines {
    json_t *line[N_LINES_MAX];
    unsigned n;
} lines;

static void keep(void *arg, const char *text) {
    lines *l = arg;
    assert_true(l->n < N_LINES_MAX);
    l->line[l->n] = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(l->line[l->n]);
    l->n++;
}

static void drop(lines *l) {
    while (l->n) json_decref(l->line[--l->n]);
}

static cuzk_runtime *runtime(void) {
    cuzk_runtime_options options = CUZK_RUNTIME_OPTIONS_INIT;
    cuzk_runtime *rt;
    options.backend = "cpu";
    options.n_threads = 2;
    assert_int_equal(cuzk_runtime_create(&rt, &options, NULL), CUZK_OK);
    return rt;
}

static const char *id_of(const json_t *line) {
    return json_string_value(json_object_get(line, "id"));
}
static double number_of(const json_t *line, const char *key) {
    const json_t *value = json_object_get(line, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void check_lines(const char *curve, const char *profile, const char *quotient,
                        const char *id) {
    cuzk_runtime *rt = runtime();
    cuzk_bench_prove_options o = CUZK_BENCH_PROVE_OPTIONS_INIT;
    lines l = {.n = 0};
    o.curve = curve;
    o.profile = profile;
    o.quotient = quotient;
    o.log_constraints = 6;
    o.n_runs = 3;
    assert_int_equal(cuzk_bench_prove(rt, &o, keep, &l, NULL, NULL, NULL), CUZK_OK);
    assert_int_equal(l.n, 5); /* the key, three proofs, all of them */
    for (unsigned i = 0; i < l.n; i++) {
        assert_string_equal(strchr(id_of(l.line[i]), '/') + 1, id);
        assert_true(number_of(l.line[i], "peak_rss_bytes") > 0);
    }
    assert_true(number_of(l.line[0], "setup_s") >= 0);
    assert_true(number_of(l.line[0], "constraints") == 64);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(json_is_true(json_object_get(l.line[1 + i], "cold")) == (i == 0));
        assert_true(number_of(l.line[1 + i], "run") == i);
        assert_true(number_of(l.line[1 + i], "wall_ms") > 0);
        assert_true(json_is_string(json_object_get(l.line[1 + i], "plan")));
    }
    const double low = number_of(l.line[4], "min_ms"), high = number_of(l.line[4], "max_ms");
    assert_true(low > 0 && low <= number_of(l.line[4], "wall_ms") &&
                number_of(l.line[4], "wall_ms") <= high);
    drop(&l);
    cuzk_runtime_destroy(rt);
}

static void test_bench_prove__tells_of_the_key_of_every_proof_and_of_all(void **state) {
    (void)state;
    check_lines("bn254", "sha", "circom", "bn254/sha/circom/2^6/cpu");
    check_lines("bls12381", "porep", "filecoin", "bls12_381/porep/filecoin/2^6/cpu");
    check_lines(NULL, NULL, NULL, "bls12_381/dense/circom/2^6/cpu");
}

static int stop(void *arg, const char *stage, unsigned done, unsigned total) {
    (void)done;
    (void)total;
    return strcmp(stage, arg) == 0;
}

static void test_bench_prove__stops_when_told_to(void **state) {
    (void)state;
    cuzk_runtime *rt = runtime();
    cuzk_bench_prove_options o = CUZK_BENCH_PROVE_OPTIONS_INIT;
    char setup_stage[] = "B2", proof_stage[] = "multiexp";
    char *const stages[] = {setup_stage, proof_stage};
    o.log_constraints = 5;
    for (unsigned i = 0; i < 2; i++) {
        lines l = {.n = 0};
        assert_int_equal(cuzk_bench_prove(rt, &o, keep, &l, stop, stages[i], NULL),
                         CUZK_ERR_CANCELLED);
        assert_int_equal(l.n, i); /* the key's, once there was one */
        drop(&l);
    }
    cuzk_runtime_destroy(rt);
}

static void check_refused(cuzk_runtime *rt, const cuzk_bench_prove_options *o,
                          const char *text) {
    cuzk_err err;
    lines l = {.n = 0};
    assert_int_equal(cuzk_bench_prove(rt, o, keep, &l, NULL, NULL, &err), CUZK_ERR_ARG);
    assert_non_null(strstr(err.text, text));
    assert_int_equal(l.n, 0);
}

static void test_bench_prove__refuses_what_it_does_not_know(void **state) {
    (void)state;
    cuzk_runtime *rt = runtime();
    const cuzk_bench_prove_options good = {sizeof good, "bn254", 5, "dense", "circom", 1};
    cuzk_bench_prove_options o = good;
    o.curve = "bn255";
    check_refused(rt, &o, "bn255");
    o = good;
    o.profile = "sparse";
    check_refused(rt, &o, "sparse");
    o = good;
    o.quotient = "halo";
    check_refused(rt, &o, "halo");
    o = good;
    o.log_constraints = 28;
    check_refused(rt, &o, "2^28");
    o = good;
    o.struct_bytes--;
    check_refused(rt, &o, "CUZK_BENCH_PROVE_OPTIONS_INIT");
    cuzk_runtime_destroy(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench_prove__tells_of_the_key_of_every_proof_and_of_all),
        cmocka_unit_test(test_bench_prove__stops_when_told_to),
        cmocka_unit_test(test_bench_prove__refuses_what_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
