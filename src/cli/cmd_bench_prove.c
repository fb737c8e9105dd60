/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_bench_prove: cuzk bench prove, of a key and a witness in files or made up. */
#include "command.h"
#include "cuzk/tools.h"
#include "outfile.h"
#include "progress.h"
#include "report.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum {
    ZKEY,
    WTNS,
    SYNTHETIC,
    CURVE,
    LOG_CONSTRAINTS,
    PROFILE,
    QUOTIENT,
    RUNS,
    CLI_COMPUTE_NAMES,
    TRACE,
    JSON,
    QUIET,
    HELP,
    N_OPTIONS
};

#define DEFAULT_N_RUNS      5u
#define MAX_STAGES          32u
#define MAX_LOG_CONSTRAINTS 28u

static const cli_option options[N_OPTIONS] = {
    [ZKEY] = {"zkey", 0, "FILE", "proving key (groth16 .zkey)"},
    [WTNS] = {"wtns", 0, "FILE", "witness (.wtns)"},
    [SYNTHETIC] = {"synthetic", 0, NULL,
                   "no files: make up a circuit, a witness that satisfies it and a\n"
                   "key with a known trapdoor, in memory"},
    [CURVE] = {"curve", 0, "NAME",
               "of the made-up circuit: bn254 or bls12_381; default:\nbls12_381"},
    [LOG_CONSTRAINTS] = {"log-constraints", 0, "N", "its domain has 2^N rows; default: 16"},
    [PROFILE] = {"profile", 0, "NAME",
                 "what its witness is like: dense (wide values), sha (mostly\n"
                 "bits) or porep (a Filecoin partition); default: dense"},
    [QUOTIENT] = {"quotient", 0, "NAME",
                  "convention of its H query: circom or filecoin; default: circom"},
    [RUNS] = CLI_OPTION_RUNS("how many proofs to make; default: 5"),
    CLI_COMPUTE_OPTIONS,
    [TRACE] = CLI_OPTION_TRACE,
    [JSON] =
        CLI_OPTION_JSON("report as JSON on standard output: one object; with --synthetic\n"
                        "one a measurement, each on its own line"),
    [QUIET] = {"quiet", 'q', NULL, "no progress bar"},
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_bench_prove = {
    .name = "bench prove",
    .summary = "Prove several times in one process; smallest and median time of each stage",
    .usage = "--zkey FILE --wtns FILE [OPTION]...\n"
             "--synthetic [OPTION]...",
    .details = "The key is opened once. The proofs are made and verified, then forgotten.",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk setup --insecure --r1cs circuit.r1cs --zkey circuit.insecure.zkey\n"
                "cuzk bench prove --zkey circuit.insecure.zkey --wtns witness.wtns --runs 11\n"
                "cuzk bench prove --synthetic --log-constraints 20 --profile porep",
    .run = run,
};

/* ---- of files ---- */

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

static cuzk_status measure(times *t, const session *s, cuzk_key *key, const char *wtns,
                           bool is_quiet, cuzk_err *err) {
    progress bar = progress_bar_begin(is_quiet);
    cuzk_status status = CUZK_OK;
    for (unsigned run = 0; run < t->n_runs && status == CUZK_OK; run++) {
        cuzk_proof *proof = NULL;
        (void)progress_bar_step(&bar, "proving", run, t->n_runs);
        uint64_t start_ns = report_clock_ns();
        status = cuzk_prove_file(&proof, key, wtns, NULL, err);
        if (status == CUZK_OK) {
            add_run(t, run, report_clock_ns() - start_ns, proof);
            session_print_timing(s, proof);
        }
        cuzk_proof_free(proof);
    }
    progress_bar_end(&bar);
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

static int bench_files(const session *s, const char *const *values, unsigned n_runs) {
    times t = {.n_runs = n_runs, .ns = calloc((size_t)MAX_STAGES * n_runs, sizeof *t.ns)};
    if (!t.ns) {
        report_error("not enough memory for the times", "a smaller --runs");
        return EXIT_RESOURCES;
    }
    cuzk_key *key = NULL;
    cuzk_err err;
    cuzk_status status = cuzk_key_open(&key, s->rt, values[ZKEY], &err);
    if (status == CUZK_OK) status = measure(&t, s, key, values[WTNS], values[QUIET], &err);
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

/* ---- made up ---- */

typedef struct printer {
    progress *bar;
    bool is_json;
} printer;

/* A cuzk_bench_fn; more members than fit on a line. */
static void print_measurement(void *arg, const char *json_line) {
    printer *p = arg;
    progress_bar_end(p->bar);
    if (p->is_json) {
        report_measurement(&p->is_json, json_line);
    } else {
        report_json_as_text(stdout, json_line);
        (void)putchar('\n');
        (void)fflush(stdout);
    }
}

static int bench_synthetic(const session *s, const char *const *values,
                           cuzk_bench_prove_options *how) {
    cuzk_err err;
    progress bar = progress_bar_begin(values[QUIET]);
    printer to = {&bar, values[JSON]};
    how->curve = values[CURVE];
    how->profile = values[PROFILE];
    how->quotient = values[QUOTIENT];
    const cuzk_status status =
        cuzk_bench_prove(s->rt, how, print_measurement, &to, progress_bar_step, &bar, &err);
    progress_bar_end(&bar);
    return status == CUZK_OK ? EXIT_OK : report_failure(&err, NULL);
}

/* ---- the command line ---- */

static bool check_choice(const cli_command *self, const char *const *values, size_t option,
                         const char *const *choices, const char *listed) {
    const char *text = values[option];
    if (!text) return true;
    for (; *choices; choices++) {
        if (!strcmp(text, *choices)) return true;
    }
    (void)cli_usage_error(self, "--%s %s: expected %s", self->options[option].name, text,
                          listed);
    return false;
}

static bool check_choices(const cli_command *self, const char *const *values) {
    static const char *const curves[] = {"bn254", "bls12_381", NULL};
    static const char *const profiles[] = {"dense", "sha", "porep", NULL};
    static const char *const quotients[] = {"circom", "filecoin", NULL};
    return check_choice(self, values, CURVE, curves, "bn254 or bls12_381") &&
           check_choice(self, values, PROFILE, profiles, "dense, sha or porep") &&
           check_choice(self, values, QUOTIENT, quotients, "circom or filecoin");
}

/* Options of the one way with the other are a mistake. */
static bool check_ways(const cli_command *self, const char *const *values) {
    static const size_t made_up[] = {CURVE, LOG_CONSTRAINTS, PROFILE, QUOTIENT};
    if (values[SYNTHETIC]) {
        if (!values[ZKEY] && !values[WTNS]) return true;
        (void)cli_usage_error(self, "bench prove: --synthetic makes its own key and witness, "
                                    "--zkey and --wtns can't be given");
        return false;
    }
    for (size_t i = 0; i < sizeof made_up / sizeof *made_up; i++) {
        if (!values[made_up[i]]) continue;
        (void)cli_usage_error(self, "bench prove: --%s needs --synthetic",
                              self->options[made_up[i]].name);
        return false;
    }
    if (!values[ZKEY] || !values[WTNS]) {
        (void)cli_usage_error(self, "bench prove: --zkey FILE and --wtns FILE are needed, or "
                                    "--synthetic; a key for a benchmark comes from cuzk setup "
                                    "--insecure");
        return false;
    }
    if (cli_is_dash(values[ZKEY]) || cli_is_dash(values[WTNS])) {
        (void)cli_usage_error(self, "bench prove: '-' can be read only once, give files");
        return false;
    }
    return true;
}

static bool read_numbers(cuzk_bench_prove_options *out, const cli_command *self,
                         const char *const *values) {
    out->n_runs = DEFAULT_N_RUNS;
    out->log_constraints = 16;
    return (!values[RUNS] ||
            cli_parse_number(&out->n_runs, self, RUNS, values[RUNS], 1, CLI_MAX_RUNS)) &&
           (!values[LOG_CONSTRAINTS] ||
            cli_parse_number(&out->log_constraints, self, LOG_CONSTRAINTS,
                             values[LOG_CONSTRAINTS], 3, MAX_LOG_CONSTRAINTS));
}

static int check_trace(const cli_command *self, const char *const *values) {
    const char *inputs[] = {values[ZKEY], values[WTNS]};
    outfile trace = {.path = values[TRACE]};
    if (!trace.path) return EXIT_OK;
    if (cli_is_dash(trace.path)) {
        return cli_usage_error(self, "bench prove: the trace can't go to standard output, the "
                                     "report does");
    }
    return outfile_check_all(&trace, 1, inputs, 2);
}

static int write_trace(const session *s, const char *path) {
    outfile trace = {.path = path};
    char *text = NULL;
    cuzk_err err;
    if (cuzk_runtime_trace_json(&text, s->rt, &err) != CUZK_OK) {
        return report_failure(&err, NULL);
    }
    trace.text = text;
    const int rc = outfile_write_all(&trace, 1);
    cuzk_string_free(text);
    return rc;
}

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    cuzk_bench_prove_options how = CUZK_BENCH_PROVE_OPTIONS_INIT;
    if (n_operands > 0) {
        return cli_usage_error(self, "bench prove: unexpected argument %s", operands[0]);
    }
    if (!check_ways(self, values) || !check_choices(self, values) ||
        !read_numbers(&how, self, values)) {
        return EXIT_USAGE;
    }
    int rc = check_trace(self, values);
    if (rc != EXIT_OK) return rc;
    session s;
    rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;
    rc = values[SYNTHETIC] ? bench_synthetic(&s, values, &how)
                           : bench_files(&s, values, how.n_runs);
    if (rc == EXIT_OK && values[TRACE]) rc = write_trace(&s, values[TRACE]);
    session_end(&s);
    return rc;
}
