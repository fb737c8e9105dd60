/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/msm_digits: see msm_digits.h. */
#include "backend/cpu/msm_digits.h"

#include <string.h>

void msm_offsets_init(msm_offsets *offsets, const msm_plan *plan,
                      const cuzk_scalars *scalars) {
    const uint64_t *r = scalars->fr->m.p;
    memset(offsets, 0, sizeof *offsets);
    uint64_t *k = offsets->add[0], borrow = 0;
    for (unsigned i = 0; i < plan->n_windows; i++) {
        const msm_window *w = &plan->windows[i];
        unsigned bit = w->offset + w->width - 1;
        if (!w->ones) k[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    for (unsigned i = 0; i < CPU_FR_LIMBS; i++) {
        cuzk_u128 d = (cuzk_u128)k[i] - r[i] - borrow;
        offsets->add[1][i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
}

CUZK_INLINE void put_digit(msm_digit_finder *f, uint32_t magnitude, bool negative,
                           size_t index) {
    uint32_t slot = magnitude - f->begin;
    if (slot >= f->n_wanted) return;
    slot += f->slot;
    f->count[slot]++;
    uint32_t sign = negative ? MSM_ENTRY_NEGATE : 0;
    *f->next++ = (msm_digit){slot, (uint32_t)(index - f->first) | sign};
}

/* `limb` is where the window begins; a constant, so that all stays in registers. */
CUZK_INLINE int32_t digit_of(const msm_digit_finder *f, const msm_window *w, uint32_t index,
                             unsigned limb) {
    uint64_t v[CPU_FR_LIMBS + 1] = {0}, carry = 0;
    memcpy(v, f->scalars->values + (size_t)index * CPU_FR_BYTES, CPU_FR_BYTES);
    const uint64_t *add = f->offsets->add[scalar_is_negative(f->scalars, v)];
    for (unsigned i = 0; i < CPU_FR_LIMBS && i <= limb + 1; i++) {
        cuzk_u128 t = (cuzk_u128)v[i] + add[i] + carry;
        v[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    cuzk_u128 two = (cuzk_u128)v[limb + 1] << 64 | v[limb];
    uint64_t bits = (uint64_t)(two >> w->offset % 64) & (((uint64_t)1 << w->width) - 1);
    return (int32_t)bits - (int32_t)(1u << (w->width - 1));
}

/* Works on copies, because stores through
 * pointers could change the originals, as far as the compiler knows. */
CUZK_INLINE void find_in_slice(msm_digit_finder *finder, const msm_slice *slice,
                               const msm_window *window, unsigned limb) {
    msm_digit_finder f = *finder;
    const msm_window w = *window;
    for (size_t i = 0; 64 * i < slice->scalars.n; i++) {
        for (uint64_t live = slice->live[i]; live; live &= live - 1) {
            uint32_t index = slice->scalars.index[64 * i + (size_t)__builtin_ctzll(live)];
            int32_t d = digit_of(&f, &w, index, limb);
            put_digit(&f, (uint32_t)(d < 0 ? -d : d), d < 0, index);
        }
    }
    *finder = f;
}

static void find_ones(msm_digit_finder *f, const msm_slice *slice, bool negative) {
    for (size_t i = 0; 64 * i < slice->scalars.n; i++) {
        for (uint64_t live = slice->live[i]; live; live &= live - 1) {
            size_t k = 64 * i + (size_t)__builtin_ctzll(live);
            put_digit(f, 1, negative, slice->scalars.index[k]);
        }
    }
}

void msm_find_digits(msm_digit_finder *f, const msm_window *w) {
    if (w->ones) {
        find_ones(f, &f->slices[SCALAR_ONE], false);
        find_ones(f, &f->slices[SCALAR_MINUS_ONE], true);
        return;
    }
    for (unsigned c = SCALAR_TINY; c < SCALAR_CLASS_COUNT; c++) {
        const msm_slice *slice = &f->slices[c];
        if (w->offset >= msm_class_end((scalar_class)c, f->scalars->fr)) continue;
        switch (w->offset / 64) {
        case 0:
            find_in_slice(f, slice, w, 0);
            break;
        case 1:
            find_in_slice(f, slice, w, 1);
            break;
        case 2:
            find_in_slice(f, slice, w, 2);
            break;
        default:
            find_in_slice(f, slice, w, 3);
            break;
        }
    }
}

/* The steps of a few digits are taken together: that hides the random accesses in each. */
void msm_sort_digits(uint32_t *entries, uint32_t *slot_end, size_t n_slots,
                     const msm_digit *digits, size_t n_digits) {
    enum { TOGETHER = 64 };
    uint32_t place[TOGETHER], at = 0;
    for (size_t k = 0; k < n_slots; k++) {
        uint32_t count = slot_end[k];
        slot_end[k] = at;
        at += count;
    }
    for (size_t done = 0; done < n_digits; done += TOGETHER) {
        size_t n = n_digits - done < TOGETHER ? n_digits - done : TOGETHER;
        for (size_t i = 0; i < n; i++) {
            place[i] = slot_end[digits[done + i].slot]++;
            CUZK_PREFETCH(entries + place[i]);
        }
        for (size_t i = 0; i < n; i++) entries[place[i]] = digits[done + i].entry;
    }
}
