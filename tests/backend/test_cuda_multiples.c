/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda `multiples` against the CPU's, byte for byte. Skipped without a device. */
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

/* N_MAX: more than a piece of the device's work. The scalars repeat after N_DISTINCT, so that the
 * CPU has no more than those to make. */
enum { N_MAX = (1 << 19) + 33, N_DISTINCT = 2048, FR_BYTES = 32, N_SPECIAL = 7 };

typedef struct side {
    const cuzk_backend *be;
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_buf *k, *out;
} side;

typedef struct setting {
    const curve *c;
    side cpu, gpu;
    uint8_t *scalars, *expected, *points;
} setting;

static void open_side(side *a, const setting *s, const char *name, size_t n) {
    const size_t out_bytes = n * curve_g2_bytes(s->c), k_bytes = n * FR_BYTES;
    assert_int_equal(cuzk_backend_find(&a->be, name, NULL), CUZK_OK);
    assert_int_equal(a->be->open(&a->dev, &(cuzk_device_options){0}, NULL, NULL), CUZK_OK);
    assert_int_equal(a->be->queue_open(&a->queue, a->dev, "test", NULL, NULL), CUZK_OK);
    assert_int_equal(a->be->buf_wrap(&a->k, a->dev, s->scalars, k_bytes, NULL), CUZK_OK);
    assert_int_equal(
        a->be->buf_alloc(&a->out, a->dev, CUZK_SPACE_DEVICE, out_bytes, false, NULL), CUZK_OK);
}

static void close_side(side *a) {
    a->be->buf_free(a->k);
    a->be->buf_free(a->out);
    a->be->queue_close(a->queue);
    a->be->close(a->dev);
}

static void make(side *a, uint8_t *points, const curve *c, group_id g, size_t n) {
    const cuzk_multiples_job job = {c, g, n, {a->k, 0}, {a->out, 0}};
    assert_int_equal(a->be->multiples(a->queue, &job, NULL), CUZK_OK);
    assert_int_equal(
        a->be->download(a->queue, points, job.out, n * point_packed_bytes(c, g), NULL),
        CUZK_OK);
    assert_int_equal(a->be->queue_wait(a->queue, NULL), CUZK_OK);
}

/* 0, 1, -1, 1 again, a single high bit, two digits at the ends of words; then random ones. */
static void fill_scalars(const setting *s, testrand *rnd) {
    const field *fr = &s->c->fr;
    fe special[N_SPECIAL];
    const uint64_t high[4] = {0, 0, 0, (uint64_t)1 << 60}, ends[4] = {0, 255, 0, 255};
    field_set_zero(fr, special[0].l);
    field_set_one(fr, special[1].l);
    field_neg(fr, special[2].l, special[1].l);
    special[3] = special[1];
    fr->ops->to_mont(special[4].l, high, &fr->m);
    fr->ops->to_mont(special[5].l, ends, &fr->m);
    special[6] = special[0];
    for (size_t i = 0; i < N_MAX; i++) {
        uint8_t *to = s->scalars + i * FR_BYTES;
        fe k;
        if (i >= N_DISTINCT) {
            memcpy(to, to - (size_t)N_DISTINCT * FR_BYTES, FR_BYTES);
            continue;
        }
        testrand_fe(rnd, fr, k.l);
        field_store_mont(fr, to, i < N_SPECIAL ? special[i].l : k.l);
    }
}

static void check_group(setting *s, group_id g) {
    static const size_t sizes[] = {0, 1, 2, 6, 31, 32, 33, 127, 128, 129, 2048, N_MAX};
    const size_t n_bytes = point_packed_bytes(s->c, g);
    make(&s->cpu, s->expected, s->c, g, N_DISTINCT);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t n = sizes[i];
        memset(s->points, 0xee, n * n_bytes);
        make(&s->gpu, s->points, s->c, g, n);
        for (size_t j = 0; j < n; j++)
            assert_memory_equal(s->points + j * n_bytes,
                                s->expected + j % N_DISTINCT * n_bytes, n_bytes);
    }
}

static void check_curve(const curve *c, testrand *rnd) {
    setting s = {.c = c};
    const size_t point_bytes = curve_g2_bytes(c);
    assert_int_equal(cuzk_alloc(&s.scalars, N_MAX, FR_BYTES, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&s.expected, N_DISTINCT, point_bytes, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&s.points, N_MAX, point_bytes, NULL), CUZK_OK);
    fill_scalars(&s, rnd);
    open_side(&s.cpu, &s, "cpu", N_DISTINCT);
    open_side(&s.gpu, &s, "cuda", N_MAX);
    check_group(&s, GROUP_G1);
    check_group(&s, GROUP_G2);
    close_side(&s.cpu);
    close_side(&s.gpu);
    cuzk_free(s.scalars);
    cuzk_free(s.expected);
    cuzk_free(s.points);
}

static void test_cuda_multiples__are_those_of_the_cpu(void **state) {
    (void)state;
    testpoint_each_curve(check_curve);
}

int main(void) {
    const cuzk_backend *be;
    int score = 0;
    unsigned n_devices = 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_multiples__are_those_of_the_cpu),
    };
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK ||
        be->probe(&score, &n_devices, NULL) != CUZK_OK || score == 0 || n_devices == 0)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
