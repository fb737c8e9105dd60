/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_bench_kernels: cuzk bench kernels. */
#include "command.h"
#include "cuzk/tools.h"
#include "report.h"
#include "session.h"

enum { FILTER, MIN_LOG_N, MAX_LOG_N, RUNS, CLI_COMPUTE_NAMES, JSON, HELP, N_OPTIONS };

#define LARGEST_LOG_N 28u

static const cli_option options[N_OPTIONS] = {
    [FILTER] = {"filter", 0, "TEXT", "only measurements whose id contains TEXT"},
    [MIN_LOG_N] = {"min-log-n", 0, "N", "smallest size is 2^N"},
    [MAX_LOG_N] = {"max-log-n", 0, "N", "largest size is 2^N"},
    [RUNS] = CLI_OPTION_RUNS("how often to measure each"),
    CLI_COMPUTE_OPTIONS,
    [JSON] = CLI_OPTION_JSON("print one JSON object a measurement, each on its own line"),
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_bench_kernels = {
    .name = "bench kernels",
    .summary = "Measure the parts of a proof alone: field arithmetic, NTT, MSM, pairing",
    .usage = "[OPTION]...",
    .details =
        "Needs no files. Ids look like msm/bls12_381/g1/2^16/cpu. On a GPU whose limits are\n"
        "known a line also tells the least time that the work could take there, and which\n"
        "share of that speed was reached.",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk bench kernels --filter msm/bn254 --threads 1\n"
                "cuzk bench kernels --max-log-n 16 --json >before.jsonl\n"
                "cuzk bench kernels --backend cuda --min-log-n 20 --max-log-n 26",
    .run = run,
};

static bool read_options(cuzk_bench_options *out, const cli_command *self,
                         const char *const *values) {
    const struct {
        size_t option;
        unsigned *to, min, max;
    } numbers[] = {{MIN_LOG_N, &out->min_log_n, 1, LARGEST_LOG_N},
                   {MAX_LOG_N, &out->max_log_n, 1, LARGEST_LOG_N},
                   {RUNS, &out->n_runs, 1, CLI_MAX_RUNS}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *text = values[numbers[i].option];
        if (text && !cli_parse_number(numbers[i].to, self, numbers[i].option, text,
                                      numbers[i].min, numbers[i].max)) {
            return false;
        }
    }
    if (out->min_log_n && out->max_log_n && out->min_log_n > out->max_log_n) {
        (void)cli_usage_error(self, "bench kernels: --min-log-n is above --max-log-n");
        return false;
    }
    out->filter = values[FILTER];
    return true;
}

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    cuzk_bench_options how = CUZK_BENCH_OPTIONS_INIT;
    if (n_operands > 0) {
        return cli_usage_error(self, "bench kernels: unexpected argument %s", operands[0]);
    }
    if (!read_options(&how, self, values)) return EXIT_USAGE;
    session s;
    cuzk_err err;
    int rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;
    bool is_json = values[JSON];
    if (cuzk_bench_kernels(s.rt, &how, report_measurement, &is_json, &err) != CUZK_OK) {
        rc = report_failure(&err, NULL);
    }
    session_end(&s);
    return rc;
}
