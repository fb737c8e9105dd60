/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/residency.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "keys/staging.h"

enum { N_QUERIES = 5 };
#define RING_BYTES ((size_t)32 << 20) /* of each half, when points are brought to the device */

struct key_copy {
    key_copy *next; /* in memory->copies */
    device_memory *memory;
    proving_key key; /* as it was attached; owns nothing */
    /* under memory->lock, and belonging to one thread without it while is_busy: */
    unsigned parts; /* that are on the device */
    cuzk_buf *points[N_QUERIES];
    cuzk_matrix *matrix;
    cuzk_domain *domain;
    reservation charges[KEY_N_PARTS];
    /* under memory->lock: */
    bool is_busy; /* being loaded or evicted */
    unsigned n_users;
    uint64_t n_changes; /* parts that came, proofs that ended: reasons to look again */
    uint64_t used_at_ns;
};

typedef struct query_place {
    const key_query *query;
    size_t n_bytes;
} query_place;

static void places_of(query_place out[N_QUERIES], const proving_key *key) {
    const size_t g1 = curve_g1_bytes(key->curve), g2 = curve_g2_bytes(key->curve);
    const key_query *const queries[N_QUERIES] = {&key->a, &key->b1, &key->b2, &key->l,
                                                 &key->h};
    for (unsigned i = 0; i < N_QUERIES; i++)
        out[i] = (query_place){queries[i], queries[i]->n * (queries[i] == &key->b2 ? g2 : g1)};
}

uint64_t key_part_bytes(const proving_key *key, key_part part) {
    if (part == KEY_MATRIX) return key->backend->matrix_bytes(&key->matrix);
    if (part == KEY_ROOTS) return key->backend->domain_bytes(key->log_domain);
    if (!key->image.n_bytes) return 0;
    query_place places[N_QUERIES];
    uint64_t n = 0;
    places_of(places, key);
    for (unsigned i = 0; i < N_QUERIES; i++) n += places[i].n_bytes;
    return n;
}

uint64_t key_parts_bytes(const proving_key *key, unsigned parts) {
    uint64_t n = 0;
    for (unsigned part = 0; part < KEY_N_PARTS; part++)
        if (KEY_HAS(parts, part)) n += key_part_bytes(key, (key_part)part);
    return n;
}

/* ---- bringing parts, dropping them ---- */

static void drop_parts(key_copy *c, unsigned parts) {
    const cuzk_backend *be = c->memory->backend;
    for (unsigned i = 0; KEY_HAS(parts, KEY_POINTS) && i < N_QUERIES; i++) {
        if (c->points[i]) be->buf_free(c->points[i]);
        c->points[i] = NULL;
    }
    if (KEY_HAS(parts, KEY_MATRIX) && c->matrix) {
        be->matrix_close(c->matrix);
        c->matrix = NULL;
    }
    if (KEY_HAS(parts, KEY_ROOTS) && c->domain) {
        be->domain_close(c->domain);
        c->domain = NULL;
    }
}

static cuzk_status bring_points(key_copy *c, staging_ring *ring, cuzk_err *err) {
    const cuzk_backend *be = c->memory->backend;
    query_place places[N_QUERIES];
    places_of(places, &c->key);
    for (unsigned i = 0; i < N_QUERIES; i++)
        CUZK_TRY(be->buf_alloc(&c->points[i], c->memory->device, CUZK_SPACE_DEVICE,
                               places[i].n_bytes, false, err));
    for (unsigned i = 0; i < N_QUERIES; i++) {
        const uint8_t *from = c->key.image.p + places[i].query->points.offset;
        for (size_t at = 0; at < places[i].n_bytes; at += ring->half_bytes) {
            const size_t left = places[i].n_bytes - at;
            unsigned half;
            CUZK_TRY(staging_ring_next(&half, ring, err));
            CUZK_TRY(staging_ring_put(ring, half, (cuzk_slice){c->points[i], at}, from + at,
                                      left < ring->half_bytes ? left : ring->half_bytes, err));
        }
    }
    return CUZK_OK;
}

static cuzk_status new_domain(cuzk_domain **out, const proving_key *key, cuzk_err *err) {
    const key_roots roots = proving_key_roots(key);
    return key->backend->domain_open(out, key->device, &key->curve->fr, key->log_domain,
                                     roots.nonresidue,
                                     roots.is_odd_coset ? NULL : &roots.coset, err);
}

static cuzk_status bring_parts(key_copy *c, unsigned parts, cuzk_trace *trace, cuzk_err *err) {
    const cuzk_backend *be = c->memory->backend;
    const field *fr = &c->key.curve->fr;
    const uint64_t n_bytes = key_parts_bytes(&c->key, parts & KEY_POINTS_BIT);
    const size_t half_bytes = n_bytes < RING_BYTES ? (size_t)n_bytes : RING_BYTES;
    staging_ring ring = {0};
    cuzk_status st = staging_ring_open(&ring, c->memory, half_bytes, trace, err);
    if (st == CUZK_OK && n_bytes) st = bring_points(c, &ring, err);
    if (st == CUZK_OK && KEY_HAS(parts, KEY_MATRIX))
        st = be->matrix_open(&c->matrix, ring.queues[0], fr, &c->key.matrix, err);
    if (st == CUZK_OK && KEY_HAS(parts, KEY_ROOTS)) st = new_domain(&c->domain, &c->key, err);
    if (st == CUZK_OK) st = staging_ring_wait(&ring, err);
    staging_ring_close(&ring);
    if (st != CUZK_OK) drop_parts(c, parts);
    return st;
}

/* ---- who uses it ---- */

/* Keeps the copy from being evicted. When parts are missing they are the caller's to bring:
 * until settle() the copy is busy. */
static unsigned hold(key_copy *c, unsigned parts, uint64_t *n_changes) {
    device_memory *m = c->memory;
    pthread_mutex_lock(&m->lock);
    while (c->is_busy) pthread_cond_wait(&m->changed, &m->lock);
    const unsigned missing = parts & ~c->parts;
    c->is_busy = missing != 0;
    c->n_users++;
    *n_changes = c->n_changes;
    pthread_mutex_unlock(&m->lock);
    return missing;
}

static void settle(key_copy *c, unsigned brought) {
    device_memory *m = c->memory;
    pthread_mutex_lock(&m->lock);
    c->is_busy = false;
    c->parts |= brought;
    if (brought) c->n_changes++;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

static void let_go(key_copy *c, bool after_use) {
    device_memory *m = c->memory;
    pthread_mutex_lock(&m->lock);
    c->n_users--;
    if (after_use) {
        c->used_at_ns = cuzk_clock_ns();
        c->n_changes++;
    }
    pthread_mutex_unlock(&m->lock);
    if (m->vram) budget_notify_idle(m->vram);
}

typedef struct change {
    key_copy *copy;
    uint64_t seen;
} change;

static bool has_changed(void *arg) {
    const change *w = arg;
    pthread_mutex_lock(&w->copy->memory->lock);
    const bool is_new = w->copy->n_changes != w->seen;
    pthread_mutex_unlock(&w->copy->memory->lock);
    return is_new;
}

/* Takes what is missing out of `room` into the charges of the parts. */
static void charge_parts(key_copy *c, unsigned parts, reservation *room) {
    for (unsigned part = 0; part < KEY_N_PARTS; part++)
        if (KEY_HAS(parts, part) && c->memory->vram)
            reservation_to_cache(&c->charges[part], room,
                                 key_part_bytes(&c->key, (key_part)part));
}

/* The copy is held, and `room` has the bytes for what is missing and more. */
static cuzk_status bring_missing(key_lease *held, key_copy *c, unsigned missing,
                                 cuzk_trace *trace, cuzk_err *err) {
    if (!missing) return CUZK_OK;
    const uint64_t begin_ns = cuzk_clock_ns();
    const cuzk_status st = bring_parts(c, missing, trace, err);
    const uint64_t end_ns = cuzk_clock_ns();
    if (st == CUZK_OK) {
        charge_parts(c, missing, &held->room);
        held->load_ns = end_ns - begin_ns;
        held->uploaded_bytes = key_parts_bytes(&c->key, missing & KEY_POINTS_BIT);
        cuzk_trace_add(trace, &(cuzk_span_record){"host", "load key", begin_ns, end_ns,
                                                  held->uploaded_bytes});
    }
    settle(c, st == CUZK_OK ? missing : 0);
    return st;
}

/* `room` to exactly n_bytes, without waiting. */
static cuzk_status adjust(reservation *room, budget *vram, uint64_t n_bytes, cuzk_err *err) {
    if (!vram) return CUZK_OK;
    if (!room->n_bytes)
        return budget_acquire(room, vram, n_bytes, &(budget_request){BUDGET_NORMAL, 0, 0},
                              err);
    reservation_release_part(room, room->n_bytes - n_bytes);
    return CUZK_OK;
}

static cuzk_status acquire_copy(key_lease *held, key_copy *c, unsigned parts, uint64_t n_bytes,
                                cuzk_trace *trace, cuzk_err *err) {
    budget *vram = c->memory->vram;
    const uint64_t since_ns = cuzk_clock_ns(), all = n_bytes + key_parts_bytes(&c->key, parts);
    for (;;) {
        change seen = {c, 0};
        const unsigned missing = hold(c, parts, &seen.seen);
        cuzk_status st =
            adjust(&held->room, vram, n_bytes + key_parts_bytes(&c->key, missing), err);
        held->wait_ns = cuzk_clock_ns() - since_ns;
        if (st == CUZK_OK) {
            st = bring_missing(held, c, missing, trace, err);
            if (st == CUZK_OK) return CUZK_OK;
        } else if (missing) {
            settle(c, 0);
        }
        let_go(c, false);
        if (st != CUZK_ERR_BUSY) {
            reservation_release(&held->room);
            return st;
        }
        const budget_request request = {BUDGET_NORMAL, BUDGET_FOREVER, since_ns};
        CUZK_TRY(budget_acquire_or(&held->room, vram, all, &request, has_changed, &seen, err));
    }
}

/* ---- leases ---- */

static cuzk_status acquire_own(key_lease *held, const proving_key *key, unsigned parts,
                               cuzk_trace *trace, cuzk_err *err) {
    const cuzk_backend *be = key->backend;
    if (KEY_HAS(parts, KEY_MATRIX)) {
        cuzk_queue *queue = NULL;
        CUZK_TRY(be->queue_open(&queue, key->device, "matrix", trace, err));
        cuzk_status st =
            be->matrix_open(&held->own_matrix, queue, &key->curve->fr, &key->matrix, err);
        if (st == CUZK_OK) st = be->queue_wait(queue, err);
        be->queue_close(queue);
        CUZK_TRY(st);
    }
    if (KEY_HAS(parts, KEY_ROOTS)) CUZK_TRY(new_domain(&held->own_domain, key, err));
    held->matrix = held->own_matrix;
    held->domain = held->own_domain;
    return CUZK_OK;
}

static void look_at_copy(key_lease *held, const key_copy *c, unsigned parts) {
    key_query *const queries[N_QUERIES] = {&held->a, &held->b1, &held->b2, &held->l, &held->h};
    for (unsigned i = 0; KEY_HAS(parts, KEY_POINTS) && i < N_QUERIES; i++)
        if (c->points[i]) queries[i]->points = (cuzk_slice){c->points[i], 0};
    if (KEY_HAS(parts, KEY_MATRIX)) held->matrix = c->matrix;
    if (KEY_HAS(parts, KEY_ROOTS)) held->domain = c->domain;
}

cuzk_status key_lease_acquire(key_lease *out, const proving_key *key, unsigned parts,
                              uint64_t n_bytes, bool in_place, cuzk_trace *trace,
                              cuzk_err *err) {
    key_lease held = {.a = key->a,
                      .b1 = key->b1,
                      .b2 = key->b2,
                      .l = key->l,
                      .h = key->h,
                      .backend = key->backend};
    cuzk_status st;
    if (in_place) {
        st = acquire_own(&held, key, parts, trace, err);
    } else {
        st = acquire_copy(&held, key->copy, parts, n_bytes, trace, err);
        if (st == CUZK_OK) {
            held.copy = key->copy;
            look_at_copy(&held, key->copy, parts);
        }
    }
    if (st == CUZK_OK)
        *out = held;
    else
        key_lease_release(&held);
    return st;
}

void key_lease_drop_own(key_lease *held) {
    if (held->own_matrix) held->backend->matrix_close(held->own_matrix);
    if (held->own_domain) held->backend->domain_close(held->own_domain);
    held->own_matrix = NULL;
    held->own_domain = NULL;
}

void key_lease_release(key_lease *held) {
    key_lease_drop_own(held);
    reservation_release(
        &held->room); /* first: who looks when the copy is let go finds it free */
    if (held->copy) let_go(held->copy, true);
    *held = (key_lease){0};
}

/* ---- all copies of a device ---- */

cuzk_status key_copy_create(key_copy **out, device_memory *m, const proving_key *key,
                            cuzk_err *err) {
    key_copy *c = NULL;
    CUZK_TRY(cuzk_zalloc(&c, 1, sizeof *c, err));
    c->memory = m;
    c->key = *key;
    pthread_mutex_lock(&m->lock);
    c->next = m->copies;
    m->copies = c;
    pthread_mutex_unlock(&m->lock);
    *out = c;
    return CUZK_OK;
}

static void drop_all(key_copy *c, unsigned parts) {
    drop_parts(c, parts);
    for (unsigned part = 0; part < KEY_N_PARTS; part++) reservation_release(&c->charges[part]);
}

void key_copy_destroy(key_copy *c) {
    if (!c) return;
    device_memory *m = c->memory;
    pthread_mutex_lock(&m->lock);
    while (c->is_busy) pthread_cond_wait(&m->changed, &m->lock);
    CUZK_ASSERT(c->n_users == 0);
    key_copy **at = &m->copies;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    pthread_mutex_unlock(&m->lock);
    drop_all(c, c->parts);
    cuzk_free(c);
}

bool key_copy_evict_oldest(uint64_t *n_bytes, device_memory *m) {
    key_copy *oldest = NULL;
    pthread_mutex_lock(&m->lock);
    for (key_copy *c = m->copies; c; c = c->next)
        if (c->parts && !c->is_busy && !c->n_users &&
            (!oldest || c->used_at_ns < oldest->used_at_ns))
            oldest = c;
    unsigned parts = 0;
    if (oldest) {
        oldest->is_busy = true;
        parts = oldest->parts;
        oldest->parts = 0;
    }
    pthread_mutex_unlock(&m->lock);
    if (!oldest) return false;
    *n_bytes = key_parts_bytes(&oldest->key, parts);
    drop_all(oldest, parts);
    settle(oldest, 0);
    return true;
}
