/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TOOLS_H
#define CUZK_TOOLS_H
/* cuzk/tools.h: looking into files, checking witnesses, test setups, benchmarks. Not needed to
 * prove or verify. Same rules as cuzk.h. */
#include "cuzk/cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- inspect ---- */
typedef struct cuzk_inspect_options {
    size_t struct_bytes;
    int check; /* 1 = also check every point (curve, subgroup), value and index */
    /* With check, for a zkey: also check that its A and B are those of this circuit; NULL = don't.
     * A wrong point that is in its group is not seen: prove with a good witness to see it. */
    const char *r1cs_path;
} cuzk_inspect_options;
#define CUZK_INSPECT_OPTIONS_INIT                                                             \
    { sizeof(cuzk_inspect_options), 0, NULL }

/* Describes any known file (r1cs, wtns, zkey, verification_key.json, proof.json, public.json) as
 * one JSON object: {"file","format","curve",...,"sections":[{"id","name","offset","bytes"}],
 * "good_for":"..."}; with check also "checked": {...}. Owner: caller, cuzk_string_free().
 * FORMAT: not a known file, damaged, or a failed check (the first fault is named). */
CUZK_API CUZK_CHECKED cuzk_status cuzk_inspect(char **out_json, cuzk_runtime *rt,
                                               const char *path,
                                               const cuzk_inspect_options *options,
                                               cuzk_err *err);

/* ---- witness check ---- */
/* OK = satisfies. WITNESS = does not: *err names the first failing constraint and its terms. */
CUZK_API CUZK_CHECKED cuzk_status cuzk_witness_check(cuzk_runtime *rt, const char *r1cs_path,
                                                     const char *wtns_path, cuzk_err *err);

/* ---- setup with a KNOWN trapdoor: tests and benchmarks only ---- */
/* Writes a .zkey for the circuit. Whoever knows `seed` can forge proofs. seed NULL = random
 * (still insecure: the trapdoor existed on this machine). Appears complete or not at all. */
CUZK_API CUZK_CHECKED cuzk_status cuzk_setup_insecure(cuzk_runtime *rt, const char *r1cs_path,
                                                      const char *zkey_path, const char *seed,
                                                      cuzk_progress_fn *progress,
                                                      void *progress_arg, cuzk_err *err);

/* ---- benchmarks ---- */
/* One line of JSON a measurement: {"id":"msm/bls12_381/g1/2^16/cpu","cpu_s":..,"wall_s":..,...}. */
typedef void cuzk_bench_fn(void *arg, const char *json_line);
typedef struct cuzk_bench_options {
    size_t struct_bytes;
    const char *filter;            /* only ids containing this; NULL = all */
    unsigned min_log_n, max_log_n; /* sizes; 0, 0 = defaults */
    unsigned n_runs;               /* 0 = default */
} cuzk_bench_options;
#define CUZK_BENCH_OPTIONS_INIT                                                               \
    { sizeof(cuzk_bench_options), NULL, 0, 0, 0 }
CUZK_API CUZK_CHECKED cuzk_status cuzk_bench_kernels(cuzk_runtime *rt,
                                                     const cuzk_bench_options *options,
                                                     cuzk_bench_fn *fn, void *arg,
                                                     cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
