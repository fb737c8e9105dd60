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

/* The way to the device and back, from several kinds of memory. Lines of {"id":"h2d/pinned/256MiB",
 * "ms":..,"gib_s":..,"share":..}; the share is of pinned memory's rate at that size. */
typedef struct cuzk_bench_h2d_options {
    size_t struct_bytes;
    uint64_t n_bytes; /* the largest size; 0 = default, 1 GiB */
    unsigned n_runs;  /* 0 = default */
} cuzk_bench_h2d_options;
#define CUZK_BENCH_H2D_OPTIONS_INIT                                                           \
    { sizeof(cuzk_bench_h2d_options), 0, 0 }
/* DEVICE: the backend computes where the data lies. ARG, NOMEM, BUDGET (more than may be pinned). */
CUZK_API CUZK_CHECKED cuzk_status cuzk_bench_h2d(cuzk_runtime *rt,
                                                 const cuzk_bench_h2d_options *options,
                                                 cuzk_bench_fn *fn, void *arg, cuzk_err *err);

/* Makes a circuit, a witness and a key with a known trapdoor, on the device where it can, and
 * proves with them: no file is read or written. Every proof is verified. */
typedef struct cuzk_bench_prove_options {
    size_t struct_bytes;
    const char *curve;        /* "bn254", "bls12_381"; NULL = "bls12_381" */
    unsigned log_constraints; /* the domain has 2^log_constraints elements */
    const char *profile;      /* "dense", "sha", "porep"; NULL = "dense" */
    const char *quotient;     /* "circom", "filecoin": convention of H; NULL = "circom" */
    unsigned n_runs;          /* 0 = default */
} cuzk_bench_prove_options;
#define CUZK_BENCH_PROVE_OPTIONS_INIT                                                         \
    { sizeof(cuzk_bench_prove_options), NULL, 0, NULL, NULL, 0 }
/* Lines of JSON: "setup/..." for making the key; "proof/..." for each run, with its timings, bytes
 * moved, plan and peaks (the first is cold: the key moves to the device in it); "prove/..." for
 * all of them, the median over the warm ones. ARG, NOMEM, DEVICE (also: a proof did not verify),
 * CANCELLED (progress said so). */
CUZK_API CUZK_CHECKED cuzk_status cuzk_bench_prove(cuzk_runtime *rt,
                                                   const cuzk_bench_prove_options *options,
                                                   cuzk_bench_fn *fn, void *arg,
                                                   cuzk_progress_fn *progress,
                                                   void *progress_arg, cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
