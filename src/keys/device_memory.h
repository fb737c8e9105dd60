/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_KEYS_DEVICE_MEMORY_H
#define CUZK_KEYS_DEVICE_MEMORY_H
/* keys/device_memory: the memory of one device and the way there: the budget of its bytes, the
 * pool of pinned memory that its copies start from, and the keys that have a copy on it, which
 * go when others need the room. In: a device. Out: what proofs and keys on it share.
 *
 * Whoever opens a device makes one, gives it to each key (proving_key_attach), and destroys it
 * after the keys and before the device. */
#include "backend/backend.h"
#include "memory/budget.h"
#include "memory/pinned_pool.h"
#include <pthread.h>

typedef struct device_memory_options {
    uint64_t limit_bytes;  /* what may be taken of the device; 0 = what device_info says */
    uint64_t pinned_bytes; /* host memory to pin at most; 0 = half of the machine's when the
                              device copies by itself, else none: copies start on the heap */
} device_memory_options;

typedef struct device_memory { /* Thread: shared (locks inside); the pointers are immutable */
    const cuzk_backend *backend;
    cuzk_device *device;
    cuzk_exec *exec;      /* for loops on the host; may be NULL */
    uint64_t limit_bytes; /* 0: the device computes in the host's memory and counts nothing */
    budget *vram;         /* of limit_bytes; NULL when that is 0 */
    budget *pinned;       /* NULL: nothing is pinned */
    pinned_pool *pool;    /* NULL as `pinned` */
    struct key_copy *copies; /* all of them (keys/residency.h), under `lock` */
    pthread_mutex_t lock;
    pthread_cond_t changed;
} device_memory;

/* options NULL: all defaults. NOMEM. */
CUZK_MUST_CHECK cuzk_status device_memory_create(device_memory **out,
                                                 const cuzk_backend *backend,
                                                 cuzk_device *device, cuzk_exec *exec,
                                                 const device_memory_options *options,
                                                 cuzk_err *err);
/* No key may be attached any more. NULL is fine. */
void device_memory_destroy(device_memory *m);

/* Frees copies of keys that no proof uses, the least recently used first, until n_bytes are
 * freed or none is left; returns how many bytes were. (The budget does it when others wait.) */
uint64_t device_memory_evict(device_memory *m, uint64_t n_bytes);

#endif
