/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/domain: the tables of a domain, 1.5 n elements in one block. Each costs about
 * one multiplication an entry to fill, a tenth of one transform. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"

#define CHUNK ((size_t)256) /* elements a piece of parallel work */

static uint64_t *at(uint64_t *table, size_t i) { return table + i * CPU_FR_LIMBS; }

static void sqr_times(const field *f, fe *a, unsigned n) {
    for (unsigned i = 0; i < n; i++) field_sqr(f, a->l, a->l);
}

/* ---- products of a table with a constant, in parallel ---- */
typedef struct scaling {
    const field *fr;
    uint64_t *out;
    const uint64_t *in;
    size_t n;
    const uint64_t *constant;
} scaling;

static void scale_chunk(void *arg, size_t item, unsigned slot) {
    const scaling *s = arg;
    (void)slot;
    size_t end = (item + 1) * CHUNK < s->n ? (item + 1) * CHUNK : s->n;
    for (size_t i = item * CHUNK; i < end; i++) {
        field_mul(s->fr, s->out + i * CPU_FR_LIMBS, s->in + i * CPU_FR_LIMBS, s->constant);
    }
}

static void scale(cuzk_exec *exec, scaling s) {
    cuzk_exec_for(exec, (s.n + CHUNK - 1) / CHUNK, scale_chunk, &s);
}

/* table[i] = root^brp(i) for i < 2^log, where root has order dividing 2^(log + 1): bit m of i
 * stands for the exponent 2^(log - 1 - m). */
static void fill_brp_powers(cuzk_exec *exec, const field *fr, uint64_t *table, unsigned log,
                            const fe *root) {
    field_set_one(fr, table);
    for (unsigned m = 0; m < log; m++) {
        fe step = *root;
        sqr_times(fr, &step, log - 1 - m);
        const size_t n = (size_t)1 << m;
        scale(exec, (scaling){fr, at(table, n), table, n, step.l});
    }
}

/* table[j] = g w^j for j < 2^log. */
static void fill_powers(cuzk_exec *exec, const field *fr, uint64_t *table, unsigned log,
                        const fe *w, const fe *g) {
    fe step = *w;
    field_copy(fr, table, g->l);
    for (unsigned m = 0; m < log; m++) {
        const size_t n = (size_t)1 << m;
        scale(exec, (scaling){fr, at(table, n), table, n, step.l});
        field_sqr(fr, step.l, step.l);
    }
}

/* The twiddles of a level are the squares of the first half of those of the next one. */
typedef struct squaring {
    const field *fr;
    uint64_t *table;
    size_t h;
} squaring;

static void square_chunk(void *arg, size_t item, unsigned slot) {
    const squaring *s = arg;
    (void)slot;
    size_t begin = item * CHUNK;
    size_t n = s->h - begin < CHUNK ? s->h - begin : CHUNK;
    const uint64_t *next = at(s->table, 2 * s->h + begin);
    s->fr->ops->vec_mul(at(s->table, s->h + begin), next, next, n, &s->fr->m);
}

static void fill_coset(cuzk_exec *exec, cuzk_domain *d, const fe *w, const fe *g) {
    fill_powers(exec, d->fr, at(d->coset, d->n / 2), d->log_n - 1, w, g);
    for (size_t h = d->n / 4; h > 0; h /= 2) {
        squaring s = {.fr = d->fr, .table = d->coset, .h = h};
        cuzk_exec_for(exec, (h + CHUNK - 1) / CHUNK, square_chunk, &s);
    }
}

/* 1 / n = (1/2)^log_n. */
static void set_n_inv(const field *fr, fe *r, unsigned log_n) {
    const uint64_t exponent = log_n;
    field_set_u64(fr, r->l, 2);
    field_inv(fr, r->l, r->l);
    field_pow(fr, r->l, r->l, &exponent, 1);
}

static void fill(cuzk_exec *exec, cuzk_domain *d, const fe *w, const fe *g) {
    const field *fr = d->fr;
    set_n_inv(fr, &d->n_inv, d->log_n);
    field_inv(fr, d->g_inv.l, g->l);
    if (d->log_n > 0) {
        fe w_inv;
        field_inv(fr, w_inv.l, w->l);
        fill_brp_powers(exec, fr, d->inverse, d->log_n - 1, &w_inv);
        fill_coset(exec, d, w, g);
    }
    unsigned log_row = d->log_n < CPU_SCALE_ROW_LOG ? d->log_n : CPU_SCALE_ROW_LOG;
    fe root = d->g_inv;
    sqr_times(fr, &root, d->log_n - log_row);
    fill_brp_powers(exec, fr, d->unshift, log_row, &root);
}

/* The three tables hold n/2, n and at most 256 elements. */
static cuzk_status alloc_tables(cuzk_domain *d, cuzk_err *err) {
    const size_t row = (size_t)1 << CPU_SCALE_ROW_LOG;
    if (d->log_n >= 8 * sizeof(size_t) - 1) {
        return cuzk_fail(err, CUZK_ERR_NOMEM, "backend.domain",
                         "2^%u elements are more than an address can reach", d->log_n);
    }
    d->n = (size_t)1 << d->log_n;
    CUZK_TRY(cuzk_alloc(&d->tables, d->n + d->n / 2 + row, CPU_FR_BYTES, err));
    d->coset = d->tables;
    d->inverse = at(d->coset, d->n);
    d->unshift = at(d->inverse, d->n / 2);
    return CUZK_OK;
}

/* The generator of the coset: the caller's, or the root w_2n. */
static cuzk_status coset_generator(fe *g, const field *fr, unsigned log_n, uint64_t nonresidue,
                                   const fe *coset, cuzk_err *err) {
    if (coset) {
        if (field_is_zero(fr, coset->l)) {
            return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain",
                             "the coset's generator is 0");
        }
        *g = *coset;
        return CUZK_OK;
    }
    if (log_n >= fr->two_adicity) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain",
                         "odd coset of 2^%u elements, the field has none above 2^%u", log_n,
                         fr->two_adicity - 1);
    }
    field_root_of_unity(fr, g->l, nonresidue, log_n + 1);
    return CUZK_OK;
}

/* n^((r-1)/2) = -1; otherwise no power of it is a root of the order that is wanted. */
static bool is_nonresidue(const field *fr, uint64_t n) {
    fe minus_one, r;
    field_set_one(fr, minus_one.l);
    field_neg(fr, minus_one.l, minus_one.l);
    field_root_of_unity(fr, r.l, n, 1);
    return field_equal(fr, r.l, minus_one.l);
}

cuzk_status cpu_domain_open(cuzk_domain **out, cuzk_device *dev, const field *fr,
                            unsigned log_n, uint64_t nonresidue, const fe *coset,
                            cuzk_err *err) {
    CUZK_TRY(cpu_check_fr(fr, err));
    if (log_n > fr->two_adicity) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain",
                         "domain of 2^%u elements, the field has none above 2^%u", log_n,
                         fr->two_adicity);
    }
    if (!is_nonresidue(fr, nonresidue)) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain",
                         "%llu is a square, expected a quadratic non-residue",
                         (unsigned long long)nonresidue);
    }
    fe w, g;
    CUZK_TRY(coset_generator(&g, fr, log_n, nonresidue, coset, err));
    field_root_of_unity(fr, w.l, nonresidue, log_n);

    cuzk_domain *d;
    CUZK_TRY(cuzk_zalloc(&d, 1, sizeof *d, err));
    d->fr = fr;
    d->log_n = log_n;
    cuzk_status status = alloc_tables(d, err);
    if (status != CUZK_OK) {
        cpu_domain_close(d);
        return status;
    }
    fill(dev->exec, d, &w, &g);
    *out = d;
    return CUZK_OK;
}

void cpu_domain_close(cuzk_domain *domain) {
    if (!domain) return;
    cuzk_free(domain->tables);
    cuzk_free(domain);
}
