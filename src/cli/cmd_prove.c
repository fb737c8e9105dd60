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
    CLI_COMPUTE_NAMES,
    TRACE,
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
    CLI_COMPUTE_OPTIONS,
    [TRACE] = CLI_OPTION_TRACE,
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
        "or not at all.\n"
        "\n"
        "With CUZK_TIMING=1 in the environment, lines CUZK_TIMING: key=value on standard\n"
        "error say where the time went.",
    .options = options,
    .n_options = N_OPTIONS,
    .examples = "cuzk prove --zkey circuit.zkey --wtns witness.wtns \\\n"
                "    --proof proof.json --public public.json\n"
                "cuzk prove circuit.zkey witness.wtns proof.json public.json\n"
                "cuzk prove --backend cuda --vram-budget 8GiB --trace trace.json \\\n"
                "    circuit.zkey witness.wtns proof.json public.json\n"
                "generate_witness | cuzk prove circuit.zkey - proof.json public.json",
    .run = run,
};

typedef struct request {
    const char *zkey, *wtns, *r1cs;
    outfile files[3]; /* proof, public, and the trace if there is to be one */
    size_t n_files;
    bool is_json, is_quiet, skips_check;
} request;

static bool uses_stdout(const request *r) {
    bool does = false;
    for (size_t i = 0; i < r->n_files; i++) does |= cli_is_dash(r->files[i].path);
    return does;
}

static int read_request(request *out, const cli_command *self, const char *const *values,
                        char **operands, size_t n_operands) {
    static const size_t named[] = {ZKEY, WTNS, PROOF, PUBLIC};
    const char *paths[5] = {[4] = values[TRACE]};
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
                     .files = {{.path = paths[2]}, {.path = paths[3]}, {.path = paths[4]}},
                     .n_files = paths[4] ? 3 : 2,
                     .is_json = values[JSON],
                     .is_quiet = values[QUIET],
                     .skips_check = values[NO_CHECK]};
    if (out->skips_check && !values[INSECURE]) {
        return cli_usage_error(self, "prove: --no-check may write a proof that is not valid; "
                                     "it needs --insecure as well");
    }
    const char *inputs[] = {out->zkey, out->wtns, out->r1cs};
    if (!cli_one_dash(self, "input", inputs, 3)) return EXIT_USAGE;
    if (!cli_one_dash(self, "output", paths + 2, 3)) return EXIT_USAGE;
    if (out->is_json && uses_stdout(out)) {
        return cli_usage_error(self, "prove: --json and an output that is '-' both need "
                                     "standard output");
    }
    return outfile_check_all(out->files, out->n_files, inputs, 3);
}

static void print_info_json(const cuzk_proof *proof) {
    cuzk_proof_info info;
    cuzk_proof_get_info(proof, &info);
    (void)printf("\"plan\":");
    report_json_string(stdout, info.plan);
    (void)printf(",\"uploaded_bytes\":%" PRIu64 ",\"downloaded_bytes\":%" PRIu64
                 ",\"key_uploaded_bytes\":%" PRIu64 ",\"peak_device_bytes\":%" PRIu64
                 ",\"key_s\":%.6f,\"wait_s\":%.6f,\"replans\":%" PRIu32
                 ",\"heap_fallbacks\":%" PRIu32 ",\"device_faults\":%" PRIu32 ",\"timing\":{",
                 info.uploaded_bytes, info.downloaded_bytes, info.key_uploaded_bytes,
                 info.peak_device_bytes, (double)info.key_ns / 1e9, (double)info.wait_ns / 1e9,
                 info.n_replans, info.n_heap_fallbacks, info.n_device_faults);
    for (unsigned i = 0; i < cuzk_proof_n_timings(proof); i++) {
        const char *key;
        double value;
        cuzk_proof_timing(proof, i, &key, &value);
        (void)printf("%s\"%s\":%.15g", i ? "," : "", key, value);
    }
    (void)printf("},");
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
    print_info_json(proof);
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

/* Where it was computed, when that is not the CPU. */
static void print_device(FILE *out, const session *s, const cuzk_proof *proof) {
    cuzk_proof_info info;
    cuzk_proof_get_info(proof, &info);
    if (!strcmp(cuzk_runtime_backend(s->rt), "cpu")) return;
    (void)fprintf(out, "device  %s, %s, uploaded %s and a key of %s, peak memory %s\n",
                  cuzk_runtime_device(s->rt), info.plan, report_size(info.uploaded_bytes).text,
                  report_size(info.key_uploaded_bytes).text,
                  report_size(info.peak_device_bytes).text);
    if (info.n_device_faults) {
        (void)fprintf(out, "        the device's proof was WRONG, this one is the CPU's: "
                           "distrust the device\n");
    }
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
    print_device(out, s, proof);
    (void)fprintf(out, "proof   %s%s\n", name_of_output(r->files[0].path),
                  r->skips_check ? " (NOT checked)" : " (checked)");
    (void)fprintf(out, "public  %s\n", name_of_output(r->files[1].path));
    if (r->n_files == 3) {
        (void)fprintf(out, "trace   %s\n", name_of_output(r->files[2].path));
    }
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

static int write_files(request *r, const session *s, const cuzk_proof *proof) {
    char *trace = NULL;
    cuzk_err err;
    if (r->n_files == 3 && cuzk_runtime_trace_json(&trace, s->rt, &err) != CUZK_OK) {
        return report_failure(&err, NULL);
    }
    r->files[0].text = cuzk_proof_json(proof);
    r->files[1].text = cuzk_proof_public_json(proof);
    r->files[2].text = trace;
    int rc = outfile_write_all(r->files, r->n_files);
    cuzk_string_free(trace);
    return rc;
}

static int prove(request *r, session *s) {
    cuzk_key *key = NULL;
    cuzk_proof *proof = NULL;
    cuzk_err err;
    char advice[REPORT_LINE_BYTES];
    progress bar = progress_bar_begin(r->is_quiet);
    cuzk_prove_options how = CUZK_PROVE_OPTIONS_INIT;
    how.r1cs_path = r->r1cs;
    how.skip_check = r->skips_check;
    how.progress = progress_bar_step;
    how.progress_arg = &bar;

    cuzk_status status = cuzk_key_open(&key, s->rt, r->zkey, &err);
    if (status == CUZK_OK) status = cuzk_prove_file(&proof, key, r->wtns, &how, &err);
    progress_bar_end(&bar);
    int rc = status == CUZK_OK
                 ? EXIT_OK
                 : report_failure(&err, advice_for(r, &err, advice, sizeof advice));
    if (rc == EXIT_OK) rc = write_files(r, s, proof);
    if (rc == EXIT_OK) {
        cuzk_key_info info;
        cuzk_key_get_info(key, &info);
        if (r->is_json) {
            print_json(r, s, &info, proof);
        } else if (!r->is_quiet) {
            print_text(uses_stdout(r) ? stderr : stdout, r, s, &info, proof);
        }
        session_print_timing(s, proof);
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
    rc = session_begin(&s, self, values);
    if (rc != EXIT_OK) return rc;
    rc = prove(&r, &s);
    session_end(&s);
    return rc;
}
