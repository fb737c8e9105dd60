/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_bench: cuzk bench kernels, cuzk bench prove. */
#include "command.h"
#include "cuzk/tools.h"
#include "progress.h"
#include "report.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

static int run_kernels(const cli_command *self, const char *const *values, char **operands,
                       size_t n_operands);
static int run_prove(const cli_command *self, const char *const *values, char **operands,
                     size_t n_operands);

/* ---- kernels ---- */

enum { FILTER, MIN_LOG_N, MAX_LOG_N, K_RUNS, K_THREADS, K_CPU, K_JSON, K_HELP, N_K_OPTIONS };

#define LARGEST_LOG_N  28u
#define LARGEST_N_RUNS 100000u

static const cli_option kernel_options[N_K_OPTIONS] = {
    [FILTER] = {"filter", 0, "TEXT", "only measurements whose id contains TEXT"},
    [MIN_LOG_N] = {"min-log-n", 0, "N", "smallest size is 2^N"},
    [MAX_LOG_N] = {"max-log-n", 0, "N", "largest size is 2^N"},
    [K_RUNS] = {"runs", 0, "N", "how often to measure each"},
    [K_THREADS] = CLI_OPTION_THREADS,
    [K_CPU] = CLI_OPTION_CPU,
    [K_JSON] = CLI_OPTION_JSON("print one JSON object a measurement, each on its own line"),
    [K_HELP] = CLI_OPTION_HELP,
};

const cli_command cmd_bench_kernels = {
    .name = "bench kernels",
    .summary = "Measure the parts of a proof alone: field arithmetic, NTT, MSM, pairing",
    .usage = "[OPTION]...",
    .details = "Needs no files. Ids look like msm/bls12_381/g1/2^16/cpu.",
    .options = kernel_options,
    .n_options = N_K_OPTIONS,
    .examples = "cuzk bench kernels --filter msm/bn254 --threads 1\n"
                "cuzk bench kernels --max-log-n 16 --json >before.jsonl",
    .run = run_kernels,
};

/* A cuzk_bench_fn. Measurements take a while: show each at once. */
static void print_measurement(void *arg, const char *json_line) {
    const bool *is_json = arg;
    if (*is_json) {
        (void)printf("%.*s\n", (int)strcspn(json_line, "\n"), json_line);
    } else {
        report_json_as_line(stdout, json_line);
    }
    (void)fflush(stdout);
}

static int run_kernels(const cli_command *self, const char *const *values, char **operands,
                       size_t n_operands) {
    cuzk_bench_options how = CUZK_BENCH_OPTIONS_INIT;
    how.filter = values[FILTER];
    if (n_operands > 0) {
        return cli_usage_error(self, "bench kernels: unexpected argument %s", operands[0]);
    }
    const struct {
        size_t option;
        unsigned *to, min, max;
    } numbers[] = {{MIN_LOG_N, &how.min_log_n, 1, LARGEST_LOG_N},
                   {MAX_LOG_N, &how.max_log_n, 1, LARGEST_LOG_N},
                   {K_RUNS, &how.n_runs, 1, LARGEST_N_RUNS}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *text = values[numbers[i].option];
        if (text && !cli_parse_number(numbers[i].to, self, numbers[i].option, text,
                                      numbers[i].min, numbers[i].max)) {
            return EXIT_USAGE;
        }
    }
    if (how.min_log_n && how.max_log_n && how.min_log_n > how.max_log_n) {
        return cli_usage_error(self, "bench kernels: --min-log-n is above --max-log-n");
    }
    session s;
    cuzk_err err;
    int rc = session_begin(&s, self, values, K_THREADS, K_CPU);
    if (rc != EXIT_OK) return rc;
    bool is_json = values[K_JSON];
    if (cuzk_bench_kernels(s.rt, &how, print_measurement, &is_json, &err) != CUZK_OK) {
        rc = report_failure(&err, NULL);
    }
    session_end(&s);
    return rc;
}

/* ---- prove ---- */

enum { ZKEY, WTNS, RUNS, THREADS, CPU, JSON, QUIET, HELP, N_P_OPTIONS };

#define DEFAULT_N_RUNS 5u
#define MAX_STAGES     32u

static const cli_option prove_options[N_P_OPTIONS] = {
    [ZKEY] = {"zkey", 0, "FILE", "proving key (groth16 .zkey)"},
    [WTNS] = {"wtns", 0, "FILE", "witness (.wtns)"},
    [RUNS] = {"runs", 0, "N", "how many proofs to make; default 5"},
    [THREADS] = CLI_OPTION_THREADS,
    [CPU] = CLI_OPTION_CPU,
    [JSON] = CLI_OPTION_JSON("report as one JSON object on standard output"),
    [QUIET] = {"quiet", 'q', NULL, "no progress bar"},
    [HELP] = CLI_OPTION_HELP,
};

const cli_command cmd_bench_prove = {
    .name = "bench prove",
    .summary = "Prove several times in one process; smallest and median time of each stage",
    .usage = "--zkey FILE --wtns FILE [OPTION]...",
    .details = "The key is opened once. The proofs are made and verified, then forgotten.",
    .options = prove_options,
    .n_options = N_P_OPTIONS,
    .examples = "cuzk setup --insecure --r1cs circuit.r1cs --zkey circuit.insecure.zkey\n"
                "cuzk bench prove --zkey circuit.insecure.zkey --wtns witness.wtns --runs 11",
    .run = run_prove,
};

/* Times of one stage over all runs; column 0 is the whole proof. */
typedef struct times {
    const char *names[MAX_STAGES];
    uint64_t *ns; /* [column * n_runs + run] */
    unsigned n_columns, n_runs;
} times;

static int compare_ns(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void add_run(times *t, unsigned run, uint64_t wall_ns, const cuzk_proof *proof) {
    unsigned n_stages = cuzk_proof_n_stages(proof);
    t->n_columns = 1 + (n_stages < MAX_STAGES ? n_stages : MAX_STAGES - 1);
    t->names[0] = "total";
    t->ns[run] = wall_ns;
    for (unsigned i = 1; i < t->n_columns; i++) {
        cuzk_proof_stage(proof, i - 1, &t->names[i], &t->ns[(size_t)i * t->n_runs + run]);
    }
}

static cuzk_status measure(times *t, cuzk_key *key, const char *wtns, bool is_quiet,
                           cuzk_err *err) {
    progress bar = progress_begin(is_quiet);
    cuzk_status status = CUZK_OK;
    for (unsigned run = 0; run < t->n_runs && status == CUZK_OK; run++) {
        cuzk_proof *proof = NULL;
        (void)progress_step(&bar, "proving", run, t->n_runs);
        uint64_t start_ns = report_clock_ns();
        status = cuzk_prove_file(&proof, key, wtns, NULL, err);
        if (status == CUZK_OK) add_run(t, run, report_clock_ns() - start_ns, proof);
        cuzk_proof_free(proof);
    }
    progress_end(&bar);
    return status;
}

static void print_times(times *t, const session *s, bool is_json) {
    if (is_json) (void)printf("{\"runs\":%u,\"stages\":[", t->n_runs);
    for (unsigned k = 0; k < t->n_columns; k++) {
        unsigned i = k + 1 < t->n_columns ? k + 1 : 0; /* the total comes last */
        uint64_t *ns = t->ns + (size_t)i * t->n_runs;
        qsort(ns, t->n_runs, sizeof *ns, compare_ns);
        uint64_t smallest = ns[0], median = ns[t->n_runs / 2];
        if (t->n_runs % 2 == 0) median = (median + ns[t->n_runs / 2 - 1]) / 2;
        if (is_json) {
            (void)printf("%s{\"name\":", k ? "," : "");
            report_json_string(stdout, t->names[i]);
            (void)printf(",\"min_s\":%.6f,\"median_s\":%.6f}", (double)smallest / 1e9,
                         (double)median / 1e9);
        } else {
            if (k == 0) (void)printf("%-14s %10s %10s\n", "stage", "min", "median");
            (void)printf("%-14s %10s %10s\n", t->names[i], report_duration(smallest).text,
                         report_duration(median).text);
        }
    }
    if (is_json) {
        (void)printf("],");
        session_print_costs_json(stdout, s);
        (void)printf("}\n");
    } else {
        (void)printf("\n");
        session_print_costs(stdout, s);
    }
}

static int bench_prove(const session *s, const char *const *values, unsigned n_runs) {
    times t = {.n_runs = n_runs, .ns = calloc((size_t)MAX_STAGES * n_runs, sizeof *t.ns)};
    if (!t.ns) {
        report_error("not enough memory for the times", "a smaller --runs");
        return EXIT_RESOURCES;
    }
    cuzk_key *key = NULL;
    cuzk_err err;
    cuzk_status status = cuzk_key_open(&key, s->rt, values[ZKEY], &err);
    if (status == CUZK_OK) status = measure(&t, key, values[WTNS], values[QUIET], &err);
    int rc = EXIT_OK;
    if (status == CUZK_OK) {
        print_times(&t, s, values[JSON]);
    } else {
        rc = report_failure(&err, NULL);
    }
    cuzk_key_close(key);
    free(t.ns);
    return rc;
}

static int run_prove(const cli_command *self, const char *const *values, char **operands,
                     size_t n_operands) {
    unsigned n_runs = DEFAULT_N_RUNS;
    if (n_operands > 0) {
        return cli_usage_error(self, "bench prove: unexpected argument %s", operands[0]);
    }
    if (!values[ZKEY] || !values[WTNS]) {
        return cli_usage_error(self,
                               "bench prove: --zkey FILE and --wtns FILE are needed; a key "
                               "for a benchmark comes from cuzk setup --insecure");
    }
    if (cli_is_dash(values[ZKEY]) || cli_is_dash(values[WTNS])) {
        return cli_usage_error(self, "bench prove: '-' can be read only once, give files");
    }
    if (values[RUNS] &&
        !cli_parse_number(&n_runs, self, RUNS, values[RUNS], 1, LARGEST_N_RUNS)) {
        return EXIT_USAGE;
    }
    session s;
    int rc = session_begin(&s, self, values, THREADS, CPU);
    if (rc != EXIT_OK) return rc;
    rc = bench_prove(&s, values, n_runs);
    session_end(&s);
    return rc;
}
