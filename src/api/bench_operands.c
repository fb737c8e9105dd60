/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench_operands: memory of the device with something in it, and names. */
#include "api/bench.h"
#include "base/alloc.h"

#include <stdio.h>

cuzk_status bench_alloc(cuzk_buf **out, const bench *b, size_t n_bytes) {
    return b->rt->backend->buf_alloc(out, b->rt->device, CUZK_SPACE_DEVICE, n_bytes, false,
                                     b->err);
}

void bench_free(const bench *b, cuzk_buf *buf) {
    if (buf) b->rt->backend->buf_free(buf);
}

cuzk_status bench_bytes(cuzk_buf **out, const bench *b, const void *from, size_t n_bytes) {
    cuzk_buf *buf = NULL;
    CUZK_TRY(bench_alloc(&buf, b, n_bytes));
    cuzk_status status =
        b->rt->backend->upload(b->queue, (cuzk_slice){buf, 0}, from, n_bytes, b->err);
    status = bench_wait(b, status, b->err);
    if (status == CUZK_OK)
        *out = buf;
    else
        bench_free(b, buf);
    return status;
}

cuzk_status bench_values(cuzk_buf **out, const bench *b, const field *fr, size_t n,
                         bench_fill_fn *fill) {
    uint64_t *values;
    CUZK_TRY(cuzk_alloc(&values, n, BENCH_FR_BYTES, b->err));
    fill(fr, values, n);
    const cuzk_status status = bench_bytes(out, b, values, n * BENCH_FR_BYTES);
    cuzk_free(values);
    return status;
}

measurement bench_measurement(const bench *b, const char *what, const curve *c,
                              const char *variant, unsigned log_n) {
    measurement m = {.n_times = 1, .n_ops = (double)((size_t)1 << log_n)};
    m.n_threads = cuzk_exec_n_threads(b->rt->exec);
    (void)snprintf(m.id, sizeof m.id, "%s/%s%s%s/2^%u/%s", what, c->params->name,
                   variant ? "/" : "", variant ? variant : "", log_n, b->rt->backend->name);
    return m;
}
