/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_KEYS_RESIDENCY_H
#define CUZK_KEYS_RESIDENCY_H
/* keys/residency: the copy of a proving key on its device. Made part by part when a proof
 * first needs it, shared by proofs that run at once, dropped when idle and others need the
 * room.
 *
 * Who waits for the device's memory holds nothing: a key's copy is in use only by proofs
 * that run, so that keys which wait for each other's room can't lock each other out. */
#include "keys/proving_key.h"

typedef struct key_copy key_copy; /* Thread: shared (device_memory.lock) */

typedef enum key_part {
    KEY_POINTS, /* the queries a, b1, b2, l, h */
    KEY_MATRIX, /* matrices, for evaluation there */
    KEY_ROOTS,  /* the domain of the quotient */
    KEY_N_PARTS
} key_part;
#define KEY_HAS(parts, part) (((parts) >> (part)) & 1u)
#define KEY_POINTS_BIT       (1u << KEY_POINTS)
#define KEY_MATRIX_BIT       (1u << KEY_MATRIX)
#define KEY_ROOTS_BIT        (1u << KEY_ROOTS)

/* Of the device's memory. Points that were made there are nobody's copy: 0. */
uint64_t key_part_bytes(const proving_key *key, key_part part);
uint64_t key_parts_bytes(const proving_key *key, unsigned parts);

/* What one proof computes with. */
typedef struct key_lease {     /* Thread: owned; zeroed: none */
    key_query a, b1, b2, l, h; /* on the device, if asked for; else as in the key */
    const cuzk_matrix *matrix; /* NULL unless asked for */
    const cuzk_domain *domain; /* the same */
    key_copy *copy;            /* NULL: the two objects above are the lease's own */
    const cuzk_backend *backend;
    cuzk_matrix *own_matrix;
    cuzk_domain *own_domain;
    reservation room;                          /* for the proof itself */
    uint64_t wait_ns, load_ns, uploaded_bytes; /* what it cost to get here */
} key_lease;

/* Waits until the device has room for n_bytes beside the parts named in `parts` (bits), and
 * brings those that are not there. in_place (the only way when the key is not attached):
 * needs no room; points are those of the key, and matrix and domain are made for the lease.
 * BUDGET: more than the whole device. NOMEM: it is full in spite of the budget. FORMAT,
 * DEVICE. */
CUZK_MUST_CHECK cuzk_status key_lease_acquire(key_lease *out, const proving_key *key,
                                              unsigned parts, uint64_t n_bytes, bool in_place,
                                              cuzk_trace *trace, cuzk_err *err);
/* Closes matrix and domain when they are the lease's own. */
void key_lease_drop_own(key_lease *l);
void key_lease_release(key_lease *l); /* an empty one is fine */

/* ---- for proving_key.c and device_memory.c ---- */
CUZK_MUST_CHECK cuzk_status key_copy_create(key_copy **out, device_memory *m,
                                            const proving_key *key, cuzk_err *err);
void key_copy_destroy(key_copy *c); /* in use by no proof; NULL is fine */
/* Drops the idle copy that was not used for longest; false when there is none. */
bool key_copy_evict_oldest(uint64_t *n_bytes, device_memory *m);

#endif
