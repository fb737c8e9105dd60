/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CIRCUIT_CONSTRAINTS_H
#define CUZK_CIRCUIT_CONSTRAINTS_H
/* circuit/constraints: does a witness satisfy a constraint system, and is a key one of it? In: the
 * checked views of format/circom. Out: yes, or the first place where it is not so. */
#include "base/executor.h"
#include "format/circom/r1cs.h"
#include "format/circom/zkey.h"

/* OK = every constraint holds. WITNESS = a wrong number of values, or the first constraint (from
 * 0) that does not hold, with its terms: "constraint 17 of 1034 does not hold: (3*w[5] - w[9]) *
 * (w[2]) != (w[11]); 2 * 3 != 7". Coefficients and values above r/2 are shown as negatives, long
 * ones and long sums shortened. FORMAT = a damaged constraint. NOMEM.
 * values: n canonical 32-byte little-endian values, unaligned, all below r (wtns_check_values). */
CUZK_MUST_CHECK cuzk_status constraints_check(const r1cs_view *r1cs, const uint8_t *values,
                                              uint32_t n, const field *fr, cuzk_exec *exec,
                                              cuzk_err *err);

/* OK = the key has the curve, the counts, the domain, and row by row the A and B coefficients of
 * this circuit, in any order. FORMAT = it does not, or a constraint or coefficient is damaged;
 * the first difference is named. NOMEM. Says nothing about the points of the key: whether they
 * belong to the circuit can't be told without the ceremony's powers of tau.
 * O(n log n) with 4 bytes a coefficient and a row. */
CUZK_MUST_CHECK cuzk_status constraints_match_key(const r1cs_view *r1cs, const zkey_view *key,
                                                  const field *fr, cuzk_err *err);

#endif
