/* SPDX-License-Identifier: Apache-2.0 */
#include "bigref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

__extension__ typedef unsigned __int128 word2;

big big_from(const uint64_t *words, unsigned n_words) {
    big r = {{0}};
    for (unsigned i = 0; i < n_words; i++) r.w[i] = words[i];
    return r;
}

big big_u64(uint64_t v) { return big_from(&v, 1); }

big big_power_of_two(unsigned exponent) {
    big r = {{0}};
    r.w[exponent / 64] = UINT64_C(1) << exponent % 64;
    return r;
}

int big_compare(big a, big b) {
    for (unsigned i = BIG_WORDS; i-- > 0;) {
        if (a.w[i] != b.w[i]) return a.w[i] < b.w[i] ? -1 : 1;
    }
    return 0;
}

big big_add(big a, big b) {
    uint64_t carry = 0;
    for (unsigned i = 0; i < BIG_WORDS; i++) {
        const word2 t = (word2)a.w[i] + b.w[i] + carry;
        a.w[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    assert_int_equal(carry, 0);
    return a;
}

big big_sub(big a, big b) {
    uint64_t borrow = 0;
    for (unsigned i = 0; i < BIG_WORDS; i++) {
        const word2 t = (word2)a.w[i] - b.w[i] - borrow;
        a.w[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    assert_int_equal(borrow, 0);
    return a;
}

big big_mul(big a, big b) {
    big r = {{0}};
    for (unsigned i = 0; i < BIG_WORDS; i++) {
        uint64_t carry = 0;
        if (a.w[i] == 0) continue;
        for (unsigned j = 0; j < BIG_WORDS - i; j++) {
            const word2 t = (word2)a.w[i] * b.w[j] + r.w[i + j] + carry;
            r.w[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        assert_int_equal(carry, 0);
        for (unsigned j = BIG_WORDS - i; j < BIG_WORDS; j++) {
            assert_true(b.w[j] == 0);
        }
    }
    return r;
}

static unsigned bit_length(big a) {
    for (unsigned i = 64 * BIG_WORDS; i-- > 0;) {
        if ((a.w[i / 64] >> i % 64 & 1) != 0) return i + 1;
    }
    return 0;
}

/* a + a + bit */
static big shift_in(big a, uint64_t bit) {
    for (unsigned i = 0; i < BIG_WORDS; i++) {
        const uint64_t out = a.w[i] >> 63;
        a.w[i] = a.w[i] << 1 | bit;
        bit = out;
    }
    return a;
}

big big_mod(big a, big m) {
    big r = {{0}};
    for (unsigned i = bit_length(a); i-- > 0;) {
        r = shift_in(r, a.w[i / 64] >> i % 64 & 1);
        if (big_compare(r, m) >= 0) r = big_sub(r, m);
    }
    return r;
}

big big_pow_mod(big a, big exponent, big m) {
    big r = big_mod(big_u64(1), m);
    for (unsigned i = bit_length(exponent); i-- > 0;) {
        r = big_mod(big_mul(r, r), m);
        if ((exponent.w[i / 64] >> i % 64 & 1) != 0) r = big_mod(big_mul(r, a), m);
    }
    return r;
}
