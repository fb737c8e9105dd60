/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FORMAT_CIRCOM_PRIME_H
#define CUZK_FORMAT_CIRCOM_PRIME_H
/* format/circom/prime: how the headers of r1cs, wtns and zkey name a curve: LE32 n, then a prime
 * (q or r) as n little-endian bytes. */
#include "format/circom/binfile.h"
#include "math/curves/curve.h"

typedef enum prime_kind { PRIME_Q, PRIME_R } prime_kind;

/* Reads at *pos in `section`, which lies at file offset section_offset, and advances *pos. FORMAT
 * for a length or a number that belongs to no curve here. */
CUZK_MUST_CHECK cuzk_status prime_read(curve_id *out, uint64_t *pos, cuzk_span section,
                                       uint64_t section_offset, prime_kind kind,
                                       cuzk_err *err);
CUZK_MUST_CHECK cuzk_status prime_put(const byte_sink *sink, const field *f, cuzk_err *err);
/* Bytes of the prime, and of an element of its field. */
size_t prime_bytes(curve_id id, prime_kind kind);

#endif
