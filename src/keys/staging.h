/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_KEYS_STAGING_H
#define CUZK_KEYS_STAGING_H
/* keys/staging: host memory that copies to and from a device start from, and a ring of two
 * such pieces, so that filling one, the copy of the other and the work on it go on at once.
 * In: bytes anywhere (a mapped key). Out: bytes on the device, at the speed of the bus. */
#include "keys/device_memory.h"

/* A lease of the pool, or the heap when the pool has none within a second: so nobody who
 * holds one piece waits for ever for another. */
typedef struct staging { /* Thread: owned; zeroed: none */
    void *data;          /* 64-byte aligned */
    size_t n_bytes;
    bool is_pinned;
    bool is_secret;
    lease lease;
} staging;

CUZK_MUST_CHECK cuzk_status staging_acquire(staging *out, device_memory *m, size_t n_bytes,
                                            bool is_secret, cuzk_err *err);
void staging_release(staging *s); /* wiped when secret; an empty one is fine */

typedef struct staging_ring { /* Thread: owned; zeroed: none */
    device_memory *memory;
    cuzk_queue *queues[2]; /* of each half */
    staging host;
    size_t half_bytes;
    unsigned turn;
} staging_ring;

CUZK_MUST_CHECK cuzk_status staging_ring_open(staging_ring *out, device_memory *m,
                                              size_t half_bytes, cuzk_trace *trace,
                                              cuzk_err *err);
void staging_ring_close(staging_ring *r); /* waits; a zeroed one is fine */
/* Which half is next; waits until everything in its queue is done. */
CUZK_MUST_CHECK cuzk_status staging_ring_next(unsigned *half, staging_ring *r, cuzk_err *err);
/* Copies n_bytes <= half_bytes from anywhere into that half, and on, in its queue. */
CUZK_MUST_CHECK cuzk_status staging_ring_put(staging_ring *r, unsigned half, cuzk_slice to,
                                             const void *from, size_t n_bytes, cuzk_err *err);
CUZK_MUST_CHECK cuzk_status staging_ring_wait(staging_ring *r, cuzk_err *err);

#endif
