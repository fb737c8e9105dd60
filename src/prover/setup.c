/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/setup.h"
#include "base/alloc.h"
#include "prover/setup_scalars.h"

enum { FR = 4 /* limbs of a scalar */ };

/* Between two looks at whether to stop: points a thread or a device makes, constraints read.
 * Enough points that a backend's preparations for them don't count. */
enum { POINTS_PER_THREAD = 1 << 14, POINTS_PER_DEVICE = 1 << 20 };
enum { CONSTRAINTS_PER_POLL = 1 << 16 };

/* What a thread takes at once: constraints to make triplets of, memory to touch. */
enum { CONSTRAINTS_PER_BLOCK = 1 << 12, TOUCH_BYTES = 1 << 21 };

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

/* ---- circuits ---- */

void setup_circuit_put(uint8_t *triplets, uint64_t i, uint32_t matrix, uint32_t row,
                       uint32_t column, const field *fr, const uint64_t *value) {
    uint8_t *t = triplets + (size_t)i * MATRIX_TRIPLET_BYTES;
    fe v;
    fr->ops->to_mont(v.l, value, &fr->m); /* v R -> v R^2 */
    store_le32(t, matrix);
    store_le32(t + 4, row);
    store_le32(t + 8, column);
    field_store_mont(fr, t + 12, v.l);
}

cuzk_status setup_circuit_alloc(setup_circuit *circuit, const field *fr, uint64_t n_ab,
                                uint64_t n_c, cuzk_err *err) {
    const uint64_t n_triplets = n_ab + circuit->n_public + 1;
    if (n_triplets > UINT32_MAX)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "prover.setup",
                         "%llu coefficients, a zkey holds at most 2^32 - 1",
                         (unsigned long long)n_triplets);
    CUZK_TRY(cuzk_alloc(&circuit->triplets, (size_t)n_triplets, MATRIX_TRIPLET_BYTES, err));
    CUZK_TRY(cuzk_alloc(&circuit->c_triplets, (size_t)n_c, MATRIX_TRIPLET_BYTES, err));
    circuit->n_triplets = (uint32_t)n_triplets;
    circuit->n_c_triplets = n_c;
    fe one;
    field_set_one(fr, one.l);
    for (uint32_t i = 0; i <= circuit->n_public; i++)
        setup_circuit_put(circuit->triplets, n_ab + i, 0, circuit->n_constraints + i, i, fr,
                          one.l);
    return CUZK_OK;
}

void setup_circuit_fini(setup_circuit *circuit) {
    cuzk_free(circuit->triplets);
    cuzk_free(circuit->c_triplets);
    *circuit = (setup_circuit){0};
}

/* log2 of the domain. FORMAT: more rows than the field has domains for. */
static cuzk_status find_log_domain(unsigned *out, const curve *c, const setup_circuit *circuit,
                                   cuzk_err *err) {
    const uint64_t rows = (uint64_t)circuit->n_constraints + circuit->n_public + 1;
    unsigned log_domain = 0;
    while ((uint64_t)1 << log_domain < rows) log_domain++;
    if (log_domain + 1 > c->fr.two_adicity)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "prover.setup",
                         "%llu constraint rows, %s proves at most 2^%u",
                         (unsigned long long)rows, c->params->name, c->fr.two_adicity - 1);
    *out = log_domain;
    return CUZK_OK;
}

/* ---- constraints of a file ---- */

/* Where a block of constraints begins, in the file and in the lists. */
typedef struct block_start {
    r1cs_cursor cursor;
    uint64_t n_ab, n_c;
} block_start;

typedef struct reading {
    const field *fr;
    block_start *blocks;
    size_t n_blocks;
    const setup_circuit *circuit;
} reading;

/* Checks every constraint, and finds the starts. */
static cuzk_status find_blocks(reading *r, block_start *end, const r1cs_view *r1cs,
                               const progress *p, cuzk_err *err) {
    r1cs_constraint k;
    bool done;
    *end = (block_start){.n_ab = 0};
    for (r1cs_cursor_init(&end->cursor, r1cs);;) {
        const uint32_t row = end->cursor.next;
        if (row % CONSTRAINTS_PER_POLL == 0) CUZK_TRY(poll(p, err));
        if (row % CONSTRAINTS_PER_BLOCK == 0 && row < r1cs->n_constraints)
            r->blocks[row / CONSTRAINTS_PER_BLOCK] = *end;
        CUZK_TRY(r1cs_next(&end->cursor, &k, &done, r->fr, err));
        if (done) return CUZK_OK;
        end->n_ab += (uint64_t)k.a.n_terms + k.b.n_terms;
        end->n_c += k.c.n_terms;
    }
}

static uint64_t put_terms(uint8_t *triplets, uint64_t at, uint32_t matrix, uint32_t row,
                          const r1cs_lc *lc, const field *fr) {
    for (uint32_t i = 0; i < lc->n_terms; i++) {
        fe v;
        CUZK_ASSERT(field_load_le(fr, v.l, r1cs_term_value(lc, i)));
        setup_circuit_put(triplets, at++, matrix, row, r1cs_term_wire(lc, i), fr, v.l);
    }
    return at;
}

static void read_block(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const reading *r = arg;
    const setup_circuit *out = r->circuit;
    block_start at = r->blocks[item];
    r1cs_constraint k;
    bool done;
    for (unsigned i = 0; i < CONSTRAINTS_PER_BLOCK; i++) {
        const uint32_t row = at.cursor.next;
        CUZK_ASSERT(r1cs_next(&at.cursor, &k, &done, r->fr, NULL) == CUZK_OK);
        if (done) return;
        at.n_ab = put_terms(out->triplets, at.n_ab, 0, row, &k.a, r->fr);
        at.n_ab = put_terms(out->triplets, at.n_ab, 1, row, &k.b, r->fr);
        at.n_c = put_terms(out->c_triplets, at.n_c, 2, row, &k.c, r->fr);
    }
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

static cuzk_status read_circuit(setup_circuit *out, const curve *c, const r1cs_view *r1cs,
                                cuzk_exec *exec, const progress *p, cuzk_err *err) {
    const field *fr = &c->fr;
    unsigned log_domain;
    *out = (setup_circuit){.n_vars = r1cs->n_wires,
                           .n_public = r1cs_n_public(r1cs),
                           .n_constraints = r1cs->n_constraints};
    CUZK_TRY(check_wires(r1cs, err));
    CUZK_TRY(find_log_domain(&log_domain, c, out, err));
    reading r = {.fr = fr, .circuit = out};
    block_start end;
    r.n_blocks =
        ((size_t)r1cs->n_constraints + CONSTRAINTS_PER_BLOCK - 1) / CONSTRAINTS_PER_BLOCK;
    CUZK_TRY(cuzk_alloc(&r.blocks, r.n_blocks, sizeof *r.blocks, err));
    cuzk_status st = find_blocks(&r, &end, r1cs, p, err);
    if (st == CUZK_OK) st = setup_circuit_alloc(out, fr, end.n_ab, end.n_c, err);
    if (st == CUZK_OK) cuzk_exec_for(exec, r.n_blocks, read_block, &r);
    cuzk_free(r.blocks);
    return st;
}

/* ---- points ---- */

/* Through buffers of the device, a piece at a time. */
typedef struct point_maker {
    const curve *curve;
    const setup_options *options;
    progress *progress;
    size_t n_piece;
    cuzk_queue *queue;
    cuzk_buf *scalars, *points;
} point_maker;

static void point_maker_close(point_maker *m) {
    const cuzk_backend *be = m->options->backend;
    if (m->queue) be->queue_close(m->queue);
    if (m->scalars) be->buf_free(m->scalars);
    if (m->points) be->buf_free(m->points);
}

static cuzk_status point_maker_open(point_maker *m, size_t n_most, cuzk_err *err) {
    const cuzk_backend *be = m->options->backend;
    cuzk_device *dev = m->options->device;
    const curve *c = m->curve;
    cuzk_device_info info;
    be->device_info(dev, &info);
    m->n_piece = info.total_bytes
                     ? POINTS_PER_DEVICE
                     : POINTS_PER_THREAD * (size_t)cuzk_exec_n_threads(m->options->exec);
    if (m->n_piece > n_most) m->n_piece = n_most;
    CUZK_TRY(be->queue_open(&m->queue, dev, "setup", m->options->trace, err));
    CUZK_TRY(be->buf_alloc(&m->scalars, dev, CUZK_SPACE_DEVICE, m->n_piece * c->fr.n_bytes,
                           false, err));
    return be->buf_alloc(&m->points, dev, CUZK_SPACE_DEVICE, m->n_piece * curve_g2_bytes(c),
                         false, err);
}

static cuzk_status make_piece(const point_maker *m, group_id g, uint8_t *to, const uint64_t *k,
                              size_t n, cuzk_err *err) {
    const cuzk_backend *be = m->options->backend;
    const cuzk_slice scalars = {m->scalars, 0}, points = {m->points, 0};
    CUZK_TRY(be->upload(m->queue, scalars, k, n * m->curve->fr.n_bytes, err));
    CUZK_TRY(
        be->multiples(m->queue, &(cuzk_multiples_job){m->curve, g, n, scalars, points}, err));
    CUZK_TRY(be->download(m->queue, to, points, n * point_packed_bytes(m->curve, g), err));
    return be->queue_wait(m->queue, err);
}

static cuzk_status make_points(const point_maker *m, group_id g, uint8_t *to,
                               const uint64_t *k, size_t n, cuzk_err *err) {
    const size_t point_bytes = point_packed_bytes(m->curve, g);
    for (size_t done = 0; done < n;) {
        const size_t n_now = n - done < m->n_piece ? n - done : m->n_piece;
        CUZK_TRY(make_piece(m, g, to + done * point_bytes, k + done * FR, n_now, err));
        CUZK_TRY(poll(m->progress, err));
        done += n_now;
    }
    return CUZK_OK;
}

static cuzk_status make_constants(const setup_key *key, const point_maker *m,
                                  const setup_trapdoor *t, cuzk_err *err) {
    const field *fr = &key->curve->fr;
    uint64_t k[3][FR];
    field_copy(fr, k[0], t->alpha.l);
    field_copy(fr, k[1], t->beta.l);
    field_copy(fr, k[2], t->delta.l);
    CUZK_TRY(make_points(m, GROUP_G1, key->g1_constants, k[0], 3, err));
    field_copy(fr, k[0], t->beta.l);
    field_set_one(fr, k[1]);
    return make_points(m, GROUP_G2, key->g2_constants, k[0], 3, err);
}

static cuzk_status make_h(const setup_key *key, const point_maker *m, const setup_trapdoor *t,
                          cuzk_err *err) {
    uint64_t *h;
    CUZK_TRY(setup_h_make(&h, key->curve, t, key->quotient, key->log_domain, m->options->exec,
                          err));
    const cuzk_status st = make_points(m, GROUP_G1, key->h, h, key->n_h, err);
    cuzk_free(h);
    return st;
}

static cuzk_status make_queries(const setup_key *key, const point_maker *m,
                                const setup_columns *col, cuzk_err *err) {
    const size_t n = key->n_vars, n_ic = (size_t)key->n_public + 1;
    const struct {
        group_id group;
        uint8_t *to;
        const uint64_t *k;
        size_t n;
    } queries[] = {{GROUP_G1, key->a, col->a, n},
                   {GROUP_G1, key->b1, col->b, n},
                   {GROUP_G2, key->b2, col->b, n},
                   {GROUP_G1, key->ic, col->ic_l, n_ic},
                   {GROUP_G1, key->l, col->ic_l + n_ic * FR, n - n_ic}};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        CUZK_TRY(next_stage(m->progress, err));
        CUZK_TRY(
            make_points(m, queries[i].group, queries[i].to, queries[i].k, queries[i].n, err));
    }
    return CUZK_OK;
}

static uint8_t *take(uint8_t **next, size_t n, size_t point_bytes) {
    uint8_t *p = *next;
    *next += n * point_bytes;
    return p;
}

static void touch_block(void *arg, size_t item, unsigned slot) {
    (void)slot;
    const setup_key *key = arg;
    const size_t first = item * TOUCH_BYTES, n_left = key->n_point_bytes - first;
    memset(key->points + first, 0, n_left < TOUCH_BYTES ? n_left : TOUCH_BYTES);
}

static cuzk_status alloc_points(setup_key *key, cuzk_exec *exec, cuzk_err *err) {
    const size_t g1 = curve_g1_bytes(key->curve), g2 = curve_g2_bytes(key->curve);
    const size_t n = key->n_vars, n_ic = (size_t)key->n_public + 1;
    const size_t n_g1 = 3 + n_ic + n + n + (n - n_ic) + key->n_h, n_g2 = 3 + n;
    key->n_point_bytes = n_g1 * g1 + n_g2 * g2;
    CUZK_TRY(cuzk_alloc(&key->points, key->n_point_bytes, 1, err));
    /* A copy from a device would touch new memory a page after another, by one thread. */
    cuzk_exec_for(exec, (key->n_point_bytes + TOUCH_BYTES - 1) / TOUCH_BYTES, touch_block,
                  key);
    uint8_t *next = key->points;
    key->g1_constants = take(&next, 3, g1);
    key->g2_constants = take(&next, 3, g2);
    key->ic = take(&next, n_ic, g1);
    key->a = take(&next, n, g1);
    key->b1 = take(&next, n, g1);
    key->b2 = take(&next, n, g2);
    key->l = take(&next, n - n_ic, g1);
    key->h = take(&next, key->n_h, g1);
    return CUZK_OK;
}

/* ---- the key ---- */

static cuzk_status make_with(setup_key *key, const setup_circuit *circuit,
                             const setup_trapdoor *t, const setup_options *options,
                             progress *p, cuzk_err *err) {
    setup_columns columns = {NULL, NULL, NULL};
    point_maker maker = {.curve = key->curve, .options = options, .progress = p};
    CUZK_TRY(poll(p, err));
    CUZK_TRY(alloc_points(key, options->exec, err));
    cuzk_status st = setup_columns_make(&columns, key->curve, circuit, t, key->quotient,
                                        key->log_domain, options->exec, err);
    const size_t n_most = key->n_vars > key->n_h ? key->n_vars : key->n_h;
    if (st == CUZK_OK) st = point_maker_open(&maker, n_most < 3 ? 3 : n_most, err);
    if (st == CUZK_OK) st = make_constants(key, &maker, t, err);
    if (st == CUZK_OK) st = make_queries(key, &maker, &columns, err);
    setup_columns_fini(&columns);
    if (st == CUZK_OK) st = next_stage(p, err);
    if (st == CUZK_OK) st = make_h(key, &maker, t, err);
    point_maker_close(&maker);
    return st;
}

static cuzk_status make_key(setup_key *out, const curve *c, setup_circuit *circuit,
                            const setup_trapdoor *t, const setup_options *options, progress *p,
                            cuzk_err *err) {
    setup_key key = {.curve = c,
                     .quotient = options->quotient,
                     .n_vars = circuit->n_vars,
                     .n_public = circuit->n_public,
                     .n_triplets = circuit->n_triplets};
    CUZK_TRY(find_log_domain(&key.log_domain, c, circuit, err));
    key.n_h = setup_h_count(key.quotient, key.log_domain);
    const cuzk_status st = make_with(&key, circuit, t, options, p, err);
    if (st != CUZK_OK) {
        setup_key_fini(&key);
        return st;
    }
    key.triplets = circuit->triplets;
    circuit->triplets = NULL;
    *out = key;
    return CUZK_OK;
}

cuzk_status setup_make(setup_key *out, const curve *c, setup_circuit *circuit,
                       const setup_trapdoor *t, const setup_options *options, cuzk_err *err) {
    progress p = {options->stage, options->stage_arg, 0};
    return make_key(out, c, circuit, t, options, &p, err);
}

cuzk_status setup_run(setup_key *out, const curve *c, const r1cs_view *r1cs,
                      const setup_trapdoor *t, const setup_options *options, cuzk_err *err) {
    progress p = {options->stage, options->stage_arg, 0};
    setup_circuit circuit;
    cuzk_status st = read_circuit(&circuit, c, r1cs, options->exec, &p, err);
    if (st == CUZK_OK) st = make_key(out, c, &circuit, t, options, &p, err);
    setup_circuit_fini(&circuit);
    return st;
}

void setup_key_fini(setup_key *key) {
    cuzk_free(key->triplets);
    cuzk_free(key->points);
    *key = (setup_key){0};
}

static g1_affine load_g1(const curve *c, const uint8_t *packed) {
    point p;
    g1_affine r;
    point_load_packed_unchecked(c, GROUP_G1, &p, packed);
    point_to_g1(c, &r, &p);
    return r;
}

static g2_affine load_g2(const curve *c, const uint8_t *packed) {
    point p;
    g2_affine r;
    point_load_packed_unchecked(c, GROUP_G2, &p, packed);
    point_to_g2(c, &r, &p);
    return r;
}

static key_query query_of(const setup_key *key, cuzk_buf *buf, const uint8_t *points,
                          size_t n) {
    return (key_query){{buf, (size_t)(points - key->points)}, n};
}

cuzk_status setup_key_open(proving_key *out, const setup_key *key, const cuzk_backend *backend,
                           cuzk_device *device, cuzk_err *err) {
    const curve *c = key->curve;
    const size_t g1 = curve_g1_bytes(c), g2 = curve_g2_bytes(c), n_vars = key->n_vars;
    cuzk_buf *buf;
    CUZK_TRY(backend->buf_wrap(&buf, device, key->points, key->n_point_bytes, err));
    *out = (proving_key){.curve = c,
                         .backend = backend,
                         .device = device,
                         .quotient = key->quotient,
                         .n_vars = key->n_vars,
                         .n_public = key->n_public,
                         .log_domain = key->log_domain,
                         .matrix = {key->triplets, key->n_triplets,
                                    (uint64_t)1 << key->log_domain, key->n_vars},
                         .alpha1 = load_g1(c, key->g1_constants),
                         .beta1 = load_g1(c, key->g1_constants + g1),
                         .delta1 = load_g1(c, key->g1_constants + 2 * g1),
                         .beta2 = load_g2(c, key->g2_constants),
                         .gamma2 = load_g2(c, key->g2_constants + g2),
                         .delta2 = load_g2(c, key->g2_constants + 2 * g2),
                         .ic = query_of(key, buf, key->ic, (size_t)key->n_public + 1),
                         .ic_packed = key->ic,
                         .a = query_of(key, buf, key->a, n_vars),
                         .b1 = query_of(key, buf, key->b1, n_vars),
                         .b2 = query_of(key, buf, key->b2, n_vars),
                         .l = query_of(key, buf, key->l, n_vars - key->n_public - 1),
                         .h = query_of(key, buf, key->h, key->n_h),
                         .buf = buf,
                         .image = {key->points, key->n_point_bytes}};
    return CUZK_OK;
}
