/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_bench_h2d: cuzk bench h2d. */
#include "command.h"
#include "cuzk/tools.h"
#include "report.h"
#include "session.h"

enum { SIZE, RUNS, DEVICE, JSON, HELP, N_OPTIONS };

static const cli_option options[N_OPTIONS] = {
    [SIZE] = {"size", 0, "SIZE",
              "largest copy: 1GiB, 256MiB, or a number of bytes, at least\n"
              "1MiB; default: 1GiB"},
    [RUNS] = CLI_OPTION_RUNS("how often to measure each"),
    [DEVICE] = CLI_OPTION_DEVICE,
    [JSON] = CLI_OPTION_JSON("print one JSON object a measurement, each on its own line"),
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_bench_h2d = {
    .name = "bench h2d",
    .summary = "Measure copies between host and GPU, from every kind of memory",
    .usage = "[OPTION]...",
    .details =
        "Pinned memory of the pool, memory registered where it lies, pageable memory; up,\n"
        "down and both ways at once; and what a written and copied block costs when its\n"
        "memory comes from the pool or is made anew. Shares are of pinned memory's rate.\n"
        "Needs a GPU.",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk bench h2d\n"
                "cuzk bench h2d --size 256MiB --runs 30 --json",
    .run = run,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    cuzk_bench_h2d_options how = CUZK_BENCH_H2D_OPTIONS_INIT;
    if (n_operands > 0) {
        return cli_usage_error(self, "bench h2d: unexpected argument %s", operands[0]);
    }
    if (values[SIZE] && !cli_parse_size(&how.n_bytes, self, SIZE, values[SIZE]))
        return EXIT_USAGE;
    if (values[RUNS] &&
        !cli_parse_number(&how.n_runs, self, RUNS, values[RUNS], 1, CLI_MAX_RUNS)) {
        return EXIT_USAGE;
    }
    session s;
    cuzk_err err;
    int rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;
    bool is_json = values[JSON];
    if (cuzk_bench_h2d(s.rt, &how, report_measurement, &is_json, &err) != CUZK_OK) {
        rc = report_failure(&err, NULL);
    }
    session_end(&s);
    return rc;
}
