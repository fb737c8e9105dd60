/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda: sums take no more of the device's memory than they say to planners, do within
 * that limit, answer NOMEM below it, and give everything back. Skipped without the backend or a
 * device. */
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

enum { N_MAX = 1 << 16, FR_BYTES = 32, FR_WORDS = 4 };

static const cuzk_backend *be; /* set by main */

typedef struct setting {
    curve c;
    testrand rnd;
    cuzk_device *dev;
    cuzk_queue *queue;
    uint8_t *points[2]; /* of G1, G2: N_MAX each */
    uint64_t *values;
} setting;

static void open_device(setting *s, uint64_t memory_limit) {
    const cuzk_device_options options = {.memory_limit = memory_limit};
    assert_int_equal(be->open(&s->dev, &options, NULL, NULL), CUZK_OK);
    assert_int_equal(be->queue_open(&s->queue, s->dev, "memory", NULL, NULL), CUZK_OK);
}

static cuzk_device_info info_of(setting *s) {
    cuzk_device_info info;
    be->device_info(s->dev, &info);
    return info;
}

static void close_device(setting *s) {
    be->queue_close(s->queue);
    assert_int_equal(info_of(s).used_bytes, 0);
    be->close(s->dev);
}

/* What is taken beside `used` bytes; the peak starts again. */
static uint64_t peak_above(setting *s, uint64_t used) {
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    const uint64_t peak = info_of(s).peak_bytes;
    be->device_info_reset(s->dev);
    assert_true(peak >= used);
    return peak - used;
}

static cuzk_buf *new_buf(setting *s, const void *bytes, size_t n_bytes) {
    cuzk_buf *buf;
    assert_int_equal(be->buf_alloc(&buf, s->dev, CUZK_SPACE_DEVICE, n_bytes, false, NULL),
                     CUZK_OK);
    if (bytes) {
        assert_int_equal(be->upload(s->queue, (cuzk_slice){buf, 0}, bytes, n_bytes, NULL),
                         CUZK_OK);
    }
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    be->device_info_reset(s->dev);
    return buf;
}

/* A few points, again and again. */
static void fill_points(setting *s, group_id g) {
    const size_t n_bytes = point_packed_bytes(&s->c, g), n_different = 64;
    uint8_t **out = &s->points[g - 1];
    point p, generator;
    assert_int_equal(cuzk_alloc(out, N_MAX, n_bytes, NULL), CUZK_OK);
    point_set_generator(&s->c, g, &generator);
    p = generator;
    for (size_t i = 0; i < N_MAX; i++) {
        uint8_t *to = *out + i * n_bytes;
        if (i < n_different) {
            point_store_packed(&s->c, g, to, &p);
            point_add(&s->c, g, &p, &p, &generator);
        } else {
            memcpy(to, to - n_different * n_bytes, n_bytes);
        }
    }
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
        assert_int_equal(cuzk_zalloc(&s.values, N_MAX, FR_BYTES, NULL), CUZK_OK);
        check(&s);
        cuzk_free(s.points[0]);
        cuzk_free(s.points[1]);
        cuzk_free(s.values);
    }
}

/* ---- sums ---- */
typedef enum values_kind { DENSE, BITS, SMALL, MIXED, N_KINDS } values_kind;

static void fill_values(setting *s, values_kind kind, size_t n) { /* Montgomery */
    for (size_t i = 0; i < n; i++) {
        const values_kind k =
            kind == MIXED ? (values_kind)testrand_below(&s->rnd, MIXED) : kind;
        if (k == DENSE)
            testrand_fe(&s->rnd, &s->c.fr, s->values + i * FR_WORDS);
        else
            field_set_u64(&s->c.fr, s->values + i * FR_WORDS,
                          testrand_below(&s->rnd, k == BITS ? 2 : 1 << 20));
    }
}

typedef struct sums {
    cuzk_buf *values, *points[2];
    cuzk_scalars *scalars;
    point result;
} sums;

static void open_sums(setting *s, sums *m, size_t n) {
    m->values = new_buf(s, s->values, n * FR_BYTES);
    for (int g = GROUP_G1; g <= GROUP_G2; g++) {
        m->points[g - 1] =
            new_buf(s, s->points[g - 1], n * point_packed_bytes(&s->c, (group_id)g));
    }
    const uint64_t operands = info_of(s).used_bytes;
    assert_int_equal(be->scalars_open(&m->scalars, s->queue, &s->c.fr,
                                      (cuzk_slice){m->values, 0}, n, true, NULL),
                     CUZK_OK);
    assert_true(peak_above(s, operands) <= be->scalars_bytes(n));
}

static cuzk_status sum(setting *s, sums *m, group_id g, size_t n) {
    const cuzk_msm_job job = {&s->c, g, {m->points[g - 1], 0}, m->scalars, 0, n, &m->result};
    return be->msm(s->queue, &job, 1, NULL);
}

static void close_sums(setting *s, sums *m) {
    be->scalars_close(m->scalars);
    be->buf_free(m->values);
    be->buf_free(m->points[0]);
    be->buf_free(m->points[1]);
    assert_int_equal(info_of(s).used_bytes, 0);
}

static size_t n_largest(void) { return getenv("CUZK_TEST_SMALL") ? 1 << 9 : N_MAX; }

static void check_sums(setting *s) {
    open_device(s, 0);
    for (size_t n = 1; n <= n_largest(); n *= 8) {
        for (int kind = DENSE; kind < N_KINDS; kind++) {
            sums m;
            fill_values(s, (values_kind)kind, n);
            open_sums(s, &m, n);
            const uint64_t used = info_of(s).used_bytes;
            for (int g = GROUP_G1; g <= GROUP_G2; g++) {
                assert_int_equal(sum(s, &m, (group_id)g, n), CUZK_OK);
                assert_true(peak_above(s, used) <= be->msm_bytes(&s->c, (group_id)g, n));
                assert_int_equal(info_of(s).used_bytes, used);
            }
            close_sums(s, &m);
        }
    }
    close_device(s);
}

static void test_cuda_memory__is_bounded_when_points_are_summed(void **state) {
    (void)state;
    each_curve(check_sums);
}

/* ---- limits ---- */
static void check_limits(setting *s) {
    const size_t n = n_largest();
    const uint64_t operands = n * (FR_BYTES + point_packed_bytes(&s->c, GROUP_G1) +
                                   point_packed_bytes(&s->c, GROUP_G2)) +
                              be->scalars_bytes(n),
                   work = be->msm_bytes(&s->c, GROUP_G1, n);
    sums m;
    point free_result;
    fill_values(s, DENSE, n);
    open_device(s, 0);
    open_sums(s, &m, n);
    assert_int_equal(sum(s, &m, GROUP_G1, n), CUZK_OK);
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    free_result = m.result;
    close_sums(s, &m);
    close_device(s);
    open_device(s, operands + work / 8);
    open_sums(s, &m, n);
    assert_int_equal(sum(s, &m, GROUP_G1, n), CUZK_ERR_NOMEM);
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    close_sums(s, &m); /* and nothing is left behind */
    close_device(s);
    open_device(s, operands + work);
    open_sums(s, &m, n);
    assert_int_equal(sum(s, &m, GROUP_G1, n), CUZK_OK);
    assert_int_equal(be->queue_wait(s->queue, NULL), CUZK_OK);
    assert_true(point_equal(&s->c, GROUP_G1, &free_result, &m.result));
    close_sums(s, &m);
    close_device(s);
}

static void test_cuda_memory__is_refused_when_the_limit_is_below_the_work(void **state) {
    (void)state;
    each_curve(check_limits);
}

int main(void) {
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK) return 77; /* skipped */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_memory__is_bounded_when_points_are_summed),
        cmocka_unit_test(test_cuda_memory__is_refused_when_the_limit_is_below_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
