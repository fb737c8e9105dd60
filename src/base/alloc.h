/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_ALLOC_H
#define CUZK_BASE_ALLOC_H
/* base/alloc: checked heap memory. Everything that can grow with an input is taken here,
 * so that overflow is checked once and secrets are wiped once. Thread: all functions are
 * safe from any thread; a block has one owner. */
#include "base/status.h"
#include <stddef.h>

/* n_items * item_bytes bytes, 64-byte aligned, contents unspecified. n_items = 0 gives a
 * valid non-NULL block. NOMEM when the product overflows or the system refuses.
 * Owner: caller, cuzk_free(). */
CUZK_MUST_CHECK cuzk_status cuzk_alloc(void *out_ptr, size_t n_items, size_t item_bytes,
                                       cuzk_err *err);
/* The same, zeroed. */
CUZK_MUST_CHECK cuzk_status cuzk_zalloc(void *out_ptr, size_t n_items, size_t item_bytes,
                                        cuzk_err *err);
/* NULL is fine. */
void cuzk_free(void *ptr);
/* Wipes n_bytes first, with stores the compiler keeps. NULL is fine. */
void cuzk_free_secret(void *ptr, size_t n_bytes);
void cuzk_wipe(void *ptr, size_t n_bytes);

#endif
