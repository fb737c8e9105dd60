/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/r1cs: see r1cs.h. */
#include "format/circom/r1cs.h"
#include "format/circom/prime.h"
#include <inttypes.h>

#define WHERE                "format.r1cs"
#define VERSION              1u
#define COUNTS_BYTES         28u      /* of the header, after the prime */
#define MIN_CONSTRAINT_BYTES (3 * 4u) /* three empty linear combinations */

enum {
    SECTION_HEADER = 1,
    SECTION_CONSTRAINTS = 2,
    SECTION_LABELS = 3,
    SECTION_CUSTOM_GATES = 4,
    SECTION_CUSTOM_GATE_USES = 5
};

static cuzk_status parse_header(r1cs_view *v, cuzk_err *err) {
    cuzk_span header;
    uint64_t pos = 0;
    CUZK_TRY(binfile_require(&header, &v->file, SECTION_HEADER, 0, "section 1 (header)", err));
    const uint64_t offset = binfile_find(&v->file, SECTION_HEADER)->offset;
    CUZK_TRY(prime_read(&v->curve, &pos, header, offset, PRIME_R, err));
    if (header.n_bytes != pos + COUNTS_BYTES)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section 1 (header) at offset %" PRIu64
                         " has %zu bytes, expected %" PRIu64,
                         offset, header.n_bytes, pos + COUNTS_BYTES);
    const uint8_t *p = header.p + pos;
    v->n_wires = load_le32(p);
    v->n_pub_out = load_le32(p + 4);
    v->n_pub_in = load_le32(p + 8);
    v->n_prv_in = load_le32(p + 12); /* as declared; unused ones may have no wire */
    v->n_labels = load_le64(p + 16);
    v->n_constraints = load_le32(p + 24);
    const uint64_t n_min = (uint64_t)v->n_pub_out + v->n_pub_in + 1;
    if (v->n_wires < n_min)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "number of wires at offset %" PRIu64 " is %" PRIu32
                         ", expected at least %" PRIu64 " (%" PRIu32 " outputs, %" PRIu32
                         " public inputs and 1)",
                         offset + pos, v->n_wires, n_min, v->n_pub_out, v->n_pub_in);
    return CUZK_OK;
}

static cuzk_status refuse_custom_gates(const r1cs_view *v, cuzk_err *err) {
    for (uint32_t id = SECTION_CUSTOM_GATES; id <= SECTION_CUSTOM_GATE_USES; id++) {
        const binfile_section *s = binfile_find(&v->file, id);
        if (s == NULL || (s->bytes.n_bytes == 4 && load_le32(s->bytes.p) == 0)) continue;
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section %" PRIu32 " at offset %" PRIu64
                         " holds custom gates, expected none: groth16 can't prove them",
                         id, s->offset);
    }
    return CUZK_OK;
}

cuzk_status r1cs_parse(r1cs_view *out, cuzk_span file, cuzk_err *err) {
    r1cs_view v = {.n_wires = 0};
    CUZK_TRY(binfile_parse(&v.file, file, "r1cs", VERSION, err));
    CUZK_TRY(parse_header(&v, err));
    CUZK_TRY(refuse_custom_gates(&v, err));
    CUZK_TRY(binfile_require(&v.constraints, &v.file, SECTION_CONSTRAINTS,
                             (uint64_t)v.n_constraints * MIN_CONSTRAINT_BYTES,
                             "section 2 (constraints)", err));
    if (binfile_find(&v.file, SECTION_LABELS) != NULL)
        CUZK_TRY(binfile_require_exact(&v.labels, &v.file, SECTION_LABELS, v.n_wires, 8,
                                       "section 3 (labels)", err));
    *out = v;
    return CUZK_OK;
}

/* ---- cursor ---- */
static uint64_t file_offset(const r1cs_view *v, uint64_t pos) {
    const binfile_section *s = binfile_find(&v->file, SECTION_CONSTRAINTS);
    return (s ? s->offset : 0) + pos;
}

void r1cs_cursor_init(r1cs_cursor *cur, const r1cs_view *view) {
    *cur = (r1cs_cursor){.view = view, .pos = 0, .next = 0};
}

static cuzk_status take_lc(r1cs_cursor *cur, r1cs_lc *out, char name, cuzk_err *err) {
    cuzk_span count, terms;
    const cuzk_span all = cur->view->constraints;
    if (!span_sub(&count, all, cur->pos, 4))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "constraint %" PRIu32 " of %" PRIu32 ", %c at offset %" PRIu64
                         ": section 2 (constraints) ends, expected a number of terms",
                         cur->next, cur->view->n_constraints, name,
                         file_offset(cur->view, cur->pos));
    out->n_terms = load_le32(count.p);
    const uint64_t n_bytes = (uint64_t)out->n_terms * R1CS_TERM_BYTES;
    if (!span_sub(&terms, all, cur->pos + 4, n_bytes))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "constraint %" PRIu32 " of %" PRIu32 ", %c at offset %" PRIu64
                         ": %" PRIu32 " terms of %u bytes, but section 2 ends after %" PRIu64,
                         cur->next, cur->view->n_constraints, name,
                         file_offset(cur->view, cur->pos), out->n_terms, R1CS_TERM_BYTES,
                         all.n_bytes - (cur->pos + 4));
    out->terms = terms.p;
    cur->pos += 4 + n_bytes;
    return CUZK_OK;
}

static cuzk_status take_constraint(r1cs_cursor *cur, r1cs_constraint *out, bool *done,
                                   cuzk_err *err) {
    const r1cs_view *v = cur->view;
    *done = cur->next == v->n_constraints;
    if (*done && cur->pos != v->constraints.n_bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%" PRIu64 " bytes follow the last of %" PRIu32
                         " constraints at offset %" PRIu64 ", expected the end of section 2",
                         v->constraints.n_bytes - cur->pos, v->n_constraints,
                         file_offset(v, cur->pos));
    if (*done) return CUZK_OK;
    CUZK_TRY(take_lc(cur, &out->a, 'A', err));
    CUZK_TRY(take_lc(cur, &out->b, 'B', err));
    return take_lc(cur, &out->c, 'C', err);
}

static cuzk_status check_terms(const r1cs_cursor *cur, const r1cs_lc *lc, char name,
                               const field *fr, cuzk_err *err) {
    for (uint32_t i = 0; i < lc->n_terms; i++) {
        if (r1cs_term_wire(lc, i) >= cur->view->n_wires)
            return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                             "constraint %" PRIu32 " of %" PRIu32 ", %c term %" PRIu32
                             ": wire is %" PRIu32 ", expected below %" PRIu32,
                             cur->next, cur->view->n_constraints, name, i,
                             r1cs_term_wire(lc, i), cur->view->n_wires);
        if (!field_is_canonical_le(fr, r1cs_term_value(lc, i)))
            return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                             "constraint %" PRIu32 " of %" PRIu32 ", %c term %" PRIu32
                             ": value is not below the scalar field prime r",
                             cur->next, cur->view->n_constraints, name, i);
    }
    return CUZK_OK;
}

cuzk_status r1cs_next(r1cs_cursor *cur, r1cs_constraint *out, bool *done, const field *fr,
                      cuzk_err *err) {
    CUZK_TRY(take_constraint(cur, out, done, err));
    if (*done) return CUZK_OK;
    CUZK_TRY(check_terms(cur, &out->a, 'A', fr, err));
    CUZK_TRY(check_terms(cur, &out->b, 'B', fr, err));
    CUZK_TRY(check_terms(cur, &out->c, 'C', fr, err));
    cur->next++;
    return CUZK_OK;
}

cuzk_status r1cs_skip(r1cs_cursor *cur, bool *done, cuzk_err *err) {
    r1cs_constraint k;
    CUZK_TRY(take_constraint(cur, &k, done, err));
    if (!*done) cur->next++;
    return CUZK_OK;
}

/* ---- writing ---- */
cuzk_status r1cs_write(const r1cs_view *v, const curve *c, const byte_sink *sink,
                       cuzk_err *err) {
    const bool has_labels = v->labels.n_bytes != 0;
    uint8_t counts[COUNTS_BYTES];
    store_le32(counts, v->n_wires);
    store_le32(counts + 4, v->n_pub_out);
    store_le32(counts + 8, v->n_pub_in);
    store_le32(counts + 12, v->n_prv_in);
    store_le64(counts + 16, v->n_labels);
    store_le32(counts + 24, v->n_constraints);
    CUZK_TRY(binfile_put_header(sink, "r1cs", VERSION, has_labels ? 3 : 2, err));
    CUZK_TRY(binfile_put_span(sink, SECTION_CONSTRAINTS, v->constraints, err));
    CUZK_TRY(binfile_put_section(sink, SECTION_HEADER,
                                 4 + (uint64_t)c->fr.n_bytes + COUNTS_BYTES, err));
    CUZK_TRY(prime_put(sink, &c->fr, err));
    CUZK_TRY(byte_sink_put(sink, counts, sizeof counts, err));
    return has_labels ? binfile_put_span(sink, SECTION_LABELS, v->labels, err) : CUZK_OK;
}
