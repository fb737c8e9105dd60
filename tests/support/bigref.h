/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TESTS_SUPPORT_BIGREF_H
#define CUZK_TESTS_SUPPORT_BIGREF_H
/* tests/support/bigref: natural numbers, slow and obvious, as a twin for the limb kernels.
 * Words are little-endian; a value that outgrows BIG_WORDS fails the test. */
#include <stdbool.h>
#include <stdint.h>

enum { BIG_WORDS = 14 };

typedef struct big {
    uint64_t w[BIG_WORDS];
} big;

big big_from(const uint64_t *words, unsigned n_words);
big big_u64(uint64_t v);
big big_power_of_two(unsigned exponent);
int big_compare(big a, big b); /* < 0, 0, > 0 */
big big_add(big a, big b);
big big_sub(big a, big b); /* a >= b */
big big_mul(big a, big b);
big big_mod(big a, big m);                   /* m > 0; by shifting and subtracting */
big big_pow_mod(big a, big exponent, big m); /* a^exponent mod m */

#endif
