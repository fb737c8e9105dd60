/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_setup: cuzk setup. */
#define _GNU_SOURCE /* sigset_t */
#include "command.h"
#include "cuzk/tools.h"
#include "interrupts.h"
#include "outfile.h"
#include "progress.h"
#include "report.h"
#include "session.h"

#include <string.h>

enum { INSECURE, R1CS, ZKEY, SEED, CLI_COMPUTE_NAMES, JSON, QUIET, HELP, N_OPTIONS };

static const cli_option options[N_OPTIONS] = {
    [INSECURE] = {"insecure", 0, NULL, "required: says that you know the key is not safe"},
    [R1CS] = {"r1cs", 0, "FILE", "circuit (.r1cs)"},
    [ZKEY] = {"zkey", 0, "FILE", "where the proving key goes; there is no default name"},
    [SEED] = {"seed", 0, "TEXT",
              "make the same key every time; default: a random one,\n"
              "still not safe"},
    CLI_COMPUTE_OPTIONS,
    [JSON] = CLI_OPTION_JSON("report as one JSON object on standard output"),
    [QUIET] = {"quiet", 'q', NULL, "print only errors and the warning"},
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_setup = {
    .name = "setup",
    .summary = "Make a proving key for tests and benchmarks, with a KNOWN trapdoor",
    .usage = "--insecure --r1cs FILE --zkey FILE [OPTION]...",
    .details =
        "Whoever knows the trapdoor can prove false statements, and this command knew it:\n"
        "never use such a key where a proof must mean something. For that, run a\n"
        "ceremony (powers of tau and phase 2, for example with snarkjs).",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk setup --insecure --r1cs circuit.r1cs --zkey circuit.insecure.zkey\n"
                "cuzk setup --insecure --seed 1 --r1cs circuit.r1cs --zkey test.insecure.zkey",
    .run = run,
};

/* "dir/circuit.r1cs" -> "dir/circuit.insecure.zkey" */
static int missing_zkey(const cli_command *self, const char *r1cs) {
    size_t n = strlen(r1cs);
    if (n > 5 && !strcmp(r1cs + n - 5, ".r1cs")) n -= 5;
    if (cli_is_dash(r1cs)) return cli_usage_error(self, "setup: --zkey FILE is missing");
    return cli_usage_error(self,
                           "setup: --zkey FILE is missing; a name that says what it is: "
                           "--zkey %.*s.insecure.zkey",
                           (int)n, r1cs);
}

static int check_request(const cli_command *self, const char *const *values, char **operands,
                         size_t n_operands) {
    static const size_t required[] = {R1CS};
    if (n_operands > 0) {
        return cli_usage_error(self, "setup: unexpected argument %s", operands[0]);
    }
    if (!values[INSECURE]) {
        return cli_usage_error(self,
                               "setup: this key could be used to prove false statements, "
                               "it is for tests and benchmarks; say --insecure if that "
                               "is what you want");
    }
    if (!cli_require(self, values, required, 1)) return EXIT_USAGE;
    if (!values[ZKEY]) return missing_zkey(self, values[R1CS]);
    if (cli_is_dash(values[ZKEY])) {
        return cli_usage_error(self, "setup: the key can't go to standard output");
    }
    outfile file = {.path = values[ZKEY]};
    return outfile_check_all(&file, 1, &values[R1CS], 1);
}

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    session s;
    cuzk_err err;
    int rc = check_request(self, values, operands, n_operands);
    if (rc != EXIT_OK) return rc;
    rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;
    (void)fprintf(stderr,
                  "cuzk: INSECURE: %s will have a known trapdoor; for tests and "
                  "benchmarks only\n",
                  values[ZKEY]);

    progress bar = progress_bar_begin(values[QUIET]);
    bar.stops_on_signal = true;
    interrupts held = interrupts_hold(); /* the library has a temporary file on disk */
    cuzk_status status = cuzk_setup_insecure(s.rt, values[R1CS], values[ZKEY], values[SEED],
                                             progress_bar_step, &bar, &err);
    progress_bar_end(&bar);
    interrupts_release(&held);
    if (status != CUZK_OK) {
        rc = report_failure(&err, NULL);
    } else if (values[JSON]) {
        (void)printf("{\"secure\":false,\"zkey\":");
        report_json_string(stdout, values[ZKEY]);
        (void)printf(",");
        session_print_costs_json(stdout, &s);
        (void)printf("}\n");
    } else if (!values[QUIET]) {
        session_print_costs(stdout, &s);
        (void)printf("zkey    %s (insecure)\n", values[ZKEY]);
    }
    session_end(&s);
    return rc;
}
