/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_CURVES_CURVE_H
#define CUZK_MATH_CURVES_CURVE_H
/* math/curves: a pairing-friendly curve as data. bn254.c and bls12_381.c each hold one
 * curve_params; curve_init derives all tables (Frobenius, endomorphisms) from it. To add a
 * curve: one file and one line in curve_list. */
#include "math/field/field.h"

typedef enum curve_id { CURVE_BN254 = 0, CURVE_BLS12_381 = 1, CURVE_COUNT } curve_id;
typedef enum curve_family { CURVE_FAMILY_BN, CURVE_FAMILY_BLS12 } curve_family;

/* Defining constants, in hex, big-endian, no prefix. Source of each is named in its file. */
typedef struct curve_params {
    curve_id id;
    curve_family family;
    const char *name;         /* "bn254", "bls12_381" */
    const char *snarkjs_name; /* "bn128", "bls12381" */
    const char *q_hex, *r_hex;
    unsigned q_limbs, r_limbs;
    uint64_t x; /* |seed| */
    bool x_negative;
    uint64_t b;      /* G1: y^2 = x^3 + b */
    uint64_t xi[2];  /* sextic non-residue xi = xi0 + u of Fq12 over Fq2; xi[1] = 1 */
    bool twist_is_m; /* M-twist: b' = b xi; D-twist: b' = b / xi */
    const char *g1_x, *g1_y;
    const char *g2_x0, *g2_x1, *g2_y0, *g2_y1;
} curve_params;

typedef struct fe2 { /* c0 + c1 u, u^2 = -1; words used: first n_limbs of each */
    fe c0, c1;
} fe2;

typedef struct g1_affine {
    fe x, y;
    bool infinity;
} g1_affine;
typedef struct g2_affine {
    fe2 x, y;
    bool infinity;
} g2_affine;

typedef struct curve {
    const curve_params *params;
    field fq, fr;
    fe b;         /* G1 */
    fe2 xi, b2;   /* twist */
    g1_affine g1; /* generators */
    g2_affine g2;
    fe2 frob[3][6];   /* frob[k-1][i] = xi^(i (q^k - 1)/6), k = 1..3 */
    fe2 psi_x, psi_y; /* psi(x, y) = (psi_x x^q, psi_y y^q) = [q](x, y) on G2 */
    fe beta;   /* cube root of unity in Fq: phi(x, y) = (beta x, y) = [lambda](x, y) on G1 */
    fe lambda; /* in Fr (Montgomery) */
} curve;       /* Thread: immutable after init */

void curve_init(curve *c, curve_id id, cuzk_cpu_level level);
const curve_params *curve_params_of(curve_id id); /* NULL for an unknown id */
/* The curve whose q (or r) is this little-endian number of exactly n_bytes = 8 * limbs; false
 * when none. */
bool curve_find_by_q(curve_id *out, const uint8_t *q_le, size_t n_bytes);
bool curve_find_by_r(curve_id *out, const uint8_t *r_le, size_t n_bytes);
/* By either name; false when unknown. */
bool curve_find_by_name(curve_id *out, const char *name);

/* Bytes of one packed affine point: 2 (G1) or 4 (G2) coordinates. */
CUZK_INLINE size_t curve_g1_bytes(const curve *c) { return 2u * (size_t)c->fq.n_bytes; }
CUZK_INLINE size_t curve_g2_bytes(const curve *c) { return 4u * (size_t)c->fq.n_bytes; }

#endif
