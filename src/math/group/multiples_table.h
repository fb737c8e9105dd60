/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_GROUP_MULTIPLES_TABLE_H
#define CUZK_MATH_GROUP_MULTIPLES_TABLE_H
/* math/group/multiples_table: windowed multiples of a group's generator. A multiple of it is
 * then a sum of one point a window, without doublings. */
#include "math/group/group.h"

/* points: [n_windows][2^window_bits], packed; points[w][d] = [d 2^(w window_bits)] G. The
 * windows cover every scalar below the order. */
typedef struct multiples_table {
    unsigned window_bits, n_windows;
    size_t point_words; /* 64-bit words of a packed point */
    uint64_t *points;   /* owned */
} multiples_table;

/* window_bits: 1 to 16. NOMEM. */
CUZK_MUST_CHECK cuzk_status multiples_table_init(multiples_table *out, const curve *c,
                                                 group_id g, unsigned window_bits,
                                                 cuzk_err *err);
void multiples_table_fini(multiples_table *table); /* a zeroed one is fine */

CUZK_INLINE unsigned multiples_n_windows(const curve *c, unsigned window_bits) {
    return (c->fr.m.n_bits + window_bits - 1) / window_bits;
}
CUZK_INLINE size_t multiples_table_bytes(const multiples_table *t) {
    return ((size_t)t->n_windows << t->window_bits) * t->point_words * sizeof(uint64_t);
}

#endif
