/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_inspect: cuzk inspect. */
#include "command.h"
#include "cuzk/tools.h"
#include "report.h"
#include "session.h"

#include <string.h>

enum { CHECK, R1CS, THREADS, CPU, JSON, HELP, N_OPTIONS };

static const cli_option options[N_OPTIONS] = {
    [CHECK] = {"check", 0, NULL,
               "check every value, index and point (on the curve and in\n"
               "the subgroup)"},
    [R1CS] = {"r1cs", 0, "FILE",
              "with --check: check also that the key's matrices A and B are\n"
              "those of this circuit; its other points may still be wrong\n"
              "ones: the real test is to prove with a good witness"},
    [THREADS] = CLI_OPTION_THREADS,
    [CPU] = CLI_OPTION_CPU,
    [JSON] = CLI_OPTION_JSON("print one JSON object a file, each on its own line"),
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_inspect = {
    .name = "inspect",
    .summary = "Describe files: format, curve, sizes, sections, what they are good for",
    .usage = "[OPTION]... FILE...",
    .details =
        "Knows .r1cs, .wtns, .zkey, verification_key.json, proof.json and public.json, by\n"
        "their content. A file that is damaged or unknown is reported and gives exit\n"
        "code 3; the others are still described. One file may be '-' (standard input).",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk inspect circuit.zkey witness.wtns\n"
                "cuzk inspect --check --r1cs circuit.r1cs circuit.zkey\n"
                "cuzk inspect --json circuit.r1cs | jq .n_constraints",
    .run = run,
};

/* One object, one line: whatever layout the library chose, lines separate the objects. */
static void print_json_line(const char *json) {
    for (; *json; json++) (void)fputc(*json == '\n' ? ' ' : *json, stdout);
    (void)fputc('\n', stdout);
}

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    if (n_operands == 0) return cli_usage_error(self, "inspect: FILE is missing");
    if (values[R1CS] && !values[CHECK]) {
        return cli_usage_error(self, "inspect: --r1cs needs --check");
    }
    if (!cli_one_dash(self, "input", (const char *const *)operands, n_operands)) {
        return EXIT_USAGE;
    }
    session s;
    int rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;
    cuzk_inspect_options how = CUZK_INSPECT_OPTIONS_INIT;
    how.check = values[CHECK] != NULL;
    how.r1cs_path = values[R1CS];
    for (size_t i = 0; i < n_operands; i++) {
        char *json = NULL;
        cuzk_err err;
        if (cuzk_inspect(&json, s.rt, operands[i], &how, &err) != CUZK_OK) {
            int failure = report_failure(&err, NULL);
            if (failure > rc) rc = failure;
            continue;
        }
        if (values[JSON]) {
            print_json_line(json);
        } else {
            if (i > 0) (void)putchar('\n');
            report_json_as_text(stdout, json);
        }
        cuzk_string_free(json);
    }
    session_end(&s);
    return rc;
}
