/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MEMORY_ARENA_H
#define CUZK_MEMORY_ARENA_H
/* memory/arena: the scratch of one proof, handed out piece by piece from one lease and given
 * back all together. In: a lease of the size the planner computed. Out: aligned pieces. */
#include "memory/pinned_pool.h"

typedef struct arena { /* Thread: owned */
    lease memory;
    size_t n_used;
    size_t n_peak; /* the most that was used since init: what the planner should have asked */
} arena;

/* A place to go back to; dies with any earlier mark that is gone back to. */
typedef struct arena_mark {
    size_t n_used;
} arena_mark;

/* Moves *memory in; it is empty afterwards. */
void arena_init(arena *a, lease *memory);
/* Gives the lease back. A zeroed or finished one is fine. */
void arena_fini(arena *a);

/* n_items * item_bytes bytes at a multiple of `alignment`, a power of two up to 4096; contents
 * unspecified. Dies at arena_reset to an earlier mark. 0 bytes: a valid address, shared.
 * BUDGET: more than is left; *out_ptr is unchanged. */
CUZK_MUST_CHECK cuzk_status arena_alloc(void *out_ptr, arena *a, size_t n_items,
                                        size_t item_bytes, size_t alignment, cuzk_err *err);
arena_mark arena_get_mark(const arena *a);
/* Everything handed out after `mark` is free again. */
void arena_reset(arena *a, arena_mark mark);

#endif
