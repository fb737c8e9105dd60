/* SPDX-License-Identifier: Apache-2.0 */
#include "testrand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const uint64_t default_seed = 0x63757a6b;

void testrand_init(testrand *t) {
    const char *text = getenv("CUZK_TEST_SEED");
    t->state = text && *text ? strtoull(text, NULL, 0) : default_seed;
    printf("CUZK_TEST_SEED=0x%" PRIx64 "\n", t->state);
}

uint64_t testrand_u64(testrand *t) {
    uint64_t z = (t->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t testrand_below(testrand *t, uint64_t bound) { return testrand_u64(t) % bound; }

void testrand_bytes(testrand *t, void *out, size_t n_bytes) {
    uint8_t *bytes = out;
    for (size_t i = 0; i < n_bytes; i++) bytes[i] = (uint8_t)testrand_u64(t);
}

void testrand_fe(testrand *t, const field *f, uint64_t *r) {
    uint8_t bytes[8 * LIMBS_MAX];
    const unsigned spare_bits = 8 * f->n_bytes - f->m.n_bits;
    do {
        testrand_bytes(t, bytes, f->n_bytes);
        for (unsigned bit = 0; bit < spare_bits; bit++) {
            const unsigned at = 8 * f->n_bytes - 1 - bit;
            bytes[at / 8] &= (uint8_t) ~(1u << (at % 8));
        }
    } while (!field_load_le(f, r, bytes));
}
