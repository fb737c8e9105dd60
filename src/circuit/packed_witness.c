/* SPDX-License-Identifier: Apache-2.0 */
/* circuit/packed_witness: see packed_witness.h. */
#include "circuit/packed_witness.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <string.h>

#define VALUE_BYTES     32u
#define WORD_BITS       64u
#define WORDS_PER_BLOCK (PACKED_BLOCK / WORD_BITS)
#define ALIGNMENT       64u

/* Where the arrays lie in `data`, in bytes. The head is all that is not values. */
typedef struct layout {
    size_t n_blocks;
    size_t wide, first_wide, values; /* ones: 0 */
} layout;

static layout layout_of(size_t n) {
    layout l = {.n_blocks = n / PACKED_BLOCK + (n % PACKED_BLOCK != 0)};
    l.wide = l.n_blocks * (PACKED_BLOCK / 8);
    l.first_wide = 2 * l.wide;
    l.values = l.first_wide + (l.n_blocks + 1) * sizeof(uint32_t);
    l.values += (ALIGNMENT - l.values % ALIGNMENT) % ALIGNMENT;
    return l;
}

typedef struct arrays {
    uint64_t *ones, *wide;
    uint32_t *first_wide;
} arrays;

static arrays arrays_in(uint8_t *head, layout l) {
    return (arrays){.ones = (uint64_t *)(void *)head,
                    .wide = (uint64_t *)(void *)(head + l.wide),
                    .first_wide = (uint32_t *)(void *)(head + l.first_wide)};
}

/* ---- a draft ---- */
typedef struct drafting {
    const uint8_t *in;
    size_t n;
    arrays to; /* first_wide: at first, how many there are in each block */
} drafting;

/* Of `count` <= 64 values, which are 1, and which neither 0 nor 1. The newest bit is on top. */
static void classify_word(uint64_t *ones, uint64_t *wide, const uint8_t *in, size_t count) {
    uint64_t is_one = 0, is_wide = 0;
    for (size_t i = 0; i < count; i++, in += VALUE_BYTES) {
        const uint64_t low = load_le64(in);
        uint64_t rest[3]; /* to be 0, so in any order of bytes */
        memcpy(rest, in + sizeof low, sizeof rest);
        const uint64_t not_bit = (low >> 1 | rest[0] | rest[1] | rest[2]) != 0;
        is_wide = is_wide >> 1 | not_bit << 63;
        is_one = is_one >> 1 | (low & ~not_bit) << 63;
    }
    if (count > 0 && count < WORD_BITS) {
        is_wide >>= WORD_BITS - count;
        is_one >>= WORD_BITS - count;
    }
    *ones = is_one;
    *wide = is_wide;
}

static unsigned count_bits(uint64_t v) { return (unsigned)__builtin_popcountll(v); }

/* Word `word` of a block of values, of which n are left. */
static size_t count_in_word(size_t n, size_t word) {
    const size_t first = word * WORD_BITS;
    if (first >= n) return 0;
    return n - first < WORD_BITS ? n - first : WORD_BITS;
}

static void classify_block(void *arg, size_t block, unsigned slot) {
    const drafting *k = arg;
    const size_t first = block * PACKED_BLOCK;
    uint32_t n_wide = 0;
    (void)slot;
    for (size_t i = 0; i < WORDS_PER_BLOCK; i++) {
        const size_t word = block * WORDS_PER_BLOCK + i;
        classify_word(&k->to.ones[word], &k->to.wide[word],
                      k->in + (first + i * WORD_BITS) * VALUE_BYTES,
                      count_in_word(k->n - first, i));
        n_wide += count_bits(k->to.wide[word]);
    }
    k->to.first_wide[block] = n_wide;
}

static uint32_t sum_up(uint32_t *counts, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
    counts[n] = sum;
    return sum;
}

cuzk_status packed_draft_init(packed_draft *out, const uint8_t *values, size_t n,
                              cuzk_exec *exec, cuzk_err *err) {
    const layout l = layout_of(n);
    if (n > UINT32_MAX) {
        return cuzk_fail(err, CUZK_ERR_NOMEM, "circuit.packed_witness",
                         "a witness of %zu values, expected at most %lu", n,
                         (unsigned long)UINT32_MAX);
    }
    uint8_t *head;
    CUZK_TRY(cuzk_alloc(&head, l.values, 1, err));
    drafting k = {.in = values, .n = n, .to = arrays_in(head, l)};
    cuzk_exec_for(exec, l.n_blocks, classify_block, &k);
    const size_t n_wide = sum_up(k.to.first_wide, l.n_blocks);
    *out = (packed_draft){.n = n,
                          .n_wide = n_wide,
                          .n_bytes = l.values + n_wide * VALUE_BYTES,
                          .values = values,
                          .head = head};
    return CUZK_OK;
}

void packed_draft_fini(packed_draft *d) {
    cuzk_free_secret(d->head, layout_of(d->n).values);
    *d = (packed_draft){0};
}

/* ---- packing ---- */
typedef struct packing {
    const uint8_t *in;
    arrays from, to;
    uint8_t *values;
} packing;

static void pack_block(void *arg, size_t block, unsigned slot) {
    const packing *k = arg;
    const size_t word = block * WORDS_PER_BLOCK;
    uint8_t *to = k->values + (size_t)k->from.first_wide[block] * VALUE_BYTES;
    (void)slot;
    memcpy(k->to.ones + word, k->from.ones + word, PACKED_BLOCK / 8);
    memcpy(k->to.wide + word, k->from.wide + word, PACKED_BLOCK / 8);
    k->to.first_wide[block] = k->from.first_wide[block];
    for (size_t i = word; i < word + WORDS_PER_BLOCK; i++) {
        for (uint64_t left = k->from.wide[i]; left != 0; left &= left - 1) {
            const size_t at = i * WORD_BITS + (unsigned)__builtin_ctzll(left);
            memcpy(to, k->in + at * VALUE_BYTES, VALUE_BYTES);
            to += VALUE_BYTES;
        }
    }
}

void packed_draft_pack(packed_witness *out, uint8_t *data, const packed_draft *d,
                       cuzk_exec *exec) {
    const layout l = layout_of(d->n);
    CUZK_ASSERT((uintptr_t)data % ALIGNMENT == 0);
    packing k = {.in = d->values,
                 .from = arrays_in(d->head, l),
                 .to = arrays_in(data, l),
                 .values = data + l.values};
    cuzk_exec_for(exec, l.n_blocks, pack_block, &k);
    k.to.first_wide[l.n_blocks] = k.from.first_wide[l.n_blocks];
    *out = (packed_witness){.n = d->n,
                            .n_wide = d->n_wide,
                            .ones = k.to.ones,
                            .wide = k.to.wide,
                            .first_wide = k.to.first_wide,
                            .values = k.values,
                            .data = data,
                            .n_bytes = d->n_bytes};
}

cuzk_status packed_witness_bytes(size_t *out, const uint8_t *values, size_t n, cuzk_exec *exec,
                                 cuzk_err *err) {
    packed_draft d = {0};
    CUZK_TRY(packed_draft_init(&d, values, n, exec, err));
    *out = d.n_bytes;
    packed_draft_fini(&d);
    return CUZK_OK;
}

cuzk_status packed_witness_pack(packed_witness *out, uint8_t *data, size_t n_bytes,
                                const uint8_t *values, size_t n, cuzk_exec *exec,
                                cuzk_err *err) {
    packed_draft d = {0};
    CUZK_TRY(packed_draft_init(&d, values, n, exec, err));
    CUZK_ASSERT(d.n_bytes == n_bytes);
    packed_draft_pack(out, data, &d, exec);
    packed_draft_fini(&d);
    return CUZK_OK;
}

/* ---- unpacking ---- */
static bool bit_of(const uint64_t *words, size_t i) {
    return words[i / WORD_BITS] >> i % WORD_BITS & 1;
}

/* How many wide values there are before value i. */
static size_t rank_of(const packed_witness *w, size_t i) {
    const size_t block = i / PACKED_BLOCK;
    size_t rank = w->first_wide[block];
    for (size_t word = block * WORDS_PER_BLOCK; word < i / WORD_BITS; word++) {
        rank += count_bits(w->wide[word]);
    }
    if (i % WORD_BITS == 0) return rank;
    return rank + count_bits(w->wide[i / WORD_BITS] << (WORD_BITS - i % WORD_BITS));
}

void packed_witness_unpack(uint8_t *out, const packed_witness *w, size_t first, size_t count) {
    const uint8_t *next = w->values + rank_of(w, first) * VALUE_BYTES;
    for (size_t i = first; i < first + count; i++, out += VALUE_BYTES) {
        if (bit_of(w->wide, i)) {
            memcpy(out, next, VALUE_BYTES);
            next += VALUE_BYTES;
        } else {
            memset(out, 0, VALUE_BYTES);
            out[0] = bit_of(w->ones, i);
        }
    }
}
