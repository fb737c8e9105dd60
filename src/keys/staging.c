/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/staging.h"
#include "base/alloc.h"
#include "base/clock.h"

#define WAIT_NS 1000000000u

cuzk_status staging_acquire(staging *out, device_memory *m, size_t n_bytes, bool is_secret,
                            cuzk_err *err) {
    staging s = {.n_bytes = n_bytes, .is_secret = is_secret};
    if (m->pool) {
        const budget_request request = {BUDGET_NORMAL, cuzk_clock_ns() + WAIT_NS, 0};
        const cuzk_status st =
            pinned_pool_checkout(&s.lease, m->pool, n_bytes, is_secret, &request, err);
        if (st == CUZK_OK) {
            s.data = s.lease.data;
            s.is_pinned = s.lease.is_pinned;
            *out = s;
            return CUZK_OK;
        }
        if (st != CUZK_ERR_BUSY && st != CUZK_ERR_BUDGET) return st;
    }
    CUZK_TRY(cuzk_alloc(&s.data, n_bytes, 1, err));
    *out = s;
    return CUZK_OK;
}

void staging_release(staging *s) {
    if (s->lease.data)
        lease_release(&s->lease);
    else if (s->is_secret)
        cuzk_free_secret(s->data, s->n_bytes);
    else
        cuzk_free(s->data);
    *s = (staging){0};
}

/* ---- ring ---- */
cuzk_status staging_ring_open(staging_ring *out, device_memory *m, size_t half_bytes,
                              cuzk_trace *trace, cuzk_err *err) {
    staging_ring r = {.memory = m, .half_bytes = half_bytes};
    cuzk_status st = staging_acquire(&r.host, m, 2 * half_bytes, false, err);
    for (unsigned i = 0; i < 2 && st == CUZK_OK; i++)
        st = m->backend->queue_open(&r.queues[i], m->device, i ? "ring 1" : "ring 0", trace,
                                    err);
    if (st == CUZK_OK)
        *out = r;
    else
        staging_ring_close(&r);
    return st;
}

void staging_ring_close(staging_ring *r) {
    for (unsigned i = 0; i < 2; i++)
        if (r->queues[i]) r->memory->backend->queue_close(r->queues[i]);
    staging_release(&r->host);
    *r = (staging_ring){0};
}

cuzk_status staging_ring_next(unsigned *half, staging_ring *r, cuzk_err *err) {
    *half = r->turn;
    r->turn ^= 1;
    return r->memory->backend->queue_wait(r->queues[*half], err);
}

cuzk_status staging_ring_put(staging_ring *r, unsigned half, cuzk_slice to, const void *from,
                             size_t n_bytes, cuzk_err *err) {
    CUZK_ASSERT(n_bytes <= r->half_bytes);
    uint8_t *at = (uint8_t *)r->host.data + half * r->half_bytes;
    cuzk_exec_copy(r->memory->exec, at, from, n_bytes);
    return r->memory->backend->upload(r->queues[half], to, at, n_bytes, err);
}

cuzk_status staging_ring_wait(staging_ring *r, cuzk_err *err) {
    CUZK_TRY(r->memory->backend->queue_wait(r->queues[0], err));
    return r->memory->backend->queue_wait(r->queues[1], err);
}
