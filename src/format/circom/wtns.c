/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/wtns: see wtns.h. */
#include "format/circom/wtns.h"
#include "format/circom/prime.h"
#include <inttypes.h>

#define WHERE          "format.wtns"
#define VERSION        2u
#define SECTION_HEADER 1u
#define SECTION_VALUES 2u

cuzk_status wtns_parse(wtns_view *out, cuzk_span file, cuzk_err *err) {
    wtns_view v = {.n_values = 0};
    cuzk_span header;
    uint64_t pos = 0;
    CUZK_TRY(binfile_parse(&v.file, file, "wtns", VERSION, err));
    CUZK_TRY(binfile_require(&header, &v.file, SECTION_HEADER, 0, "section 1 (header)", err));
    const uint64_t offset = binfile_find(&v.file, SECTION_HEADER)->offset;
    CUZK_TRY(prime_read(&v.curve, &pos, header, offset, PRIME_R, err));
    if (header.n_bytes != pos + 4)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section 1 (header) at offset %" PRIu64 " has %zu bytes, expected "
                         "%" PRIu64,
                         offset, header.n_bytes, pos + 4);
    v.n_values = load_le32(header.p + pos);
    if (v.n_values == 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "number of values at offset %" PRIu64
                         " is 0, expected at least 1 (the constant 1)",
                         offset + pos);
    CUZK_TRY(binfile_require_exact(&v.values, &v.file, SECTION_VALUES, v.n_values,
                                   WTNS_VALUE_BYTES, "section 2 (values)", err));
    *out = v;
    return CUZK_OK;
}

static bool is_one(const uint8_t *value) {
    return load_le64(value) == 1 &&
           (load_le64(value + 8) | load_le64(value + 16) | load_le64(value + 24)) == 0;
}

cuzk_status wtns_check_values(const wtns_view *v, const field *fr, cuzk_err *err) {
    CUZK_ASSERT(fr->n_bytes == WTNS_VALUE_BYTES);
    if (!is_one(v->values.p))
        return cuzk_fail(err, CUZK_ERR_WITNESS, WHERE,
                         "witness value 0 of %" PRIu32 " is not the constant 1", v->n_values);
    const uint64_t top = fr->m.p[3];
    for (uint32_t i = 0; i < v->n_values; i++) {
        const uint8_t *value = v->values.p + (size_t)i * WTNS_VALUE_BYTES;
        if (load_le64(value + 24) < top) continue; /* decides all but one value in 2^60 */
        if (!field_is_canonical_le(fr, value))
            return cuzk_fail(err, CUZK_ERR_WITNESS, WHERE,
                             "witness value %" PRIu32 " of %" PRIu32
                             " is not below the scalar field's prime r of %s",
                             i, v->n_values, curve_params_of(v->curve)->name);
    }
    return CUZK_OK;
}

cuzk_status wtns_write(const wtns_view *v, const curve *c, const byte_sink *sink,
                       cuzk_err *err) {
    uint8_t count[4];
    store_le32(count, v->n_values);
    CUZK_TRY(binfile_put_header(sink, "wtns", VERSION, 2, err));
    CUZK_TRY(binfile_put_section(sink, SECTION_HEADER, 4 + (uint64_t)c->fr.n_bytes + 4, err));
    CUZK_TRY(prime_put(sink, &c->fr, err));
    CUZK_TRY(byte_sink_put(sink, count, sizeof count, err));
    return binfile_put_span(sink, SECTION_VALUES, v->values, err);
}
