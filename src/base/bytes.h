/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_BYTES_H
#define CUZK_BASE_BYTES_H
/* base/bytes: bounded views of outside bytes. Unaligned and endian-neutral; every read is
 * checked against the end of the view before it happens. */
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct cuzk_span {
    const uint8_t *p;
    size_t n_bytes;
} cuzk_span;

CUZK_INLINE uint32_t load_le32(const void *p) {
    const uint8_t *b = (const uint8_t *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
CUZK_INLINE uint64_t load_le64(const void *p) {
    const uint8_t *b = (const uint8_t *)p;
    return (uint64_t)load_le32(b) | (uint64_t)load_le32(b + 4) << 32;
}
CUZK_INLINE void store_le32(void *p, uint32_t v) {
    uint8_t *b = (uint8_t *)p;
    for (int i = 0; i < 4; i++) b[i] = (uint8_t)(v >> (8 * i));
}
CUZK_INLINE void store_le64(void *p, uint64_t v) {
    uint8_t *b = (uint8_t *)p;
    for (int i = 0; i < 8; i++) b[i] = (uint8_t)(v >> (8 * i));
}
/* True and *out = the sub-view when [offset, offset + n_bytes) lies inside; no overflow. */
CUZK_INLINE bool span_sub(cuzk_span *out, cuzk_span in, uint64_t offset, uint64_t n_bytes) {
    if (offset > in.n_bytes || n_bytes > in.n_bytes - offset) return false;
    out->p = in.n_bytes ? in.p + offset : in.p;
    out->n_bytes = (size_t)n_bytes;
    return true;
}

#endif
