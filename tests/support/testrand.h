/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TESTS_SUPPORT_TESTRAND_H
#define CUZK_TESTS_SUPPORT_TESTRAND_H
/* tests/support/testrand: reproducible randomness (splitmix64). The seed is fixed, printed,
 * and replaced by the environment variable CUZK_TEST_SEED, so that failures can be repeated. */
#include "math/field/field.h"

typedef struct testrand {
    uint64_t state;
} testrand; /* Thread: owned */

/* Seeds from CUZK_TEST_SEED (decimal or 0x hex) or the default, and prints which. */
void testrand_init(testrand *t);
uint64_t testrand_u64(testrand *t);
/* Uniform in [0, bound), bound > 0 (the bias is below 2^-32 for the small bounds of tests). */
uint64_t testrand_below(testrand *t, uint64_t bound);
void testrand_bytes(testrand *t, void *out, size_t n_bytes);
/* Uniform below p, in Montgomery form (n_limbs words). */
void testrand_fe(testrand *t, const field *f, uint64_t *r);

#endif
