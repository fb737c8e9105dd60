/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_GROUP_GROUP_H
#define CUZK_MATH_GROUP_GROUP_H
/* math/group: points of G1 and G2 one at a time (bulk additions live in limb tables).
 * `group` is G1 or G2 as one interface over coordinates of degree 1 or 2, so that MSM,
 * setup and checks are written once. All functions are complete (any inputs, infinities). */
#include "math/curves/curve.h"

typedef enum group_id {
    GROUP_G1 = 1,
    GROUP_G2 = 2
} group_id; /* value = degree of coordinates */

/* Jacobian (X/Z^2, Y/Z^3); Z = 0 is infinity. G1 uses only c0 of each coordinate. */
typedef struct point {
    fe2 x, y, z;
} point;

void point_set_infinity(const curve *c, group_id g, point *r);
void point_set_generator(const curve *c, group_id g, point *r);
bool point_is_infinity(const curve *c, group_id g, const point *a);
bool point_equal(const curve *c, group_id g, const point *a, const point *b);
bool point_is_on_curve(const curve *c, group_id g, const point *a);
void point_neg(const curve *c, group_id g, point *r, const point *a);
void point_add(const curve *c, group_id g, point *r, const point *a, const point *b);
void point_double(const curve *c, group_id g, point *r, const point *a);
/* r = [k] a; k canonical little-endian limbs (any value, also >= the order).
 * point_mul is constant time in k (fixed length n_limbs * 64): blinders go through it. */
void point_mul(const curve *c, group_id g, point *r, const point *a, const uint64_t *k,
               unsigned n_limbs);
void point_mul_vt(const curve *c, group_id g, point *r, const point *a, const uint64_t *k,
                  unsigned n_limbs);
/* [k] a with k a field element of Fr in Montgomery form. */
void point_mul_fr(const curve *c, group_id g, point *r, const point *a, const fe *k);
/* psi on the twist: untwist, q-power Frobenius, twist. [q] on G2. An affine a stays affine. */
void point_psi(const curve *c, point *r, const point *a);
/* Order-r check by the endomorphism where there is one, exact (not probabilistic). */
bool point_is_in_subgroup(const curve *c, group_id g, const point *a);

/* Packed affine form: the snarkjs layout and the limb tables' layout: little-endian limbs in
 * Montgomery form, x then y (x.c0 x.c1 y.c0 y.c1 for G2); all zero = infinity. `packed` is
 * curve_g1_bytes / curve_g2_bytes bytes, unaligned. */
size_t point_packed_bytes(const curve *c, group_id g);
/* False when a coordinate is not below q; on-curve is a separate question. */
bool point_load_packed(const curve *c, group_id g, point *r, const uint8_t *packed);
/* For bytes that were checked or computed: a coordinate that is not below q after all (a mapped
 * key may change under us) gives a meaningless point, no more. */
void point_load_packed_unchecked(const curve *c, group_id g, point *r, const uint8_t *packed);
void point_store_packed(const curve *c, group_id g, uint8_t *packed, const point *a);
/* n points at once with one inversion: scratch-free for the caller (uses cuzk_alloc). */
CUZK_MUST_CHECK cuzk_status point_store_packed_many(const curve *c, group_id g,
                                                    uint8_t *packed, const point *a, size_t n,
                                                    cuzk_err *err);
void point_from_g1(const curve *c, point *r, const g1_affine *a);
void point_from_g2(const curve *c, point *r, const g2_affine *a);
void point_to_g1(const curve *c, g1_affine *r, const point *a);
void point_to_g2(const curve *c, g2_affine *r, const point *a);

#endif
