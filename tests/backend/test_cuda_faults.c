/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda when CUDA calls fail: the work of a small proof, once for every call that it
 * makes, with that call failing, or all from that one on. Whatever fails, an error is answered
 * or the result is right, all memory is given back, and the next run is right. Skipped without
 * a device, and in builds without CUZK_FAULTS. */
#include "backend/backend.h"
#include "base/alloc.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
    LOG_N = 6,
    N = 1 << LOG_N,
    N_TRIPLETS = 200,
    FR_BYTES = 32,
    POINT_BYTES = 64,
    N_RUNS_MAX = 5000
};

/* ---- the fault ---- */
typedef enum fault_kind { FAULT_NONE, FAULT_ONCE, FAULT_FOR_GOOD } fault_kind;

static struct {
    fault_kind kind;
    unsigned at, n_calls;
    bool memory_only;
} fault;

bool cuda_fault(const char *what); /* asked by the backend before each call */

bool cuda_fault(const char *what) {
    if (fault.kind == FAULT_NONE) return false;
    if (fault.memory_only && !strstr(what, "Malloc")) return false;
    const unsigned call = fault.n_calls++;
    return fault.kind == FAULT_ONCE ? call == fault.at : call >= fault.at;
}

/* ---- the work ---- */
typedef struct work {
    curve c;
    uint8_t triplets[N_TRIPLETS * MATRIX_TRIPLET_BYTES];
    uint8_t w[N * FR_BYTES]; /* canonical */
    packed_witness packed;   /* the same */
    uint8_t *points;
} work;

typedef struct result {
    uint8_t vector[N * FR_BYTES], multiples[N * POINT_BYTES];
    point sum;
} result;

typedef struct objects {
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_buf *w, *a, *b, *points, *multiples;
    cuzk_matrix *matrix;
    cuzk_domain *domain;
    cuzk_scalars *scalars;
} objects;

static const cuzk_backend *be; /* set by main */

static cuzk_status open_all(objects *o, const work *k, cuzk_trace *trace, cuzk_err *err) {
    const matrix_view view = {k->triplets, N_TRIPLETS, N, N};
    CUZK_TRY(be->queue_open(&o->queue, o->dev, "faults", trace, err));
    CUZK_TRY(be->buf_alloc(&o->w, o->dev, CUZK_SPACE_DEVICE, N * FR_BYTES, true, err));
    CUZK_TRY(be->buf_alloc(&o->a, o->dev, CUZK_SPACE_DEVICE, N * FR_BYTES, true, err));
    CUZK_TRY(be->buf_alloc(&o->b, o->dev, CUZK_SPACE_HOST, N * FR_BYTES, true, err));
    CUZK_TRY(
        be->buf_alloc(&o->multiples, o->dev, CUZK_SPACE_DEVICE, N * POINT_BYTES, false, err));
    CUZK_TRY(be->buf_wrap(&o->points, o->dev, k->points, N * POINT_BYTES, err));
    CUZK_TRY(be->matrix_open(&o->matrix, o->queue, &k->c.fr, &view, err));
    return be->domain_open(&o->domain, o->dev, &k->c.fr, LOG_N, 5, NULL, err);
}

static cuzk_status compute(objects *o, const work *k, result *r, cuzk_err *err) {
    const cuzk_slice w = {o->w, 0}, a = {o->a, 0}, b = {o->b, 0};
    const cuzk_evaluate_job evaluate = {o->matrix, w, a, b};
    const cuzk_ntt_job ntt = {o->domain, CUZK_NTT_INVERSE, false, a};
    const cuzk_pointwise_job pointwise = {
        .fr = &k->c.fr, .kind = CUZK_POINTWISE_MUL, .n = N, .out = a, .a = a, .b = b};
    const cuzk_multiples_job multiples = {&k->c, GROUP_G1, N, a, {o->multiples, 0}};
    CUZK_TRY(be->upload(o->queue, a, k->w, sizeof k->w, err)); /* written over */
    CUZK_TRY(be->unpack(o->queue, w, &k->packed, err));
    CUZK_TRY(be->evaluate(o->queue, &evaluate, err));
    CUZK_TRY(be->ntt(o->queue, &ntt, err));
    CUZK_TRY(be->pointwise(o->queue, &pointwise, err));
    CUZK_TRY(be->scalars_open(&o->scalars, o->queue, &k->c.fr, a, N, true, err));
    const cuzk_msm_job msm = {&k->c, GROUP_G1, {o->points, 0}, o->scalars, 0, N, &r->sum};
    CUZK_TRY(be->msm(o->queue, &msm, 1, err));
    CUZK_TRY(be->multiples(o->queue, &multiples, err));
    CUZK_TRY(be->download(o->queue, r->vector, a, sizeof r->vector, err));
    CUZK_TRY(be->download(o->queue, r->multiples, multiples.out, sizeof r->multiples, err));
    return be->queue_wait(o->queue, err);
}

static void close_all(objects *o) {
    if (o->scalars) be->scalars_close(o->scalars);
    if (o->domain) be->domain_close(o->domain);
    if (o->matrix) be->matrix_close(o->matrix);
    be->buf_free(o->w);
    be->buf_free(o->a);
    be->buf_free(o->b);
    be->buf_free(o->points);
    be->buf_free(o->multiples);
    if (o->queue) be->queue_close(o->queue);
}

static cuzk_status run(const work *k, result *r, cuzk_trace *trace, cuzk_err *err) {
    objects o = {0};
    memset(r, 0, sizeof *r);
    CUZK_TRY(be->open(&o.dev, &(cuzk_device_options){.index = 0}, NULL, err));
    cuzk_status status = open_all(&o, k, trace, err);
    if (status == CUZK_OK) status = compute(&o, k, r, err);
    close_all(&o);
    cuzk_device_info info;
    be->device_info(o.dev, &info);
    assert_int_equal(info.used_bytes, 0);
    be->close(o.dev);
    return status;
}

/* ---- one after the other ---- */
static void fill_points(work *k) {
    point p, generator;
    assert_int_equal(point_packed_bytes(&k->c, GROUP_G1), POINT_BYTES);
    assert_int_equal(cuzk_alloc(&k->points, N, POINT_BYTES, NULL), CUZK_OK);
    point_set_generator(&k->c, GROUP_G1, &generator);
    p = generator;
    for (size_t i = 0; i < N; i++) {
        point_store_packed(&k->c, GROUP_G1, k->points + i * POINT_BYTES, &p);
        point_add(&k->c, GROUP_G1, &p, &p, &generator);
    }
}

static void fill_witness(work *k, testrand *rnd) {
    size_t n_bytes;
    uint8_t *data;
    memset(k->w, 0, sizeof k->w);
    for (size_t i = 0; i < N; i++) {
        uint64_t v[4];
        testrand_fe(rnd, &k->c.fr, v);
        if (i % 2)
            memcpy(k->w + i * FR_BYTES, v, FR_BYTES);
        else
            k->w[i * FR_BYTES] = (uint8_t)(v[0] % 2);
    }
    assert_int_equal(packed_witness_bytes(&n_bytes, k->w, N, NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&data, n_bytes, 1, NULL), CUZK_OK);
    assert_int_equal(packed_witness_pack(&k->packed, data, n_bytes, k->w, N, NULL, NULL),
                     CUZK_OK);
}

static void fill(work *k) {
    testrand rnd;
    testrand_init(&rnd);
    fill_points(k);
    fill_witness(k, &rnd);
    for (uint32_t i = 0; i < N_TRIPLETS; i++) {
        uint8_t *t = k->triplets + i * MATRIX_TRIPLET_BYTES;
        const uint32_t head[3] = {i % 2, i * N / N_TRIPLETS,
                                  (uint32_t)testrand_below(&rnd, N)};
        uint64_t v[4];
        testrand_fe(&rnd, &k->c.fr, v);
        memcpy(t, head, sizeof head);
        memcpy(t + sizeof head, v, sizeof v);
    }
}

static void assert_right(const work *k, const result *expected, const result *got) {
    assert_memory_equal(expected->vector, got->vector, sizeof got->vector);
    assert_memory_equal(expected->multiples, got->multiples, sizeof got->multiples);
    assert_true(point_equal(&k->c, GROUP_G1, &expected->sum, &got->sum));
}

/* Returns how many calls one run makes. */
static unsigned fail_each(const work *k, const result *expected, fault_kind kind,
                          bool memory_only) {
    for (unsigned at = 0; at < N_RUNS_MAX; at++) {
        result got;
        cuzk_err err;
        cuzk_trace *trace;
        assert_int_equal(cuzk_trace_create(&trace, 100, NULL), CUZK_OK);
        fault.kind = kind;
        fault.at = at;
        fault.n_calls = 0;
        fault.memory_only = memory_only;
        const cuzk_status status = run(k, &got, trace, &err);
        const bool is_over = fault.n_calls <= at; /* no call was left to fail */
        fault.kind = FAULT_NONE;
        cuzk_trace_destroy(trace);
        if (is_over || kind == FAULT_ONCE) { /* memory is asked for twice */
            assert_true(!is_over || status == CUZK_OK);
            if (status == CUZK_OK) assert_right(k, expected, &got);
        } else {
            assert_int_not_equal(status, CUZK_OK);
        }
        if (is_over) return at;
        if (status != CUZK_OK) {
            assert_true(status == CUZK_ERR_NOMEM ||
                        (status == CUZK_ERR_DEVICE && !memory_only));
            assert_non_null(strstr(err.text, "device 0: "));
        }
        assert_int_equal(run(k, &got, NULL, NULL), CUZK_OK);
        assert_right(k, expected, &got);
    }
    fail_msg("a run makes more than %d calls", N_RUNS_MAX);
    return 0;
}

static void test_cuda_faults__are_answered_whichever_call_fails(void **state) {
    (void)state;
    cuzk_cpu_level level;
    work k;
    result expected;
    assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
    curve_init(&k.c, CURVE_BN254, level);
    fill(&k);
    const cuzk_backend *const gpu = be;
    assert_int_equal(cuzk_backend_find(&be, "cpu", NULL), CUZK_OK);
    assert_int_equal(run(&k, &expected, NULL, NULL), CUZK_OK);
    be = gpu;
    const unsigned n_calls = fail_each(&k, &expected, FAULT_ONCE, false);
    assert_int_equal(fail_each(&k, &expected, FAULT_FOR_GOOD, false), n_calls);
    const unsigned n_memory = fail_each(&k, &expected, FAULT_ONCE, true);
    assert_int_equal(fail_each(&k, &expected, FAULT_FOR_GOOD, true), n_memory);
    print_message("%u calls, %u of them for memory\n", n_calls, n_memory);
    assert_true(n_memory > 5 && n_calls > 3 * n_memory);
    cuzk_free(k.points);
    cuzk_free(k.packed.data);
}

int main(void) {
#ifndef CUZK_FAULTS
    return 77; /* skipped */
#endif
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_faults__are_answered_whichever_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
