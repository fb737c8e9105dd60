/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FORMAT_CIRCOM_SNARKJS_JSON_H
#define CUZK_FORMAT_CIRCOM_SNARKJS_JSON_H
/* format/circom/snarkjs_json: verification_key.json, proof.json and public.json, read and
 * written exactly as snarkjs does. Values stay what the text says: points are checked for the
 * curve equation here, for the subgroup by the verifier. docs/formats/snarkjs-json.md. */
#include "base/bytes.h"
#include "math/field/tower.h"
#include "math/group/group.h"

typedef struct groth16_proof {
    g1_affine a;
    g2_affine b;
    g1_affine c;
} groth16_proof;

typedef struct groth16_vkey {
    curve_id curve;
    uint32_t n_public;
    g1_affine alpha1;
    g2_affine beta2, gamma2, delta2;
    g1_affine *ic; /* n_public + 1, owned */
} groth16_vkey;
void groth16_vkey_fini(groth16_vkey *vk);

/* Curve is taken from the text ("curve": "bn128" | "bls12381"); curves[id] is the arithmetic.
 * FORMAT: not JSON, wrong protocol, missing or malformed field (named), coordinate not below q,
 * point not on the curve, IC count != nPublic + 1. */
CUZK_MUST_CHECK cuzk_status snarkjs_read_vkey(groth16_vkey *out, cuzk_span text,
                                              const curve *const curves[CURVE_COUNT],
                                              cuzk_err *err);
/* INVALID when a coordinate is not below q or a point is off the curve; FORMAT otherwise. */
CUZK_MUST_CHECK cuzk_status snarkjs_read_proof(groth16_proof *out, const curve *c,
                                               cuzk_span text, cuzk_err *err);
/* The same when the curve is not known: the one that the text names, or else the first whose
 * points these are. Always FORMAT. */
CUZK_MUST_CHECK cuzk_status snarkjs_read_any_proof(groth16_proof *out, curve_id *id,
                                                   cuzk_span text,
                                                   const curve *const curves[CURVE_COUNT],
                                                   cuzk_err *err);
/* As many signals as a verification key of the size that we take can have. */
#define SNARKJS_MAX_PUBLIC ((size_t)1 << 19)
/* *out: n values, Montgomery, owner caller (cuzk_free). INVALID when a value is not below r, or
 * when they are so many more than n_max that they are not even parsed: compare n with it. */
CUZK_MUST_CHECK cuzk_status snarkjs_read_public(fe **out, size_t *n, const curve *c,
                                                cuzk_span text, size_t n_max, cuzk_err *err);
/* Whose signals may these be? FORMAT when of none. */
CUZK_MUST_CHECK cuzk_status snarkjs_fit_public(bool fits[CURVE_COUNT], size_t *n,
                                               cuzk_span text,
                                               const curve *const curves[CURVE_COUNT],
                                               cuzk_err *err);
/* Which of the three a text looks like: 'v', 'p', 's' (public signals), or 0. Doesn't parse it. */
char snarkjs_json_kind(cuzk_span text);

/* NUL-terminated text, owner caller (cuzk_free). publics: n canonical 32-byte little-endian
 * values, unaligned. */
CUZK_MUST_CHECK cuzk_status snarkjs_write_proof(char **out, const curve *c,
                                                const groth16_proof *proof, cuzk_err *err);
CUZK_MUST_CHECK cuzk_status snarkjs_write_public(char **out, const curve *c,
                                                 const uint8_t *publics, size_t n,
                                                 cuzk_err *err);
/* With vk_alphabeta_12, as snarkjs writes it (the pairing of alpha and beta, given by the caller). */
CUZK_MUST_CHECK cuzk_status snarkjs_write_vkey(char **out, const curve *c,
                                               const groth16_vkey *vk, const fe12 *alphabeta,
                                               cuzk_err *err);

#endif
