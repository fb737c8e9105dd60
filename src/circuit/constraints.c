/* SPDX-License-Identifier: Apache-2.0 */
/* circuit/constraints: see constraints.h. */
#include "circuit/constraints.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#define WHERE             "circuit.constraints"
#define FR_LIMBS          4u
#define VALUE_BYTES       32u
#define CHUNK_CONSTRAINTS 2048u

static void load_limbs(uint64_t *r, const uint8_t *le) {
    for (unsigned i = 0; i < FR_LIMBS; i++) r[i] = load_le64(le + 8 * i);
}

/* ---- evaluating ---- */
typedef struct evaluator {
    const field *fr;
    const uint8_t *values;
    uint64_t one[FR_LIMBS],
        minus_one[FR_LIMBS]; /* canonical: most coefficients are one of them */
} evaluator;

static void evaluator_init(evaluator *e, const field *fr, const uint8_t *values) {
    *e = (evaluator){.fr = fr, .values = values, .one = {1}};
    field_neg(fr, e->minus_one, e->one);
}

/* r = sum of coefficient * value, canonical. The product of two canonical numbers by a Montgomery
 * multiplication lacks a factor R, which the sum of all products gets back at once. */
static void evaluate(const evaluator *e, uint64_t *r, const r1cs_lc *lc) {
    const field *fr = e->fr;
    uint64_t products[FR_LIMBS] = {0}, k[FR_LIMBS], w[FR_LIMBS];
    bool has_products = false;
    memset(r, 0, VALUE_BYTES);
    for (uint32_t i = 0; i < lc->n_terms; i++) {
        load_limbs(k, r1cs_term_value(lc, i));
        load_limbs(w, e->values + (size_t)r1cs_term_wire(lc, i) * VALUE_BYTES);
        if (field_equal(fr, k, e->one)) {
            field_add(fr, r, r, w);
        } else if (field_equal(fr, k, e->minus_one)) {
            field_sub(fr, r, r, w);
        } else {
            field_mul(fr, k, k, w);
            field_add(fr, products, products, k);
            has_products = true;
        }
    }
    if (!has_products) return;
    fr->ops->to_mont(products, products, &fr->m);
    field_add(fr, r, r, products);
}

typedef struct abc {
    uint64_t a[FR_LIMBS], b[FR_LIMBS], c[FR_LIMBS]; /* canonical */
} abc;

static bool holds(const evaluator *e, const r1cs_constraint *k, abc *at) {
    uint64_t product[FR_LIMBS];
    evaluate(e, at->a, &k->a);
    evaluate(e, at->b, &k->b);
    evaluate(e, at->c, &k->c);
    field_mul(e->fr, product, at->a, at->b);
    e->fr->ops->to_mont(product, product, &e->fr->m);
    return field_equal(e->fr, product, at->c);
}

/* ---- saying which constraint fails ---- */
#define TEXT_LC 32u /* characters of one linear combination, about: three fit a message */

typedef struct text {
    char s[96];
    size_t n;
} text;

static void append(text *t, const char *s) {
    for (; *s && t->n + 1 < sizeof t->s; s++) t->s[t->n++] = *s;
    t->s[t->n] = '\0';
}

/* |v| of the representative nearest to 0, as decimal digits, the middle of long ones left out.
 * True when it is negative. */
static bool show_magnitude(const field *fr, char *out, size_t capacity,
                           const uint64_t *canonical) {
    uint64_t v[FR_LIMBS], neg[FR_LIMBS];
    char digits[FIELD_DEC_MAX];
    field_neg(fr, neg, canonical);
    bool is_negative = false;
    for (unsigned i = FR_LIMBS; i-- > 0;)
        if (canonical[i] != neg[i]) {
            is_negative = canonical[i] > neg[i];
            break;
        }
    fr->ops->to_mont(v, is_negative ? neg : canonical, &fr->m);
    const size_t n = field_store_dec(fr, digits, v);
    if (n <= 12)
        snprintf(out, capacity, "%.12s", digits);
    else
        snprintf(out, capacity, "%.4s..%.4s", digits, digits + n - 4);
    return is_negative;
}

static void append_value(text *t, const field *fr, const uint64_t *canonical) {
    char digits[24];
    if (show_magnitude(fr, digits, sizeof digits, canonical)) append(t, "-");
    append(t, digits);
}

static void append_lc(text *t, const field *fr, const r1cs_lc *lc) {
    t->n = 0;
    append(t, lc->n_terms ? "" : "0");
    for (uint32_t i = 0; i < lc->n_terms; i++) {
        uint64_t k[FR_LIMBS];
        char term[64], digits[24];
        load_limbs(k, r1cs_term_value(lc, i));
        const bool is_negative = show_magnitude(fr, digits, sizeof digits, k);
        const bool is_unit = strcmp(digits, "1") == 0;
        const int n =
            snprintf(term, sizeof term, "%s%s%sw[%" PRIu32 "]",
                     i == 0 ? (is_negative ? "-" : "") : (is_negative ? " - " : " + "),
                     is_unit ? "" : digits, is_unit ? "" : "*", r1cs_term_wire(lc, i));
        if (i > 0 && t->n + (size_t)n > TEXT_LC) {
            snprintf(term, sizeof term, " + %" PRIu32 " more", lc->n_terms - i);
            append(t, term);
            return;
        }
        append(t, term);
    }
}

static cuzk_status fail_at(const r1cs_view *r1cs, uint32_t index, const r1cs_constraint *k,
                           const field *fr, const abc *at, cuzk_err *err) {
    text a, b, c, values = {.n = 0};
    append_lc(&a, fr, &k->a);
    append_lc(&b, fr, &k->b);
    append_lc(&c, fr, &k->c);
    append_value(&values, fr, at->a);
    append(&values, " * ");
    append_value(&values, fr, at->b);
    append(&values, " != ");
    append_value(&values, fr, at->c);
    return cuzk_fail(err, CUZK_ERR_WITNESS, WHERE,
                     "constraint %" PRIu32 " of %" PRIu32
                     " does not hold: (%s) * (%s) != (%s); %s",
                     index, r1cs->n_constraints, a.s, b.s, c.s, values.s);
}

/* ---- checking all, in chunks ---- */
typedef struct check {
    const evaluator *eval;
    const r1cs_cursor *starts;      /* of each chunk */
    atomic_uint_fast64_t first_bad; /* lowest index known to be wrong */
} check;

/* Steps from *cur to the first constraint that is damaged or does not hold, at most to `end`.
 * OK and *bad = false when there is none. The index of a bad one is cur->next. */
static cuzk_status scan(const evaluator *e, r1cs_cursor *cur, uint32_t end, bool *bad,
                        r1cs_constraint *k, abc *at, cuzk_err *err) {
    *bad = false;
    while (cur->next < end) {
        r1cs_cursor next = *cur;
        bool done;
        CUZK_TRY(r1cs_next(&next, k, &done, e->fr, err));
        *bad = !holds(e, k, at);
        if (*bad) return CUZK_OK;
        *cur = next;
    }
    return CUZK_OK;
}

static uint32_t chunk_end(const r1cs_cursor *start) {
    const uint32_t n = start->view->n_constraints;
    return n - start->next < CHUNK_CONSTRAINTS ? n : start->next + CHUNK_CONSTRAINTS;
}

static void check_chunk(void *arg, size_t item, unsigned slot) {
    check *ck = arg;
    r1cs_cursor cur = ck->starts[item];
    r1cs_constraint k;
    abc at;
    bool bad;
    (void)slot;
    uint_fast64_t known = atomic_load(&ck->first_bad);
    if (cur.next >= known) return;
    if (scan(ck->eval, &cur, chunk_end(&cur), &bad, &k, &at, NULL) == CUZK_OK && !bad) return;
    while (cur.next < known &&
           !atomic_compare_exchange_weak(&ck->first_bad, &known, cur.next)) {}
}

/* One pass over the counts: bookmarks of the chunks, and the end of the section checked. */
static cuzk_status find_chunks(r1cs_cursor *starts, const r1cs_view *r1cs, cuzk_err *err) {
    r1cs_cursor cur;
    bool done = false;
    r1cs_cursor_init(&cur, r1cs);
    while (!done) {
        if (cur.next % CHUNK_CONSTRAINTS == 0 && cur.next < r1cs->n_constraints)
            starts[cur.next / CHUNK_CONSTRAINTS] = cur;
        CUZK_TRY(r1cs_skip(&cur, &done, err));
    }
    return CUZK_OK;
}

static cuzk_status report_first_bad(const check *ck, uint64_t index, cuzk_err *err) {
    r1cs_cursor cur = ck->starts[index / CHUNK_CONSTRAINTS];
    r1cs_constraint k;
    abc at;
    bool bad;
    CUZK_TRY(scan(ck->eval, &cur, chunk_end(&cur), &bad, &k, &at, err));
    CUZK_ASSERT(bad && cur.next == index);
    return fail_at(cur.view, cur.next, &k, ck->eval->fr, &at, err);
}

cuzk_status constraints_check(const r1cs_view *r1cs, const uint8_t *values, uint32_t n,
                              const field *fr, cuzk_exec *exec, cuzk_err *err) {
    CUZK_ASSERT(fr->n_bytes == VALUE_BYTES);
    if (n != r1cs->n_wires)
        return cuzk_fail(err, CUZK_ERR_WITNESS, WHERE,
                         "the witness has %" PRIu32 " values, expected %" PRIu32
                         " (the wires of the circuit)",
                         n, r1cs->n_wires);
    const size_t n_chunks =
        ((size_t)r1cs->n_constraints + CHUNK_CONSTRAINTS - 1) / CHUNK_CONSTRAINTS;
    r1cs_cursor *starts;
    evaluator eval;
    evaluator_init(&eval, fr, values);
    CUZK_TRY(cuzk_alloc(&starts, n_chunks, sizeof *starts, err));
    cuzk_status status = find_chunks(starts, r1cs, err);
    if (status == CUZK_OK) {
        check ck = {.eval = &eval, .starts = starts};
        atomic_init(&ck.first_bad, UINT64_MAX);
        cuzk_exec_for(exec, n_chunks, check_chunk, &ck);
        const uint64_t bad = atomic_load(&ck.first_bad);
        if (bad != UINT64_MAX) status = report_first_bad(&ck, bad, err);
    }
    cuzk_free(starts);
    return status;
}
