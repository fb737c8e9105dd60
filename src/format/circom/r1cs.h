/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FORMAT_CIRCOM_R1CS_H
#define CUZK_FORMAT_CIRCOM_R1CS_H
/* format/circom/r1cs: a constraint system as a checked view and a checked cursor over its
 * constraints. docs/formats/r1cs.md. */
#include "format/circom/binfile.h"
#include "math/curves/curve.h"

typedef struct r1cs_view {
    binfile file;
    curve_id curve;
    uint32_t n_wires; /* wire 0, the constant 1, included */
    uint32_t n_pub_out, n_pub_in, n_prv_in, n_constraints;
    uint64_t n_labels;
    cuzk_span constraints;
    cuzk_span labels; /* n_wires LE64 label numbers, or empty when the file has no map */
} r1cs_view;

/* Header and lengths; O(1). FORMAT, also for circuits with custom gates: Groth16 has none, and
 * leaving them out would prove less than the circuit says. */
CUZK_MUST_CHECK cuzk_status r1cs_parse(r1cs_view *out, cuzk_span file, cuzk_err *err);
/* Public signals: outputs, then inputs; wires 1 to this. */
CUZK_INLINE uint32_t r1cs_n_public(const r1cs_view *v) { return v->n_pub_out + v->n_pub_in; }

/* One linear combination: n terms of LE32 wire, then 32 bytes canonical little-endian value. */
#define R1CS_TERM_BYTES 36u
typedef struct r1cs_lc {
    const uint8_t *terms;
    uint32_t n_terms;
} r1cs_lc;
typedef struct r1cs_constraint {
    r1cs_lc a, b, c;
} r1cs_constraint;

CUZK_INLINE uint32_t r1cs_term_wire(const r1cs_lc *lc, uint32_t i) {
    return load_le32(lc->terms + (size_t)i * R1CS_TERM_BYTES);
}
CUZK_INLINE const uint8_t *r1cs_term_value(const r1cs_lc *lc, uint32_t i) {
    return lc->terms + (size_t)i * R1CS_TERM_BYTES + 4;
}

typedef struct r1cs_cursor { /* plain data: a copy is a bookmark */
    const r1cs_view *view;
    uint64_t pos;  /* in view->constraints */
    uint32_t next; /* index of the constraint there */
} r1cs_cursor;

void r1cs_cursor_init(r1cs_cursor *cur, const r1cs_view *view);
/* *done = true past the last one. Checks term counts, wire indices, values below r, and that
 * the last constraint ends the section. FORMAT names constraint and term. */
CUZK_MUST_CHECK cuzk_status r1cs_next(r1cs_cursor *cur, r1cs_constraint *out, bool *done,
                                      const field *fr, cuzk_err *err);
/* The same without looking at wires and values: finds where constraints begin. */
CUZK_MUST_CHECK cuzk_status r1cs_skip(r1cs_cursor *cur, bool *done, cuzk_err *err);

/* v->file is not read. Sections in the order of the circom compiler. */
CUZK_MUST_CHECK cuzk_status r1cs_write(const r1cs_view *v, const curve *c,
                                       const byte_sink *sink, cuzk_err *err);

#endif
