/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ntt_diff: any transform of any elements against its defining sum, and the best CPU
 * level on three threads against portable code on one. Input: curve, log n, kind, order,
 * convention (a byte each), then the bytes of elements, taken round and round. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"

#include <string.h>

#define W            CPU_FR_LIMBS
#define HEADER_BYTES 5u
#define LOG_MAX      11u
#define SUM_LOG_MAX  6u /* above, the sum takes too long */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

typedef struct input {
    curve_id id;
    unsigned log_n;
    cuzk_ntt_kind kind;
    bool brp, bellperson;
    const uint8_t *bytes;
    size_t n_bytes;
} input;

static void fill(const input *in, const field *fr, uint64_t *values) {
    const size_t n_total = ((size_t)1 << in->log_n) * CPU_FR_BYTES;
    uint8_t *p = (uint8_t *)values;
    for (size_t i = 0; i < n_total; i++) p[i] = in->n_bytes ? in->bytes[i % in->n_bytes] : 0;
    for (size_t i = 0; i < n_total / CPU_FR_BYTES; i++) {
        uint64_t *e = values + i * W;
        if (!field_is_canonical_le(fr, (const uint8_t *)e)) e[W - 1] &= fr->m.p[W - 1] / 2;
    }
}

static cuzk_buf *transform(const input *in, cuzk_cpu_level level, unsigned n_threads) {
    const cuzk_backend *be = &cuzk_backend_cpu;
    curve c;
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_domain *domain;
    cuzk_buf *buf;
    fe seven;
    curve_init(&c, in->id, level);
    field_set_u64(&c.fr, seven.l, 7);
    const size_t n_bytes = CPU_FR_BYTES << in->log_n;
    CUZK_ASSERT(cuzk_exec_create(&exec, n_threads, NULL) == CUZK_OK);
    CUZK_ASSERT(be->open(&dev, &(cuzk_device_options){.index = 0}, exec, NULL) == CUZK_OK);
    CUZK_ASSERT(be->queue_open(&queue, dev, "test", NULL, NULL) == CUZK_OK);
    CUZK_ASSERT(be->buf_alloc(&buf, dev, CUZK_SPACE_HOST, n_bytes, true, NULL) == CUZK_OK);
    CUZK_ASSERT(be->domain_open(&domain, dev, &c.fr, in->log_n, in->bellperson ? 7 : 5,
                                in->bellperson ? &seven : NULL, NULL) == CUZK_OK);
    fill(in, &c.fr, (uint64_t *)(void *)buf->p);
    const cuzk_ntt_job job = {domain, in->kind, in->brp, {buf, 0}};
    CUZK_ASSERT(be->ntt(queue, &job, NULL) == CUZK_OK);
    be->domain_close(domain);
    be->queue_close(queue);
    be->close(dev);
    cuzk_exec_destroy(exec);
    return buf;
}

static size_t place(const input *in, size_t k) {
    if (!in->brp) return k;
    size_t r = 0;
    for (unsigned b = 0; b < in->log_n; b++) r |= (k >> b & 1) << (in->log_n - 1 - b);
    return r;
}

/* The values of the coefficients, by Horner's rule at each point. */
static void check_sum(const input *in, const uint64_t *coefficients, const uint64_t *values) {
    curve c;
    fe w, g, x;
    curve_init(&c, in->id, CUZK_CPU_PORTABLE);
    const field *fr = &c.fr;
    const uint64_t nonresidue = in->bellperson ? 7 : 5;
    field_root_of_unity(fr, w.l, nonresidue, in->log_n);
    field_set_one(fr, x.l);
    if (in->bellperson)
        field_set_u64(fr, g.l, 7);
    else
        field_root_of_unity(fr, g.l, nonresidue, in->log_n + 1);
    if (in->kind == CUZK_NTT_COSET_FORWARD || in->kind == CUZK_NTT_COSET_INVERSE) x = g;
    for (size_t j = 0; j < (size_t)1 << in->log_n; j++) {
        uint64_t sum[W];
        field_set_zero(fr, sum);
        for (size_t k = (size_t)1 << in->log_n; k-- > 0;) {
            field_mul(fr, sum, sum, x.l);
            field_add(fr, sum, sum, coefficients + place(in, k) * W);
        }
        CUZK_ASSERT(field_equal(fr, sum, values + j * W));
        field_mul(fr, x.l, x.l, w.l);
    }
}

static void check_against_sum(const input *in, const cuzk_buf *out) {
    curve c;
    uint64_t *before;
    const uint64_t *after = (const uint64_t *)(const void *)out->p;
    curve_init(&c, in->id, CUZK_CPU_PORTABLE);
    CUZK_ASSERT(cuzk_alloc(&before, (size_t)1 << in->log_n, CPU_FR_BYTES, NULL) == CUZK_OK);
    fill(in, &c.fr, before);
    const bool to_coefficients =
        in->kind == CUZK_NTT_INVERSE || in->kind == CUZK_NTT_COSET_INVERSE;
    check_sum(in, to_coefficients ? after : before, to_coefficients ? before : after);
    cuzk_free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    if (n_bytes < HEADER_BYTES) return 0;
    const input in = {
        .id = (curve_id)(data[0] % CURVE_COUNT),
        .log_n = data[1] % (LOG_MAX + 1),
        .kind = (cuzk_ntt_kind)(data[2] % 4),
        .brp = data[3] & 1,
        .bellperson = data[4] & 1,
        .bytes = data + HEADER_BYTES,
        .n_bytes = n_bytes - HEADER_BYTES,
    };
    cuzk_cpu_level best;
    CUZK_ASSERT(cuzk_cpu_select(&best, NULL, NULL) == CUZK_OK);
    cuzk_buf *out = transform(&in, CUZK_CPU_PORTABLE, 1);
    cuzk_buf *other = transform(&in, best, 3);
    CUZK_ASSERT(memcmp(out->p, other->p, out->n_bytes) == 0);
    if (in.log_n <= SUM_LOG_MAX) check_against_sum(&in, out);
    cuzk_backend_cpu.buf_free(out);
    cuzk_backend_cpu.buf_free(other);
    return 0;
}
