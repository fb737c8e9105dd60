/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_H
#define CUZK_H
/* cuzk: Groth16 proofs of circom circuits.
 *
 *   cuzk_runtime *rt;  cuzk_runtime_create(&rt, NULL, &err);
 *   cuzk_key *key;     cuzk_key_open(&key, rt, "circuit.zkey", &err);
 *   cuzk_proof *proof; cuzk_prove_file(&proof, key, "witness.wtns", NULL, &err);
 *   puts(cuzk_proof_json(proof));
 *
 * No call prints, exits, aborts on input, or keeps global state. Every handle belongs to its
 * runtime and dies before it. Thread classes: a runtime and a key are *shared* (any number of
 * threads may prove with one key at once); a proof is *immutable*; everything else is *owned*
 * by one thread at a time. On error the out pointer is unchanged and *err explains, unless
 * `err` is NULL. */
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_VERSION "0.1.0"
CUZK_API const char *cuzk_version(void); /* of the library that runs, not of this header */

typedef struct cuzk_runtime cuzk_runtime;
typedef struct cuzk_key cuzk_key;
typedef struct cuzk_proof cuzk_proof;

/* ---- runtime ---- */
typedef struct cuzk_runtime_options {
    size_t struct_bytes; /* sizeof(cuzk_runtime_options); another size is refused (ARG) */
    unsigned n_threads;  /* 0 = one per usable CPU */
    const char *cpu;     /* "portable", "adx", "ifma"; NULL = $CUZK_CPU, or the best */
    const char *backend; /* "cpu", "cuda"; NULL = the best that is usable here */
    unsigned device;     /* which of the backend's devices, from 0 */
    uint64_t vram_budget_bytes; /* of device memory that may be taken; 0 = what is free, less a
                                   reserve. ARG on a backend that has no such memory */
    int trace;                  /* 1 = remember what ran when, for cuzk_runtime_trace_json() */
} cuzk_runtime_options;
#define CUZK_RUNTIME_OPTIONS_INIT                                                             \
    { sizeof(cuzk_runtime_options), 0, NULL, NULL, 0, 0, 0 }

/* Name of a backend of this build, i = 0, 1, ...; NULL behind the last. It may have no device. */
CUZK_API const char *cuzk_backend_name(unsigned i);

/* options NULL = defaults. ARG, NOMEM; DEVICE: the backend asked for is not in this build, or not
 * usable here, and why. */
CUZK_API CUZK_CHECKED cuzk_status cuzk_runtime_create(cuzk_runtime **out,
                                                      const cuzk_runtime_options *options,
                                                      cuzk_err *err);
CUZK_API void
cuzk_runtime_destroy(cuzk_runtime *rt); /* NULL is fine; all its handles closed first */

/* Strings die with the runtime. */
CUZK_API unsigned cuzk_runtime_n_threads(const cuzk_runtime *rt);
CUZK_API const char *cuzk_runtime_cpu(const cuzk_runtime *rt);     /* as in the options */
CUZK_API const char *cuzk_runtime_backend(const cuzk_runtime *rt); /* as in the options */
CUZK_API const char *cuzk_runtime_device(const cuzk_runtime *rt);  /* "NVIDIA H200", ... */
/* Why a backend of this build was passed over ("no NVIDIA GPU"), when none was asked for; else
 * NULL. */
CUZK_API const char *cuzk_runtime_why_not(const cuzk_runtime *rt);

/* What ran when since the runtime was made, as Chrome's trace event JSON (opens in Perfetto). Owner:
 * caller, cuzk_string_free(). ARG: the option `trace` was 0. NOMEM. */
CUZK_API CUZK_CHECKED cuzk_status cuzk_runtime_trace_json(char **out_json, cuzk_runtime *rt,
                                                          cuzk_err *err);

/* ---- proving key (a groth16 .zkey) ---- */
/* Maps the file; nothing proportional to it is read or copied. IO, FORMAT, NOMEM. */
CUZK_API CUZK_CHECKED cuzk_status cuzk_key_open(cuzk_key **out, cuzk_runtime *rt,
                                                const char *path, cuzk_err *err);
/* *Retains* bytes: they must stay, unchanged, until close. */
CUZK_API CUZK_CHECKED cuzk_status cuzk_key_open_bytes(cuzk_key **out, cuzk_runtime *rt,
                                                      const void *bytes, size_t n_bytes,
                                                      cuzk_err *err);
CUZK_API void cuzk_key_close(cuzk_key *key); /* NULL is fine; no proof may be running */

typedef struct cuzk_key_info {
    const char *curve;       /* "bn254", "bls12_381"; static */
    uint32_t n_vars;         /* witness values, the constant 1 included */
    uint32_t n_public;       /* public signals, the constant 1 not included */
    uint64_t domain_size;    /* power of two */
    uint64_t n_coefficients; /* nonzeros of A and B */
    uint64_t n_bytes;        /* of the file */
} cuzk_key_info;
CUZK_API void cuzk_key_get_info(const cuzk_key *key, cuzk_key_info *out);
/* The verification key that belongs to this proving key, as snarkjs writes it. NUL-terminated;
 * owner: caller, cuzk_string_free(). */
CUZK_API CUZK_CHECKED cuzk_status cuzk_key_export_vkey(char **out_json, cuzk_key *key,
                                                       cuzk_err *err);
CUZK_API void cuzk_string_free(char *s);

/* ---- proving ---- */
/* stage: static name such as "multiexp A"; done and total: steps of the whole proof. Called
 * on the proving thread. Return nonzero to stop: the proof ends with CANCELLED. */
typedef int cuzk_progress_fn(void *arg, const char *stage, unsigned done, unsigned total);

typedef struct cuzk_prove_options {
    size_t struct_bytes;
    const char
        *r1cs_path; /* of the same circuit: names the first failing constraint; NULL = none */
    int skip_check; /* 1 = do not verify the proof before returning it (dangerous) */
    cuzk_progress_fn *progress; /* NULL = none */
    void *progress_arg;
} cuzk_prove_options;
#define CUZK_PROVE_OPTIONS_INIT                                                               \
    { sizeof(cuzk_prove_options), NULL, 0, NULL, NULL }

/* wtns: the bytes of a .wtns file; read, never kept. WITNESS: wrong length for this key, a
 * value not below r (its index is named), or a witness that does not satisfy the circuit.
 * Blinders come from the system's CSPRNG. The proof is verified before it is returned. */
CUZK_API CUZK_CHECKED cuzk_status cuzk_prove(cuzk_proof **out, cuzk_key *key, const void *wtns,
                                             size_t n_bytes, const cuzk_prove_options *options,
                                             cuzk_err *err);
CUZK_API CUZK_CHECKED cuzk_status cuzk_prove_file(cuzk_proof **out, cuzk_key *key,
                                                  const char *wtns_path,
                                                  const cuzk_prove_options *options,
                                                  cuzk_err *err);
/* snarkjs' proof.json and public.json; NUL-terminated, die with the proof. */
CUZK_API const char *cuzk_proof_json(const cuzk_proof *proof);
CUZK_API const char *cuzk_proof_public_json(const cuzk_proof *proof);

/* Stage times of a finished proof: i < cuzk_proof_n_stages. */
CUZK_API unsigned cuzk_proof_n_stages(const cuzk_proof *proof);
CUZK_API void cuzk_proof_stage(const cuzk_proof *proof, unsigned i, const char **name,
                               uint64_t *wall_ns);

/* How it was made. */
typedef struct cuzk_proof_info {
    const char
        *plan; /* the way through the device's memory, for people; dies with the proof */
    uint64_t uploaded_bytes,
        downloaded_bytes;                /* to and from the device, the key's copy left out */
    uint64_t key_uploaded_bytes, key_ns; /* 0 when the key was on the device already */
    uint64_t wait_ns;                    /* for memory of the device that others had */
    uint64_t peak_device_bytes;          /* the most in use since the runtime was made */
    uint32_t n_replans;        /* the device's memory was full after all: a smaller plan */
    uint32_t n_heap_fallbacks; /* copies that started from memory that is not pinned */
    uint32_t n_device_faults;  /* 1 = the device's proof was wrong, so the CPU made this one */
} cuzk_proof_info;
CUZK_API void cuzk_proof_get_info(const cuzk_proof *proof, cuzk_proof_info *out);

/* Timing lines, i < cuzk_proof_n_timings: 0 unless the runtime keeps a trace. Keys are
 * static and end with their unit (_ms, _bytes, _share); docs/howto/gpu.md says what they mean. */
CUZK_API unsigned cuzk_proof_n_timings(const cuzk_proof *proof);
CUZK_API void cuzk_proof_timing(const cuzk_proof *proof, unsigned i, const char **key,
                                double *value);
CUZK_API void cuzk_proof_free(cuzk_proof *proof);

/* ---- verifying ---- */
/* The three snarkjs files as bytes (JSON text, no terminator needed). OK = valid; INVALID = well
 * formed but not valid (this includes a public signal not below r and a point off the curve or
 * outside the subgroup); FORMAT = a text that is not such a file. */
CUZK_API CUZK_CHECKED cuzk_status cuzk_verify(cuzk_runtime *rt, const void *vkey,
                                              size_t vkey_bytes, const void *publics,
                                              size_t public_bytes, const void *proof,
                                              size_t proof_bytes, cuzk_err *err);
CUZK_API CUZK_CHECKED cuzk_status cuzk_verify_files(cuzk_runtime *rt, const char *vkey_path,
                                                    const char *public_path,
                                                    const char *proof_path, cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
