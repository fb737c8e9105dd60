/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu: buffers, queues and pointwise operations. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"
#include "support/testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define W     CPU_FR_LIMBS
#define N_MAX 5000u

typedef struct fixture {
    curve c;
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_buf *v[4]; /* out, a, b, c */
    fe k;
} fixture;

static const cuzk_backend *be(void) { return &cuzk_backend_cpu; }

static uint64_t *words(const cuzk_buf *buf) { return (uint64_t *)(void *)buf->p; }

static void fixture_init(fixture *f, curve_id id, unsigned n_threads) {
    cuzk_cpu_level level;
    testrand t;
    assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
    curve_init(&f->c, id, level);
    testrand_init(&t);
    assert_int_equal(cuzk_exec_create(&f->exec, n_threads, NULL), CUZK_OK);
    assert_int_equal(be()->open(&f->dev, &(cuzk_device_options){.index = 0}, f->exec, NULL),
                     CUZK_OK);
    assert_int_equal(be()->queue_open(&f->queue, f->dev, "test", NULL, NULL), CUZK_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(be()->buf_alloc(&f->v[i], f->dev, CUZK_SPACE_DEVICE,
                                         N_MAX * CPU_FR_BYTES, i % 2 == 0, NULL),
                         CUZK_OK);
        for (size_t j = 0; j < N_MAX; j++) testrand_fe(&t, &f->c.fr, words(f->v[i]) + j * W);
    }
    testrand_fe(&t, &f->c.fr, f->k.l);
}

static void fixture_fini(fixture *f) {
    for (int i = 0; i < 4; i++) be()->buf_free(f->v[i]);
    be()->queue_close(f->queue);
    be()->close(f->dev);
    cuzk_exec_destroy(f->exec);
}

/* Runs kind over n elements with operand `out` as result; checks every element and the one
 * behind the last. */
static void check(fixture *f, cuzk_pointwise_kind kind, size_t n, int out) {
    const field *fr = &f->c.fr;
    uint64_t *expected;
    assert_int_equal(cuzk_alloc(&expected, N_MAX, CPU_FR_BYTES, NULL), CUZK_OK);
    memcpy(expected, f->v[out]->p, N_MAX * CPU_FR_BYTES);
    for (size_t i = 0; i < n; i++) {
        uint64_t *e = expected + i * W;
        uint64_t t[W];
        field_mul(fr, t, words(f->v[1]) + i * W, words(f->v[2]) + i * W);
        if (kind == CUZK_POINTWISE_QUOTIENT) {
            field_sub(fr, t, t, words(f->v[3]) + i * W);
            field_mul(fr, t, t, f->k.l);
        }
        memcpy(e, t, sizeof t);
    }
    cuzk_pointwise_job job = {fr,           kind,         n,   {f->v[out], 0}, {f->v[1], 0},
                              {f->v[2], 0}, {f->v[3], 0}, f->k};
    assert_int_equal(be()->pointwise(f->queue, &job, NULL), CUZK_OK);
    assert_int_equal(be()->queue_wait(f->queue, NULL), CUZK_OK);
    assert_memory_equal(f->v[out]->p, expected, N_MAX * CPU_FR_BYTES);
    cuzk_free(expected);
}

static void test_pointwise__is_the_formula_when_the_result_is_any_operand(void **state) {
    (void)state;
    static const size_t n[] = {0, 1, 127, 128, 129, 1024, 1025, N_MAX};
    for (int id = 0; id < CURVE_COUNT; id++) {
        for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
            fixture f;
            fixture_init(&f, (curve_id)id, n_threads);
            for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
                for (int out = 0; out < 4; out++) {
                    if (out != 3) check(&f, CUZK_POINTWISE_MUL, n[i], out);
                    check(&f, CUZK_POINTWISE_QUOTIENT, n[i], out);
                }
            }
            field_set_one(&f.c.fr, f.k.l);
            check(&f, CUZK_POINTWISE_QUOTIENT, N_MAX, 0);
            fixture_fini(&f);
        }
    }
}

static void test_pointwise__is_refused_when_an_operand_is_short(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, CURVE_BN254, 1);
    for (int i = 0; i < 4; i++) {
        cuzk_slice s[4];
        for (int j = 0; j < 4; j++) s[j] = (cuzk_slice){f.v[j], i == j ? 8 : 0};
        cuzk_pointwise_job job = {
            &f.c.fr, CUZK_POINTWISE_QUOTIENT, N_MAX, s[0], s[1], s[2], s[3], f.k};
        cuzk_err err;
        assert_int_equal(be()->pointwise(f.queue, &job, &err), CUZK_ERR_ARG);
        assert_string_equal(err.where, "backend.cpu");
        job.n = SIZE_MAX;
        assert_int_equal(be()->pointwise(f.queue, &job, &err), CUZK_ERR_ARG);
    }
    fixture_fini(&f);
}

static void test_pointwise__is_refused_when_the_field_has_six_limbs(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, CURVE_BLS12_381, 1);
    cuzk_pointwise_job job = {&f.c.fq,     CUZK_POINTWISE_MUL, 1,         {f.v[0], 0},
                              {f.v[1], 0}, {f.v[2], 0},        {NULL, 0}, f.k};
    cuzk_err err;
    assert_int_equal(be()->pointwise(f.queue, &job, &err), CUZK_ERR_ARG);
    assert_string_equal(err.text, "scalar field of 6 limbs, expected 4");
    fixture_fini(&f);
}

static void test_buf_alloc__fails_when_memory_can_not_be_had(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, CURVE_BN254, 1);
    cuzk_buf *buf = NULL;
    assert_int_equal(be()->buf_alloc(&buf, f.dev, CUZK_SPACE_HOST, SIZE_MAX, false, NULL),
                     CUZK_ERR_NOMEM);
    assert_null(buf);
    be()->buf_free(NULL);
    fixture_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointwise__is_the_formula_when_the_result_is_any_operand),
        cmocka_unit_test(test_pointwise__is_refused_when_an_operand_is_short),
        cmocka_unit_test(test_pointwise__is_refused_when_the_field_has_six_limbs),
        cmocka_unit_test(test_buf_alloc__fails_when_memory_can_not_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
