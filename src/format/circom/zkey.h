/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FORMAT_CIRCOM_ZKEY_H
#define CUZK_FORMAT_CIRCOM_ZKEY_H
/* format/circom/zkey: a snarkjs groth16 proving key as a checked view. Parsing is O(1) in the
 * size of the key: headers, counts and lengths; points and coefficients are read by whoever
 * uses them. All points packed affine Montgomery (math/group/group.h). docs/formats/zkey.md. */
#include "format/circom/binfile.h"
#include "math/curves/curve.h"

typedef struct zkey_view {
    binfile file;
    curve_id curve;
    uint32_t n_vars, n_public; /* constant 1 counts in n_vars, not in n_public */
    uint32_t domain_size;      /* power of two, 2^log_domain */
    unsigned log_domain;
    const uint8_t *alpha1, *beta1, *beta2, *gamma2, *delta1, *delta2;
    cuzk_span ic; /* n_public + 1 G1 */
    uint32_t n_coefficients;
    cuzk_span coefficients; /* n_coefficients * 44, without the count (circuit/matrix.h) */
    cuzk_span a, b1;        /* n_vars G1 */
    cuzk_span b2;           /* n_vars G2 */
    cuzk_span l;            /* n_vars - n_public - 1 G1 ("C" in snarkjs) */
    cuzk_span h;            /* domain_size G1, odd-coset Lagrange basis */
} zkey_view;

/* FORMAT (also for another protocol or an unknown curve). The view borrows `file`. */
CUZK_MUST_CHECK cuzk_status zkey_parse(zkey_view *out, cuzk_span file, cuzk_err *err);

/* Bytes of one packed point: degree 1 for G1, 2 for G2. */
size_t zkey_point_bytes(curve_id id, unsigned degree);

/* Writes all sections (10, the contributions, empty) with sizes from `v`, spans in the layout of
 * the view; v->file is not read. Used by setup and tests. */
CUZK_MUST_CHECK cuzk_status zkey_write(const zkey_view *v, const curve *c,
                                       const byte_sink *sink, cuzk_err *err);

#endif
