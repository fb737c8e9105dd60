/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/scalars: see scalars.h. Two passes over blocks: count the classes, then (their
 * places known) write the index lists; so the result does not depend on the threads. */
#include "backend/cpu/scalars.h"

#include "base/alloc.h"

#include <string.h>

#define BLOCK_VALUES 8192u
#define SCALARS_MAX  0x7fffffffu /* an index leaves room for the sign of a digit */
#define CLASS_ZERO   SCALAR_CLASS_COUNT

static const uint16_t class_bits[SCALAR_CLASS_COUNT] = {1, 1, 16, 40, 72, 136, 256};

unsigned scalar_class_bits(scalar_class c, unsigned n_bits) {
    return class_bits[c] < n_bits ? class_bits[c] : n_bits;
}

typedef struct block_counts {
    size_t n[SCALAR_CLASS_COUNT + 1]; /* counts, later places in the index; zeros last */
} block_counts;

typedef struct classify_job {
    cuzk_scalars *set;
    const uint8_t *montgomery; /* NULL when the set's values need no conversion */
    block_counts *blocks;
} classify_job;

static unsigned bit_length(const uint64_t k[CPU_FR_LIMBS]) {
    for (unsigned i = CPU_FR_LIMBS; i-- > 0;) {
        if (k[i]) return 64 * i + 64 - (unsigned)__builtin_clzll(k[i]);
    }
    return 0;
}

static void subtract(uint64_t r[CPU_FR_LIMBS], const uint64_t *a, const uint64_t *b) {
    uint64_t borrow = 0;
    for (unsigned i = 0; i < CPU_FR_LIMBS; i++) {
        cuzk_u128 d = (cuzk_u128)a[i] - b[i] - borrow;
        r[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
}

static unsigned classify(const cuzk_scalars *set, const uint8_t *value) {
    uint64_t k[CPU_FR_LIMBS];
    memcpy(k, value, sizeof k);
    bool negative = scalar_is_negative(set, k);
    if (negative) subtract(k, set->fr->m.p, k);
    unsigned n_bits = bit_length(k);
    if (n_bits == 0) return CLASS_ZERO;
    if (n_bits == 1) return negative ? SCALAR_MINUS_ONE : SCALAR_ONE;
    unsigned c = SCALAR_TINY;
    while (n_bits > class_bits[c]) c++;
    return c;
}

static size_t block_end(const cuzk_scalars *set, size_t block) {
    size_t end = (block + 1) * BLOCK_VALUES;
    return end < set->n ? end : set->n;
}

static void count_block(void *arg, size_t block, unsigned slot) {
    const classify_job *job = arg;
    const cuzk_scalars *set = job->set;
    (void)slot;
    for (size_t i = block * BLOCK_VALUES; i < block_end(set, block); i++) {
        if (job->montgomery) {
            uint64_t k[CPU_FR_LIMBS];
            memcpy(k, job->montgomery + i * CPU_FR_BYTES, sizeof k);
            set->fr->ops->from_mont(k, k, &set->fr->m);
            memcpy(set->owned + i * CPU_FR_BYTES, k, sizeof k);
        }
        job->blocks[block].n[classify(set, set->values + i * CPU_FR_BYTES)]++;
    }
}

static void list_block(void *arg, size_t block, unsigned slot) {
    const classify_job *job = arg;
    const cuzk_scalars *set = job->set;
    size_t *place = job->blocks[block].n;
    (void)slot;
    for (size_t i = block * BLOCK_VALUES; i < block_end(set, block); i++) {
        unsigned c = classify(set, set->values + i * CPU_FR_BYTES);
        if (c != CLASS_ZERO) set->index[place[c]++] = (uint32_t)i;
    }
}

/* Turns the counts of each block into places in the index. */
static void place_classes(cuzk_scalars *set, block_counts *blocks, size_t n_blocks) {
    size_t place = 0;
    for (unsigned c = 0; c < SCALAR_CLASS_COUNT; c++) {
        set->class_start[c] = place;
        for (size_t i = 0; i < n_blocks; i++) {
            size_t count = blocks[i].n[c];
            blocks[i].n[c] = place;
            place += count;
        }
    }
    set->class_start[SCALAR_CLASS_COUNT] = place;
}

static cuzk_status build(cuzk_scalars *set, const uint8_t *values, bool montgomery,
                         cuzk_exec *exec, cuzk_err *err) {
    size_t n_blocks = (set->n + BLOCK_VALUES - 1) / BLOCK_VALUES;
    block_counts *blocks;
    set->values = values;
    if (montgomery) {
        CUZK_TRY(cuzk_alloc(&set->owned, set->n, CPU_FR_BYTES, err));
        set->values = set->owned;
    }
    CUZK_TRY(cuzk_zalloc(&blocks, n_blocks, sizeof *blocks, err));

    classify_job job = {
        .set = set, .montgomery = montgomery ? values : NULL, .blocks = blocks};
    cuzk_exec_for(exec, n_blocks, count_block, &job);
    place_classes(set, blocks, n_blocks);
    cuzk_status status =
        cuzk_alloc(&set->index, set->class_start[SCALAR_CLASS_COUNT], sizeof *set->index, err);
    if (status == CUZK_OK) cuzk_exec_for(exec, n_blocks, list_block, &job);
    cuzk_free_secret(blocks, n_blocks * sizeof *blocks);
    return status;
}

cuzk_status cpu_scalars_open(cuzk_scalars **out, cuzk_queue *queue, const field *fr,
                             cuzk_slice values, size_t n, bool montgomery, cuzk_err *err) {
    const uint8_t *bytes;
    CUZK_TRY(cpu_check_fr(fr, err));
    if (n > SCALARS_MAX) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu.scalars",
                         "%zu scalars, a set holds at most %u", n, SCALARS_MAX);
    }
    CUZK_TRY(cpu_slice_bytes(&bytes, values, n, CPU_FR_BYTES, "scalars", err));
    cuzk_scalars *set;
    CUZK_TRY(cuzk_zalloc(&set, 1, sizeof *set, err));
    set->fr = fr;
    set->n = n;
    set->half_top = fr->m.p[CPU_FR_LIMBS - 1] >> 1;
    cuzk_status status = build(set, bytes, montgomery, queue->dev->exec, err);
    if (status != CUZK_OK) {
        cpu_scalars_close(set);
        return status;
    }
    *out = set;
    return CUZK_OK;
}

void cpu_scalars_close(cuzk_scalars *set) {
    if (!set) return;
    cuzk_free_secret(set->owned, set->n * CPU_FR_BYTES);
    cuzk_free_secret(set->index, set->class_start[SCALAR_CLASS_COUNT] * sizeof *set->index);
    cuzk_free_secret(set, sizeof *set);
}

static size_t lower_bound(const uint32_t *index, size_t n, size_t value) {
    size_t begin = 0;
    while (n > 0) {
        size_t half = n / 2;
        if (index[begin + half] < value) {
            begin += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return begin;
}

scalar_slice scalars_slice(const cuzk_scalars *set, scalar_class c, size_t first, size_t n) {
    const uint32_t *index = set->index + set->class_start[c];
    size_t n_class = set->class_start[c + 1] - set->class_start[c];
    size_t begin = lower_bound(index, n_class, first);
    size_t end = lower_bound(index, n_class, first + n);
    return (scalar_slice){.index = index + begin, .n = end - begin};
}
