/* SPDX-License-Identifier: Apache-2.0 */
#include "math/curves/curve.h"

#include "math/field/tower.h"

#include <string.h>

/* curve_list: one line a curve. */
extern const curve_params curve_params_bn254, curve_params_bls12_381;

const curve_params *curve_params_of(curve_id id) {
    switch (id) {
    case CURVE_BN254:
        return &curve_params_bn254;
    case CURVE_BLS12_381:
        return &curve_params_bls12_381;
    case CURVE_COUNT:
        break;
    }
    return NULL;
}

/* Value of the hex digit, or of '0' beyond the text: `i` counts from the least significant. */
static uint8_t hex_nibble(const char *hex, size_t n_chars, size_t i) {
    if (i >= n_chars) return 0;
    const char ch = hex[n_chars - 1 - i];
    return (uint8_t)(ch <= '9' ? ch - '0' : ch - 'a' + 10);
}

static void hex_to_le(uint8_t *bytes, size_t n_bytes, const char *hex) {
    const size_t n_chars = strlen(hex);
    for (size_t i = 0; i < n_bytes; i++) {
        bytes[i] = (uint8_t)(hex_nibble(hex, n_chars, 2 * i) |
                             hex_nibble(hex, n_chars, 2 * i + 1) << 4);
    }
}

static void load_hex(const field *f, fe *r, const char *hex) {
    uint8_t bytes[8 * LIMBS_MAX];
    hex_to_le(bytes, f->n_bytes, hex);
    const bool below_p = field_load_le(f, r->l, bytes);
    CUZK_ASSERT(below_p);
}

/* frob[0][i] = g^i with g = xi^((q-1)/6); raising to q is conjugation, which gives the rows
 * for q^2 and q^3: (q^2-1)/6 = (q-1)/6 (1+q) and (q^3-1)/6 = (q-1)/6 (1+q+q^2). */
static void init_frobenius(curve *c) {
    uint64_t e[LIMBS_MAX];
    const unsigned n = c->fq.m.n_limbs;
    memcpy(e, c->fq.m.p, sizeof e);
    uint64_t rest = 0; /* (q-1)/6 = floor(q/6): both q are 1 mod 6 */
    for (unsigned i = n; i-- > 0;) {
        const cuzk_u128 v = (cuzk_u128)rest << 64 | e[i];
        e[i] = (uint64_t)(v / 6);
        rest = (uint64_t)(v % 6);
    }
    CUZK_ASSERT(rest == 1);

    fe2 g[3];
    fe2_pow(c, &g[0], &c->xi, e, n);
    fe2_conj(c, &g[1], &g[0]);
    fe2_mul(c, &g[1], &g[1], &g[0]);
    fe2_mul(c, &g[2], &g[1], &g[0]); /* g^(q^2) = g, since g lies in Fq2 */
    for (unsigned k = 0; k < 3; k++) {
        fe2_set_one(c, &c->frob[k][0]);
        for (unsigned i = 1; i < 6; i++) fe2_mul(c, &c->frob[k][i], &c->frob[k][i - 1], &g[k]);
    }
}

/* phi and psi^2 act on the twist by the same cube root of unity w = xi^((q^2-1)/3) (or its
 * inverse, on an M-twist) up to the sign of y, and psi is [q] on G2, so phi is [-q^2] there.
 * det(phi) = 1 on E[r] = G1 + G2, hence phi is [-q^-2] = [q^4] = [q^2 - 1] on G1, because
 * q^4 - q^2 + 1 = 0 mod r. */
static void init_endomorphisms(curve *c) {
    const bool m = c->params->twist_is_m;
    c->beta = c->frob[1][m ? 4 : 2].c0;

    c->psi_x = c->frob[0][2];
    c->psi_y = c->frob[0][3];
    if (m) {
        fe2_inv(c, &c->psi_x, &c->psi_x);
        fe2_inv(c, &c->psi_y, &c->psi_y);
    }

    fe x, one;
    field_set_one(&c->fr, one.l);
    field_set_u64(&c->fr, x.l, c->params->x); /* q = 6x^2 (BN) or x (BLS12) mod r */
    if (c->params->family == CURVE_FAMILY_BN) {
        fe six;
        field_set_u64(&c->fr, six.l, 6);
        field_sqr(&c->fr, x.l, x.l);
        field_mul(&c->fr, x.l, x.l, six.l);
    }
    field_sqr(&c->fr, x.l, x.l); /* so the sign of x does not matter */
    field_sub(&c->fr, c->lambda.l, x.l, one.l);
}

void curve_init(curve *c, curve_id id, cuzk_cpu_level level) {
    memset(c, 0, sizeof *c);
    const curve_params *p = curve_params_of(id);
    CUZK_ASSERT(p != NULL);
    c->params = p;
    field_init(&c->fq, p->q_hex, p->q_limbs, level);
    field_init(&c->fr, p->r_hex, p->r_limbs, level);

    field_set_u64(&c->fq, c->b.l, p->b);
    field_set_u64(&c->fq, c->xi.c0.l, p->xi[0]);
    field_set_u64(&c->fq, c->xi.c1.l, p->xi[1]);
    c->b2 = c->xi;
    if (!p->twist_is_m) fe2_inv(c, &c->b2, &c->xi);
    fe2_mul_fe(c, &c->b2, &c->b2, &c->b);

    load_hex(&c->fq, &c->g1.x, p->g1_x);
    load_hex(&c->fq, &c->g1.y, p->g1_y);
    load_hex(&c->fq, &c->g2.x.c0, p->g2_x0);
    load_hex(&c->fq, &c->g2.x.c1, p->g2_x1);
    load_hex(&c->fq, &c->g2.y.c0, p->g2_y0);
    load_hex(&c->fq, &c->g2.y.c1, p->g2_y1);

    init_frobenius(c);
    init_endomorphisms(c);
}

static bool hex_equals_le(const char *hex, unsigned n_limbs, const uint8_t *le,
                          size_t n_bytes) {
    uint8_t bytes[8 * LIMBS_MAX];
    if (n_bytes != 8u * (size_t)n_limbs) return false;
    hex_to_le(bytes, n_bytes, hex);
    return memcmp(bytes, le, n_bytes) == 0;
}

bool curve_find_by_q(curve_id *out, const uint8_t *q_le, size_t n_bytes) {
    for (int id = 0; id < CURVE_COUNT; id++) {
        const curve_params *p = curve_params_of((curve_id)id);
        if (!hex_equals_le(p->q_hex, p->q_limbs, q_le, n_bytes)) continue;
        *out = p->id;
        return true;
    }
    return false;
}

bool curve_find_by_r(curve_id *out, const uint8_t *r_le, size_t n_bytes) {
    for (int id = 0; id < CURVE_COUNT; id++) {
        const curve_params *p = curve_params_of((curve_id)id);
        if (!hex_equals_le(p->r_hex, p->r_limbs, r_le, n_bytes)) continue;
        *out = p->id;
        return true;
    }
    return false;
}

bool curve_find_by_name(curve_id *out, const char *name) {
    for (int id = 0; id < CURVE_COUNT; id++) {
        const curve_params *p = curve_params_of((curve_id)id);
        if (strcmp(name, p->name) != 0 && strcmp(name, p->snarkjs_name) != 0) continue;
        *out = p->id;
        return true;
    }
    return false;
}
