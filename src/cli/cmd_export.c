/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_export: cuzk export vkey. */
#include "command.h"
#include "outfile.h"
#include "report.h"
#include "session.h"

enum { ZKEY, OUT, QUIET, HELP, N_OPTIONS };

static const cli_option options[N_OPTIONS] = {
    [ZKEY] = {"zkey", 0, "FILE", "proving key (groth16 .zkey)"},
    [OUT] = {"out", 'o', "FILE", "where the key goes; default: standard output"},
    [QUIET] = CLI_OPTION_QUIET,
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_export_vkey = {
    .name = "export vkey",
    .summary = "Write the verification key that belongs to a proving key",
    .usage = "--zkey FILE [--out FILE] [OPTION]...",
    .details =
        "The result is the verification_key.json that snarkjs would write. The proving\n"
        "key may be '-' (standard input).",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk export vkey --zkey circuit.zkey --out verification_key.json\n"
                "cuzk export vkey --zkey circuit.zkey | cuzk verify - public.json proof.json",
    .run = run,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    static const size_t required[] = {ZKEY};
    if (n_operands > 0) {
        return cli_usage_error(self, "export vkey: unexpected argument %s", operands[0]);
    }
    if (!cli_require(self, values, required, 1)) return EXIT_USAGE;
    outfile file = {.path = values[OUT] ? values[OUT] : "-"};
    int rc = outfile_check_all(&file, 1, &values[ZKEY], 1);
    if (rc != EXIT_OK) return rc;
    session s;
    rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;

    cuzk_key *key = NULL;
    char *json = NULL;
    cuzk_err err;
    cuzk_status status = cuzk_key_open(&key, s.rt, values[ZKEY], &err);
    if (status == CUZK_OK) status = cuzk_key_export_vkey(&json, key, &err);
    if (status == CUZK_OK) {
        file.text = json;
        rc = outfile_write_all(&file, 1);
        if (rc == EXIT_OK && !cli_is_dash(file.path) && !values[QUIET]) {
            (void)printf("vkey    %s\n", file.path);
        }
    } else {
        rc = report_failure(&err, NULL);
    }
    cuzk_string_free(json);
    cuzk_key_close(key);
    session_end(&s);
    return rc;
}
