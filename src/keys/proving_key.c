/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/proving_key.h"
#include "format/circom/zkey.h"
#include "keys/residency.h"

cuzk_status proving_key_load_point(point *out, const curve *c, group_id g,
                                   const uint8_t *packed, const char *what, cuzk_err *err) {
    if (!point_load_packed(c, g, out, packed))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "keys.proving_key",
                         "%s: a coordinate is not below the field's modulus", what);
    if (!point_is_on_curve(c, g, out))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "keys.proving_key",
                         "%s: not a point of the curve %s", what, c->params->name);
    return CUZK_OK;
}

/* A constant at infinity, or of small order, is no mere damage: with beta1, B1 and delta1
 * there, r would not blind A, and yet the proof would verify. */
static cuzk_status load_constant(point *out, const curve *c, group_id g, const uint8_t *packed,
                                 const char *what, cuzk_err *err) {
    CUZK_TRY(proving_key_load_point(out, c, g, packed, what, err));
    if (point_is_infinity(c, g, out))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "keys.proving_key",
                         "%s: the point at infinity, expected another point", what);
    if (!point_is_in_subgroup(c, g, out))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "keys.proving_key",
                         "%s: not in the group of prime order", what);
    return CUZK_OK;
}

static cuzk_status load_g1(g1_affine *out, const curve *c, const uint8_t *packed,
                           const char *what, cuzk_err *err) {
    point p;
    CUZK_TRY(load_constant(&p, c, GROUP_G1, packed, what, err));
    point_to_g1(c, out, &p);
    return CUZK_OK;
}

static cuzk_status load_g2(g2_affine *out, const curve *c, const uint8_t *packed,
                           const char *what, cuzk_err *err) {
    point p;
    CUZK_TRY(load_constant(&p, c, GROUP_G2, packed, what, err));
    point_to_g2(c, out, &p);
    return CUZK_OK;
}

static key_query query_of(const proving_key *key, cuzk_span file, cuzk_span points, size_t n) {
    key_query q = {{key->buf, 0}, n};
    if (n) q.points.offset = (size_t)(points.p - file.p);
    return q;
}

cuzk_status proving_key_open_zkey(proving_key *out, cuzk_span file,
                                  const curve *const curves[CURVE_COUNT],
                                  const cuzk_backend *backend, cuzk_device *device,
                                  cuzk_err *err) {
    zkey_view z;
    CUZK_TRY(zkey_parse(&z, file, err));
    const curve *c = curves[z.curve];
    proving_key key = {.curve = c,
                       .backend = backend,
                       .device = device,
                       .quotient = QUOTIENT_LAGRANGE_ODD,
                       .n_vars = z.n_vars,
                       .n_public = z.n_public,
                       .log_domain = z.log_domain,
                       .matrix = {z.coefficients.p, z.n_coefficients, z.domain_size, z.n_vars},
                       .image = file};
    CUZK_TRY(load_g1(&key.alpha1, c, z.alpha1, "alpha1", err));
    CUZK_TRY(load_g1(&key.beta1, c, z.beta1, "beta1", err));
    CUZK_TRY(load_g1(&key.delta1, c, z.delta1, "delta1", err));
    CUZK_TRY(load_g2(&key.beta2, c, z.beta2, "beta2", err));
    CUZK_TRY(load_g2(&key.gamma2, c, z.gamma2, "gamma2", err));
    CUZK_TRY(load_g2(&key.delta2, c, z.delta2, "delta2", err));
    CUZK_TRY(backend->buf_wrap(&key.buf, device, file.p, file.n_bytes, err));
    key.ic = query_of(&key, file, z.ic, (size_t)z.n_public + 1);
    key.ic_packed = z.ic.p;
    key.a = query_of(&key, file, z.a, z.n_vars);
    key.b1 = query_of(&key, file, z.b1, z.n_vars);
    key.b2 = query_of(&key, file, z.b2, z.n_vars);
    key.l = query_of(&key, file, z.l, (size_t)z.n_vars - z.n_public - 1);
    key.h = query_of(&key, file, z.h, z.domain_size);
    *out = key;
    return CUZK_OK;
}

cuzk_status proving_key_attach(proving_key *key, device_memory *memory, cuzk_err *err) {
    CUZK_TRY(key_copy_create(&key->copy, memory, key, err));
    key->memory = memory;
    return CUZK_OK;
}

void proving_key_close(proving_key *key) {
    key_copy_destroy(key->copy);
    key->copy = NULL;
    key->memory = NULL;
    if (key->buf) key->backend->buf_free(key->buf);
    key->buf = NULL;
}

#define MONOMIAL_ROOT 7u /* bellperson's, for the roots of unity and the coset alike */

key_roots proving_key_roots(const proving_key *key) {
    const field *fr = &key->curve->fr;
    key_roots roots = {.nonresidue = field_least_nonresidue(fr), .is_odd_coset = true};
    if (key->quotient == QUOTIENT_MONOMIAL) {
        roots = (key_roots){.nonresidue = MONOMIAL_ROOT};
        field_set_u64(fr, roots.coset.l, MONOMIAL_ROOT);
    }
    return roots;
}
