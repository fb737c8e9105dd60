/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FORMAT_CIRCOM_BINFILE_H
#define CUZK_FORMAT_CIRCOM_BINFILE_H
/* format/circom/binfile: the container that r1cs, wtns and zkey share: 4 bytes magic, LE32
 * version, LE32 number of sections, then sections of LE32 id, LE64 length, bytes. Sections come
 * in any order, unknown ids are skipped, repeated ids are refused, lengths end inside the file,
 * and the last section ends with it. docs/formats/binfile.md. */
#include "base/bytes.h"

#define BINFILE_MAX_SECTIONS 64u

typedef struct binfile_section {
    uint32_t id;
    uint64_t offset; /* of its bytes in the file */
    cuzk_span bytes;
} binfile_section;

typedef struct binfile {
    char magic[5];
    uint32_t version, n_sections;
    binfile_section sections[BINFILE_MAX_SECTIONS]; /* in file order */
} binfile;

/* Versions 1 to max_version. On error *out is unchanged. */
CUZK_MUST_CHECK cuzk_status binfile_parse(binfile *out, cuzk_span file, const char *magic,
                                          uint32_t max_version, cuzk_err *err);
/* NULL when absent. */
const binfile_section *binfile_find(const binfile *file, uint32_t id);
/* The section, at least min_bytes long, or FORMAT naming `what` (e.g. "section 2 (header)"). */
CUZK_MUST_CHECK cuzk_status binfile_require(cuzk_span *out, const binfile *file, uint32_t id,
                                            uint64_t min_bytes, const char *what,
                                            cuzk_err *err);
/* The section, exactly n_items * item_bytes long. n_items < 2^33, item_bytes < 2^16. */
CUZK_MUST_CHECK cuzk_status binfile_require_exact(cuzk_span *out, const binfile *file,
                                                  uint32_t id, uint64_t n_items,
                                                  uint64_t item_bytes, const char *what,
                                                  cuzk_err *err);

/* ---- writing ---- */
/* Where the writers of this folder put a file: called in order with pieces of any size. */
typedef cuzk_status byte_sink_fn(void *arg, const void *bytes, size_t n_bytes, cuzk_err *err);
typedef struct byte_sink {
    byte_sink_fn *write;
    void *arg;
} byte_sink;

CUZK_INLINE cuzk_status byte_sink_put(const byte_sink *sink, const void *bytes, size_t n_bytes,
                                      cuzk_err *err) {
    return n_bytes ? sink->write(sink->arg, bytes, n_bytes, err) : CUZK_OK;
}
CUZK_MUST_CHECK cuzk_status binfile_put_header(const byte_sink *sink, const char *magic,
                                               uint32_t version, uint32_t n_sections,
                                               cuzk_err *err);
/* The 12 bytes before a section's own; the caller then puts exactly n_bytes. */
CUZK_MUST_CHECK cuzk_status binfile_put_section(const byte_sink *sink, uint32_t id,
                                                uint64_t n_bytes, cuzk_err *err);
/* A whole section. */
CUZK_MUST_CHECK cuzk_status binfile_put_span(const byte_sink *sink, uint32_t id,
                                             cuzk_span bytes, cuzk_err *err);

#endif
