/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_GROUP_ENCODING_H
#define CUZK_MATH_GROUP_ENCODING_H
/* math/group/encoding: the ZCash encoding of BLS12-381 points (big-endian, three flag bits;
 * https://github.com/zkcrypto/pairing, src/bls12_381/README.md). Decoding accepts exactly one
 * encoding for each point, checks the curve equation, and the subgroup unless told not to. */
#include "math/group/group.h"

typedef enum encoding_check { ENCODING_CHECK_CURVE, ENCODING_CHECK_SUBGROUP } encoding_check;

/* 48/96 (compressed) or 96/192 bytes. */
size_t encoding_bytes(const curve *c, group_id g, bool compressed);
void encoding_store(const curve *c, group_id g, uint8_t *out, const point *a, bool compressed);
/* FORMAT with the reason when the bytes are not such a point. */
CUZK_MUST_CHECK cuzk_status encoding_load(const curve *c, group_id g, point *r,
                                          const uint8_t *in, bool compressed,
                                          encoding_check check, cuzk_err *err);
#endif
