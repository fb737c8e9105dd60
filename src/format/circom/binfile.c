/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/binfile: see binfile.h. */
#include "format/circom/binfile.h"
#include <inttypes.h>

#define WHERE                "format.binfile"
#define FILE_HEADER_BYTES    12u
#define SECTION_HEADER_BYTES 12u

static cuzk_status parse_file_header(binfile *out, cuzk_span file, const char *magic,
                                     uint32_t max_version, cuzk_err *err) {
    if (file.n_bytes < FILE_HEADER_BYTES)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "file header: the file has %zu bytes, expected at least %u",
                         file.n_bytes, FILE_HEADER_BYTES);
    memcpy(out->magic, file.p, 4);
    out->magic[4] = '\0';
    if (memcmp(out->magic, magic, 4) != 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "magic at offset 0 is '%.4s' (%02x %02x %02x %02x), expected '%s'",
                         out->magic, file.p[0], file.p[1], file.p[2], file.p[3], magic);
    out->version = load_le32(file.p + 4);
    if (out->version < 1 || out->version > max_version)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%s version at offset 4 is %" PRIu32 ", expected 1 to %" PRIu32,
                         magic, out->version, max_version);
    out->n_sections = load_le32(file.p + 8);
    if (out->n_sections > BINFILE_MAX_SECTIONS)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "number of sections at offset 8 is %" PRIu32 ", expected at most %u",
                         out->n_sections, BINFILE_MAX_SECTIONS);
    return CUZK_OK;
}

/* Reads the i-th section header at offset `at` and checks it against the file and against the
 * sections before it. */
static cuzk_status parse_section(binfile *out, uint32_t i, cuzk_span file, uint64_t at,
                                 cuzk_err *err) {
    cuzk_span header;
    if (!span_sub(&header, file, at, SECTION_HEADER_BYTES))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section header %" PRIu32 " of %" PRIu32 " at offset %" PRIu64
                         ": %" PRIu64 " bytes are left, expected %u",
                         i, out->n_sections, at, file.n_bytes - at, SECTION_HEADER_BYTES);
    binfile_section *s = &out->sections[i];
    s->id = load_le32(header.p);
    s->offset = at + SECTION_HEADER_BYTES;
    const uint64_t n_bytes = load_le64(header.p + 4);
    if (!span_sub(&s->bytes, file, s->offset, n_bytes))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section %" PRIu32 " at offset %" PRIu64 ": its length is %" PRIu64
                         " bytes, but the file ends after %" PRIu64,
                         s->id, s->offset, n_bytes, file.n_bytes - s->offset);
    for (uint32_t j = 0; j < i; j++)
        if (out->sections[j].id == s->id)
            return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                             "section %" PRIu32 " at offset %" PRIu64
                             " repeats the one at offset %" PRIu64 ", expected one",
                             s->id, s->offset, out->sections[j].offset);
    return CUZK_OK;
}

cuzk_status binfile_parse(binfile *out, cuzk_span file, const char *magic,
                          uint32_t max_version, cuzk_err *err) {
    binfile f = {.n_sections = 0};
    CUZK_TRY(parse_file_header(&f, file, magic, max_version, err));
    uint64_t at = FILE_HEADER_BYTES;
    for (uint32_t i = 0; i < f.n_sections; i++) {
        CUZK_TRY(parse_section(&f, i, file, at, err));
        at = f.sections[i].offset + f.sections[i].bytes.n_bytes;
    }
    if (at != file.n_bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%" PRIu64 " bytes follow the last of %" PRIu32
                         " sections at offset %" PRIu64 ", expected the end of the file",
                         file.n_bytes - at, f.n_sections, at);
    *out = f;
    return CUZK_OK;
}

const binfile_section *binfile_find(const binfile *file, uint32_t id) {
    for (uint32_t i = 0; i < file->n_sections; i++)
        if (file->sections[i].id == id) return &file->sections[i];
    return NULL;
}

cuzk_status binfile_require(cuzk_span *out, const binfile *file, uint32_t id,
                            uint64_t min_bytes, const char *what, cuzk_err *err) {
    const binfile_section *s = binfile_find(file, id);
    if (s == NULL)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE, "%s is missing from the %s file", what,
                         file->magic);
    if (s->bytes.n_bytes < min_bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%s at offset %" PRIu64 " has %zu bytes, expected at least %" PRIu64,
                         what, s->offset, s->bytes.n_bytes, min_bytes);
    *out = s->bytes;
    return CUZK_OK;
}

cuzk_status binfile_require_exact(cuzk_span *out, const binfile *file, uint32_t id,
                                  uint64_t n_items, uint64_t item_bytes, const char *what,
                                  cuzk_err *err) {
    cuzk_span bytes = {NULL, 0};
    CUZK_TRY(binfile_require(&bytes, file, id, 0, what, err));
    if (bytes.n_bytes != n_items * item_bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%s at offset %" PRIu64 " has %zu bytes, expected %" PRIu64
                         " (%" PRIu64 " of %" PRIu64 ")",
                         what, binfile_find(file, id)->offset, bytes.n_bytes,
                         n_items * item_bytes, n_items, item_bytes);
    *out = bytes;
    return CUZK_OK;
}

cuzk_status binfile_put_header(const byte_sink *sink, const char *magic, uint32_t version,
                               uint32_t n_sections, cuzk_err *err) {
    uint8_t b[FILE_HEADER_BYTES];
    memcpy(b, magic, 4);
    store_le32(b + 4, version);
    store_le32(b + 8, n_sections);
    return byte_sink_put(sink, b, sizeof b, err);
}

cuzk_status binfile_put_section(const byte_sink *sink, uint32_t id, uint64_t n_bytes,
                                cuzk_err *err) {
    uint8_t b[SECTION_HEADER_BYTES];
    store_le32(b, id);
    store_le64(b + 4, n_bytes);
    return byte_sink_put(sink, b, sizeof b, err);
}

cuzk_status binfile_put_span(const byte_sink *sink, uint32_t id, cuzk_span bytes,
                             cuzk_err *err) {
    CUZK_TRY(binfile_put_section(sink, id, bytes.n_bytes, err));
    return byte_sink_put(sink, bytes.p, bytes.n_bytes, err);
}
