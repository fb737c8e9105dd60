/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_witness: cuzk witness check. */
#include "command.h"
#include "cuzk/tools.h"
#include "report.h"
#include "session.h"

enum { R1CS, WTNS, THREADS, CPU, JSON, QUIET, HELP, N_OPTIONS };

static const cli_option options[N_OPTIONS] = {
    [R1CS] = {"r1cs", 0, "FILE", "circuit (.r1cs)"},
    [WTNS] = {"wtns", 0, "FILE", "witness (.wtns)"},
    [THREADS] = CLI_OPTION_THREADS,
    [CPU] = CLI_OPTION_CPU,
    [JSON] = CLI_OPTION_JSON("answer as one JSON object on standard output"),
    [QUIET] = {"quiet", 'q', NULL, "print only errors; the exit code is the answer"},
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_witness_check = {
    .name = "witness check",
    .summary = "Check that a witness satisfies a circuit",
    .usage = "--r1cs FILE --wtns FILE [OPTION]...",
    .details =
        "Exit code 0 when it does; 1 when it does not: the first failing constraint and\n"
        "its terms are named, or what else does not fit (the number of values, a value\n"
        "that is not below the group order); 3 when a file is damaged or missing.\n"
        "\n"
        "One of the files may be '-' (standard input).",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk witness check --r1cs circuit.r1cs --wtns witness.wtns",
    .run = run,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    static const size_t required[] = {R1CS, WTNS};
    if (n_operands > 0) {
        return cli_usage_error(self, "witness check: unexpected argument %s", operands[0]);
    }
    if (!cli_require(self, values, required, 2)) return EXIT_USAGE;
    const char *inputs[] = {values[R1CS], values[WTNS]};
    if (!cli_one_dash(self, "input", inputs, 2)) return EXIT_USAGE;
    session s;
    int rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;
    cuzk_err err;
    cuzk_status status = cuzk_witness_check(s.rt, inputs[0], inputs[1], &err);
    session_end(&s);
    if (status != CUZK_OK && status != CUZK_ERR_WITNESS) return report_failure(&err, NULL);
    const char *reason = status == CUZK_OK ? NULL : err.text;
    if (values[QUIET] && !values[JSON]) return reason ? EXIT_NOT_VALID : EXIT_OK;
    return report_verdict(values[JSON], "the witness satisfies the circuit", reason);
}
