/* SPDX-License-Identifier: Apache-2.0 */
/* cli/session: see session.h. */
#include "session.h"

#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 1024u
#define MAX_DEVICE  63u

typedef struct arguments {
    const cli_command *command;
    const char *const *values;
} arguments;

/* NULL: not given, or not an option of this command. */
static const char *value_of(const arguments *a, const char *name) {
    const size_t i = cli_find_option(a->command, name);
    return i < a->command->n_options ? a->values[i] : NULL;
}

static bool has_option(const arguments *a, const char *name) {
    return cli_find_option(a->command, name) < a->command->n_options;
}

static bool read_number(unsigned *out, const arguments *a, const char *name, unsigned min,
                        unsigned max) {
    const char *text = value_of(a, name);
    return !text || cli_parse_number(out, a->command, cli_find_option(a->command, name), text,
                                     min, max);
}

static bool is_in_build(const char *backend) {
    const char *name;
    for (unsigned i = 0; (name = cuzk_backend_name(i)); i++) {
        if (!strcmp(name, backend)) return true;
    }
    return false;
}

static bool check_backend(const arguments *a, const char *backend) {
    if (!backend || is_in_build(backend) || !strcmp(backend, "cuda")) return true;
    (void)cli_usage_error(a->command, "--backend %s: expected cpu or cuda", backend);
    return false;
}

static bool read_options(cuzk_runtime_options *out, const arguments *a) {
    if (!has_option(a, "threads")) out->n_threads = 1; /* too little work to share */
    if (!read_number(&out->n_threads, a, "threads", 1, MAX_THREADS)) return false;
    if (!read_number(&out->device, a, "device", 0, MAX_DEVICE)) return false;
    const char *budget = value_of(a, "vram-budget"), *backend = value_of(a, "backend");
    if (budget && !cli_parse_size(&out->vram_budget_bytes, a->command,
                                  cli_find_option(a->command, "vram-budget"), budget)) {
        return false;
    }
    if (!check_backend(a, backend)) return false;
    if (backend && !strcmp(backend, "cpu") && (budget || out->device)) {
        (void)cli_usage_error(a->command, "--%s needs --backend cuda",
                              budget ? "vram-budget" : "device");
        return false;
    }
    out->cpu = value_of(a, "cpu");
    out->backend = backend;
    if (!has_option(a, "backend")) out->backend = has_option(a, "device") ? "cuda" : "cpu";
    return true;
}

static const char *advice_for(const cuzk_runtime_options *o, const cuzk_err *err) {
    if (err->code != CUZK_ERR_DEVICE || !o->backend) return NULL;
    if (!is_in_build(o->backend)) {
        return "a build with CUDA: cmake -S . -B build -DCUZK_CUDA=ON (needs nvcc)";
    }
    return "nvidia-smi, to see whether the driver finds the GPU; or --backend cpu";
}

/* "0" and "" are no wish. */
static bool wants_timing(void) {
    const char *wish = getenv("CUZK_TIMING");
    return wish && *wish && strcmp(wish, "0") != 0;
}

int session_begin(session *out, const cli_command *command, const char *const *values) {
    const arguments a = {command, values};
    cuzk_runtime_options options = CUZK_RUNTIME_OPTIONS_INIT;
    cuzk_err err;
    *out = (session){.start_ns = report_clock_ns(), .shows_timing = wants_timing()};
    if (!read_options(&options, &a)) return EXIT_USAGE;
    options.trace = out->shows_timing || value_of(&a, "trace");
    if (cuzk_runtime_create(&out->rt, &options, &err) != CUZK_OK) {
        return report_failure(&err, advice_for(&options, &err));
    }
    const char *why_not = cuzk_runtime_why_not(out->rt);
    if (why_not && !value_of(&a, "quiet")) {
        (void)fprintf(stderr, "cuzk: no usable GPU (%s), using the CPU\n", why_not);
    }
    return EXIT_OK;
}

void session_end(session *s) {
    cuzk_runtime_destroy(s->rt);
    s->rt = NULL;
}

void session_print_costs(FILE *out, const session *s) {
    unsigned n_threads = cuzk_runtime_n_threads(s->rt);
    (void)fprintf(out, "total   %s, %s of CPU, %u thread%s, arithmetic %s, peak memory %s\n",
                  report_duration(report_clock_ns() - s->start_ns).text,
                  report_duration(report_cpu_ns()).text, n_threads, n_threads == 1 ? "" : "s",
                  cuzk_runtime_cpu(s->rt), report_size(report_peak_bytes()).text);
}

void session_print_costs_json(FILE *out, const session *s) {
    (void)fprintf(out, "\"threads\":%u,\"cpu\":", cuzk_runtime_n_threads(s->rt));
    report_json_string(out, cuzk_runtime_cpu(s->rt));
    (void)fprintf(out, ",\"backend\":");
    report_json_string(out, cuzk_runtime_backend(s->rt));
    (void)fprintf(out, ",\"device\":");
    report_json_string(out, cuzk_runtime_device(s->rt));
    (void)fprintf(out, ",\"wall_s\":%.6f,\"cpu_s\":%.6f,\"peak_bytes\":%" PRIu64,
                  (double)(report_clock_ns() - s->start_ns) / 1e9,
                  (double)report_cpu_ns() / 1e9, report_peak_bytes());
}

void session_print_timing(const session *s, const cuzk_proof *proof) {
    for (unsigned i = 0; s->shows_timing && i < cuzk_proof_n_timings(proof); i++) {
        const char *key;
        double value;
        cuzk_proof_timing(proof, i, &key, &value);
        (void)fprintf(stderr, "CUZK_TIMING: %s=%.*f\n", key,
                      value == (double)(uint64_t)value ? 0 : 3, value);
    }
}
