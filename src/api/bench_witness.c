/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench_witness: a witness's way to the vectors of the quotient: unpacked, and multiplied
 * with sparse matrices, of circuits like real ones. */
#include "api/bench.h"
#include "base/alloc.h"
#include "circuit/packed_witness.h"
#include "keys/staging.h"
#include "prover/synthetic.h"

/* A circuit on the host, and what of it lies on the device. */
typedef struct subject {
    const bench *b;
    const curve *c;
    setup_circuit circuit;
    uint8_t *values;       /* the witness */
    staging packed_memory; /* pinned, as in a proof */
    packed_witness packed;
    matrix_view view;
    cuzk_matrix *matrix;
    cuzk_buf *w, *rows[2];
} subject;

static cuzk_status run_unpack(void *arg, cuzk_err *err) {
    const subject *s = arg;
    const cuzk_status status =
        s->b->rt->backend->unpack(s->b->queue, (cuzk_slice){s->w, 0}, &s->packed, err);
    return bench_wait(s->b, status, err);
}

static cuzk_status run_evaluate(void *arg, cuzk_err *err) {
    const subject *s = arg;
    const cuzk_evaluate_job job = {s->matrix, {s->w, 0}, {s->rows[0], 0}, {s->rows[1], 0}};
    return bench_wait(s->b, s->b->rt->backend->evaluate(s->b->queue, &job, err), err);
}

static cuzk_status pack(subject *s) {
    cuzk_exec *exec = s->b->rt->exec;
    const size_t n = s->circuit.n_vars;
    size_t n_bytes;
    CUZK_TRY(packed_witness_bytes(&n_bytes, s->values, n, exec, s->b->err));
    CUZK_TRY(staging_acquire(&s->packed_memory, s->b->rt->memory, n_bytes, false, s->b->err));
    return packed_witness_pack(&s->packed, s->packed_memory.data, n_bytes, s->values, n, exec,
                               s->b->err);
}

static cuzk_status make(subject *s, synthetic_profile profile, unsigned log_n) {
    const bench *b = s->b;
    const field *fr = &s->c->fr;
    CUZK_TRY(
        synthetic_make(&s->circuit, &s->values, fr, profile, log_n, 1, b->rt->exec, b->err));
    s->view = (matrix_view){s->circuit.triplets, s->circuit.n_triplets, (uint64_t)1 << log_n,
                            s->circuit.n_vars};
    CUZK_TRY(pack(s));
    CUZK_TRY(bench_bytes(&s->w, b, s->values, (size_t)s->circuit.n_vars * BENCH_FR_BYTES));
    for (unsigned i = 0; i < 2; i++)
        CUZK_TRY(bench_alloc(&s->rows[i], b, BENCH_FR_BYTES << log_n));
    const cuzk_status status =
        b->rt->backend->matrix_open(&s->matrix, b->queue, fr, &s->view, b->err);
    return bench_wait(b, status, b->err);
}

static void fini(subject *s) {
    if (s->matrix) s->b->rt->backend->matrix_close(s->matrix);
    for (unsigned i = 0; i < 2; i++) bench_free(s->b, s->rows[i]);
    bench_free(s->b, s->w);
    staging_release(&s->packed_memory);
    cuzk_free(s->values);
    setup_circuit_fini(&s->circuit);
}

/* Bytes: a value comes and goes for each of the witness, or a value and a coefficient's index
 * come for each triplet and two vectors go. A triplet is a multiplication. */
static cuzk_status measure_both(subject *s, measurement *unpack, measurement *evaluate) {
    const bench *b = s->b;
    const double n_vars = s->circuit.n_vars, n_triplets = s->circuit.n_triplets;
    unpack->n_bytes = n_vars * BENCH_FR_BYTES + (double)s->packed.n_bytes;
    unpack->n_bus_bytes = (double)s->packed.n_bytes;
    evaluate->n_bytes =
        n_triplets * (BENCH_FR_BYTES + 8) + 2 * evaluate->n_ops * BENCH_FR_BYTES;
    evaluate->floor_field = &s->c->fr;
    evaluate->n_muls = evaluate->n_ops = n_triplets;
    if (bench_wants(b, unpack->id)) CUZK_TRY(bench_measure(b, unpack, run_unpack, s));
    if (bench_wants(b, evaluate->id)) CUZK_TRY(bench_measure(b, evaluate, run_evaluate, s));
    return CUZK_OK;
}

static cuzk_status bench_profile(const bench *b, const curve *c, unsigned log_n,
                                 const char *name) {
    measurement unpack = bench_measurement(b, "unpack", c, name, log_n);
    measurement evaluate = bench_measurement(b, "evaluate", c, name, log_n);
    synthetic_profile profile;
    subject s = {.b = b, .c = c};
    if (!bench_wants(b, unpack.id) && !bench_wants(b, evaluate.id)) return CUZK_OK;
    if (log_n < SYNTHETIC_LOG_MIN) return CUZK_OK;
    const bool is_known = synthetic_profile_find(&profile, name);
    CUZK_ASSERT(is_known);
    cuzk_status status = make(&s, profile, log_n);
    if (status == CUZK_OK) status = measure_both(&s, &unpack, &evaluate);
    fini(&s);
    return status;
}

cuzk_status bench_witness(const bench *b, const curve *c, bench_sizes s) {
    for (unsigned i = s.min; i <= s.max; i += BENCH_LOG_STEP) {
        CUZK_TRY(bench_profile(b, c, i, "dense"));
        CUZK_TRY(bench_profile(b, c, i, "porep"));
    }
    return CUZK_OK;
}
