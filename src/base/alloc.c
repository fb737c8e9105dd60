/* SPDX-License-Identifier: Apache-2.0 */
/* base/alloc: see alloc.h. */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT_BYTES 64u

/* The whole multiple of the alignment that holds n_items, at least one; 0 on overflow. */
static size_t block_bytes(size_t n_items, size_t item_bytes) {
    if (item_bytes != 0 && n_items > (SIZE_MAX - ALIGNMENT_BYTES) / item_bytes) return 0;
    size_t n_bytes = n_items * item_bytes;
    if (n_bytes == 0) return ALIGNMENT_BYTES;
    return (n_bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
}

/* NULL, with the error recorded, when the block can't be had. */
static void *take_block(size_t n_items, size_t item_bytes, cuzk_err *err) {
    size_t n_bytes = block_bytes(n_items, item_bytes);
    void *block = n_bytes ? aligned_alloc(ALIGNMENT_BYTES, n_bytes) : NULL;
    if (n_bytes == 0) {
        (void)cuzk_fail(err, CUZK_ERR_NOMEM, "base.alloc",
                        "%zu items of %zu bytes are more than an address can reach", n_items,
                        item_bytes);
    } else if (!block) {
        (void)cuzk_fail(err, CUZK_ERR_NOMEM, "base.alloc", "the system refused %zu bytes",
                        n_bytes);
    }
    return block;
}

cuzk_status cuzk_alloc(void *out_ptr, size_t n_items, size_t item_bytes, cuzk_err *err) {
    void *block = take_block(n_items, item_bytes, err);
    if (!block) return CUZK_ERR_NOMEM;
    memcpy(out_ptr, &block, sizeof block);
    return CUZK_OK;
}

cuzk_status cuzk_zalloc(void *out_ptr, size_t n_items, size_t item_bytes, cuzk_err *err) {
    void *block = take_block(n_items, item_bytes, err);
    if (!block) return CUZK_ERR_NOMEM;
    memset(block, 0, block_bytes(n_items, item_bytes));
    memcpy(out_ptr, &block, sizeof block);
    return CUZK_OK;
}

void cuzk_free(void *ptr) { free(ptr); }

void cuzk_wipe(void *ptr, size_t n_bytes) {
    if (ptr) explicit_bzero(ptr, n_bytes);
}

void cuzk_free_secret(void *ptr, size_t n_bytes) {
    cuzk_wipe(ptr, n_bytes);
    free(ptr);
}
