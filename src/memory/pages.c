/* SPDX-License-Identifier: Apache-2.0 */
/* memory/pages: see pages.h. */
#define _DEFAULT_SOURCE /* madvise, mlock */
#include "memory/pages.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static cuzk_status pin_by_mlock(void *arg, void *data, size_t n_bytes, cuzk_err *err) {
    (void)arg;
    if (mlock(data, n_bytes) == 0) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_NOMEM, "memory.pages", "mlock: %s; see ulimit -l",
                     strerror(errno));
}

static void unpin_by_munlock(void *arg, void *data, size_t n_bytes) {
    (void)arg;
    (void)munlock(data, n_bytes);
}

const pages_pinner pages_pinner_mlock = {.pin = pin_by_mlock, .unpin = unpin_by_munlock};

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

size_t pages_round_up(size_t n_bytes) {
    size_t page = page_bytes();
    if (n_bytes == 0) return page;
    if (n_bytes > SIZE_MAX - page) return 0;
    return (n_bytes + page - 1) / page * page;
}

cuzk_status pages_alloc(pages *out, size_t n_bytes, const pages_pinner *pinner, cuzk_err *why,
                        cuzk_err *err) {
    bool is_large = n_bytes >= HUGE_PAGE_BYTES;
    void *data = NULL;
    if (posix_memalign(&data, is_large ? HUGE_PAGE_BYTES : page_bytes(), n_bytes) != 0) {
        return cuzk_fail(err, CUZK_ERR_NOMEM, "memory.pages", "the system refused %zu bytes",
                         n_bytes);
    }
    /* Huge pages are touched and pinned in a fraction of the time; not having them is fine. */
    if (is_large) (void)madvise(data, n_bytes, MADV_HUGEPAGE);
    bool is_pinned = pinner->pin(pinner->arg, data, n_bytes, why) == CUZK_OK;
    *out = (pages){.data = data, .n_bytes = n_bytes, .is_pinned = is_pinned};
    return CUZK_OK;
}

void pages_free(pages *p, const pages_pinner *pinner) {
    if (p->is_pinned) pinner->unpin(pinner->arg, p->data, p->n_bytes);
    free(p->data);
    *p = (pages){0};
}
