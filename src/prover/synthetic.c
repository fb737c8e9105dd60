/* SPDX-License-Identifier: Apache-2.0 */
/* prover/synthetic: every value and every row is a function of its index, so that all can be made
 * at once. A and B are as the profile says; C then is whatever makes the row hold: one variable
 * that is not zero, with the coefficient (A w)(B w) / w[variable]. */
#include "prover/synthetic.h"
#include "base/alloc.h"

enum { FR = 4 /* limbs of a scalar */, FR_BYTES = 32 };
enum {
    BLOCK = 256, /* rows or values that a thread makes at once */
    N_FIXED =
        SYNTHETIC_PUBLIC + 1, /* variables that no row owns: the constant 1, the public */
    WORD_BITS = 32,
    MINUS_ONE = WORD_BITS, /* as a coefficient; those below are powers of two */
    N_COEFFICIENTS
};

typedef struct term {
    uint32_t column;
    unsigned coefficient; /* 2^this, or MINUS_ONE */
} term;

typedef struct row {
    unsigned n_a, n_b;
    term a[WORD_BITS], b[2];
} row;

typedef struct synthesis {
    const field *fr;
    const struct generator *generator;
    uint64_t seed;
    unsigned log_rows;
    uint32_t n_rows; /* constraints; row k owns variable N_FIXED + k */
    uint8_t *witness;
    uint64_t *first_triplet; /* a block of rows */
    const setup_circuit *circuit;
    fe coefficients[N_COEFFICIENTS];
} synthesis;

/* Both for the variable or row of index k, from 0. A value is canonical and comes in zeroed. */
typedef struct generator {
    const char *name;
    void (*value)(const synthesis *s, uint32_t k, uint64_t *value);
    void (*row)(const synthesis *s, uint32_t k, row *out);
} generator;

/* ---- random numbers ---- */
/* splitmix64's output function over the index: any number without those before it. */
static uint64_t random_at(const synthesis *s, uint64_t k) {
    uint64_t z = s->seed + (k + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* As wide as the field; below it, because its top limb is. */
static void set_wide(const synthesis *s, uint64_t k, uint64_t *value) {
    for (unsigned i = 0; i < FR; i++) value[i] = random_at(s, (k + 1) << 32 | i);
    value[FR - 1] %= s->fr->m.p[FR - 1];
}

/* A permutation of the rows: an odd factor permutes the next power of two, and what falls behind
 * the last row is sent on until it does not. */
static uint32_t scatter(const synthesis *s, uint32_t k, uint32_t factor) {
    const uint32_t mask = (uint32_t)(((uint64_t)1 << s->log_rows) - 1);
    uint32_t x = k;
    do x = (x * factor + factor / 2) & mask;
    while (x >= s->n_rows);
    return x;
}

static const uint32_t factor_a = 0x9e3779b1u, factor_b = 0x85ebca6bu;

static void add_a(row *r, uint32_t variable, unsigned coefficient) {
    r->a[r->n_a++] = (term){N_FIXED + variable, coefficient};
}
static void add_b(row *r, uint32_t variable, unsigned coefficient) {
    r->b[r->n_b++] = (term){N_FIXED + variable, coefficient};
}
static void add_b_constant(row *r, unsigned coefficient) {
    r->b[r->n_b++] = (term){0, coefficient};
}

/* ---- dense ---- */
static void dense_value(const synthesis *s, uint32_t k, uint64_t *value) {
    set_wide(s, k, value);
}

static void dense_row(const synthesis *s, uint32_t k, row *out) {
    add_a(out, scatter(s, k, factor_a), 0);
    add_b(out, scatter(s, k, factor_b), 0);
}

/* ---- sha ---- */
enum {
    GROUP = WORD_BITS + 1, /* rows and variables: bits, then their word */
    GROUPS_PER_WIDE = 16   /* one group in so many has a wide value for its word */
};

static bool is_word(uint32_t k) { return k % GROUP == WORD_BITS; }
static bool is_wide_group(uint32_t k) { return k / GROUP % GROUPS_PER_WIDE == 0; }

static uint64_t bit_at(const synthesis *s, uint32_t k) { return random_at(s, k) & 1; }

static void sha_value(const synthesis *s, uint32_t k, uint64_t *value) {
    if (!is_word(k))
        value[0] = bit_at(s, k);
    else if (is_wide_group(k))
        set_wide(s, k, value);
    else
        for (uint32_t i = 0; i < WORD_BITS; i++) value[0] |= bit_at(s, k - WORD_BITS + i) << i;
}

/* A bit b: b (b - 1) = 0. A word: its bits and powers of two, times 1. */
static void sha_row(const synthesis *s, uint32_t k, row *out) {
    (void)s;
    if (!is_word(k)) {
        add_a(out, k, 0);
        add_b(out, k, 0);
        add_b_constant(out, MINUS_ONE);
    } else if (is_wide_group(k)) {
        add_a(out, k, 0);
        add_b(out, k, 0);
    } else {
        for (uint32_t i = 0; i < WORD_BITS; i++) add_a(out, k - WORD_BITS + i, i);
        add_b_constant(out, 0);
    }
}

/* ---- porep ---- */
enum {
    POREP_WIDE = 10,  /* of 1000 values */
    POREP_ONES = 495, /* the same */
    POREP_IN_B = 127, /* of POREP_PERIOD variables */
    POREP_PERIOD = 500
};

static void porep_value(const synthesis *s, uint32_t k, uint64_t *value) {
    const uint64_t kind = random_at(s, k) % 1000;
    if (kind < POREP_WIDE)
        set_wide(s, k, value);
    else
        value[0] = kind < POREP_WIDE + POREP_ONES;
}

static void porep_row(const synthesis *s, uint32_t k, row *out) {
    const uint64_t n_in_b =
        ((uint64_t)s->n_rows * POREP_IN_B + POREP_PERIOD - 1) / POREP_PERIOD;
    const uint64_t j = scatter(s, k, factor_b) % n_in_b; /* so that all of them occur */
    add_a(out, k, 0);
    add_a(out, scatter(s, k, factor_a), 1);
    add_b(out, (uint32_t)(j * POREP_PERIOD / POREP_IN_B), 0);
}

static const generator generators[] = {
    [SYNTHETIC_DENSE] = {"dense", dense_value, dense_row},
    [SYNTHETIC_SHA] = {"sha", sha_value, sha_row},
    [SYNTHETIC_POREP] = {"porep", porep_value, porep_row},
};

bool synthetic_profile_find(synthetic_profile *out, const char *name) {
    for (unsigned i = 0; i < sizeof generators / sizeof generators[0]; i++)
        if (strcmp(generators[i].name, name) == 0) {
            *out = (synthetic_profile)i;
            return true;
        }
    return false;
}

/* ---- values ---- */
static uint32_t block_end(const synthesis *s, size_t item) {
    const size_t end = (item + 1) * BLOCK;
    return end < s->n_rows ? (uint32_t)end : s->n_rows;
}

static void store_value(const synthesis *s, size_t variable, const uint64_t *value) {
    for (unsigned i = 0; i < FR; i++)
        store_le64(s->witness + variable * FR_BYTES + 8 * i, value[i]);
}

static void make_values(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const synthesis *s = arg;
    for (uint32_t k = (uint32_t)(item * BLOCK); k < block_end(s, item); k++) {
        uint64_t value[FR] = {0};
        s->generator->value(s, k, value);
        store_value(s, N_FIXED + (size_t)k, value);
    }
}

static void make_fixed_values(const synthesis *s) {
    const uint64_t one[FR] = {1};
    uint64_t value[FR];
    store_value(s, 0, one);
    for (unsigned i = 1; i < N_FIXED; i++) {
        set_wide(s, (uint64_t)s->n_rows + i, value);
        store_value(s, i, value);
    }
}

static void load_value(const synthesis *s, fe *out, uint32_t variable) {
    CUZK_ASSERT(field_load_le(s->fr, out->l, s->witness + (size_t)variable * FR_BYTES));
}

/* ---- rows ---- */
static void count_triplets(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const synthesis *s = arg;
    uint64_t n = 0;
    for (uint32_t k = (uint32_t)(item * BLOCK); k < block_end(s, item); k++) {
        row r = {.n_a = 0};
        s->generator->row(s, k, &r);
        n += r.n_a + r.n_b;
    }
    s->first_triplet[item] = n;
}

/* Writes the terms of one side; returns its value. */
static fe put_terms(const synthesis *s, uint64_t *at, uint32_t matrix, uint32_t k,
                    const term *terms, unsigned n) {
    fe sum, v;
    field_set_zero(s->fr, sum.l);
    for (unsigned i = 0; i < n; i++) {
        const fe *coefficient = &s->coefficients[terms[i].coefficient];
        setup_circuit_put(s->circuit->triplets, (*at)++, matrix, k, terms[i].column, s->fr,
                          coefficient->l);
        load_value(s, &v, terms[i].column);
        field_mul(s->fr, v.l, v.l, coefficient->l);
        field_add(s->fr, sum.l, sum.l, v.l);
    }
    return sum;
}

/* What C needs of each row of a block. */
typedef struct pivots {
    fe product[BLOCK], value[BLOCK], before[BLOCK]; /* before: values so far, multiplied */
    uint32_t variable[BLOCK];
} pivots;

/* The row's own variable, or the constant 1 when that is zero. */
static void choose_pivot(const synthesis *s, pivots *p, uint32_t i, uint32_t k) {
    p->variable[i] = N_FIXED + k;
    load_value(s, &p->value[i], p->variable[i]);
    if (!field_is_zero(s->fr, p->value[i].l)) return;
    p->variable[i] = 0;
    field_set_one(s->fr, p->value[i].l);
}

/* Coefficients product / value, with one inversion for all. */
static void put_c(const synthesis *s, pivots *p, uint32_t first, uint32_t n) {
    const field *fr = s->fr;
    fe inverse, t;
    field_set_one(fr, inverse.l);
    for (uint32_t i = 0; i < n; i++) {
        p->before[i] = inverse;
        field_mul(fr, inverse.l, inverse.l, p->value[i].l);
    }
    field_inv(fr, inverse.l, inverse.l);
    for (uint32_t i = n; i-- > 0;) {
        field_mul(fr, t.l, inverse.l, p->before[i].l);
        field_mul(fr, inverse.l, inverse.l, p->value[i].l);
        field_mul(fr, t.l, t.l, p->product[i].l);
        setup_circuit_put(s->circuit->c_triplets, first + i, 2, first + i, p->variable[i], fr,
                          t.l);
    }
}

static void make_rows(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const synthesis *s = arg;
    const uint32_t first = (uint32_t)(item * BLOCK), end = block_end(s, item);
    uint64_t at = s->first_triplet[item];
    pivots p;
    for (uint32_t k = first; k < end; k++) {
        row r = {.n_a = 0};
        s->generator->row(s, k, &r);
        const fe a = put_terms(s, &at, 0, k, r.a, r.n_a),
                 b = put_terms(s, &at, 1, k, r.b, r.n_b);
        field_mul(s->fr, p.product[k - first].l, a.l, b.l);
        choose_pivot(s, &p, k - first, k);
    }
    put_c(s, &p, first, end - first);
}

/* ---- all ---- */
/* Counts become starts; returns the sum. */
static uint64_t sum_up(uint64_t *counts, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
    return sum;
}

static void set_coefficients(synthesis *s) {
    const field *fr = s->fr;
    for (unsigned i = 0; i < MINUS_ONE; i++)
        field_set_u64(fr, s->coefficients[i].l, (uint64_t)1 << i);
    field_neg(fr, s->coefficients[MINUS_ONE].l, s->coefficients[0].l);
}

static cuzk_status fill(setup_circuit *circuit, synthesis *s, cuzk_exec *exec, cuzk_err *err) {
    const size_t n_blocks = ((size_t)s->n_rows + BLOCK - 1) / BLOCK;
    CUZK_TRY(cuzk_alloc(&s->witness, circuit->n_vars, FR_BYTES, err));
    CUZK_TRY(cuzk_alloc(&s->first_triplet, n_blocks, sizeof *s->first_triplet, err));
    make_fixed_values(s);
    cuzk_exec_for(exec, n_blocks, make_values, s);
    cuzk_exec_for(exec, n_blocks, count_triplets, s);
    const uint64_t n_ab = sum_up(s->first_triplet, n_blocks);
    CUZK_TRY(setup_circuit_alloc(circuit, s->fr, n_ab, s->n_rows, err));
    cuzk_exec_for(exec, n_blocks, make_rows, s);
    return CUZK_OK;
}

cuzk_status synthetic_make(setup_circuit *out, uint8_t **witness, const field *fr,
                           synthetic_profile profile, unsigned log_rows, uint64_t seed,
                           cuzk_exec *exec, cuzk_err *err) {
    if (log_rows < SYNTHETIC_LOG_MIN || log_rows >= fr->two_adicity || log_rows > 31)
        return cuzk_fail(
            err, CUZK_ERR_ARG, "prover.synthetic", "2^%u constraints, expected 2^%u to 2^%u",
            log_rows, SYNTHETIC_LOG_MIN, fr->two_adicity - 1 < 31 ? fr->two_adicity - 1 : 31);
    const uint32_t n_vars = (uint32_t)1 << log_rows;
    setup_circuit circuit = {
        .n_vars = n_vars, .n_public = SYNTHETIC_PUBLIC, .n_constraints = n_vars - N_FIXED};
    synthesis s = {.fr = fr,
                   .generator = &generators[profile],
                   .seed = seed,
                   .log_rows = log_rows,
                   .n_rows = circuit.n_constraints,
                   .circuit = &circuit};
    set_coefficients(&s);
    const cuzk_status st = fill(&circuit, &s, exec, err);
    cuzk_free(s.first_triplet);
    if (st != CUZK_OK) {
        cuzk_free(s.witness);
        setup_circuit_fini(&circuit);
        return st;
    }
    *out = circuit;
    *witness = s.witness;
    return CUZK_OK;
}
