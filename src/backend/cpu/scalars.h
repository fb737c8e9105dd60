/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CPU_SCALARS_H
#define CUZK_BACKEND_CPU_SCALARS_H
/* backend/cpu/scalars: a scalar set sorted by how much work a scalar makes. Scalars count as
 * signed numbers: k above r/2 stands for k - r, so -1 is as small as 1. Zeros are dropped. */
#include "backend/cpu/cpu.h"

/* Classes after the first two are by the bit length of |k|. The bounds lie a little above the
 * word sizes of circuits, because sums of a few words are common in them. */
typedef enum scalar_class {
    SCALAR_ONE,
    SCALAR_MINUS_ONE,
    SCALAR_TINY, /* <= 16 bits  */
    SCALAR_WORD, /* <= 40 bits  */
    SCALAR_LONG, /* <= 72 bits  */
    SCALAR_HALF, /* <= 136 bits */
    SCALAR_FULL,
    SCALAR_CLASS_COUNT
} scalar_class;

struct cuzk_scalars {
    const field *fr;
    size_t n;
    const uint8_t *values; /* n canonical little-endian values: the caller's or `owned` */
    uint8_t *owned;        /* NULL when the caller's values were canonical */
    uint32_t *index;       /* class after class, ascending within each */
    size_t class_start[SCALAR_CLASS_COUNT + 1];
    uint64_t half_top; /* top limb of r/2: decides which sign a scalar gets */
};

/* The part of one class that lies in a range of the set. */
typedef struct scalar_slice {
    const uint32_t *index; /* of the scalar in the set */
    size_t n;
} scalar_slice;

scalar_slice scalars_slice(const cuzk_scalars *set, scalar_class c, size_t first, size_t n);
CUZK_INLINE bool scalar_is_negative(const cuzk_scalars *scalars, const uint64_t *k) {
    return k[CPU_FR_LIMBS - 1] > scalars->half_top;
}
/* Bits of |k| that a scalar of this class may have, in a field whose order has n_bits. */
unsigned scalar_class_bits(scalar_class c, unsigned n_bits);

#endif
