/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CIRCUIT_PACKED_WITNESS_H
#define CUZK_CIRCUIT_PACKED_WITNESS_H
/* circuit/packed_witness: a witness as it crosses the bus. Most values are bits, and a bit in
 * 32 bytes would be 256 of them: so two bits a value, and 32 bytes only for those that are
 * neither 0 nor 1. In: canonical values. Out: three arrays. */
#include "base/executor.h"
#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

#define PACKED_BLOCK 1024u /* values; a thread or a block of threads takes that many at once */

/* Value i, in block i / PACKED_BLOCK: when bit i of `wide` is set, the next of the wide
 * values, counted from first_wide[block]; else bit i of `ones`. All four arrays lie in `data`,
 * 64-byte aligned, in this order: */
typedef struct packed_witness {
    size_t n, n_wide;
    const uint64_t *ones, *wide; /* (n + 63) / 64 words each, rounded up to whole blocks */
    const uint32_t *first_wide;  /* one a block, and one more: n_wide */
    const uint8_t *values;       /* n_wide * 32, canonical little-endian */
    uint8_t *data;
    size_t n_bytes; /* of data: secret */
} packed_witness;

/* A witness of which it is known what is wide, so how much room it takes. The values are read
 * once for that; those that are wide, once more for packing. */
typedef struct packed_draft {
    size_t n, n_wide, n_bytes; /* n_bytes: what `data` will take */
    const uint8_t *values;     /* the caller's; they stay until it is packed */
    uint8_t *head;             /* what comes before the values in `data`: secret */
} packed_draft;

/* From n <= UINT32_MAX canonical values of 32 bytes, any alignment. NOMEM. */
CUZK_MUST_CHECK cuzk_status packed_draft_init(packed_draft *out, const uint8_t *values,
                                              size_t n, cuzk_exec *exec, cuzk_err *err);
/* Into n_bytes of `data` (64-byte aligned; say, a lease of pinned memory), which the view then
 * points into. */
void packed_draft_pack(packed_witness *out, uint8_t *data, const packed_draft *d,
                       cuzk_exec *exec);
void packed_draft_fini(packed_draft *d); /* a zeroed one is fine */

/* For witnesses that are small: without a draft to keep, but everything is read twice. How many
 * bytes `data` takes, and packing into just so many. */
CUZK_MUST_CHECK cuzk_status packed_witness_bytes(size_t *out, const uint8_t *values, size_t n,
                                                 cuzk_exec *exec, cuzk_err *err);
CUZK_MUST_CHECK cuzk_status packed_witness_pack(packed_witness *out, uint8_t *data,
                                                size_t n_bytes, const uint8_t *values,
                                                size_t n, cuzk_exec *exec, cuzk_err *err);

/* The slow twin of a device's unpack: out[i] for first <= i < first + count, 32 bytes each. */
void packed_witness_unpack(uint8_t *out, const packed_witness *w, size_t first, size_t count);

#endif
