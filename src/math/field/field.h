/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_FIELD_FIELD_H
#define CUZK_MATH_FIELD_FIELD_H
/* math/field/field: prime fields (Fr, Fq) as data plus a limb table. Elements are packed limb
 * arrays in Montgomery form (see limb.h); `fe` is one that fits either width. */
#include "base/status.h"
#include "math/limb/limb.h"

typedef struct field {
    limb_mod m;
    const limb_ops *ops;
    unsigned n_bytes;     /* 8 * n_limbs: bytes of one packed element */
    unsigned two_adicity; /* s, where p - 1 = 2^s * odd */
} field;                  /* Thread: immutable after init */

typedef struct fe {
    uint64_t l[LIMBS_MAX];
} fe;

/* From the modulus as big-endian hex without prefix. The text is ours: asserted, not checked. */
void field_init(field *f, const char *modulus_hex, unsigned n_limbs, cuzk_cpu_level level);

CUZK_INLINE void field_mul(const field *f, uint64_t *r, const uint64_t *a, const uint64_t *b) {
    f->ops->mul(r, a, b, &f->m);
}
CUZK_INLINE void field_sqr(const field *f, uint64_t *r, const uint64_t *a) {
    f->ops->sqr(r, a, &f->m);
}
CUZK_INLINE void field_add(const field *f, uint64_t *r, const uint64_t *a, const uint64_t *b) {
    f->ops->add(r, a, b, &f->m);
}
CUZK_INLINE void field_sub(const field *f, uint64_t *r, const uint64_t *a, const uint64_t *b) {
    f->ops->sub(r, a, b, &f->m);
}
CUZK_INLINE void field_neg(const field *f, uint64_t *r, const uint64_t *a) {
    f->ops->neg(r, a, &f->m);
}
/* 0 -> 0. Variable time. */
CUZK_INLINE void field_inv(const field *f, uint64_t *r, const uint64_t *a) {
    f->ops->inv(r, a, &f->m);
}

void field_set_zero(const field *f, uint64_t *r);
void field_set_one(const field *f, uint64_t *r);
void field_set_u64(const field *f, uint64_t *r, uint64_t v); /* v mod p, any v */
void field_copy(const field *f, uint64_t *r, const uint64_t *a);
bool field_is_zero(const field *f, const uint64_t *a);
bool field_equal(const field *f, const uint64_t *a, const uint64_t *b);
/* r = a^e, e canonical little-endian limbs. Variable time in e. */
void field_pow(const field *f, uint64_t *r, const uint64_t *a, const uint64_t *e,
               unsigned n_limbs);
/* True and *r = a root when a is a square. Any p (Tonelli-Shanks, p = 3 mod 4 taken directly). */
bool field_sqrt(const field *f, uint64_t *r, const uint64_t *a);
/* Least quadratic non-residue, as a small integer (5 for both Fr). */
uint64_t field_least_nonresidue(const field *f);
/* Root of unity of order 2^log_n: g^((p-1)/2^log_n). log_n <= two_adicity, g a non-residue. */
void field_root_of_unity(const field *f, uint64_t *r, uint64_t g, unsigned log_n);

/* ---- outside forms ---- */
/* Canonical little-endian bytes (n_bytes); load is false when the value is not below p. */
bool field_load_le(const field *f, uint64_t *r, const uint8_t *bytes);
void field_store_le(const field *f, uint8_t *bytes, const uint64_t *a);
bool field_load_be(const field *f, uint64_t *r, const uint8_t *bytes);
void field_store_be(const field *f, uint8_t *bytes, const uint64_t *a);
/* snarkjs binary form: little-endian Montgomery, R = 2^(64 n_limbs): false when not below p. */
bool field_load_mont(const field *f, uint64_t *r, const uint8_t *bytes);
void field_store_mont(const field *f, uint8_t *bytes, const uint64_t *a);
/* Decimal text, n_chars digits, no sign. False when empty, not digits, or not below p. */
bool field_load_dec(const field *f, uint64_t *r, const char *text, size_t n_chars);
/* Writes at most FIELD_DEC_MAX bytes with terminator; returns the length without it. */
#define FIELD_DEC_MAX 120
size_t field_store_dec(const field *f, char *text, const uint64_t *a);
/* True when the canonical little-endian value is below p. Reads n_bytes, unaligned. */
bool field_is_canonical_le(const field *f, const uint8_t *bytes);
/* Uniform below p from the system CSPRNG (rejection sampling), Montgomery form. IO on failure. */
CUZK_MUST_CHECK cuzk_status field_random(const field *f, uint64_t *r, cuzk_err *err);

#endif
