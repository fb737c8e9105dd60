/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_msm_diff: any scalars on any points against one multiplication of the generator (all
 * points are known multiples of it), with the best CPU level on three threads and with
 * portable code on one.
 * Input: curve, group, first, form (a byte each); then for each product a byte that names the
 * point (0 infinity, odd P, even -P) and one that names the scalar: one of a few (below), or
 * the 32 bytes that follow. */
#include "backend/cpu/scalars.h"
#include "fuzz.h"

#include "base/alloc.h"

#define W            CPU_FR_LIMBS
#define HEADER_BYTES 4u
#define N_MAX        200u
#define POOL         128u

typedef struct input {
    curve_id id;
    group_id group;
    size_t first, n; /* the range that is multiplied; the set has first + n scalars */
    bool montgomery;
    uint8_t point[N_MAX];
    uint64_t scalar[N_MAX][W]; /* canonical */
} input;

static void negate(const field *fr, uint64_t *k) {
    fr->ops->to_mont(k, k, &fr->m);
    field_neg(fr, k, k);
    fr->ops->from_mont(k, k, &fr->m);
}

/* The named scalars: 0, 1, -1, and plus or minus 2^b and 2^b - 1. */
static void named_scalar(const field *fr, uint64_t *k, uint8_t name) {
    const unsigned bit = name / 2 * 2; /* 0, 2 .. 252 */
    memset(k, 0, W * sizeof *k);
    k[bit / 64] = (uint64_t)1 << bit % 64;
    for (unsigned i = 0; name % 2 && i < W && k[i]-- == 0; i++) {}
    if (name % 3 == 0) negate(fr, k);
}

static bool read_input(input *in, cuzk_span bytes) {
    if (bytes.n_bytes < HEADER_BYTES) return false;
    in->id = (curve_id)(bytes.p[0] % CURVE_COUNT);
    in->group = (group_id)(1 + bytes.p[1] % 2);
    in->montgomery = bytes.p[3] & 1;
    const field *fr = &fuzz_curve(in->id)->fr;
    size_t n = 0, at = HEADER_BYTES;
    for (; n < N_MAX && at + 2 <= bytes.n_bytes; n++) {
        const uint8_t name = bytes.p[at + 1];
        in->point[n] = bytes.p[at];
        at += 2;
        if (name < 254) {
            named_scalar(fr, in->scalar[n], name);
            continue;
        }
        memset(in->scalar[n], 0, CPU_FR_BYTES);
        for (size_t i = 0; i < CPU_FR_BYTES && at < bytes.n_bytes; i++) {
            in->scalar[n][i / 8] |= (uint64_t)bytes.p[at++] << i % 8 * 8;
        }
        if (!field_is_canonical_le(fr, (const uint8_t *)in->scalar[n])) {
            in->scalar[n][W - 1] %= fr->m.p[W - 1];
        }
    }
    in->first = n ? bytes.p[2] % (n + 1) : 0;
    in->n = n - in->first;
    return true;
}

/* 1 .. POOL times the generator; made once. */
static const point *pool(curve_id id, group_id group) {
    static point points[CURVE_COUNT][2][POOL];
    static bool is_made[CURVE_COUNT][2];
    point *p = points[id][group - 1];
    if (is_made[id][group - 1]) return p;
    const curve *c = fuzz_curve(id);
    point_set_generator(c, group, &p[0]);
    for (unsigned i = 1; i < POOL; i++) point_add(c, group, &p[i], &p[i - 1], &p[0]);
    is_made[id][group - 1] = true;
    return p;
}

static void input_point(const input *in, point *out, size_t i) {
    const curve *c = fuzz_curve(in->id);
    const uint8_t name = in->point[in->first + i];
    *out = pool(in->id, in->group)[name / 2];
    if (name == 0)
        point_set_infinity(c, in->group, out);
    else if (name % 2 == 0)
        point_neg(c, in->group, out, out);
}

/* All points are known multiples of the generator. */
static void expected_sum(const input *in, point *sum) {
    const curve *c = fuzz_curve(in->id);
    const field *fr = &c->fr;
    fe total = {0};
    for (size_t i = in->first; i < in->first + in->n; i++) {
        const uint8_t name = in->point[i];
        fe m, k;
        field_set_u64(fr, m.l, name == 0 ? 0 : name / 2 + 1u);
        if (name % 2 == 0) field_neg(fr, m.l, m.l);
        fr->ops->to_mont(k.l, in->scalar[i], &fr->m);
        field_mul(fr, k.l, k.l, m.l);
        field_add(fr, total.l, total.l, k.l);
    }
    point_set_generator(c, in->group, sum);
    point_mul_fr(c, in->group, sum, sum, &total);
}

static void multiply(const input *in, point *sum, cuzk_cpu_level level, unsigned n_threads) {
    const cuzk_backend *be = &cuzk_backend_cpu;
    curve c;
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_buf *points, *values;
    cuzk_scalars *scalars;
    curve_init(&c, in->id, level);
    const size_t point_bytes = point_packed_bytes(&c, in->group), n_total = in->first + in->n;
    CUZK_ASSERT(cuzk_exec_create(&exec, n_threads, NULL) == CUZK_OK);
    CUZK_ASSERT(be->open(&dev, &(cuzk_device_options){.index = 0}, exec, NULL) == CUZK_OK);
    CUZK_ASSERT(be->queue_open(&queue, dev, "test", NULL, NULL) == CUZK_OK);
    CUZK_ASSERT(be->buf_alloc(&points, dev, CUZK_SPACE_HOST, in->n * point_bytes + 4, false,
                              NULL) == CUZK_OK);
    CUZK_ASSERT(be->buf_alloc(&values, dev, CUZK_SPACE_HOST, n_total * CPU_FR_BYTES, true,
                              NULL) == CUZK_OK);
    for (size_t i = 0; i < in->n; i++) {
        point p;
        input_point(in, &p, i);
        point_store_packed(&c, in->group, points->p + 4 + i * point_bytes, &p);
    }
    for (size_t i = 0; i < n_total; i++) {
        fe k;
        memcpy(k.l, in->scalar[i], CPU_FR_BYTES);
        if (in->montgomery) c.fr.ops->to_mont(k.l, k.l, &c.fr.m);
        memcpy(values->p + i * CPU_FR_BYTES, k.l, CPU_FR_BYTES);
    }
    CUZK_ASSERT(be->scalars_open(&scalars, queue, &c.fr, (cuzk_slice){values, 0}, n_total,
                                 in->montgomery, NULL) == CUZK_OK);
    const cuzk_msm_job job = {&c, in->group, {points, 4}, scalars, in->first, in->n, sum};
    CUZK_ASSERT(be->msm(queue, &job, 1, NULL) == CUZK_OK);
    be->scalars_close(scalars);
    be->buf_free(values);
    be->buf_free(points);
    be->queue_close(queue);
    be->close(dev);
    cuzk_exec_destroy(exec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    input in;
    cuzk_cpu_level best;
    point expected, sum;
    if (!read_input(&in, (cuzk_span){data, n_bytes})) return 0;
    CUZK_ASSERT(cuzk_cpu_select(&best, NULL, NULL) == CUZK_OK);
    const curve *c = fuzz_curve(in.id);
    expected_sum(&in, &expected);
    multiply(&in, &sum, CUZK_CPU_PORTABLE, 1);
    CUZK_ASSERT(point_equal(c, in.group, &sum, &expected));
    multiply(&in, &sum, best, 3);
    CUZK_ASSERT(point_equal(c, in.group, &sum, &expected));
    return 0;
}
