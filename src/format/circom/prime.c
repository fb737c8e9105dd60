/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/prime: see prime.h. */
#include "format/circom/prime.h"
#include <inttypes.h>

#define WHERE "format.prime"

static const char *kind_name(prime_kind kind) {
    return kind == PRIME_Q ? "base field prime q" : "scalar field prime r";
}

size_t prime_bytes(curve_id id, prime_kind kind) {
    const curve_params *params = curve_params_of(id);
    return 8u * (size_t)(kind == PRIME_Q ? params->q_limbs : params->r_limbs);
}

cuzk_status prime_read(curve_id *out, uint64_t *pos, cuzk_span section,
                       uint64_t section_offset, prime_kind kind, cuzk_err *err) {
    const char *what = kind_name(kind);
    const uint64_t offset = section_offset + *pos;
    cuzk_span length, prime;
    if (!span_sub(&length, section, *pos, 4))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "length of the %s at offset %" PRIu64
                         ": the section ends, expected 4 "
                         "bytes",
                         what, offset);
    const uint32_t n_bytes = load_le32(length.p);
    if (!span_sub(&prime, section, *pos + 4, n_bytes))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "length of the %s at offset %" PRIu64 " is %" PRIu32
                         " bytes, but the section ends after %" PRIu64,
                         what, offset, n_bytes, section.n_bytes - (*pos + 4));
    const bool found = kind == PRIME_Q ? curve_find_by_q(out, prime.p, n_bytes)
                                       : curve_find_by_r(out, prime.p, n_bytes);
    if (!found)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%s at offset %" PRIu64 " (%" PRIu32
                         " bytes, lowest %02x) is not that of bn254 or bls12_381",
                         what, offset + 4, n_bytes, n_bytes ? prime.p[0] : 0u);
    *pos += 4 + (uint64_t)n_bytes;
    return CUZK_OK;
}

cuzk_status prime_put(const byte_sink *sink, const field *f, cuzk_err *err) {
    uint8_t b[4 + 8 * LIMBS_MAX];
    store_le32(b, f->n_bytes);
    for (unsigned i = 0; i < f->m.n_limbs; i++) store_le64(b + 4 + 8 * i, f->m.p[i]);
    return byte_sink_put(sink, b, 4 + (size_t)f->n_bytes, err);
}
