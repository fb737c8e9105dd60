/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime is made of, what it refuses, and what it tells about proofs. */
#include "cuzk/tools.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER "tests/golden/bn128/poseidon_4/"

static cuzk_runtime *new_runtime(const char *backend, int trace) {
    cuzk_runtime *rt = NULL;
    cuzk_runtime_options o = CUZK_RUNTIME_OPTIONS_INIT;
    o.n_threads = 2;
    o.backend = backend;
    o.trace = trace;
    assert_int_equal(cuzk_runtime_create(&rt, &o, NULL), CUZK_OK);
    return rt;
}

static cuzk_proof *new_proof(cuzk_runtime *rt) {
    cuzk_key *key = NULL;
    cuzk_proof *proof = NULL;
    assert_int_equal(cuzk_key_open(&key, rt, FOLDER "circuit_final.zkey", NULL), CUZK_OK);
    assert_int_equal(cuzk_prove_file(&proof, key, FOLDER "witness.wtns", NULL, NULL), CUZK_OK);
    cuzk_key_close(key);
    return proof;
}

/* ---- backends and devices ---- */

static void test_runtime__has_the_cpu_in_every_build(void **state) {
    (void)state;
    unsigned n = 0, n_cpu = 0;
    for (const char *name; (name = cuzk_backend_name(n)); n++) n_cpu += !strcmp(name, "cpu");
    assert_int_equal(n_cpu, 1);
    assert_null(cuzk_backend_name(n + 1));
    cuzk_runtime *rt = new_runtime("cpu", 0);
    assert_string_equal(cuzk_runtime_backend(rt), "cpu");
    assert_true(strlen(cuzk_runtime_device(rt)) > 0);
    assert_null(cuzk_runtime_why_not(rt)); /* nothing was passed over: it was asked for */
    cuzk_runtime_destroy(rt);
}

static void test_runtime__says_why_not_when_a_better_backend_is_passed_over(void **state) {
    (void)state;
    cuzk_runtime *rt = new_runtime(NULL, 0);
    const bool is_cpu = !strcmp(cuzk_runtime_backend(rt), "cpu");
    const bool has_another = cuzk_backend_name(1) != NULL;
    assert_int_equal(cuzk_runtime_why_not(rt) != NULL, is_cpu && has_another);
    cuzk_runtime_destroy(rt);
}

static void test_runtime__refuses_what_is_said_of_a_gpu_on_the_cpu(void **state) {
    (void)state;
    cuzk_runtime *rt = NULL;
    cuzk_err err;
    cuzk_runtime_options o = CUZK_RUNTIME_OPTIONS_INIT;
    o.backend = "cpu";
    o.vram_budget_bytes = (uint64_t)1 << 30;
    assert_int_equal(cuzk_runtime_create(&rt, &o, &err), CUZK_ERR_ARG);
    assert_non_null(strstr(err.text, "budget of GPU memory"));
    o.vram_budget_bytes = 0;
    o.device = 1;
    assert_int_equal(cuzk_runtime_create(&rt, &o, &err), CUZK_ERR_ARG);
    assert_non_null(strstr(err.text, "\"cuda\""));
    assert_null(rt);
}

static void test_runtime__names_the_backends_when_one_is_unknown(void **state) {
    (void)state;
    cuzk_runtime *rt = NULL;
    cuzk_err err;
    cuzk_runtime_options o = CUZK_RUNTIME_OPTIONS_INIT;
    o.backend = "abacus";
    assert_int_equal(cuzk_runtime_create(&rt, &o, &err), CUZK_ERR_DEVICE);
    assert_non_null(strstr(err.text, "\"abacus\""));
    assert_non_null(strstr(err.text, "cpu"));
    assert_null(rt);
}

static void test_runtime__refuses_options_of_another_size(void **state) {
    (void)state;
    cuzk_runtime *rt = NULL;
    cuzk_runtime_options o = CUZK_RUNTIME_OPTIONS_INIT;
    o.struct_bytes -= 8;
    assert_int_equal(cuzk_runtime_create(&rt, &o, NULL), CUZK_ERR_ARG);
    assert_null(rt);
}

/* ---- traces ---- */

static void test_runtime__has_no_trace_unless_asked_for(void **state) {
    (void)state;
    char *json = NULL;
    cuzk_runtime *rt = new_runtime("cpu", 0);
    cuzk_proof *proof = new_proof(rt);
    assert_int_equal(cuzk_proof_n_timings(proof), 0);
    assert_int_equal(cuzk_runtime_trace_json(&json, rt, NULL), CUZK_ERR_ARG);
    assert_null(json);
    cuzk_proof_free(proof);
    cuzk_runtime_destroy(rt);
}

static size_t n_spans(cuzk_runtime *rt, const char *name) {
    char *text = NULL;
    assert_int_equal(cuzk_runtime_trace_json(&text, rt, NULL), CUZK_OK);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    size_t n = 0, i;
    const json_t *event;
    json_array_foreach(json_object_get(json, "traceEvents"), i, event) {
        n += !strcmp(json_string_value(json_object_get(event, "name")), name);
    }
    json_decref(json);
    cuzk_string_free(text);
    return n;
}

static double timing_of(const cuzk_proof *proof, const char *key) {
    for (unsigned i = 0; i < cuzk_proof_n_timings(proof); i++) {
        const char *name = NULL;
        double value = -1;
        cuzk_proof_timing(proof, i, &name, &value);
        if (!strcmp(name, key)) return value;
    }
    return -1;
}

static void test_runtime__traces_all_proofs_while_each_has_its_own_timings(void **state) {
    (void)state;
    cuzk_runtime *rt = new_runtime("cpu", 1);
    assert_int_equal(n_spans(rt, "msm"), 0);
    cuzk_proof *proof = new_proof(rt);
    const size_t n_one = n_spans(rt, "msm");
    assert_true(n_one > 0);
    cuzk_proof *second = new_proof(rt);
    assert_int_equal(n_spans(rt, "msm"), 2 * n_one);

    const double busy = timing_of(second, "gpu_busy_ms"),
                 total = timing_of(second, "gpu_total_ms");
    assert_true(busy > 0 && busy <= total);
    assert_true(timing_of(second, "msm_ms") > 0);
    assert_true(timing_of(second, "msm_ms") <= total); /* not that of both proofs */
    assert_true(timing_of(second, "h2d_bytes") == 0);
    cuzk_proof_free(second);
    cuzk_proof_free(proof);
    cuzk_runtime_destroy(rt);
}

/* ---- what is told about a proof ---- */

static void test_proof__tells_how_it_was_made(void **state) {
    (void)state;
    cuzk_runtime *rt = new_runtime("cpu", 0);
    cuzk_proof *proof = new_proof(rt);
    cuzk_proof_info info = {0};
    cuzk_proof_get_info(proof, &info);
    assert_true(strlen(info.plan) > 0);
    assert_int_equal(info.uploaded_bytes + info.downloaded_bytes + info.key_uploaded_bytes, 0);
    assert_int_equal(info.peak_device_bytes, 0);
    assert_int_equal(info.n_replans + info.n_heap_fallbacks + info.n_device_faults, 0);
    cuzk_proof_free(proof);
    cuzk_runtime_destroy(rt);
}

/* ---- copies ---- */

static void ignore_line(void *arg, const char *json_line) {
    (void)arg;
    (void)json_line;
}

static void test_bench_h2d__is_refused_where_nothing_is_copied(void **state) {
    (void)state;
    cuzk_runtime *rt = new_runtime("cpu", 0);
    cuzk_err err;
    assert_int_equal(cuzk_bench_h2d(rt, NULL, ignore_line, NULL, &err), CUZK_ERR_DEVICE);
    assert_non_null(strstr(err.text, "\"cpu\""));
    cuzk_bench_h2d_options o = CUZK_BENCH_H2D_OPTIONS_INIT;
    o.n_bytes = 1000;
    assert_int_equal(cuzk_bench_h2d(rt, &o, ignore_line, NULL, NULL), CUZK_ERR_ARG);
    o.struct_bytes = 0;
    assert_int_equal(cuzk_bench_h2d(rt, &o, ignore_line, NULL, NULL), CUZK_ERR_ARG);
    assert_int_equal(cuzk_bench_h2d(NULL, NULL, ignore_line, NULL, NULL), CUZK_ERR_ARG);
    cuzk_runtime_destroy(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runtime__has_the_cpu_in_every_build),
        cmocka_unit_test(test_runtime__says_why_not_when_a_better_backend_is_passed_over),
        cmocka_unit_test(test_runtime__refuses_what_is_said_of_a_gpu_on_the_cpu),
        cmocka_unit_test(test_runtime__names_the_backends_when_one_is_unknown),
        cmocka_unit_test(test_runtime__refuses_options_of_another_size),
        cmocka_unit_test(test_runtime__has_no_trace_unless_asked_for),
        cmocka_unit_test(test_runtime__traces_all_proofs_while_each_has_its_own_timings),
        cmocka_unit_test(test_proof__tells_how_it_was_made),
        cmocka_unit_test(test_bench_h2d__is_refused_where_nothing_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
