/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/setup.h"
#include "base/alloc.h"
#include "prover/fixed_base.h"

enum { FR = 4 /* limbs of a scalar */ };

/* Between two looks at whether to stop: points a thread makes, constraints read. */
enum { POINTS_PER_POLL = 4096, CONSTRAINTS_PER_POLL = 1 << 16 };

static const char *const stages[] = {"constraints", "A", "B1", "B2", "IC", "L", "H"};
enum { N_STAGES = sizeof stages / sizeof stages[0] };

/* ---- progress ---- */

typedef struct progress {
    setup_stage_fn *fn;
    void *arg;
    unsigned stage; /* index of the one at work */
} progress;

static cuzk_status poll(const progress *p, cuzk_err *err) {
    if (p->fn && p->fn(p->arg, stages[p->stage], p->stage, N_STAGES))
        return cuzk_fail(err, CUZK_ERR_CANCELLED, "prover.setup", "cancelled in stage '%s'",
                         stages[p->stage]);
    return CUZK_OK;
}

static cuzk_status next_stage(progress *p, cuzk_err *err) {
    p->stage++;
    return poll(p, err);
}

/* ---- trapdoor ---- */

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t fnv1a(const char *s) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *s; s++) h = (h ^ (uint8_t)*s) * 0x100000001b3u;
    return h;
}

cuzk_status setup_trapdoor_make(setup_trapdoor *out, const field *fr, const char *seed,
                                cuzk_err *err) {
    fe *const part[] = {&out->tau, &out->alpha, &out->beta, &out->delta};
    uint64_t state = seed ? fnv1a(seed) : 0;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        if (!seed) {
            CUZK_TRY(field_random(fr, part[i]->l, err));
            continue;
        }
        fe v = {{0}};
        for (unsigned j = 0; j < FR; j++) v.l[j] = splitmix64(&state);
        v.l[FR - 1] >>= 4; /* below 2^252, so below either order */
        fr->ops->to_mont(part[i]->l, v.l, &fr->m);
    }
    return CUZK_OK;
}

/* ---- polynomials at tau ---- */

static fe power_of_two_power(const field *fr, const fe *a, unsigned k) {
    fe r = *a;
    for (unsigned i = 0; i < k; i++) field_sqr(fr, r.l, r.l);
    return r;
}

/* L_i(tau) = (tau^n - 1)/n * w^i / (tau - w^i), i < n = 2^log_n; one inversion for all. */
static cuzk_status lagrange_at(uint64_t **out, const field *fr, const fe *tau, unsigned log_n,
                               uint64_t nonresidue, cuzk_err *err) {
    const size_t n = (size_t)1 << log_n;
    uint64_t *l = NULL, *prefix = NULL;
    CUZK_TRY(cuzk_alloc(&l, n, fr->n_bytes, err));
    cuzk_status st = cuzk_alloc(&prefix, n, fr->n_bytes, err);
    if (st != CUZK_OK) {
        cuzk_free(l);
        return st;
    }
    fe w, wi, acc, scale, t;
    field_root_of_unity(fr, w.l, nonresidue, log_n);
    field_set_one(fr, wi.l);
    field_set_one(fr, acc.l);
    for (size_t i = 0; i < n; i++) { /* l = tau - w^i; prefix = product of those before */
        field_copy(fr, prefix + i * FR, acc.l);
        field_sub(fr, l + i * FR, tau->l, wi.l);
        field_mul(fr, acc.l, acc.l, l + i * FR);
        field_mul(fr, wi.l, wi.l, w.l);
    }
    field_inv(fr, acc.l, acc.l);
    scale = power_of_two_power(fr, tau, log_n);
    field_set_one(fr, t.l);
    field_sub(fr, scale.l, scale.l, t.l);
    field_set_u64(fr, t.l, n);
    field_inv(fr, t.l, t.l);
    field_mul(fr, scale.l, scale.l, t.l);
    field_inv(fr, w.l, w.l);
    for (size_t i = n; i-- > 0;) {
        field_mul(fr, wi.l, wi.l, w.l); /* w^i */
        field_mul(fr, t.l, acc.l, prefix + i * FR);
        field_mul(fr, acc.l, acc.l, l + i * FR);
        field_mul(fr, t.l, t.l, wi.l);
        field_mul(fr, l + i * FR, t.l, scale.l);
    }
    cuzk_free(prefix);
    *out = l;
    return CUZK_OK;
}

/* Scalars of the H query. */
static cuzk_status h_scalars(uint64_t **out, size_t *n_h, const field *fr,
                             const setup_trapdoor *t, unsigned log_n, quotient_kind kind,
                             cuzk_err *err) {
    const size_t n = (size_t)1 << log_n;
    uint64_t *h = NULL;
    fe delta_inv;
    field_inv(fr, delta_inv.l, t->delta.l);
    if (kind == QUOTIENT_LAGRANGE_ODD) {
        CUZK_TRY(lagrange_at(&h, fr, &t->tau, log_n + 1, field_least_nonresidue(fr), err));
        for (size_t i = 0; i < n; i++)
            field_mul(fr, h + i * FR, h + (2 * i + 1) * FR, delta_inv.l);
        *n_h = n;
    } else {
        CUZK_TRY(cuzk_alloc(&h, n, fr->n_bytes, err));
        fe x = power_of_two_power(fr, &t->tau, log_n), one;
        field_set_one(fr, one.l);
        field_sub(fr, x.l, x.l, one.l);
        field_mul(fr, x.l, x.l, delta_inv.l);
        for (size_t i = 0; i + 1 < n; i++) {
            field_copy(fr, h + i * FR, x.l);
            field_mul(fr, x.l, x.l, t->tau.l);
        }
        *n_h = n - 1;
    }
    *out = h;
    return CUZK_OK;
}

/* ---- constraints ---- */

typedef struct columns {
    uint64_t *a, *b, *c; /* u_i, v_i, w_i at tau, one an element of the witness */
} columns;

static void put_triplet(setup_key *key, uint32_t matrix, uint32_t row, uint32_t column,
                        const field *fr, const uint64_t *value) {
    uint8_t *t = key->triplets + (size_t)key->n_triplets++ * MATRIX_TRIPLET_BYTES;
    fe v;
    fr->ops->to_mont(v.l, value, &fr->m); /* v R -> v R^2 */
    store_le32(t, matrix);
    store_le32(t + 4, row);
    store_le32(t + 8, column);
    field_store_mont(fr, t + 12, v.l);
}

static void add_term(const field *fr, uint64_t *column, const uint64_t *value,
                     const uint64_t *lagrange) {
    fe t;
    field_mul(fr, t.l, value, lagrange);
    field_add(fr, column, column, t.l);
}

static cuzk_status count_triplets(uint64_t *out, const r1cs_view *r1cs, const field *fr,
                                  cuzk_err *err) {
    r1cs_cursor cur;
    r1cs_constraint k;
    bool done;
    *out = 0;
    for (r1cs_cursor_init(&cur, r1cs);;) {
        CUZK_TRY(r1cs_next(&cur, &k, &done, fr, err));
        if (done) return CUZK_OK;
        *out += (uint64_t)k.a.n_terms + k.b.n_terms;
    }
}

static cuzk_status read_constraints(setup_key *key, columns *col, const r1cs_view *r1cs,
                                    const uint64_t *lagrange, const progress *p,
                                    cuzk_err *err) {
    const field *fr = &key->curve->fr;
    r1cs_cursor cur;
    r1cs_constraint k;
    fe v;
    bool done;
    uint32_t row = 0;
    for (r1cs_cursor_init(&cur, r1cs);; row++) {
        CUZK_TRY(r1cs_next(&cur, &k, &done, fr, err));
        if (done) break;
        if (row % CONSTRAINTS_PER_POLL == 0) CUZK_TRY(poll(p, err));
        const r1cs_lc *const lc[3] = {&k.a, &k.b, &k.c};
        uint64_t *const into[3] = {col->a, col->b, col->c};
        for (uint32_t m = 0; m < 3; m++)
            for (uint32_t i = 0; i < lc[m]->n_terms; i++) {
                const uint32_t wire = r1cs_term_wire(lc[m], i);
                CUZK_ASSERT(field_load_le(fr, v.l, r1cs_term_value(lc[m], i)));
                add_term(fr, into[m] + (size_t)wire * FR, v.l, lagrange + (size_t)row * FR);
                if (m < 2) put_triplet(key, m, row, wire, fr, v.l);
            }
    }
    field_set_one(fr, v.l); /* one row a public value keeps its polynomials independent */
    for (uint32_t i = 0; i <= key->n_public; i++) {
        add_term(fr, col->a + (size_t)i * FR, v.l, lagrange + ((size_t)row + i) * FR);
        put_triplet(key, 0, row + i, i, fr, v.l);
    }
    return CUZK_OK;
}

/* col->c becomes beta u + alpha v + w, over delta for the private values. */
static void combine(const setup_key *key, columns *col, const setup_trapdoor *t) {
    const field *fr = &key->curve->fr;
    fe delta_inv;
    field_inv(fr, delta_inv.l, t->delta.l);
    for (size_t i = 0; i < key->n_vars; i++) {
        uint64_t *c = col->c + i * FR;
        add_term(fr, c, t->beta.l, col->a + i * FR);
        add_term(fr, c, t->alpha.l, col->b + i * FR);
        if (i > key->n_public) field_mul(fr, c, c, delta_inv.l);
    }
}

/* ---- points ---- */

static cuzk_status points(uint8_t **out, const fixed_base *fb, size_t point_bytes,
                          const uint64_t *k, size_t n, cuzk_exec *exec, const progress *p,
                          cuzk_err *err) {
    const size_t per_poll = POINTS_PER_POLL * (size_t)cuzk_exec_n_threads(exec);
    CUZK_TRY(cuzk_alloc(out, n, point_bytes, err));
    for (size_t done = 0; done < n;) {
        const size_t m = n - done < per_poll ? n - done : per_poll;
        CUZK_TRY(fixed_base_mul(fb, *out + done * point_bytes, k + done * FR, m, exec, err));
        CUZK_TRY(poll(p, err));
        done += m;
    }
    return CUZK_OK;
}

static cuzk_status make_points(setup_key *key, const columns *col, const setup_trapdoor *t,
                               quotient_kind kind, cuzk_exec *exec, progress *p,
                               cuzk_err *err) {
    const curve *c = key->curve;
    const size_t g1_bytes = curve_g1_bytes(c), g2_bytes = curve_g2_bytes(c), n = key->n_vars;
    const size_t n_ic = (size_t)key->n_public + 1;
    uint64_t constants[3][FR], *h = NULL;
    fixed_base *g1 = NULL, *g2 = NULL;
    cuzk_status st = fixed_base_create(&g1, c, GROUP_G1, n, err);
    if (st == CUZK_OK) st = fixed_base_create(&g2, c, GROUP_G2, n, err);
    memcpy(constants[0], t->alpha.l, sizeof constants[0]);
    memcpy(constants[1], t->beta.l, sizeof constants[1]);
    memcpy(constants[2], t->delta.l, sizeof constants[2]);
    if (st == CUZK_OK)
        st = points(&key->g1_constants, g1, g1_bytes, constants[0], 3, exec, p, err);
    memcpy(constants[0], t->beta.l, sizeof constants[0]);
    field_set_one(&c->fr, constants[1]);
    if (st == CUZK_OK)
        st = points(&key->g2_constants, g2, g2_bytes, constants[0], 3, exec, p, err);

    if (st == CUZK_OK) st = next_stage(p, err);
    if (st == CUZK_OK) st = points(&key->a, g1, g1_bytes, col->a, n, exec, p, err);
    if (st == CUZK_OK) st = next_stage(p, err);
    if (st == CUZK_OK) st = points(&key->b1, g1, g1_bytes, col->b, n, exec, p, err);
    if (st == CUZK_OK) st = next_stage(p, err);
    if (st == CUZK_OK) st = points(&key->b2, g2, g2_bytes, col->b, n, exec, p, err);
    if (st == CUZK_OK) st = next_stage(p, err);
    if (st == CUZK_OK) st = points(&key->ic, g1, g1_bytes, col->c, n_ic, exec, p, err);
    if (st == CUZK_OK) st = next_stage(p, err);
    if (st == CUZK_OK)
        st = points(&key->l, g1, g1_bytes, col->c + n_ic * FR, n - n_ic, exec, p, err);
    if (st == CUZK_OK) st = next_stage(p, err);
    if (st == CUZK_OK) st = h_scalars(&h, &key->n_h, &c->fr, t, key->log_domain, kind, err);
    if (st == CUZK_OK) st = points(&key->h, g1, g1_bytes, h, key->n_h, exec, p, err);
    cuzk_free(h);
    fixed_base_destroy(g1);
    fixed_base_destroy(g2);
    return st;
}

static cuzk_status fill(setup_key *key, columns *col, const r1cs_view *r1cs,
                        const setup_trapdoor *t, quotient_kind kind, cuzk_exec *exec,
                        progress *p, cuzk_err *err) {
    const field *fr = &key->curve->fr;
    uint64_t n_triplets, *lagrange = NULL;
    CUZK_TRY(poll(p, err));
    CUZK_TRY(count_triplets(&n_triplets, r1cs, fr, err));
    n_triplets += (uint64_t)key->n_public + 1;
    if (n_triplets > UINT32_MAX)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "prover.setup",
                         "%llu coefficients, a zkey holds at most 2^32 - 1",
                         (unsigned long long)n_triplets);
    CUZK_TRY(cuzk_alloc(&key->triplets, (size_t)n_triplets, MATRIX_TRIPLET_BYTES, err));
    CUZK_TRY(cuzk_zalloc(&col->a, key->n_vars, fr->n_bytes, err));
    CUZK_TRY(cuzk_zalloc(&col->b, key->n_vars, fr->n_bytes, err));
    CUZK_TRY(cuzk_zalloc(&col->c, key->n_vars, fr->n_bytes, err));
    const uint64_t nonresidue = kind == QUOTIENT_MONOMIAL ? 7 : field_least_nonresidue(fr);
    CUZK_TRY(lagrange_at(&lagrange, fr, &t->tau, key->log_domain, nonresidue, err));
    cuzk_status st = read_constraints(key, col, r1cs, lagrange, p, err);
    cuzk_free(lagrange);
    if (st != CUZK_OK) return st;
    combine(key, col, t);
    return make_points(key, col, t, kind, exec, p, err);
}

/* A wire needs memory and time, so the file must have paid for it. 8 bytes are what its label
 * takes; without labels the constraints must be as long. */
static cuzk_status check_wires(const r1cs_view *r1cs, cuzk_err *err) {
    const uint64_t n_max = 1 + (r1cs->labels.n_bytes + r1cs->constraints.n_bytes) / 8;
    if (r1cs->n_wires <= n_max) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_FORMAT, "prover.setup",
                     "%u wires, but section 2 (constraints) of %zu bytes and section 3 "
                     "(labels) of %zu stand for at most %llu",
                     r1cs->n_wires, r1cs->constraints.n_bytes, r1cs->labels.n_bytes,
                     (unsigned long long)n_max);
}

cuzk_status setup_run(setup_key *out, const curve *c, const r1cs_view *r1cs,
                      const setup_trapdoor *t, quotient_kind kind, cuzk_exec *exec,
                      setup_stage_fn *stage, void *stage_arg, cuzk_err *err) {
    const uint32_t n_public = r1cs->n_pub_out + r1cs->n_pub_in; /* the view checked the sum */
    const uint64_t rows = (uint64_t)r1cs->n_constraints + n_public + 1;
    setup_key key = {.curve = c, .n_vars = r1cs->n_wires, .n_public = n_public};
    CUZK_TRY(check_wires(r1cs, err));
    while ((uint64_t)1 << key.log_domain < rows) key.log_domain++;
    if (key.log_domain + 1 > c->fr.two_adicity)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "prover.setup",
                         "%llu constraint rows, %s proves at most 2^%u",
                         (unsigned long long)rows, c->params->name, c->fr.two_adicity - 1);
    columns col = {NULL, NULL, NULL};
    progress p = {stage, stage_arg, 0};
    cuzk_status st = fill(&key, &col, r1cs, t, kind, exec, &p, err);
    cuzk_free(col.a);
    cuzk_free(col.b);
    cuzk_free(col.c);
    if (st == CUZK_OK)
        *out = key;
    else
        setup_key_fini(&key);
    return st;
}

void setup_key_fini(setup_key *key) {
    uint8_t *const owned[] = {key->triplets, key->g1_constants, key->g2_constants, key->ic,
                              key->a,        key->b1,           key->b2,           key->l,
                              key->h};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuzk_free(owned[i]);
    *key = (setup_key){0};
}
