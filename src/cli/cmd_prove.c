/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_prove: cuzk prove. */
#include "command.h"
#include "outfile.h"
#include "progress.h"
#include "report.h"
#include "session.h"

#include <inttypes.h>
#include <string.h>

enum {
    ZKEY,
    WTNS,
    PROOF,
    PUBLIC,
    R1CS,
    THREADS,
    CPU,
    JSON,
    QUIET,
    NO_CHECK,
    INSECURE,
    HELP,
    N_OPTIONS
};

static const cli_option options[N_OPTIONS] = {
    [ZKEY] = {"zkey", 0, "FILE", "proving key (groth16 .zkey)"},
    [WTNS] = {"wtns", 0, "FILE", "witness (.wtns)"},
    [PROOF] = {"proof", 0, "FILE", "where the proof goes (JSON, as snarkjs reads it)"},
    [PUBLIC] = {"public", 0, "FILE", "where the public signals go (JSON)"},
    [R1CS] = {"r1cs", 0, "FILE",
              "the circuit; when the witness does not satisfy it, the\n"
              "first failing constraint is named"},
    [THREADS] = CLI_OPTION_THREADS,
    [CPU] = CLI_OPTION_CPU,
    [JSON] = CLI_OPTION_JSON("report as one JSON object on standard output"),
    [QUIET] = CLI_OPTION_QUIET,
    [NO_CHECK] = {"no-check", 0, NULL,
                  "do not verify the proof before writing it; a bad\n"
                  "witness then gives a bad proof. Needs --insecure"},
    [INSECURE] = {"insecure", 0, NULL, "allow --no-check"},
    [HELP] = CLI_OPTION_HELP,
};

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);

const cli_command cmd_prove = {
    .name = "prove",
    .summary = "Make a Groth16 proof from a proving key and a witness",
    .usage = "--zkey FILE --wtns FILE --proof FILE --public FILE [OPTION]...\n"
             "[OPTION]... ZKEY WTNS PROOF PUBLIC",
    .details =
        "The proof is verified before it is written: a witness that does not satisfy\n"
        "the circuit gives exit code 4 and no files. The blinders come from the system's\n"
        "random generator, so two proofs of one witness differ.\n"
        "\n"
        "One input may be '-' (standard input) and one output may be '-' (standard\n"
        "output; the report then goes to standard error). Output files appear complete\n"
        "or not at all.",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk prove --zkey circuit.zkey --wtns witness.wtns \\\n"
                "    --proof proof.json --public public.json\n"
                "cuzk prove circuit.zkey witness.wtns proof.json public.json\n"
                "generate_witness | cuzk prove circuit.zkey - proof.json public.json",
    .run = run,
};

typedef struct request {
    const char *zkey, *wtns, *r1cs;
    outfile files[2]; /* proof, public */
    bool is_json, is_quiet, skips_check;
} request;

static int read_request(request *out, const cli_command *self, const char *const *values,
                        char **operands, size_t n_operands) {
    static const size_t named[] = {ZKEY, WTNS, PROOF, PUBLIC};
    const char *paths[4];
    for (size_t i = 0; i < 4; i++) paths[i] = values[named[i]];
    if (n_operands > 0) {
        if (n_operands != 4 || paths[0] || paths[1] || paths[2] || paths[3]) {
            return cli_usage_error(
                self, "prove: name all four files by options, or give all four as "
                      "ZKEY WTNS PROOF PUBLIC");
        }
        for (size_t i = 0; i < 4; i++) paths[i] = operands[i];
    } else if (!cli_require(self, values, named, 4)) {
        return EXIT_USAGE;
    }
    *out = (request){.zkey = paths[0],
                     .wtns = paths[1],
                     .r1cs = values[R1CS],
                     .files = {{.path = paths[2]}, {.path = paths[3]}},
                     .is_json = values[JSON],
                     .is_quiet = values[QUIET],
                     .skips_check = values[NO_CHECK]};
    if (out->skips_check && !values[INSECURE]) {
        return cli_usage_error(self, "prove: --no-check may write a proof that is not valid; "
                                     "it needs --insecure as well");
    }
    const char *inputs[] = {out->zkey, out->wtns, out->r1cs};
    if (!cli_one_dash(self, "input", inputs, 3)) return EXIT_USAGE;
    if (!cli_one_dash(self, "output", paths + 2, 2)) return EXIT_USAGE;
    if (out->is_json && (cli_is_dash(paths[2]) || cli_is_dash(paths[3]))) {
        return cli_usage_error(self, "prove: --json and an output that is '-' both need "
                                     "standard output");
    }
    return outfile_check_all(out->files, 2, inputs, 3);
}

static void print_json(const request *r, const session *s, const cuzk_key_info *info,
                       const cuzk_proof *proof) {
    (void)printf("{\"curve\":");
    report_json_string(stdout, info->curve);
    (void)printf(",\"n_vars\":%" PRIu32 ",\"n_public\":%" PRIu32 ",\"domain_size\":%" PRIu64
                 ",\"n_coefficients\":%" PRIu64 ",\"checked\":%s,\"stages\":[",
                 info->n_vars, info->n_public, info->domain_size, info->n_coefficients,
                 r->skips_check ? "false" : "true");
    for (unsigned i = 0; i < cuzk_proof_n_stages(proof); i++) {
        const char *name;
        uint64_t wall_ns;
        cuzk_proof_stage(proof, i, &name, &wall_ns);
        (void)printf("%s{\"name\":", i ? "," : "");
        report_json_string(stdout, name);
        (void)printf(",\"wall_s\":%.6f}", (double)wall_ns / 1e9);
    }
    (void)printf("],");
    session_print_costs_json(stdout, s);
    (void)printf(",\"proof\":");
    report_json_string(stdout, r->files[0].path);
    (void)printf(",\"public\":");
    report_json_string(stdout, r->files[1].path);
    (void)printf("}\n");
}

static unsigned log2_of(uint64_t n) {
    unsigned log_n = 0;
    while (n > 1) {
        n >>= 1;
        log_n++;
    }
    return log_n;
}

static const char *name_of_output(const char *path) {
    return cli_is_dash(path) ? "standard output" : path;
}

static void print_text(FILE *out, const request *r, const session *s,
                       const cuzk_key_info *info, const cuzk_proof *proof) {
    (void)fprintf(
        out, "circuit %s, %s signals, %s public, domain 2^%u (up to %s constraints)\n",
        info->curve, report_count(info->n_vars).text, report_count(info->n_public).text,
        log2_of(info->domain_size), report_count(info->domain_size - info->n_public - 1).text);
    for (unsigned i = 0; i < cuzk_proof_n_stages(proof); i++) {
        const char *name;
        uint64_t wall_ns;
        cuzk_proof_stage(proof, i, &name, &wall_ns);
        (void)fprintf(out, "        %-14s %10s\n", name, report_duration(wall_ns).text);
    }
    session_print_costs(out, s);
    (void)fprintf(out, "proof   %s%s\n", name_of_output(r->files[0].path),
                  r->skips_check ? " (NOT checked)" : " (checked)");
    (void)fprintf(out, "public  %s\n", name_of_output(r->files[1].path));
}

/* The next step that may help, or NULL. */
static const char *advice_for(const request *r, const cuzk_err *err, char *text,
                              size_t n_bytes) {
    if (err->code == CUZK_ERR_WITNESS) {
        if (r->r1cs) return NULL; /* the error names the constraint */
        if (strstr(err->text, "does not satisfy")) {
            return "--r1cs FILE, to have the first failing constraint named";
        }
    } else if (err->code != CUZK_ERR_FORMAT) {
        return NULL;
    }
    if (cli_is_dash(r->zkey) || cli_is_dash(r->wtns) || cli_is_dash(r->r1cs)) return NULL;
    if (r->r1cs) {
        (void)snprintf(text, n_bytes, "cuzk inspect --check --r1cs %s %s", r->r1cs, r->zkey);
    } else {
        (void)snprintf(text, n_bytes, "cuzk inspect %s %s", r->zkey, r->wtns);
    }
    return text;
}

static int prove(request *r, session *s) {
    cuzk_key *key = NULL;
    cuzk_proof *proof = NULL;
    cuzk_err err;
    char advice[REPORT_LINE_BYTES];
    progress bar = progress_begin(r->is_quiet);
    cuzk_prove_options how = CUZK_PROVE_OPTIONS_INIT;
    how.r1cs_path = r->r1cs;
    how.skip_check = r->skips_check;
    how.progress = progress_step;
    how.progress_arg = &bar;

    cuzk_status status = cuzk_key_open(&key, s->rt, r->zkey, &err);
    if (status == CUZK_OK) status = cuzk_prove_file(&proof, key, r->wtns, &how, &err);
    progress_end(&bar);
    int rc = status == CUZK_OK
                 ? EXIT_OK
                 : report_failure(&err, advice_for(r, &err, advice, sizeof advice));
    if (rc == EXIT_OK) {
        r->files[0].text = cuzk_proof_json(proof);
        r->files[1].text = cuzk_proof_public_json(proof);
        rc = outfile_write_all(r->files, 2);
    }
    if (rc == EXIT_OK) {
        cuzk_key_info info;
        cuzk_key_get_info(key, &info);
        bool uses_stdout = cli_is_dash(r->files[0].path) || cli_is_dash(r->files[1].path);
        if (r->is_json) {
            print_json(r, s, &info, proof);
        } else if (!r->is_quiet) {
            print_text(uses_stdout ? stderr : stdout, r, s, &info, proof);
        }
    }
    cuzk_proof_free(proof);
    cuzk_key_close(key);
    return rc;
}

static int run(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands) {
    request r;
    session s;
    int rc = read_request(&r, self, values, operands, n_operands);
    if (rc != EXIT_OK) return rc;
    rc = session_begin(&s, self, values, THREADS, CPU);
    if (rc != EXIT_OK) return rc;
    rc = prove(&r, &s);
    session_end(&s);
    return rc;
}
