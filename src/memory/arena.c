/* SPDX-License-Identifier: Apache-2.0 */
/* memory/arena: see arena.h. */
#include "memory/arena.h"

#include <string.h>

#define MAX_ALIGNMENT ((size_t)4096) /* of a lease */

void arena_init(arena *a, lease *memory) {
    *a = (arena){.memory = *memory};
    *memory = (lease){0};
}

void arena_fini(arena *a) {
    lease_release(&a->memory);
    *a = (arena){0};
}

cuzk_status arena_alloc(void *out_ptr, arena *a, size_t n_items, size_t item_bytes,
                        size_t alignment, cuzk_err *err) {
    CUZK_ASSERT(alignment > 0 && (alignment & (alignment - 1)) == 0);
    CUZK_ASSERT(alignment <= MAX_ALIGNMENT);
    size_t n_left = a->memory.n_bytes - a->n_used;
    size_t n_padding = -a->n_used & (alignment - 1);
    if (n_padding > n_left ||
        (item_bytes != 0 && n_items > (n_left - n_padding) / item_bytes)) {
        return cuzk_fail(err, CUZK_ERR_BUDGET, "memory.arena",
                         "%zu items of %zu bytes asked for, %zu bytes of %zu are left",
                         n_items, item_bytes, n_left, a->memory.n_bytes);
    }
    void *piece = (uint8_t *)a->memory.data + a->n_used + n_padding;
    a->n_used += n_padding + n_items * item_bytes;
    if (a->n_used > a->n_peak) a->n_peak = a->n_used;
    memcpy(out_ptr, &piece, sizeof piece);
    return CUZK_OK;
}

arena_mark arena_get_mark(const arena *a) { return (arena_mark){.n_used = a->n_used}; }

void arena_reset(arena *a, arena_mark mark) {
    CUZK_ASSERT(mark.n_used <= a->n_used);
    a->n_used = mark.n_used;
}
