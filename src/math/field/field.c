/* SPDX-License-Identifier: Apache-2.0 */
/* math/field/field: what a prime field needs besides its limb table: conversions, powers,
 * roots. */
#define _DEFAULT_SOURCE /* getrandom */
#include "math/field/field.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum { DEC_CHUNK = 19 }; /* decimal digits that always fit a word */

static const uint64_t ten_to_chunk = UINT64_C(10000000000000000000);

/* ---- little numbers: W limbs, not modular ---- */

static bool is_below(const uint64_t *a, const uint64_t *b, unsigned n) {
    for (unsigned i = n; i-- > 0;) {
        if (a[i] != b[i]) return a[i] < b[i];
    }
    return false;
}

/* a = a * factor + addend; returns what does not fit. */
static uint64_t scale_add(uint64_t *a, unsigned n, uint64_t factor, uint64_t addend) {
    for (unsigned i = 0; i < n; i++) {
        const cuzk_u128 t = (cuzk_u128)a[i] * factor + addend;
        a[i] = (uint64_t)t;
        addend = (uint64_t)(t >> 64);
    }
    return addend;
}

/* a = a / divisor; returns the remainder. */
static uint64_t divide(uint64_t *a, unsigned n, uint64_t divisor) {
    cuzk_u128 rest = 0;
    for (unsigned i = n; i-- > 0;) {
        rest = rest << 64 | a[i];
        a[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint64_t)rest;
}

static void shift_right(uint64_t *a, unsigned n, unsigned n_bits) {
    for (; n_bits > 0; n_bits--) {
        for (unsigned i = 0; i < n; i++) a[i] = a[i] >> 1 | (i + 1 < n ? a[i + 1] << 63 : 0);
    }
}

/* r = (p - 1) / 2^n_bits */
static void modulus_shifted(const field *f, uint64_t *r, unsigned n_bits) {
    memcpy(r, f->m.p, f->n_bytes);
    r[0] -= 1; /* p is odd */
    shift_right(r, f->m.n_limbs, n_bits);
}

static unsigned hex_value(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    CUZK_ASSERT(c >= 'A' && c <= 'F');
    return (unsigned)(c - 'A') + 10;
}

void field_init(field *f, const char *modulus_hex, unsigned n_limbs, cuzk_cpu_level level) {
    uint64_t p[LIMBS_MAX] = {0};
    memset(f, 0, sizeof *f);
    for (const char *c = modulus_hex; *c != '\0'; c++) {
        const uint64_t lost = scale_add(p, n_limbs, 16, hex_value(*c));
        CUZK_ASSERT(lost == 0);
    }
    limb_mod_init(&f->m, p, n_limbs);
    f->ops = limb_ops_for(n_limbs, level);
    f->n_bytes = 8 * n_limbs;
    p[0] -= 1;
    unsigned word = 0;
    while (p[word] == 0) word++;
    f->two_adicity = 64 * word + (unsigned)__builtin_ctzll(p[word]);
}

void field_set_zero(const field *f, uint64_t *r) { memset(r, 0, f->n_bytes); }

void field_set_one(const field *f, uint64_t *r) { memcpy(r, f->m.r, f->n_bytes); }

void field_set_u64(const field *f, uint64_t *r, uint64_t v) {
    const uint64_t t[LIMBS_MAX] = {v}; /* below p: a modulus has all its limbs */
    f->ops->to_mont(r, t, &f->m);
}

void field_copy(const field *f, uint64_t *r, const uint64_t *a) { memmove(r, a, f->n_bytes); }

bool field_is_zero(const field *f, const uint64_t *a) {
    uint64_t any = 0;
    for (unsigned i = 0; i < f->m.n_limbs; i++) any |= a[i];
    return any == 0;
}

bool field_equal(const field *f, const uint64_t *a, const uint64_t *b) {
    return memcmp(a, b, f->n_bytes) == 0;
}

void field_pow(const field *f, uint64_t *r, const uint64_t *a, const uint64_t *e,
               unsigned n_limbs) {
    fe base, acc;
    field_copy(f, base.l, a);
    field_set_one(f, acc.l);
    bool started = false;
    for (unsigned bit = 64 * n_limbs; bit-- > 0;) {
        if (started) field_sqr(f, acc.l, acc.l);
        if ((e[bit / 64] >> bit % 64 & 1) != 0) {
            field_mul(f, acc.l, acc.l, base.l);
            started = true;
        }
    }
    field_copy(f, r, acc.l);
}

/* a^((p - 1)/2): 1 for squares, -1 for others, 0 for 0. */
static bool is_nonresidue(const field *f, const uint64_t *a) {
    fe half, power;
    modulus_shifted(f, half.l, 1);
    field_pow(f, power.l, a, half.l, f->m.n_limbs);
    return !field_is_zero(f, power.l) && !field_equal(f, power.l, f->m.r);
}

uint64_t field_least_nonresidue(const field *f) {
    for (uint64_t g = 2;; g++) {
        fe t;
        field_set_u64(f, t.l, g);
        if (is_nonresidue(f, t.l)) return g;
    }
}

void field_root_of_unity(const field *f, uint64_t *r, uint64_t g, unsigned log_n) {
    CUZK_ASSERT(log_n <= f->two_adicity);
    fe base, e;
    field_set_u64(f, base.l, g);
    modulus_shifted(f, e.l, log_n);
    field_pow(f, r, base.l, e.l, f->m.n_limbs);
}

bool field_sqrt(const field *f, uint64_t *r, const uint64_t *a) {
    const unsigned n = f->m.n_limbs, s = f->two_adicity;
    if (field_is_zero(f, a)) {
        field_set_zero(f, r);
        return true;
    }
    /* With p - 1 = 2^s odd: x = a^((odd+1)/2) is a root of a t, t = a^odd of order 2^k. */
    fe e, x, t, square;
    modulus_shifted(f, e.l, s + 1); /* (odd - 1)/2 */
    field_pow(f, t.l, a, e.l, n);
    field_mul(f, x.l, t.l, a);
    field_mul(f, t.l, t.l, x.l);

    /* Each turn lowers the order of t with a root of unity z of order 2^(k+1). For
     * p = 3 mod 4, s = 1: t is already 1, or -1 and a is not a square. */
    fe z = {{0}};
    bool have_z = false;
    for (unsigned order = s; !field_equal(f, t.l, f->m.r);) {
        unsigned k = 0;
        for (square = t; !field_equal(f, square.l, f->m.r); k++) {
            field_sqr(f, square.l, square.l);
        }
        if (k == s) return false;
        if (!have_z) {
            field_root_of_unity(f, z.l, field_least_nonresidue(f), s);
            have_z = true;
        }
        for (; order > k + 1; order--) field_sqr(f, z.l, z.l);
        field_mul(f, x.l, x.l, z.l);
        field_sqr(f, z.l, z.l);
        order = k;
        field_mul(f, t.l, t.l, z.l);
    }
    field_copy(f, r, x.l);
    return true;
}

/* ---- outside forms ---- */

static bool load_limbs(const field *f, uint64_t *t, const uint8_t *bytes) {
    for (unsigned i = 0; i < f->m.n_limbs; i++) t[i] = load_le64(bytes + 8 * i);
    return is_below(t, f->m.p, f->m.n_limbs);
}

static void store_limbs(const field *f, uint8_t *bytes, const uint64_t *t) {
    for (unsigned i = 0; i < f->m.n_limbs; i++) store_le64(bytes + 8 * i, t[i]);
}

static void reverse(uint8_t *r, const uint8_t *a, unsigned n) {
    for (unsigned i = 0; i < n; i++) r[i] = a[n - 1 - i];
}

bool field_is_canonical_le(const field *f, const uint8_t *bytes) {
    fe t;
    return load_limbs(f, t.l, bytes);
}

bool field_load_mont(const field *f, uint64_t *r, const uint8_t *bytes) {
    fe t;
    if (!load_limbs(f, t.l, bytes)) return false;
    field_copy(f, r, t.l);
    return true;
}

void field_store_mont(const field *f, uint8_t *bytes, const uint64_t *a) {
    store_limbs(f, bytes, a);
}

bool field_load_le(const field *f, uint64_t *r, const uint8_t *bytes) {
    fe t;
    if (!load_limbs(f, t.l, bytes)) return false;
    f->ops->to_mont(r, t.l, &f->m);
    return true;
}

void field_store_le(const field *f, uint8_t *bytes, const uint64_t *a) {
    fe t;
    f->ops->from_mont(t.l, a, &f->m);
    store_limbs(f, bytes, t.l);
}

bool field_load_be(const field *f, uint64_t *r, const uint8_t *bytes) {
    uint8_t le[8 * LIMBS_MAX];
    reverse(le, bytes, f->n_bytes);
    return field_load_le(f, r, le);
}

void field_store_be(const field *f, uint8_t *bytes, const uint64_t *a) {
    uint8_t le[8 * LIMBS_MAX];
    field_store_le(f, le, a);
    reverse(bytes, le, f->n_bytes);
}

bool field_load_dec(const field *f, uint64_t *r, const char *text, size_t n_chars) {
    fe t = {{0}};
    if (n_chars == 0) return false;
    for (size_t i = 0; i < n_chars;) {
        uint64_t chunk = 0, scale = 1;
        for (unsigned k = 0; k < DEC_CHUNK && i < n_chars; k++, i++) {
            if (text[i] < '0' || text[i] > '9') return false;
            chunk = 10 * chunk + (uint64_t)(text[i] - '0');
            scale *= 10;
        }
        if (scale_add(t.l, f->m.n_limbs, scale, chunk) != 0) return false;
        /* Leaving early keeps a long text linear; a value never shrinks again. */
        if (!is_below(t.l, f->m.p, f->m.n_limbs)) return false;
    }
    f->ops->to_mont(r, t.l, &f->m);
    return true;
}

size_t field_store_dec(const field *f, char *text, const uint64_t *a) {
    fe t;
    f->ops->from_mont(t.l, a, &f->m);
    char digits[FIELD_DEC_MAX + DEC_CHUNK]; /* least significant first */
    size_t n = 0;
    do {
        uint64_t chunk = divide(t.l, f->m.n_limbs, ten_to_chunk);
        for (unsigned k = 0; k < DEC_CHUNK; k++, chunk /= 10) {
            digits[n++] = (char)('0' + chunk % 10);
        }
    } while (!field_is_zero(f, t.l));
    while (n > 1 && digits[n - 1] == '0') n--;
    for (size_t i = 0; i < n; i++) text[i] = digits[n - 1 - i];
    text[n] = '\0';
    return n;
}

cuzk_status field_random(const field *f, uint64_t *r, cuzk_err *err) {
    uint8_t bytes[8 * LIMBS_MAX] = {0};
    const unsigned spare_bits = 8 * f->n_bytes - f->m.n_bits;
    fe t;
    do {
        for (size_t have = 0; have < f->n_bytes;) {
            const ssize_t got = getrandom(bytes + have, f->n_bytes - have, 0);
            if (got > 0) {
                have += (size_t)got;
            } else if (got == 0 || errno != EINTR) {
                return cuzk_fail(err, CUZK_ERR_IO, "math.field",
                                 "the system gave no random bytes: %s", strerror(errno));
            }
        }
        /* At least half of the values of n_bits bits are below p. */
        for (unsigned i = 0; i < spare_bits / 8; i++) bytes[f->n_bytes - 1 - i] = 0;
        bytes[f->n_bytes - 1 - spare_bits / 8] &= (uint8_t)(0xff >> spare_bits % 8);
    } while (!load_limbs(f, t.l, bytes));
    /* A uniform value is uniform in Montgomery form too. */
    field_copy(f, r, t.l);
    cuzk_wipe(bytes, sizeof bytes);
    cuzk_wipe(&t, sizeof t);
    return CUZK_OK;
}
