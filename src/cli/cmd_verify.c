/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_verify: cuzk verify. */
#include "command.h"
#include "report.h"
#include "session.h"

enum { VKEY, PUBLIC, PROOF, CPU, JSON, QUIET, HELP, N_OPTIONS };

static const cli_option options[N_OPTIONS] = {
    [VKEY] = {"vkey", 0, "FILE", "verification key (verification_key.json)"},
    [PUBLIC] = {"public", 0, "FILE", "public signals (public.json)"},
    [PROOF] = {"proof", 0, "FILE", "proof (proof.json)"},
    [CPU] = CLI_OPTION_CPU,
    [JSON] = CLI_OPTION_JSON("answer as one JSON object on standard output"),
    [QUIET] = {"quiet", 'q', NULL, "print only errors; the exit code is the answer"},
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_verify = {
    .name = "verify",
    .summary = "Check a Groth16 proof",
    .usage = "--vkey FILE --public FILE --proof FILE [OPTION]...\n"
             "[OPTION]... VKEY PUBLIC PROOF",
    .details =
        "Exit code 0 when the proof is valid; 1 when it is not (this includes a public\n"
        "signal that is not below the group order and a point that is not on the curve\n"
        "or outside the subgroup); 3 when a file is damaged or missing.\n"
        "\n"
        "One of the files may be '-' (standard input).",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk verify --vkey verification_key.json --public public.json \\\n"
                "    --proof proof.json\n"
                "cuzk verify verification_key.json public.json proof.json",
    .run = run,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    static const size_t named[] = {VKEY, PUBLIC, PROOF};
    const char *paths[3];
    for (size_t i = 0; i < 3; i++) paths[i] = values[named[i]];
    if (n_operands > 0) {
        if (n_operands != 3 || paths[0] || paths[1] || paths[2]) {
            return cli_usage_error(self,
                                   "verify: name all three files by options, or give all "
                                   "three as VKEY PUBLIC PROOF");
        }
        for (size_t i = 0; i < 3; i++) paths[i] = operands[i];
    } else if (!cli_require(self, values, named, 3)) {
        return EXIT_USAGE;
    }
    if (!cli_one_dash(self, "input", paths, 3)) return EXIT_USAGE;

    session s;
    cuzk_err err;
    int rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;
    cuzk_status status = cuzk_verify_files(s.rt, paths[0], paths[1], paths[2], &err);
    session_end(&s);
    if (status != CUZK_OK && status != CUZK_ERR_INVALID) return report_failure(&err, NULL);
    if (values[QUIET] && !values[JSON]) return cuzk_status_exit_code(status);
    return report_verdict(values[JSON], "the proof is valid",
                          status == CUZK_OK ? NULL : err.text);
}
