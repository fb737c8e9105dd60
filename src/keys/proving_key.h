/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_KEYS_PROVING_KEY_H
#define CUZK_KEYS_PROVING_KEY_H
/* keys/proving_key: an opened Groth16 proving key as the prover sees it, whatever file it came
 * from. In: a mapped zkey. Out: curve, sizes, the constants of the key as points, and the
 * queries where they lie, as buffers of the device that proves. Opening copies nothing. */
#include "backend/backend.h"
#include "base/bytes.h"
#include "keys/device_memory.h"

/* What the H query holds, and with it how a proof gets its quotient (docs/architecture.md):
 * LAGRANGE_ODD   snarkjs: H[i] = L_{2i+1}(tau)/delta over the domain of twice the size, n points;
 *                roots of unity from the least non-residue.
 * MONOMIAL       bellperson: H[i] = tau^i Z(tau)/delta, n - 1 points; roots and coset from 7. */
typedef enum quotient_kind { QUOTIENT_LAGRANGE_ODD, QUOTIENT_MONOMIAL } quotient_kind;

/* A packed vector of points, element i belonging to witness value (or coefficient) i. */
typedef struct key_query {
    cuzk_slice points;
    size_t n;
} key_query;

typedef struct proving_key {
    const curve *curve;
    const cuzk_backend *backend;
    cuzk_device *device;
    quotient_kind quotient;
    uint32_t n_vars, n_public; /* the constant 1 counts in n_vars, not in n_public */
    unsigned log_domain;
    matrix_view matrix;
    g1_affine alpha1, beta1, delta1;
    g2_affine beta2, gamma2, delta2;
    key_query ic;             /* G1, n_public + 1 */
    const uint8_t *ic_packed; /* the same points, for the host */
    key_query a, b1, b2;      /* n_vars; b2 in G2 */
    key_query l;              /* n_vars - n_public - 1 */
    key_query h;
    cuzk_buf *buf; /* owned; every slice above lies in it */
    /* The bytes that buf wraps. Empty: buf is the device's memory, where the points were made
     * and stay. */
    cuzk_span image;
    device_memory *memory; /* NULL unless attached */
    struct key_copy *copy; /* owned; as memory (keys/residency.h) */
} proving_key;             /* Thread: immutable once open and attached */

/* Opens the key in `file`, which must stay until close. O(1) in the size of the key.
 * curves[id] is the arithmetic. FORMAT, NOMEM. */
CUZK_MUST_CHECK cuzk_status proving_key_open_zkey(proving_key *out, cuzk_span file,
                                                  const curve *const curves[CURVE_COUNT],
                                                  const cuzk_backend *backend,
                                                  cuzk_device *device, cuzk_err *err);
/* From now on the key may keep a copy of what proofs need on the device: made on first use,
 * shared by proofs that run at once, evicted when idle and others need the room. Without it
 * (or when the device computes in the host's memory) every proof works on the wrapped
 * bytes. `memory` is of the key's device and must outlive the key. NOMEM. */
CUZK_MUST_CHECK cuzk_status proving_key_attach(proving_key *key, device_memory *memory,
                                               cuzk_err *err);
void proving_key_close(proving_key *key); /* a zeroed or closed one is fine */

/* The roots of unity and the coset that the H query was made for. */
typedef struct key_roots {
    uint64_t nonresidue;
    bool is_odd_coset; /* the coset is w_2n * domain; else that of `coset` */
    fe coset;
} key_roots;
key_roots proving_key_roots(const proving_key *key);

/* Loads one packed point of a key's constants: FORMAT, naming `what`, when a coordinate is not
 * below q or the point is off the curve. */
CUZK_MUST_CHECK cuzk_status proving_key_load_point(point *out, const curve *c, group_id g,
                                                   const uint8_t *packed, const char *what,
                                                   cuzk_err *err);

#endif
