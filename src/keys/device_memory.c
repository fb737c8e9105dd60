/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/device_memory.h"
#include "base/alloc.h"
#include "keys/residency.h"
#include <unistd.h>

static uint64_t default_pinned_bytes(bool can_copy_async) {
    const long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (!can_copy_async || n_pages <= 0 || page_bytes <= 0) return 0;
    return (uint64_t)n_pages * (uint64_t)page_bytes / 2;
}

static void evict_for_budget(void *arg, uint64_t n_bytes) {
    (void)device_memory_evict(arg, n_bytes);
}

static cuzk_status open_budgets(device_memory *m, uint64_t pinned_bytes, cuzk_err *err) {
    if (m->limit_bytes) {
        CUZK_TRY(budget_create(&m->vram, m->limit_bytes, BUDGET_AGING_NS, err));
        budget_set_evictor(m->vram, BUDGET_KEYS, evict_for_budget, m);
    }
    if (!pinned_bytes) return CUZK_OK;
    CUZK_TRY(budget_create(&m->pinned, pinned_bytes, BUDGET_AGING_NS, err));
    const pinned_pool_options options = {.pinner = m->backend->pinner(m->device)};
    return pinned_pool_create(&m->pool, m->pinned, &options, err);
}

cuzk_status device_memory_create(device_memory **out, const cuzk_backend *backend,
                                 cuzk_device *device, cuzk_exec *exec,
                                 const device_memory_options *options, cuzk_err *err) {
    const device_memory_options o = options ? *options : (device_memory_options){0};
    cuzk_device_info info;
    device_memory *m = NULL;
    backend->device_info(device, &info);
    CUZK_TRY(cuzk_zalloc(&m, 1, sizeof *m, err));
    m->backend = backend;
    m->device = device;
    m->exec = exec;
    m->limit_bytes = o.limit_bytes ? o.limit_bytes : info.limit_bytes;
    (void)pthread_mutex_init(&m->lock, NULL); /* with default attributes these cannot fail */
    (void)pthread_cond_init(&m->changed, NULL);
    const uint64_t pinned_bytes =
        o.pinned_bytes ? o.pinned_bytes : default_pinned_bytes(info.can_copy_async);
    const cuzk_status st = open_budgets(m, pinned_bytes, err);
    if (st == CUZK_OK)
        *out = m;
    else
        device_memory_destroy(m);
    return st;
}

void device_memory_destroy(device_memory *m) {
    if (!m) return;
    CUZK_ASSERT(!m->copies);
    pinned_pool_destroy(m->pool);
    budget_destroy(m->pinned);
    if (m->vram) budget_set_evictor(m->vram, BUDGET_KEYS, NULL, NULL);
    budget_destroy(m->vram);
    (void)pthread_cond_destroy(&m->changed);
    (void)pthread_mutex_destroy(&m->lock);
    cuzk_free(m);
}

uint64_t device_memory_evict(device_memory *m, uint64_t n_bytes) {
    uint64_t n_freed = 0, n = 0;
    while (n_freed < n_bytes && key_copy_evict_oldest(&n, m)) n_freed += n;
    return n_freed;
}
