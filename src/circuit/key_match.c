/* SPDX-License-Identifier: Apache-2.0 */
/* circuit/key_match: see constraints.h. */
#include "base/alloc.h"
#include "circuit/constraints.h"
#include "circuit/matrix.h"
#include <inttypes.h>
#include <stdlib.h>

#define WHERE    "circuit.key_match"
#define FR_LIMBS 4u

static cuzk_status match_counts(const r1cs_view *r1cs, const zkey_view *key, cuzk_err *err) {
    if (key->curve != r1cs->curve)
        return cuzk_fail(
            err, CUZK_ERR_FORMAT, WHERE, "the key is on curve %s, expected %s as the circuit",
            curve_params_of(key->curve)->name, curve_params_of(r1cs->curve)->name);
    if (key->n_vars != r1cs->n_wires)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "the key has %" PRIu32 " variables, expected %" PRIu32
                         " as the circuit has wires",
                         key->n_vars, r1cs->n_wires);
    if (key->n_public != r1cs_n_public(r1cs))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "the key has %" PRIu32 " public signals, expected %" PRIu32
                         " as the circuit",
                         key->n_public, r1cs_n_public(r1cs));
    /* One row a constraint, and one for each of the constant 1 and the public signals. snarkjs
     * makes at least two rows, others may stop at one. */
    const uint64_t n_rows = (uint64_t)r1cs->n_constraints + key->n_public + 1;
    uint64_t domain = 1;
    while (domain < n_rows) domain *= 2;
    if (key->domain_size != domain && !(n_rows == 1 && key->domain_size == 2))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "the key has domain size %" PRIu32 ", expected %" PRIu64
                         " (for %" PRIu32 " constraints, %" PRIu32 " public signals and 1)",
                         key->domain_size, domain, r1cs->n_constraints, key->n_public);
    return CUZK_OK;
}

/* ---- the key's coefficients by row ---- */
typedef struct row_index {
    uint32_t *starts; /* domain_size + 1: where each row begins in `order` */
    uint32_t *order;  /* triplets, grouped by row */
    uint32_t max_row; /* triplets of the longest row */
} row_index;

static const uint8_t *triplet(const zkey_view *key, uint32_t i) {
    return key->coefficients.p + (size_t)i * MATRIX_TRIPLET_BYTES;
}

static cuzk_status check_triplet(const zkey_view *key, uint32_t i, const field *fr,
                                 cuzk_err *err) {
    const uint8_t *t = triplet(key, i);
    if (load_le32(t) > 1)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "coefficient %" PRIu32 " of %" PRIu32 ": matrix is %" PRIu32
                         ", expected 0 (A) or 1 (B)",
                         i, key->n_coefficients, load_le32(t));
    if (load_le32(t + 4) >= key->domain_size)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "coefficient %" PRIu32 " of %" PRIu32 ": row is %" PRIu32
                         ", expected below %" PRIu32,
                         i, key->n_coefficients, load_le32(t + 4), key->domain_size);
    if (load_le32(t + 8) >= key->n_vars)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "coefficient %" PRIu32 " of %" PRIu32 ": signal is %" PRIu32
                         ", expected below %" PRIu32,
                         i, key->n_coefficients, load_le32(t + 8), key->n_vars);
    if (!field_is_canonical_le(fr, t + 12))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "coefficient %" PRIu32 " of %" PRIu32 ": value is not below r", i,
                         key->n_coefficients);
    return CUZK_OK;
}

static void row_index_fini(row_index *x) {
    cuzk_free(x->starts);
    cuzk_free(x->order);
}

/* Counting sort by row. */
static cuzk_status row_index_init(row_index *x, const zkey_view *key, const field *fr,
                                  cuzk_err *err) {
    const uint32_t n = key->n_coefficients, n_rows = key->domain_size;
    *x = (row_index){.max_row = 0};
    CUZK_TRY(cuzk_zalloc(&x->starts, (size_t)n_rows + 1, sizeof *x->starts, err));
    CUZK_TRY(cuzk_alloc(&x->order, n, sizeof *x->order, err));
    for (uint32_t i = 0; i < n; i++) {
        CUZK_TRY(check_triplet(key, i, fr, err));
        x->starts[load_le32(triplet(key, i) + 4)]++;
    }
    uint32_t end = 0;
    for (uint32_t row = 0; row < n_rows; row++) {
        if (x->starts[row] > x->max_row) x->max_row = x->starts[row];
        end += x->starts[row];
        x->starts[row] = end; /* each row then fills downwards to its start */
    }
    x->starts[n_rows] = n;
    for (uint32_t i = n; i-- > 0;) x->order[--x->starts[load_le32(triplet(key, i) + 4)]] = i;
    return CUZK_OK;
}

/* ---- one row as a sorted list ---- */
typedef struct entry {
    uint32_t matrix, column;
    uint64_t value[FR_LIMBS]; /* v R^2, as the key has it */
} entry;

static int compare_entries(const void *pa, const void *pb) {
    const entry *a = pa, *b = pb;
    if (a->matrix != b->matrix) return a->matrix < b->matrix ? -1 : 1;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    for (unsigned i = 0; i < FR_LIMBS; i++)
        if (a->value[i] != b->value[i]) return a->value[i] < b->value[i] ? -1 : 1;
    return 0;
}

static void take_lc(entry *out, const r1cs_lc *lc, uint32_t matrix, const field *fr) {
    for (uint32_t i = 0; i < lc->n_terms; i++) {
        entry *e = &out[i];
        e->matrix = matrix;
        e->column = r1cs_term_wire(lc, i);
        for (unsigned j = 0; j < FR_LIMBS; j++)
            e->value[j] = load_le64(r1cs_term_value(lc, i) + 8 * j);
        fr->ops->to_mont(e->value, e->value, &fr->m);
        fr->ops->to_mont(e->value, e->value, &fr->m);
    }
}

static void take_row(entry *out, const zkey_view *key, const row_index *x, uint32_t row) {
    for (uint32_t at = x->starts[row]; at < x->starts[row + 1]; at++, out++) {
        const uint8_t *t = triplet(key, x->order[at]);
        *out = (entry){.matrix = load_le32(t), .column = load_le32(t + 8)};
        for (unsigned j = 0; j < FR_LIMBS; j++) out->value[j] = load_le64(t + 12 + 8 * j);
    }
}

typedef struct matcher {
    const zkey_view *key;
    const field *fr;
    row_index index;
    entry *expected, *found; /* max_row each */
} matcher;

/* Row `row` of the key holds exactly a (in A) and b (in B). */
static cuzk_status match_row(matcher *m, uint32_t row, const r1cs_lc *a, const r1cs_lc *b,
                             cuzk_err *err) {
    const uint64_t n_expected = (uint64_t)a->n_terms + b->n_terms;
    const uint32_t n = m->index.starts[row + 1] - m->index.starts[row];
    if (n != n_expected)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "row %" PRIu32 " of the key has %" PRIu32
                         " coefficients, expected %" PRIu64 " as the circuit",
                         row, n, n_expected);
    take_lc(m->expected, a, 0, m->fr);
    take_lc(m->expected + a->n_terms, b, 1, m->fr);
    take_row(m->found, m->key, &m->index, row);
    qsort(m->expected, n, sizeof *m->expected, compare_entries);
    qsort(m->found, n, sizeof *m->found, compare_entries);
    for (uint32_t i = 0; i < n; i++) {
        const entry *e = &m->expected[i], *f = &m->found[i];
        if (compare_entries(e, f) == 0) continue;
        if (e->matrix == f->matrix && e->column == f->column)
            return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                             "row %" PRIu32 " of the key: the coefficient of %c for signal "
                             "%" PRIu32 " differs from the circuit",
                             row, e->matrix ? 'B' : 'A', e->column);
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "row %" PRIu32 " of the key: a coefficient of %c for signal %" PRIu32
                         ", expected of %c for signal %" PRIu32 " as the circuit",
                         row, f->matrix ? 'B' : 'A', f->column, e->matrix ? 'B' : 'A',
                         e->column);
    }
    return CUZK_OK;
}

static cuzk_status match_rows(matcher *m, const r1cs_view *r1cs, cuzk_err *err) {
    const r1cs_lc nothing = {NULL, 0};
    r1cs_cursor cur;
    r1cs_constraint k;
    bool done;
    r1cs_cursor_init(&cur, r1cs);
    for (uint32_t row = 0;; row++) {
        CUZK_TRY(r1cs_next(&cur, &k, &done, m->fr, err));
        if (done) break;
        CUZK_TRY(match_row(m, row, &k.a, &k.b, err));
    }
    for (uint32_t row = r1cs->n_constraints; row < m->key->domain_size; row++) {
        /* The constant 1 and each public signal get a row of their own, 1 * w[i], which makes
         * the public part of A linearly independent. */
        uint8_t term[R1CS_TERM_BYTES] = {0};
        const r1cs_lc own = {term, 1};
        const uint32_t i = row - r1cs->n_constraints;
        store_le32(term, i);
        term[4] = 1;
        CUZK_TRY(match_row(m, row, i <= m->key->n_public ? &own : &nothing, &nothing, err));
    }
    return CUZK_OK;
}

cuzk_status constraints_match_key(const r1cs_view *r1cs, const zkey_view *key, const field *fr,
                                  cuzk_err *err) {
    CUZK_ASSERT(fr->m.n_limbs == FR_LIMBS);
    matcher m = {.key = key, .fr = fr};
    CUZK_TRY(match_counts(r1cs, key, err));
    cuzk_status status = row_index_init(&m.index, key, fr, err);
    if (status == CUZK_OK)
        status = cuzk_alloc(&m.expected, m.index.max_row, sizeof *m.expected, err);
    if (status == CUZK_OK)
        status = cuzk_alloc(&m.found, m.index.max_row, sizeof *m.found, err);
    if (status == CUZK_OK) status = match_rows(&m, r1cs, err);
    cuzk_free(m.found);
    cuzk_free(m.expected);
    row_index_fini(&m.index);
    return status;
}
