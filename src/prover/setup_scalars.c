/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/setup_scalars.h"
#include "base/alloc.h"

enum { FR = 4 /* limbs of a scalar */, BLOCK = 1024 };

/* ---- geometric sequences ---- */
/* x_i = start step^i, and out_i = scale x_i / (tau - x_i), or scale x_i. */
typedef struct sequence {
    const field *fr;
    uint64_t *out;
    size_t n;
    fe start, step, scale, tau;
} sequence;

static fe element(const sequence *s, size_t i) {
    const uint64_t exponent = i;
    fe x;
    field_pow(s->fr, x.l, s->step.l, &exponent, 1);
    field_mul(s->fr, x.l, x.l, s->start.l);
    return x;
}

static size_t block_length(size_t n, size_t item) {
    return n - item * BLOCK < BLOCK ? n - item * BLOCK : BLOCK;
}

/* One inversion a block, by products of all that come before. */
static void lagrange_block(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const sequence *s = arg;
    const field *fr = s->fr;
    const size_t n = block_length(s->n, item);
    uint64_t *out = s->out + item * BLOCK * FR, before[BLOCK][FR];
    fe x = element(s, item * BLOCK), product, t;
    field_set_one(fr, product.l);
    for (size_t i = 0; i < n; i++) {
        field_copy(fr, before[i], product.l);
        field_sub(fr, out + i * FR, s->tau.l, x.l);
        field_mul(fr, product.l, product.l, out + i * FR);
        field_mul(fr, x.l, x.l, s->step.l);
    }
    field_inv(fr, product.l, product.l);
    field_mul(fr, product.l, product.l, s->scale.l);
    for (size_t i = n; i-- > 0;) {
        uint64_t *difference = out + i * FR;
        field_sub(fr, x.l, s->tau.l, difference);
        field_mul(fr, t.l, product.l, before[i]);
        field_mul(fr, product.l, product.l, difference);
        field_mul(fr, difference, t.l, x.l);
    }
}

static void powers_block(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const sequence *s = arg;
    const size_t n = block_length(s->n, item);
    uint64_t *out = s->out + item * BLOCK * FR;
    fe x = element(s, item * BLOCK);
    field_mul(s->fr, x.l, x.l, s->scale.l);
    for (size_t i = 0; i < n; i++) {
        field_copy(s->fr, out + i * FR, x.l);
        field_mul(s->fr, x.l, x.l, s->step.l);
    }
}

static cuzk_status run_sequence(uint64_t **out, sequence *s, cuzk_exec_fn *fn, cuzk_exec *exec,
                                cuzk_err *err) {
    CUZK_TRY(cuzk_alloc(&s->out, s->n, s->fr->n_bytes, err));
    cuzk_exec_for(exec, (s->n + BLOCK - 1) / BLOCK, fn, s);
    *out = s->out;
    return CUZK_OK;
}

/* ---- polynomials at tau ---- */
/* tau^(2^log_n) - 1 */
static fe vanishing_at(const field *fr, const fe *tau, unsigned log_n) {
    fe r = *tau, one;
    for (unsigned i = 0; i < log_n; i++) field_sqr(fr, r.l, r.l);
    field_set_one(fr, one.l);
    field_sub(fr, r.l, r.l, one.l);
    return r;
}

/* a / 2^log_n */
static fe over_power_of_two(const field *fr, fe a, unsigned log_n) {
    fe t;
    field_set_u64(fr, t.l, (uint64_t)1 << log_n);
    field_inv(fr, t.l, t.l);
    field_mul(fr, a.l, a.l, t.l);
    return a;
}

/* The roots of unity come from it. */
static uint64_t nonresidue_of(const curve *c, quotient_kind kind) {
    return proving_key_roots(&(proving_key){.curve = c, .quotient = kind}).nonresidue;
}

/* L_i(tau) = (tau^n - 1)/n * w^i / (tau - w^i), i < n. */
static cuzk_status lagrange_make(uint64_t **out, const field *fr, const fe *tau,
                                 unsigned log_n, uint64_t nonresidue, cuzk_exec *exec,
                                 cuzk_err *err) {
    sequence s = {.fr = fr, .n = (size_t)1 << log_n, .tau = *tau};
    field_set_one(fr, s.start.l);
    field_root_of_unity(fr, s.step.l, nonresidue, log_n);
    s.scale = over_power_of_two(fr, vanishing_at(fr, tau, log_n), log_n);
    return run_sequence(out, &s, lagrange_block, exec, err);
}

/* Lagrange: L_{2i+1}(tau)/delta over the domain of twice the size; monomial: tau^i Z(tau)/delta. */
cuzk_status setup_h_make(uint64_t **out, const curve *c, const setup_trapdoor *t,
                         quotient_kind kind, unsigned log_domain, cuzk_exec *exec,
                         cuzk_err *err) {
    const field *fr = &c->fr;
    sequence s = {.fr = fr, .n = setup_h_count(kind, log_domain), .tau = t->tau};
    fe delta_inv;
    field_inv(fr, delta_inv.l, t->delta.l);
    if (kind == QUOTIENT_MONOMIAL) {
        field_set_one(fr, s.start.l);
        s.step = t->tau;
        s.scale = vanishing_at(fr, &t->tau, log_domain);
        field_mul(fr, s.scale.l, s.scale.l, delta_inv.l);
        return run_sequence(out, &s, powers_block, exec, err);
    }
    const unsigned log_2n = log_domain + 1;
    field_root_of_unity(fr, s.start.l, nonresidue_of(c, kind), log_2n);
    field_sqr(fr, s.step.l, s.start.l);
    s.scale = over_power_of_two(fr, vanishing_at(fr, &t->tau, log_2n), log_2n);
    field_mul(fr, s.scale.l, s.scale.l, delta_inv.l);
    return run_sequence(out, &s, lagrange_block, exec, err);
}

/* ---- columns ---- */
typedef struct column_sums {
    const field *fr;
    const setup_circuit *circuit;
    const uint64_t *lagrange;
    uint64_t *into[3]; /* A, B, C */
    size_t per_range;  /* columns */
} column_sums;

/* The terms of columns [first, end): value (v R^2) times L (L R) gives v L with R^2. */
static void add_terms(const column_sums *s, const uint8_t *triplets, uint64_t n, size_t first,
                      size_t end) {
    const field *fr = s->fr;
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *t = triplets + i * MATRIX_TRIPLET_BYTES;
        const uint32_t column = load_le32(t + 8);
        if (column < first || column >= end) continue;
        uint64_t *sum = s->into[load_le32(t)] + (size_t)column * FR;
        fe v;
        for (unsigned j = 0; j < FR; j++) v.l[j] = load_le64(t + 12 + 8 * j);
        field_mul(fr, v.l, v.l, s->lagrange + (size_t)load_le32(t + 4) * FR);
        field_add(fr, sum, sum, v.l);
    }
}

/* Each thread reads everything and adds what falls into its range: no two write the same sum. */
static void sum_range(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const column_sums *s = arg;
    const setup_circuit *circuit = s->circuit;
    const size_t first = item * s->per_range;
    size_t end = first + s->per_range;
    if (end > circuit->n_vars) end = circuit->n_vars;
    if (first >= end) return;
    for (unsigned m = 0; m < 3; m++)
        memset(s->into[m] + first * FR, 0, (end - first) * s->fr->n_bytes);
    add_terms(s, circuit->triplets, circuit->n_triplets, first, end);
    add_terms(s, circuit->c_triplets, circuit->n_c_triplets, first, end);
    for (unsigned m = 0; m < 3; m++)
        for (size_t i = first; i < end; i++) /* x R^2 -> x R */
            s->fr->ops->from_mont(s->into[m] + i * FR, s->into[m] + i * FR, &s->fr->m);
}

typedef struct combination {
    const field *fr;
    const setup_columns *columns;
    const setup_trapdoor *t;
    size_t n_vars, n_public;
    fe delta_inv;
} combination;

static void combine_block(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const combination *c = arg;
    const field *fr = c->fr;
    const size_t first = item * BLOCK, n = block_length(c->n_vars, item);
    for (size_t i = first; i < first + n; i++) {
        uint64_t *sum = c->columns->ic_l + i * FR;
        fe t;
        field_mul(fr, t.l, c->t->beta.l, c->columns->a + i * FR);
        field_add(fr, sum, sum, t.l);
        field_mul(fr, t.l, c->t->alpha.l, c->columns->b + i * FR);
        field_add(fr, sum, sum, t.l);
        if (i > c->n_public) field_mul(fr, sum, sum, c->delta_inv.l);
    }
}

static cuzk_status alloc_columns(setup_columns *out, const field *fr, size_t n,
                                 cuzk_err *err) {
    CUZK_TRY(cuzk_alloc(&out->a, n, fr->n_bytes, err));
    CUZK_TRY(cuzk_alloc(&out->b, n, fr->n_bytes, err));
    return cuzk_alloc(&out->ic_l, n, fr->n_bytes, err);
}

cuzk_status setup_columns_make(setup_columns *out, const curve *c,
                               const setup_circuit *circuit, const setup_trapdoor *t,
                               quotient_kind kind, unsigned log_domain, cuzk_exec *exec,
                               cuzk_err *err) {
    const field *fr = &c->fr;
    const size_t n_vars = circuit->n_vars, n_ranges = exec ? cuzk_exec_n_threads(exec) : 1;
    setup_columns columns = {NULL, NULL, NULL};
    uint64_t *lagrange = NULL;
    cuzk_status st = alloc_columns(&columns, fr, n_vars, err);
    if (st == CUZK_OK)
        st = lagrange_make(&lagrange, fr, &t->tau, log_domain, nonresidue_of(c, kind), exec,
                           err);
    if (st != CUZK_OK) {
        setup_columns_fini(&columns);
        return st;
    }
    column_sums sums = {fr,
                        circuit,
                        lagrange,
                        {columns.a, columns.b, columns.ic_l},
                        (n_vars + n_ranges - 1) / n_ranges};
    cuzk_exec_for(exec, n_ranges, sum_range, &sums);
    cuzk_free(lagrange);
    combination combine = {fr, &columns, t, n_vars, circuit->n_public, t->delta};
    field_inv(fr, combine.delta_inv.l, t->delta.l);
    cuzk_exec_for(exec, (n_vars + BLOCK - 1) / BLOCK, combine_block, &combine);
    *out = columns;
    return CUZK_OK;
}

void setup_columns_fini(setup_columns *columns) {
    cuzk_free(columns->a);
    cuzk_free(columns->b);
    cuzk_free(columns->ic_l);
    *columns = (setup_columns){NULL, NULL, NULL};
}
