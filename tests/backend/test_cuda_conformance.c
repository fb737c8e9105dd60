/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda against backend/cpu, through the contract alone: the same bytes. Skipped without
 * the backend or a device. */
#include "backend/backend.h"
#include "base/alloc.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_MAX = 1 << 13, FR_BYTES = 32, FR_WORDS = 4, UNALIGNED = 4 };

/* One backend with a curve's points in it. */
typedef struct side {
    const cuzk_backend *be;
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_buf *points[2]; /* of G1, G2; N_MAX each */
} side;

typedef struct setting {
    curve c;
    testrand rnd;
    side cpu, gpu;
    uint8_t *points[2];
} setting;

static void fill_points(setting *s, group_id g) {
    const size_t n_bytes = point_packed_bytes(&s->c, g);
    uint8_t **out = &s->points[g - 1];
    point *p;
    assert_int_equal(cuzk_alloc(&p, N_MAX, sizeof *p, NULL), CUZK_OK);
    assert_int_equal(cuzk_zalloc(out, N_MAX * n_bytes + UNALIGNED, 1, NULL), CUZK_OK);
    point_set_generator(&s->c, g, &p[0]);
    for (size_t i = 1; i < N_MAX; i++) point_add(&s->c, g, &p[i], &p[i - 1], &p[0]);
    point_neg(&s->c, g, &p[5], &p[4]); /* P and -P, P and P, infinity */
    p[7] = p[6];
    point_set_infinity(&s->c, g, &p[8]);
    assert_int_equal(point_store_packed_many(&s->c, g, *out + UNALIGNED, p, N_MAX, NULL),
                     CUZK_OK);
    cuzk_free(p);
}

static void open_side(setting *s, side *a, const char *name) {
    assert_int_equal(cuzk_backend_find(&a->be, name, NULL), CUZK_OK);
    assert_int_equal(a->be->open(&a->dev, &(cuzk_device_options){.index = 0}, NULL, NULL),
                     CUZK_OK);
    assert_int_equal(a->be->queue_open(&a->queue, a->dev, "test", NULL, NULL), CUZK_OK);
    for (int g = GROUP_G1; g <= GROUP_G2; g++) {
        const size_t n_bytes = N_MAX * point_packed_bytes(&s->c, (group_id)g) + UNALIGNED;
        assert_int_equal(
            a->be->buf_wrap(&a->points[g - 1], a->dev, s->points[g - 1], n_bytes, NULL),
            CUZK_OK);
    }
}

static void close_side(side *a) {
    for (int g = 0; g < 2; g++) a->be->buf_free(a->points[g]);
    a->be->queue_close(a->queue);
    a->be->close(a->dev);
}

typedef void setting_check(setting *s);

static void each_curve(setting_check *check) {
    for (int id = 0; id < CURVE_COUNT; id++) {
        setting s;
        cuzk_cpu_level level;
        memset(&s, 0, sizeof s);
        assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
        curve_init(&s.c, (curve_id)id, level);
        testrand_init(&s.rnd);
        fill_points(&s, GROUP_G1);
        fill_points(&s, GROUP_G2);
        open_side(&s, &s.cpu, "cpu");
        open_side(&s, &s.gpu, "cuda");
        check(&s);
        close_side(&s.cpu);
        close_side(&s.gpu);
        cuzk_free(s.points[0]);
        cuzk_free(s.points[1]);
    }
}

/* ---- vectors ---- */
typedef enum value_kind {
    VALUES_ZERO,
    VALUES_BITS,
    VALUES_ONE,
    VALUES_EQUAL,
    VALUES_SMALL,
    VALUES_SIGNED,
    VALUES_RANDOM,
    VALUES_MIXED
} value_kind;

static void set_value(setting *s, value_kind kind, uint64_t *v) { /* Montgomery */
    const field *fr = &s->c.fr;
    testrand *rnd = &s->rnd;
    switch (kind) {
    case VALUES_ZERO:
        field_set_zero(fr, v);
        break;
    case VALUES_BITS:
        field_set_u64(fr, v, testrand_below(rnd, 2));
        break;
    case VALUES_ONE:
        field_set_one(fr, v);
        break;
    case VALUES_EQUAL:
        memcpy(v, fr->m.r2, FR_BYTES);
        break;
    case VALUES_SMALL:
        field_set_u64(fr, v, testrand_u64(rnd) >> testrand_below(rnd, 64));
        break;
    case VALUES_SIGNED:
        field_set_u64(fr, v, 1 + testrand_below(rnd, 3));
        if (testrand_below(rnd, 2)) field_neg(fr, v, v);
        break;
    case VALUES_RANDOM:
        testrand_fe(rnd, fr, v);
        break;
    case VALUES_MIXED:
        set_value(s, (value_kind)testrand_below(rnd, VALUES_MIXED), v);
        break;
    }
}

static uint64_t *new_values(setting *s, value_kind kind, size_t n) {
    uint64_t *v;
    assert_int_equal(cuzk_alloc(&v, n, FR_BYTES, NULL), CUZK_OK);
    for (size_t i = 0; i < n; i++) set_value(s, kind, v + i * FR_WORDS);
    return v;
}

/* [sum of v_i]P_i of points in `buf` from its `first` value on. */
static void sum_of(setting *s, side *a, point *out, group_id g, cuzk_buf *buf, size_t first,
                   size_t n, bool montgomery) {
    cuzk_scalars *scalars;
    const cuzk_slice values = {buf, 0};
    assert_int_equal(
        a->be->scalars_open(&scalars, a->queue, &s->c.fr, values, first + n, montgomery, NULL),
        CUZK_OK);
    const cuzk_msm_job job = {.curve = &s->c,
                              .group = g,
                              .points = {a->points[g - 1], UNALIGNED},
                              .scalars = scalars,
                              .first = first,
                              .n = n,
                              .result = out};
    assert_int_equal(a->be->msm(a->queue, &job, 1, NULL), CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
    a->be->scalars_close(scalars);
}

static uint8_t *downloaded(side *a, cuzk_buf *buf, size_t n) {
    uint8_t *bytes;
    assert_int_equal(cuzk_alloc(&bytes, n, FR_BYTES, NULL), CUZK_OK);
    assert_int_equal(
        a->be->download(a->queue, bytes, (cuzk_slice){buf, 0}, n * FR_BYTES, NULL), CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
    return bytes;
}

static void assert_same_vectors(setting *s, cuzk_buf *cpu, cuzk_buf *gpu, size_t n) {
    uint8_t *expected = downloaded(&s->cpu, cpu, n), *got = downloaded(&s->gpu, gpu, n);
    assert_memory_equal(expected, got, n * FR_BYTES);
    cuzk_free(expected);
    cuzk_free(got);
}

/* With CUZK_TEST_SMALL, for tools that slow kernels down a hundredfold. */
static size_t n_largest(void) { return getenv("CUZK_TEST_SMALL") ? 513 : N_MAX; }

/* ---- msm ---- */
static void check_msm(setting *s) {
    static const size_t sizes[] = {0, 1, 2, 9, 31, 32, 33, 511, 512, 513, N_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= n_largest(); i++) {
        for (int kind = VALUES_ZERO; kind <= VALUES_MIXED; kind++) {
            uint64_t *v = new_values(s, (value_kind)kind, sizes[i]);
            cuzk_buf *cpu, *gpu;
            const size_t n_bytes = sizes[i] * FR_BYTES, first = sizes[i] / 3;
            assert_int_equal(s->cpu.be->buf_wrap(&cpu, s->cpu.dev, v, n_bytes, NULL), CUZK_OK);
            assert_int_equal(s->gpu.be->buf_wrap(&gpu, s->gpu.dev, v, n_bytes, NULL), CUZK_OK);
            for (int g = GROUP_G1; g <= GROUP_G2; g++) {
                point expected, got;
                sum_of(s, &s->cpu, &expected, (group_id)g, cpu, first, sizes[i] - first, true);
                sum_of(s, &s->gpu, &got, (group_id)g, gpu, first, sizes[i] - first, true);
                assert_true(point_equal(&s->c, (group_id)g, &expected, &got));
            }
            s->cpu.be->buf_free(cpu);
            s->gpu.be->buf_free(gpu);
            cuzk_free(v);
        }
    }
}

static void test_cuda__sums_as_the_cpu_does(void **state) {
    (void)state;
    each_curve(check_msm);
}

/* ---- transforms ---- */
static cuzk_buf *upload(side *a, const uint64_t *v, size_t n, cuzk_space space) {
    cuzk_buf *buf;
    assert_int_equal(a->be->buf_alloc(&buf, a->dev, space, n * FR_BYTES, true, NULL), CUZK_OK);
    assert_int_equal(a->be->upload(a->queue, (cuzk_slice){buf, 0}, v, n * FR_BYTES, NULL),
                     CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
    return buf;
}

static cuzk_buf *transformed(setting *s, side *a, const uint64_t *v, unsigned log_n,
                             const fe *coset, cuzk_ntt_kind kind, bool brp) {
    cuzk_domain *domain;
    cuzk_buf *buf =
        upload(a, v, (size_t)1 << log_n, kind % 2 ? CUZK_SPACE_HOST : CUZK_SPACE_DEVICE);
    assert_int_equal(a->be->domain_open(&domain, a->dev, &s->c.fr, log_n, 5, coset, NULL),
                     CUZK_OK);
    const cuzk_ntt_job job = {domain, kind, brp, {buf, 0}};
    assert_int_equal(a->be->ntt(a->queue, &job, NULL), CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
    a->be->domain_close(domain);
    return buf;
}

static void check_ntt(setting *s) {
    fe seven;
    field_set_u64(&s->c.fr, seven.l, 7);
    for (unsigned log_n = 0; (size_t)1 << log_n <= n_largest(); log_n++) {
        uint64_t *v = new_values(s, VALUES_MIXED, (size_t)1 << log_n);
        for (int kind = CUZK_NTT_INVERSE; kind <= CUZK_NTT_COSET_INVERSE; kind++) {
            for (int brp = 0; brp < 2; brp++) {
                const fe *coset = (kind + (int)log_n) % 3 ? NULL : &seven;
                cuzk_buf *cpu =
                    transformed(s, &s->cpu, v, log_n, coset, (cuzk_ntt_kind)kind, brp);
                cuzk_buf *gpu =
                    transformed(s, &s->gpu, v, log_n, coset, (cuzk_ntt_kind)kind, brp);
                assert_same_vectors(s, cpu, gpu, (size_t)1 << log_n);
                s->cpu.be->buf_free(cpu);
                s->gpu.be->buf_free(gpu);
            }
        }
        cuzk_free(v);
    }
}

static void test_cuda__transforms_as_the_cpu_does(void **state) {
    (void)state;
    each_curve(check_ntt);
}

/* ---- products ---- */
static cuzk_buf *quotient(setting *s, side *a, uint64_t *const v[3], size_t n, const fe *k) {
    cuzk_buf *in[3];
    for (int i = 0; i < 3; i++) in[i] = upload(a, v[i], n, CUZK_SPACE_DEVICE);
    const cuzk_pointwise_job job = {
        &s->c.fr, CUZK_POINTWISE_QUOTIENT, n, {in[0], 0}, {in[0], 0}, {in[1], 0}, {in[2], 0},
        *k};
    assert_int_equal(a->be->pointwise(a->queue, &job, NULL), CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
    a->be->buf_free(in[1]);
    a->be->buf_free(in[2]);
    return in[0];
}

static void check_pointwise(setting *s) {
    static const size_t sizes[] = {0, 1, 255, 256, 257, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t *v[3];
        fe k;
        for (int j = 0; j < 3; j++) v[j] = new_values(s, VALUES_MIXED, sizes[i]);
        testrand_fe(&s->rnd, &s->c.fr, k.l);
        cuzk_buf *cpu = quotient(s, &s->cpu, v, sizes[i], &k),
                 *gpu = quotient(s, &s->gpu, v, sizes[i], &k);
        assert_same_vectors(s, cpu, gpu, sizes[i]);
        s->cpu.be->buf_free(cpu);
        s->gpu.be->buf_free(gpu);
        for (int j = 0; j < 3; j++) cuzk_free(v[j]);
    }
}

static void test_cuda__multiplies_as_the_cpu_does(void **state) {
    (void)state;
    each_curve(check_pointwise);
}

/* ---- matrices ---- */
enum { N_ROWS = 1 << 10, N_COLUMNS = 700, N_TRIPLETS = 9000 };

static cuzk_status evaluate(setting *s, side *a, const uint8_t *triplets, uint64_t n,
                            const uint64_t *w, cuzk_buf *out[2], cuzk_err *err) {
    const matrix_view m = {triplets, n, N_ROWS, N_COLUMNS};
    cuzk_buf *in;
    assert_int_equal(a->be->buf_wrap(&in, a->dev, w, N_COLUMNS * FR_BYTES, NULL), CUZK_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(a->be->buf_alloc(&out[i], a->dev, CUZK_SPACE_DEVICE,
                                          N_ROWS * FR_BYTES, true, NULL),
                         CUZK_OK);
    }
    cuzk_matrix *matrix = NULL;
    cuzk_status status = a->be->matrix_open(&matrix, a->queue, &s->c.fr, &m, err);
    const cuzk_evaluate_job job = {matrix, {in, 0}, {out[0], 0}, {out[1], 0}};
    if (status == CUZK_OK) status = a->be->evaluate(a->queue, &job, err);
    if (status == CUZK_OK) status = a->be->queue_wait(a->queue, err);
    if (matrix) a->be->matrix_close(matrix);
    a->be->buf_free(in);
    return status;
}

static void set_triplets(setting *s, uint8_t *t, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t row =
            i % 4 ? i * N_ROWS / n : testrand_below(&s->rnd, N_ROWS); /* mostly in order */
        const uint32_t head[3] = {(uint32_t)testrand_below(&s->rnd, 2),
                                  (uint32_t)(i < 500 ? 3 : row),
                                  (uint32_t)testrand_below(&s->rnd, N_COLUMNS)};
        uint64_t v[FR_WORDS];
        set_value(s, VALUES_MIXED, v);
        memcpy(t + i * MATRIX_TRIPLET_BYTES, head, sizeof head);
        memcpy(t + i * MATRIX_TRIPLET_BYTES + sizeof head, v, sizeof v);
    }
}

static void check_same_fault(setting *s, const uint8_t *triplets, const uint64_t *w) {
    cuzk_buf *cpu[2], *gpu[2];
    cuzk_err expected, got;
    assert_int_equal(evaluate(s, &s->cpu, triplets, N_TRIPLETS, w, cpu, &expected),
                     CUZK_ERR_FORMAT);
    assert_int_equal(evaluate(s, &s->gpu, triplets, N_TRIPLETS, w, gpu, &got),
                     CUZK_ERR_FORMAT);
    assert_string_equal(expected.text, got.text);
    for (int i = 0; i < 2; i++) {
        s->cpu.be->buf_free(cpu[i]);
        s->gpu.be->buf_free(gpu[i]);
    }
}

static void check_evaluate(setting *s) {
    uint8_t *t;
    uint64_t *w = new_values(s, VALUES_MIXED, N_COLUMNS);
    assert_int_equal(cuzk_alloc(&t, N_TRIPLETS, MATRIX_TRIPLET_BYTES, NULL), CUZK_OK);
    set_triplets(s, t, N_TRIPLETS);
    static const uint64_t sizes[] = {0, 1, 100, N_TRIPLETS};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cuzk_buf *cpu[2], *gpu[2];
        assert_int_equal(evaluate(s, &s->cpu, t, sizes[i], w, cpu, NULL), CUZK_OK);
        assert_int_equal(evaluate(s, &s->gpu, t, sizes[i], w, gpu, NULL), CUZK_OK);
        for (int j = 0; j < 2; j++) {
            assert_same_vectors(s, cpu[j], gpu[j], N_ROWS);
            s->cpu.be->buf_free(cpu[j]);
            s->gpu.be->buf_free(gpu[j]);
        }
    }
    for (size_t field_at = 0; field_at < 4; field_at++) { /* matrix, row, column, value */
        const size_t bad = 4000;
        uint8_t *at = t + bad * MATRIX_TRIPLET_BYTES + 4 * field_at, saved[FR_BYTES];
        const size_t n_bytes = field_at < 3 ? 4 : FR_BYTES;
        memcpy(saved, at, n_bytes);
        memset(at, 0xff, n_bytes);
        t[8000 * MATRIX_TRIPLET_BYTES] = 2; /* a later fault */
        check_same_fault(s, t, w);
        memcpy(at, saved, n_bytes);
    }
    cuzk_free(t);
    cuzk_free(w);
}

static void test_cuda__evaluates_as_the_cpu_does(void **state) {
    (void)state;
    each_curve(check_evaluate);
}

int main(void) {
    const cuzk_backend *be;
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK) return 77; /* skipped */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda__sums_as_the_cpu_does),
        cmocka_unit_test(test_cuda__transforms_as_the_cpu_does),
        cmocka_unit_test(test_cuda__multiplies_as_the_cpu_does),
        cmocka_unit_test(test_cuda__evaluates_as_the_cpu_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
