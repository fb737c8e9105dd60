/* SPDX-License-Identifier: Apache-2.0 */
/* prover on backend/cuda: with the same blinders a proof has the bytes of the CPU's, by every
 * plan, on golden circuits and on synthetic ones; and many proofs take the memory of few. Skipped
 * without the backend or a device. CUZK_TEST_FULL adds the sizes that take minutes. */
#include "base/alloc.h"
#include "format/circom/wtns.h"
#include "golden.h"
#include "keyfixture.h"
#include "prover/synthetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SEED 7u

/* A key where proofs are made. */
typedef struct place {
    const cuzk_backend *be;
    cuzk_device *dev;
    device_memory *memory;
    proving_key key;
} place;

/* A witness, and its key on either backend. */
typedef struct subject {
    cuzk_exec *exec;
    curve c;
    uint8_t *witness;
    setup_key made;
    place cpu, gpu;
} subject;

static bool is_full(void) { return getenv("CUZK_TEST_FULL") != NULL; }

/* ---- keys ---- */
static void open_place(subject *s, place *p, const char *name) {
    assert_int_equal(cuzk_backend_find(&p->be, name, NULL), CUZK_OK);
    assert_int_equal(p->be->open(&p->dev, &(cuzk_device_options){.index = 0}, s->exec, NULL),
                     CUZK_OK);
}

static void begin(subject *s, curve_id id) {
    cuzk_cpu_level level;
    memset(s, 0, sizeof *s);
    assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_exec_create(&s->exec, 0, NULL), CUZK_OK);
    curve_init(&s->c, id, level);
    open_place(s, &s->cpu, "cpu");
    open_place(s, &s->gpu, "cuda");
}

static setup_options options_of(const subject *s, const place *maker, quotient_kind kind) {
    return (setup_options){
        .quotient = kind, .backend = maker->be, .device = maker->dev, .exec = s->exec};
}

static void open_key(subject *s, place *p) {
    assert_int_equal(setup_key_open(&p->key, &s->made, p->be, p->dev, NULL), CUZK_OK);
    assert_int_equal(device_memory_create(&p->memory, p->be, p->dev, s->exec, NULL, NULL),
                     CUZK_OK);
    assert_int_equal(proving_key_attach(&p->key, p->memory, NULL), CUZK_OK);
}

static void begin_golden(subject *s, curve_id id, const char *circuit, quotient_kind kind) {
    begin(s, id);
    blob r1cs_file = golden_load(id, circuit, "circuit.r1cs"),
         wtns_file = golden_load(id, circuit, "witness.wtns");
    const setup_options options = options_of(s, &s->cpu, kind);
    r1cs_view r1cs;
    wtns_view wtns;
    setup_trapdoor trapdoor;
    assert_int_equal(r1cs_parse(&r1cs, blob_span(r1cs_file), NULL), CUZK_OK);
    assert_int_equal(wtns_parse(&wtns, blob_span(wtns_file), NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&s->witness, wtns.values.n_bytes, 1, NULL), CUZK_OK);
    memcpy(s->witness, wtns.values.p, wtns.values.n_bytes);
    assert_int_equal(setup_trapdoor_make(&trapdoor, &s->c.fr, "test", NULL), CUZK_OK);
    assert_int_equal(setup_run(&s->made, &s->c, &r1cs, &trapdoor, &options, NULL), CUZK_OK);
    blob_free(&r1cs_file);
    blob_free(&wtns_file);
    open_key(s, &s->cpu);
    open_key(s, &s->gpu);
}

/* The device makes the points: the CPU would take minutes at the larger sizes. */
static void begin_synthetic(subject *s, curve_id id, synthetic_profile profile,
                            unsigned log_rows, quotient_kind kind) {
    begin(s, id);
    const setup_options options = options_of(s, &s->gpu, kind);
    setup_circuit circuit;
    setup_trapdoor trapdoor;
    assert_int_equal(synthetic_make(&circuit, &s->witness, &s->c.fr, profile, log_rows, SEED,
                                    s->exec, NULL),
                     CUZK_OK);
    assert_int_equal(setup_trapdoor_make(&trapdoor, &s->c.fr, "test", NULL), CUZK_OK);
    assert_int_equal(setup_make(&s->made, &s->c, &circuit, &trapdoor, &options, NULL),
                     CUZK_OK);
    setup_circuit_fini(&circuit);
    open_key(s, &s->cpu);
    open_key(s, &s->gpu);
}

static void close_place(place *p) {
    proving_key_close(&p->key);
    device_memory_destroy(p->memory);
    p->be->close(p->dev);
}

static void end(subject *s) {
    close_place(&s->cpu);
    close_place(&s->gpu);
    setup_key_fini(&s->made);
    cuzk_free(s->witness);
    cuzk_exec_destroy(s->exec);
}

/* ---- proofs ---- */
/* plan NULL: the planner's own. */
static groth16_proof prove(const subject *s, const place *p, const proof_plan *plan) {
    const blinders b = keyfixture_blinders(&s->c);
    groth16_report report;
    groth16_proof proof;
    cuzk_err err;
    const groth16_options options = {.fixed = &b, .plan = plan, .report = &report};
    const cuzk_status st = groth16_prove(&proof, &p->key, s->witness, &options, &err);
    if (st != CUZK_OK) print_error("%s: %s\n", err.where, err.text);
    assert_int_equal(st, CUZK_OK);
    assert_int_equal(report.n_device_faults, 0); /* else it was the CPU's after all */
    if (plan) assert_int_equal(report.n_replans, 0);
    return proof;
}

static bool is_same_way(const proof_plan *a, const proof_plan *b) {
    return a->evaluates_on_host == b->evaluates_on_host && a->streams_key == b->streams_key &&
           a->one_vector == b->one_vector && a->overlaps == b->overlaps;
}

typedef enum plans { PLAN_CHOSEN, PLAN_EACH_WAY, PLAN_EVERY } plans;

static void check(const subject *s, plans which) {
    const groth16_proof expected = prove(s, &s->cpu, NULL);
    groth16_proof got = prove(s, &s->gpu, NULL);
    assert_true(keyfixture_same_proof(&s->c, &expected, &got));
    if (which == PLAN_CHOSEN) return;
    const uint64_t limit = s->gpu.memory->limit_bytes;
    proof_plan plan, last = {0};
    unsigned n = 0;
    for (; plan_step(&plan, &s->gpu.key, limit, n); n++) {
        if (which == PLAN_EACH_WAY && n > 0 && is_same_way(&plan, &last)) continue;
        got = prove(s, &s->gpu, &plan);
        assert_true(keyfixture_same_proof(&s->c, &expected, &got));
        last = plan;
    }
    assert_true(n >= 8);
}

/* ---- golden circuits: domains from 2 rows on ---- */
static void test_cuda_proofs__equal_the_cpu_by_every_plan_on_golden_circuits(void **state) {
    (void)state;
    static const char *const circuits[] = {"one", "two", "nopub", "poseidon_4"};
    for (unsigned id = 0; id < CURVE_COUNT; id++)
        for (unsigned kind = 0; kind < 2; kind++)
            for (size_t i = 0; i < sizeof circuits / sizeof circuits[0]; i++) {
                subject s;
                begin_golden(&s, (curve_id)id, circuits[i], (quotient_kind)kind);
                check(&s, PLAN_EVERY);
                end(&s);
            }
}

/* ---- synthetic circuits ---- */
static void check_synthetic(unsigned log_rows, plans which) {
    for (unsigned id = 0; id < CURVE_COUNT; id++)
        for (unsigned kind = 0; kind < 2; kind++)
            for (int profile = SYNTHETIC_DENSE; profile <= SYNTHETIC_POREP; profile++) {
                subject s;
                begin_synthetic(&s, (curve_id)id, (synthetic_profile)profile, log_rows,
                                (quotient_kind)kind);
                check(&s, which);
                end(&s);
            }
}

static void test_cuda_proofs__equal_the_cpu_on_each_profile(void **state) {
    (void)state;
    for (unsigned log_rows = SYNTHETIC_LOG_MIN; log_rows <= 12; log_rows++)
        check_synthetic(log_rows, log_rows == 10 ? PLAN_EVERY : PLAN_CHOSEN);
    check_synthetic(14, PLAN_EACH_WAY);
}

static void test_cuda_proofs__equal_the_cpu_on_long_circuits(void **state) {
    (void)state;
    if (!is_full()) skip();
    static const struct {
        curve_id id;
        synthetic_profile profile;
        quotient_kind kind;
        unsigned log_rows;
    } cases[] = {{CURVE_BN254, SYNTHETIC_DENSE, QUOTIENT_LAGRANGE_ODD, 18},
                 {CURVE_BLS12_381, SYNTHETIC_POREP, QUOTIENT_MONOMIAL, 18},
                 {CURVE_BLS12_381, SYNTHETIC_DENSE, QUOTIENT_LAGRANGE_ODD, 20},
                 {CURVE_BN254, SYNTHETIC_SHA, QUOTIENT_LAGRANGE_ODD, 20},
                 {CURVE_BLS12_381, SYNTHETIC_SHA, QUOTIENT_MONOMIAL, 22},
                 {CURVE_BLS12_381, SYNTHETIC_DENSE, QUOTIENT_MONOMIAL, 22}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        subject s;
        begin_synthetic(&s, cases[i].id, cases[i].profile, cases[i].log_rows, cases[i].kind);
        check(&s, PLAN_EACH_WAY);
        end(&s);
    }
}

/* ---- many proofs ---- */
static uint64_t resident_bytes(void) {
    unsigned long total, resident;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &total, &resident), 2);
    (void)fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

typedef struct usage {
    uint64_t host_bytes, device_bytes;
} usage;

static usage usage_of(const place *p) {
    cuzk_device_info info;
    p->be->device_info(p->dev, &info);
    return (usage){resident_bytes(), info.used_bytes};
}

static void test_cuda_proofs__take_no_more_memory_after_200_than_after_20(void **state) {
    (void)state;
    subject s;
    begin_synthetic(&s, CURVE_BLS12_381, SYNTHETIC_SHA, 12, QUOTIENT_LAGRANGE_ODD);
    usage after_20 = {0};
    groth16_proof first = prove(&s, &s.gpu, NULL);
    for (unsigned i = 2; i <= 200; i++) {
        const groth16_proof proof = prove(&s, &s.gpu, NULL);
        assert_true(keyfixture_same_proof(&s.c, &first, &proof));
        if (i == 20) after_20 = usage_of(&s.gpu);
    }
    const usage after_200 = usage_of(&s.gpu);
    print_message(
        "after 20 and 200 proofs: host %llu, %llu; device %llu, %llu bytes\n",
        (unsigned long long)after_20.host_bytes, (unsigned long long)after_200.host_bytes,
        (unsigned long long)after_20.device_bytes, (unsigned long long)after_200.device_bytes);
    assert_true(after_200.host_bytes <= after_20.host_bytes + after_20.host_bytes / 100);
    assert_int_equal(after_200.device_bytes, after_20.device_bytes);
    end(&s);
}

int main(void) {
    const cuzk_backend *be;
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK) return 77; /* skipped */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_proofs__equal_the_cpu_by_every_plan_on_golden_circuits),
        cmocka_unit_test(test_cuda_proofs__equal_the_cpu_on_each_profile),
        cmocka_unit_test(test_cuda_proofs__equal_the_cpu_on_long_circuits),
        cmocka_unit_test(test_cuda_proofs__take_no_more_memory_after_200_than_after_20),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
