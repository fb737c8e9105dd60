/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MEMORY_PAGES_H
#define CUZK_MEMORY_PAGES_H
/* memory/pages: whole pages from the system, pinned when it agrees. Thread: all functions are
 * safe anywhere; pages have one owner. */
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

/* How pages are pinned. Thread: shared; called without a lock, on pages that nothing else lies
 * on. unpin only follows a pin that succeeded. */
typedef struct pages_pinner {
    cuzk_status (*pin)(void *arg, void *data, size_t n_bytes, cuzk_err *err);
    void (*unpin)(void *arg, void *data, size_t n_bytes);
    void *arg;
} pages_pinner;

/* For processors: kept in memory by mlock. */
extern const pages_pinner pages_pinner_mlock;

typedef struct pages {
    void *data; /* at a page boundary, so a multiple of 4096; contents unspecified */
    size_t n_bytes;
    bool is_pinned;
} pages;

/* The whole pages that hold n_bytes, at least one; 0 when that is more than an address can
 * reach. */
size_t pages_round_up(size_t n_bytes);

/* n_bytes as pages_round_up() says. When they can't be pinned they are ordinary memory, and
 * *why says why. NOMEM: the system has no memory at all. */
CUZK_MUST_CHECK cuzk_status pages_alloc(pages *out, size_t n_bytes, const pages_pinner *pinner,
                                        cuzk_err *why, cuzk_err *err);
/* With the pinner they came with. */
void pages_free(pages *p, const pages_pinner *pinner);

#endif
