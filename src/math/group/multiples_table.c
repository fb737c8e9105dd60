/* SPDX-License-Identifier: Apache-2.0 */
#include "math/group/multiples_table.h"
#include "base/alloc.h"
#include "base/bytes.h"

/* What filling a window works on. */
typedef struct workshop {
    limb_batch_add *batch_add;
    uint64_t *addend; /* 2^(window_bits - 1) points */
    void *scratch;
} workshop;

/* By doubling the filled part: t[m + i] = t[i] + m B for i < m. Leaves 2^window_bits B. */
static cuzk_status fill_window(const multiples_table *table, uint64_t *t, const curve *c,
                               group_id g, point *base, const workshop *ws, cuzk_err *err) {
    const size_t words = table->point_words, bytes = words * sizeof(uint64_t);
    memset(t, 0, bytes);
    for (size_t m = 1; m < (size_t)1 << table->window_bits; m *= 2) {
        CUZK_TRY(point_store_packed_many(c, g, (uint8_t *)ws->addend, base, 1, err));
        for (size_t i = 1; i < m; i++) memcpy(ws->addend + i * words, ws->addend, bytes);
        ws->batch_add(t + m * words, t, ws->addend, m, ws->scratch, &c->fq.m);
        point_double(c, g, base, base);
    }
    return CUZK_OK;
}

cuzk_status multiples_table_init(multiples_table *out, const curve *c, group_id g,
                                 unsigned window_bits, cuzk_err *err) {
    const size_t n = (size_t)1 << window_bits;
    multiples_table table = {.window_bits = window_bits,
                             .n_windows = multiples_n_windows(c, window_bits),
                             .point_words = point_packed_bytes(c, g) / sizeof(uint64_t)};
    workshop ws = {.batch_add = g == GROUP_G1 ? c->fq.ops->batch_add1 : c->fq.ops->batch_add2};
    const size_t point_bytes = table.point_words * sizeof(uint64_t);
    cuzk_status st = cuzk_alloc(&table.points, n * table.n_windows, point_bytes, err);
    if (st == CUZK_OK) st = cuzk_alloc(&ws.addend, n / 2, point_bytes, err);
    if (st == CUZK_OK)
        st = cuzk_alloc(&ws.scratch,
                        limb_batch_add_scratch(c->fq.m.n_limbs, (unsigned)g, n / 2), 1, err);
    point base;
    point_set_generator(c, g, &base);
    for (unsigned w = 0; w < table.n_windows && st == CUZK_OK; w++)
        st = fill_window(&table, table.points + w * n * table.point_words, c, g, &base, &ws,
                         err);
    cuzk_free(ws.addend);
    cuzk_free(ws.scratch);
    if (st == CUZK_OK)
        *out = table;
    else
        multiples_table_fini(&table);
    return st;
}

void multiples_table_fini(multiples_table *table) {
    cuzk_free(table->points);
    table->points = NULL;
}
