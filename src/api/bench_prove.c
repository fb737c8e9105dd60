/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench_prove: whole proofs of circuits made for the purpose. The first one is cold: the key
 * moves to the device in it. Proofs are verified outside the time that counts. */
#include "api/runtime.h"
#include "api/timing.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cuzk/tools.h"
#include "prover/groth16.h"
#include "prover/synthetic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define WHERE        "api.bench_prove"
#define DEFAULT_RUNS 3u
#define MAX_SPANS    ((size_t)1 << 16)
#define LINE_BYTES   2048u
#define SEED         1u
#define TRAPDOOR     "cuzk bench prove" /* whoever reads this can forge these proofs */

/* What was asked for, and what is proved. */
typedef struct subject {
    cuzk_runtime *rt;
    const curve *c;
    synthetic_profile profile;
    quotient_kind quotient;
    unsigned log_rows, n_runs;
    char id[96];
    cuzk_bench_fn *fn;
    void *fn_arg;
    cuzk_progress_fn *progress;
    void *progress_arg;
    uint8_t *witness;
    setup_key made;
    proving_key key;
} subject;

/* ---- lines ---- */
typedef struct line {
    char text[LINE_BYTES];
    size_t n;
} line;

static void CUZK_PRINTF(2, 3) put(line *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(l->text + l->n, LINE_BYTES - l->n, format, args);
    va_end(args);
    CUZK_ASSERT(n >= 0 && (size_t)n < LINE_BYTES - l->n);
    l->n += (size_t)n;
}

static void begin_line(line *l, const char *what, const subject *s) {
    l->n = 0;
    put(l, "{\"id\":\"%s/%s\"", what, s->id);
}

static void end_line(line *l, const subject *s) {
    cuzk_device_info device;
    s->rt->backend->device_info(s->rt->device, &device);
    put(l, ",\"peak_rss_bytes\":%llu", (unsigned long long)cuzk_peak_rss_bytes());
    put(l, ",\"peak_device_bytes\":%llu}", (unsigned long long)device.peak_bytes);
    s->fn(s->fn_arg, l->text);
}

static double seconds_since(uint64_t then_ns) {
    return (double)(cuzk_clock_ns() - then_ns) * 1e-9;
}

/* ---- circuit and key ---- */
static cuzk_status make_with(subject *s, setup_circuit *circuit, cuzk_trace *trace,
                             cuzk_err *err) {
    cuzk_runtime *rt = s->rt;
    const setup_options options = {.quotient = s->quotient,
                                   .backend = rt->backend,
                                   .device = rt->device,
                                   .exec = rt->exec,
                                   .stage = s->progress,
                                   .stage_arg = s->progress_arg,
                                   .trace = trace};
    setup_trapdoor trapdoor;
    CUZK_TRY(setup_trapdoor_make(&trapdoor, &s->c->fr, TRAPDOOR, err));
    CUZK_TRY(setup_make(&s->made, s->c, circuit, &trapdoor, &options, err));
    CUZK_TRY(setup_key_open(&s->key, &s->made, rt->backend, rt->device, err));
    return proving_key_attach(&s->key, rt->memory, err);
}

static void report_setup(const subject *s, double circuit_s, double setup_s,
                         cuzk_trace *trace) {
    uint64_t multiples_ns, download_ns;
    line l;
    cuzk_trace_sum(trace, NULL, "multiples", &multiples_ns, NULL, NULL);
    cuzk_trace_sum(trace, NULL, "download", &download_ns, NULL, NULL);
    begin_line(&l, "setup", s);
    put(&l, ",\"constraints\":%llu,\"coefficients\":%u,\"key_bytes\":%zu", 1ull << s->log_rows,
        s->made.n_triplets, s->made.n_point_bytes);
    put(&l, ",\"circuit_s\":%.3f,\"setup_s\":%.3f", circuit_s, setup_s);
    put(&l, ",\"multiples_s\":%.3f,\"download_s\":%.3f", (double)multiples_ns * 1e-9,
        (double)download_ns * 1e-9);
    end_line(&l, s);
}

static cuzk_status make_key(subject *s, cuzk_err *err) {
    cuzk_trace *trace;
    setup_circuit circuit = {0};
    CUZK_TRY(cuzk_trace_create(&trace, MAX_SPANS, err));
    const uint64_t begin_ns = cuzk_clock_ns();
    cuzk_status st = synthetic_make(&circuit, &s->witness, &s->c->fr, s->profile, s->log_rows,
                                    SEED, s->rt->exec, err);
    const double circuit_s = seconds_since(begin_ns);
    if (st == CUZK_OK) st = make_with(s, &circuit, trace, err);
    if (st == CUZK_OK) report_setup(s, circuit_s, seconds_since(begin_ns) - circuit_s, trace);
    setup_circuit_fini(&circuit);
    cuzk_trace_append(s->rt->trace, trace);
    cuzk_trace_destroy(trace);
    return st;
}

/* ---- proofs ---- */
static cuzk_status verify(const subject *s, const groth16_proof *proof, double *ms,
                          cuzk_err *err) {
    const verifying_key vk = groth16_verifying_key(&s->key);
    const uint64_t begin_ns = cuzk_clock_ns();
    const cuzk_status st =
        groth16_verify(&vk, s->rt->backend, s->rt->device, proof, s->witness, err);
    *ms = seconds_since(begin_ns) * 1e3;
    if (st == CUZK_ERR_INVALID)
        return cuzk_fail(err, CUZK_ERR_DEVICE, WHERE,
                         "a proof made on %s does not verify: its results are wrong",
                         s->rt->backend->name);
    return st;
}

static cuzk_status report_run(const subject *s, unsigned run, double wall_ms, double verify_ms,
                              cuzk_trace *trace, const groth16_report *r, cuzk_err *err) {
    timing timings[TIMING_MAX];
    unsigned n_timings;
    line l;
    CUZK_TRY(timing_compute(timings, &n_timings, trace, r, err));
    begin_line(&l, "proof", s);
    put(&l, ",\"run\":%u,\"cold\":%s,\"wall_ms\":%.3f,\"verify_ms\":%.3f", run,
        run == 0 ? "true" : "false", wall_ms, verify_ms);
    for (unsigned i = 0; i < n_timings; i++)
        put(&l, ",\"%s\":%.10g", timings[i].key, timings[i].value);
    put(&l, ",\"replans\":%u,\"heap_fallbacks\":%u,\"plan\":\"%s\"", r->n_replans,
        r->n_heap_fallbacks, r->plan);
    end_line(&l, s);
    return CUZK_OK;
}

static cuzk_status prove_once(const subject *s, unsigned run, double *wall_ms, cuzk_err *err) {
    cuzk_trace *trace;
    groth16_proof proof;
    groth16_report report;
    double verify_ms = 0;
    CUZK_TRY(cuzk_trace_create(&trace, MAX_SPANS, err));
    const groth16_options options = {.skip_check = true,
                                     .stage = s->progress,
                                     .stage_arg = s->progress_arg,
                                     .trace = trace,
                                     .report = &report};
    const uint64_t begin_ns = cuzk_clock_ns();
    cuzk_status st = groth16_prove(&proof, &s->key, s->witness, &options, err);
    *wall_ms = seconds_since(begin_ns) * 1e3;
    if (st == CUZK_OK) st = verify(s, &proof, &verify_ms, err);
    if (st == CUZK_OK) st = report_run(s, run, *wall_ms, verify_ms, trace, &report, err);
    cuzk_trace_append(s->rt->trace, trace);
    cuzk_trace_destroy(trace);
    return st;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Warm runs in order; with a single run, that one stands for them. */
static void report_all(const subject *s, double *wall_ms) {
    const double cold_ms = wall_ms[0];
    double *warm_ms = s->n_runs > 1 ? wall_ms + 1 : wall_ms;
    const unsigned n = s->n_runs > 1 ? s->n_runs - 1 : 1;
    line l;
    qsort(warm_ms, n, sizeof *warm_ms, compare_doubles);
    begin_line(&l, "prove", s);
    put(&l, ",\"runs\":%u,\"cold_ms\":%.3f,\"wall_ms\":%.3f,\"min_ms\":%.3f,\"max_ms\":%.3f",
        s->n_runs, cold_ms, (warm_ms[(n - 1) / 2] + warm_ms[n / 2]) / 2, warm_ms[0],
        warm_ms[n - 1]);
    end_line(&l, s);
}

static cuzk_status prove_all(const subject *s, cuzk_err *err) {
    double *wall_ms;
    cuzk_status st = CUZK_OK;
    CUZK_TRY(cuzk_alloc(&wall_ms, s->n_runs, sizeof *wall_ms, err));
    s->rt->backend->device_info_reset(s->rt->device);
    for (unsigned i = 0; i < s->n_runs && st == CUZK_OK; i++)
        st = prove_once(s, i, &wall_ms[i], err);
    if (st == CUZK_OK) report_all(s, wall_ms);
    cuzk_free(wall_ms);
    return st;
}

/* ---- what was asked for ---- */
static cuzk_status find_quotient(quotient_kind *out, const char *name, cuzk_err *err) {
    if (strcmp(name, "circom") == 0)
        *out = QUOTIENT_LAGRANGE_ODD;
    else if (strcmp(name, "filecoin") == 0)
        *out = QUOTIENT_MONOMIAL;
    else
        return cuzk_fail(err, CUZK_ERR_ARG, WHERE,
                         "quotient \"%s\", expected \"circom\" or \"filecoin\"", name);
    return CUZK_OK;
}

static cuzk_status read_options(subject *s, const cuzk_bench_prove_options *o, cuzk_err *err) {
    const char *curve_name = o->curve ? o->curve : "bls12_381",
               *profile = o->profile ? o->profile : "dense",
               *quotient = o->quotient ? o->quotient : "circom";
    curve_id id;
    if (!curve_find_by_name(&id, curve_name))
        return cuzk_fail(err, CUZK_ERR_ARG, WHERE,
                         "curve \"%s\", expected \"bn254\" or \"bls12_381\"", curve_name);
    if (!synthetic_profile_find(&s->profile, profile))
        return cuzk_fail(err, CUZK_ERR_ARG, WHERE,
                         "profile \"%s\", expected \"dense\", \"sha\" or \"porep\"", profile);
    CUZK_TRY(find_quotient(&s->quotient, quotient, err));
    s->c = s->rt->curve_of[id];
    s->log_rows = o->log_constraints;
    s->n_runs = o->n_runs ? o->n_runs : DEFAULT_RUNS;
    (void)snprintf(s->id, sizeof s->id, "%s/%s/%s/2^%u/%s", s->c->params->name, profile,
                   quotient, s->log_rows, s->rt->backend->name);
    return CUZK_OK;
}

cuzk_status cuzk_bench_prove(cuzk_runtime *rt, const cuzk_bench_prove_options *options,
                             cuzk_bench_fn *fn, void *arg, cuzk_progress_fn *progress,
                             void *progress_arg, cuzk_err *err) {
    if (!rt || !options || !fn) return cuzk_fail(err, CUZK_ERR_ARG, WHERE, "a NULL argument");
    if (options->struct_bytes != sizeof *options)
        return cuzk_fail(
            err, CUZK_ERR_ARG, WHERE,
            "options of %zu bytes, expected %zu: start from CUZK_BENCH_PROVE_OPTIONS_INIT",
            options->struct_bytes, sizeof *options);
    subject s = {
        .rt = rt, .fn = fn, .fn_arg = arg, .progress = progress, .progress_arg = progress_arg};
    CUZK_TRY(read_options(&s, options, err));
    cuzk_status st = make_key(&s, err);
    if (st == CUZK_OK) st = prove_all(&s, err);
    proving_key_close(&s.key);
    setup_key_fini(&s.made);
    cuzk_free(s.witness);
    return st;
}
