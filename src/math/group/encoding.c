/* SPDX-License-Identifier: Apache-2.0 */
#include "math/group/encoding.h"

#include "math/field/tower.h"

#include <string.h>

/* The three highest bits of the first byte. */
#define FLAG_COMPRESSED 0x80u
#define FLAG_INFINITY   0x40u
#define FLAG_LARGER_Y   0x20u /* compressed only: y is the lexicographically larger root */
#define FLAGS           (FLAG_COMPRESSED | FLAG_INFINITY | FLAG_LARGER_Y)

static const char where[] = "math.encoding";

size_t encoding_bytes(const curve *c, group_id g, bool compressed) {
    /* BN254 leaves only two bits of a coordinate free: this encoding is not for it. */
    CUZK_ASSERT(8 * c->fq.n_bytes - c->fq.m.n_bits >= 3);
    return point_packed_bytes(c, g) / (compressed ? 2 : 1);
}

/* Coordinates are big-endian, and those of Fq2 have c1 first. */
static void store_coordinate(const curve *c, group_id g, uint8_t *out, const fe2 *a) {
    if (g == GROUP_G2) {
        field_store_be(&c->fq, out, a->c1.l);
        out += c->fq.n_bytes;
    }
    field_store_be(&c->fq, out, a->c0.l);
}

static bool load_coordinate(const curve *c, group_id g, fe2 *r, const uint8_t *in) {
    memset(r, 0, sizeof *r);
    if (g == GROUP_G2) {
        if (!field_load_be(&c->fq, r->c1.l, in)) return false;
        in += c->fq.n_bytes;
    }
    return field_load_be(&c->fq, r->c0.l, in);
}

/* y > -y in the order of their encodings. */
static bool is_larger_root(const curve *c, group_id g, const fe2 *y) {
    uint8_t y_bytes[16 * LIMBS_MAX], neg_bytes[16 * LIMBS_MAX];
    fe2 neg;
    fe2_neg(c, &neg, y);
    store_coordinate(c, g, y_bytes, y);
    store_coordinate(c, g, neg_bytes, &neg);
    return memcmp(y_bytes, neg_bytes, point_packed_bytes(c, g) / 2) > 0;
}

/* The affine coordinates of either group, zero at infinity. */
static bool affine_of(const curve *c, group_id g, fe2 *x, fe2 *y, const point *a) {
    g2_affine a2 = {0};
    if (g == GROUP_G1) {
        g1_affine a1;
        point_to_g1(c, &a1, a);
        a2 = (g2_affine){.x.c0 = a1.x, .y.c0 = a1.y, .infinity = a1.infinity};
    } else {
        point_to_g2(c, &a2, a);
    }
    *x = a2.x;
    *y = a2.y;
    return !a2.infinity;
}

void encoding_store(const curve *c, group_id g, uint8_t *out, const point *a,
                    bool compressed) {
    const size_t n_bytes = encoding_bytes(c, g, compressed);
    const uint8_t form = compressed ? FLAG_COMPRESSED : 0;
    fe2 x, y;
    if (!affine_of(c, g, &x, &y, a)) {
        memset(out, 0, n_bytes);
        out[0] = (uint8_t)(form | FLAG_INFINITY);
        return;
    }
    store_coordinate(c, g, out, &x);
    if (!compressed) {
        store_coordinate(c, g, out + n_bytes / 2, &y);
        return;
    }
    out[0] |= form;
    if (is_larger_root(c, g, &y)) out[0] |= FLAG_LARGER_Y;
}

/* y of a curve point with this x. False when there is none. */
static bool solve_y(const curve *c, group_id g, fe2 *y, const fe2 *x, bool larger) {
    const field *f = &c->fq;
    fe2 t; /* x^3 + b */
    if (g == GROUP_G1) {
        memset(y, 0, sizeof *y);
        field_sqr(f, t.c0.l, x->c0.l);
        field_mul(f, t.c0.l, t.c0.l, x->c0.l);
        field_add(f, t.c0.l, t.c0.l, c->b.l);
        if (!field_sqrt(f, y->c0.l, t.c0.l)) return false;
    } else {
        fe2_sqr(c, &t, x);
        fe2_mul(c, &t, &t, x);
        fe2_add(c, &t, &t, &c->b2);
        if (!fe2_sqrt(c, y, &t)) return false;
    }
    if (is_larger_root(c, g, y) != larger) fe2_neg(c, y, y);
    return true;
}

static cuzk_status load_infinity(const curve *c, group_id g, point *r, const uint8_t *in,
                                 size_t n_bytes, cuzk_err *err) {
    uint8_t rest = in[0] & (uint8_t) ~(FLAG_COMPRESSED | FLAG_INFINITY);
    for (size_t i = 1; i < n_bytes; i++) rest |= in[i];
    if (rest != 0) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, where,
                         "point at infinity has other bits set, expected zeros");
    }
    point_set_infinity(c, g, r);
    return CUZK_OK;
}

cuzk_status encoding_load(const curve *c, group_id g, point *r, const uint8_t *in,
                          bool compressed, encoding_check check, cuzk_err *err) {
    const size_t n_bytes = encoding_bytes(c, g, compressed);
    const unsigned flags = in[0] & FLAGS;
    if (((flags & FLAG_COMPRESSED) != 0) != compressed) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, where, "point is %s, expected %s",
                         compressed ? "uncompressed" : "compressed",
                         compressed ? "compressed" : "uncompressed");
    }
    if (flags & FLAG_INFINITY) return load_infinity(c, g, r, in, n_bytes, err);
    if (!compressed && (flags & FLAG_LARGER_Y)) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, where,
                         "uncompressed point has the sign flag set, expected clear");
    }

    uint8_t x_bytes[16 * LIMBS_MAX];
    memcpy(x_bytes, in, point_packed_bytes(c, g) / 2);
    x_bytes[0] &= (uint8_t)~FLAGS;
    fe2 x, y;
    if (!load_coordinate(c, g, &x, x_bytes) ||
        (!compressed && !load_coordinate(c, g, &y, in + n_bytes / 2))) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, where,
                         "coordinate is not below the field modulus");
    }
    if (compressed && !solve_y(c, g, &y, &x, (flags & FLAG_LARGER_Y) != 0)) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, where, "no point of the curve has this x");
    }
    point p;
    if (g == GROUP_G1) {
        point_from_g1(c, &p, &(g1_affine){.x = x.c0, .y = y.c0});
    } else {
        point_from_g2(c, &p, &(g2_affine){.x = x, .y = y});
    }
    if (!point_is_on_curve(c, g, &p)) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, where, "point is not on the curve");
    }
    if (check == ENCODING_CHECK_SUBGROUP && !point_is_in_subgroup(c, g, &p)) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, where,
                         "point is not in the subgroup of prime order");
    }
    *r = p;
    return CUZK_OK;
}
