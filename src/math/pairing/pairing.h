/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_PAIRING_PAIRING_H
#define CUZK_MATH_PAIRING_PAIRING_H
/* math/pairing: the optimal ate pairing (Vercauteren 2010; final exponentiation after
 * Hayashida, Hayasaka and Teruya 2020 for BLS12, Fuentes-Castaneda et al. 2011 for BN).
 * Variable time. */
#include "math/field/tower.h"
#include "math/group/group.h"

/* r = product of e(p[i], q[i]), after the final exponentiation. Points at infinity give 1.
 * Points must be in their subgroups. The exponent is (q^12 - 1)/r times a factor prime to r (3 for
 * BLS12, 2x (6x^2 + 3x + 1) for BN): the value that snarkjs prints too. */
void pairing_product(const curve *c, fe12 *r, const g1_affine *p, const g2_affine *q,
                     size_t n);
bool pairing_product_is_one(const curve *c, const g1_affine *p, const g2_affine *q, size_t n);

#endif
