/* SPDX-License-Identifier: Apache-2.0 */
/* backend `multiples` on the CPU: against multiples made one at a time, at the sizes where the
 * way of making them changes. */
#include "backend/backend.h"
#include "base/alloc.h"
#include "testpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_MAX = 1500, FR_BYTES = 32, N_SPECIAL = 6 };

typedef struct setting {
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_buf *k, *out;
    uint8_t *scalars, *points; /* what is in them */
} setting;

static const cuzk_backend *const be = &cuzk_backend_cpu;

static void set_up(setting *s, const curve *c, unsigned n_threads) {
    const size_t k_bytes = (size_t)N_MAX * FR_BYTES, out_bytes = N_MAX * curve_g2_bytes(c);
    assert_int_equal(cuzk_exec_create(&s->exec, n_threads, NULL), CUZK_OK);
    assert_int_equal(be->open(&s->dev, &(cuzk_device_options){0}, s->exec, NULL), CUZK_OK);
    assert_int_equal(be->queue_open(&s->queue, s->dev, "test", NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&s->scalars, k_bytes, 1, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&s->points, out_bytes, 1, NULL), CUZK_OK);
    assert_int_equal(be->buf_wrap(&s->k, s->dev, s->scalars, k_bytes, NULL), CUZK_OK);
    assert_int_equal(be->buf_alloc(&s->out, s->dev, CUZK_SPACE_DEVICE, out_bytes, false, NULL),
                     CUZK_OK);
}

static void tear_down(setting *s) {
    be->buf_free(s->k);
    be->buf_free(s->out);
    be->queue_close(s->queue);
    be->close(s->dev);
    cuzk_exec_destroy(s->exec);
    cuzk_free(s->scalars);
    cuzk_free(s->points);
}

/* 0, 1, -1, 1 again, a small one, one with a single high bit; then random ones. */
static void fill_scalars(const setting *s, const field *fr, testrand *rnd) {
    fe special[N_SPECIAL];
    const uint64_t high[4] = {0, 0, 0, (uint64_t)1 << 60};
    field_set_zero(fr, special[0].l);
    field_set_one(fr, special[1].l);
    field_neg(fr, special[2].l, special[1].l);
    special[3] = special[1];
    field_set_u64(fr, special[4].l, 77);
    fr->ops->to_mont(special[5].l, high, &fr->m);
    for (size_t i = 0; i < N_MAX; i++) {
        fe k;
        testrand_fe(rnd, fr, k.l);
        field_store_mont(fr, s->scalars + i * FR_BYTES, i < N_SPECIAL ? special[i].l : k.l);
    }
}

static void check_point(const setting *s, const curve *c, group_id g, size_t i) {
    const size_t n_bytes = point_packed_bytes(c, g);
    uint8_t expected[192];
    point p;
    fe k;
    assert_true(field_load_mont(&c->fr, k.l, s->scalars + i * FR_BYTES));
    point_set_generator(c, g, &p);
    point_mul_fr(c, g, &p, &p, &k);
    point_store_packed(c, g, expected, &p);
    assert_memory_equal(s->points + i * n_bytes, expected, n_bytes);
}

static void check_size(setting *s, const curve *c, group_id g, size_t n) {
    const size_t n_bytes = point_packed_bytes(c, g);
    const cuzk_multiples_job job = {c, g, n, {s->k, 0}, {s->out, 0}};
    memset(s->points, 0xee, N_MAX * n_bytes);
    assert_int_equal(be->upload(s->queue, job.out, s->points, N_MAX * n_bytes, NULL), CUZK_OK);
    assert_int_equal(be->multiples(s->queue, &job, NULL), CUZK_OK);
    assert_int_equal(be->download(s->queue, s->points, job.out, N_MAX * n_bytes, NULL),
                     CUZK_OK);
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    for (size_t i = 0; i < n; i += i < 20 ? 1 : 1 + n / 40) check_point(s, c, g, i);
    if (n) check_point(s, c, g, n - 1);
    for (size_t i = n * n_bytes; i < N_MAX * n_bytes; i++) /* nothing behind the last */
        assert_int_equal(s->points[i], 0xee);
}

static void check_curve(const curve *c, testrand *rnd) {
    static const size_t sizes[] = {0, 1, 7, 100, 511, 512, 513, N_MAX};
    for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
        setting s;
        set_up(&s, c, n_threads);
        fill_scalars(&s, &c->fr, rnd);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            check_size(&s, c, GROUP_G1, sizes[i]);
            check_size(&s, c, GROUP_G2, sizes[i]);
        }
        tear_down(&s);
    }
}

static void test_multiples__are_the_same_as_one_at_a_time(void **state) {
    (void)state;
    testpoint_each_curve(check_curve);
}

static void check_refusals(const curve *c, testrand *rnd) {
    setting s;
    cuzk_err err;
    set_up(&s, c, 1);
    fill_scalars(&s, &c->fr, rnd);
    const size_t n_too_many = N_MAX + 1;
    const cuzk_multiples_job too_many = {c, GROUP_G1, n_too_many, {s.k, 0}, {s.out, 0}};
    assert_int_equal(be->multiples(s.queue, &too_many, &err), CUZK_ERR_ARG);
    assert_non_null(strstr(err.text, "operand k"));
    const cuzk_multiples_job no_room = {c, GROUP_G2, N_MAX, {s.k, 0}, {s.out, 8}};
    assert_int_equal(be->multiples(s.queue, &no_room, &err), CUZK_ERR_ARG);
    assert_non_null(strstr(err.text, "operand out"));
    const cuzk_multiples_job read_only = {c, GROUP_G1, 1, {s.k, 0}, {s.k, 0}};
    assert_int_equal(be->multiples(s.queue, &read_only, &err), CUZK_ERR_ARG);
    assert_non_null(strstr(err.text, "out"));
    tear_down(&s);
}

static void test_multiples__refuses_operands_that_do_not_fit(void **state) {
    (void)state;
    testpoint_each_curve(check_refusals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiples__are_the_same_as_one_at_a_time),
        cmocka_unit_test(test_multiples__refuses_operands_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
