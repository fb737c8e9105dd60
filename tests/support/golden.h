/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TESTS_SUPPORT_GOLDEN_H
#define CUZK_TESTS_SUPPORT_GOLDEN_H
/* tests/support/golden: the files in tests/golden, made by circom and snarkjs 0.7.6, as bytes that
 * a test may damage. Failures to read fail the test. */
#include "format/circom/binfile.h"
#include "math/curves/curve.h"

typedef struct
    blob { /* Owner: the test; on the heap, exactly n_bytes long, so that a sanitizer
                       * sees the first byte read behind it */
    uint8_t *p;
    size_t n_bytes;
} blob;

/* tests/golden/<curve>/<circuit>/<name>, e.g. golden_load(CURVE_BN254, "one", "circuit.r1cs"). */
blob golden_load(curve_id id, const char *circuit, const char *name);
blob blob_copy(blob b);
blob blob_prefix(blob b, size_t n_bytes); /* a copy of the first n_bytes */
blob blob_text(const char *text);         /* without terminator */
void blob_free(blob *b);
CUZK_INLINE cuzk_span blob_span(blob b) { return (cuzk_span){b.p, b.n_bytes}; }

/* Offset of the bytes of a section (its header lies 12 bytes before), by a reader of its own. */
size_t blob_section(blob b, uint32_t id);
uint64_t blob_section_bytes(blob b, uint32_t id);
/* A copy with `bytes` put in at an offset, or with some cut out. */
blob blob_insert(blob b, size_t at, const void *bytes, size_t n_bytes);
blob blob_cut(blob b, size_t at, size_t n_bytes);
/* The same file with one section made n_bytes longer by zeros at its end (shorter if negative),
 * its length field too: a well-formed container with a wrong section. */
blob blob_resize_section(blob b, uint32_t id, long n_bytes);
/* Without a section, or with an empty one of another id at the end; the count follows. */
blob blob_drop_section(blob b, uint32_t id);
blob blob_add_section(blob b, uint32_t id);
/* With the sections in the opposite order. */
blob blob_reverse_sections(blob b);

/* A sink that grows a blob. */
cuzk_status blob_sink(void *arg, const void *bytes, size_t n_bytes, cuzk_err *err);

#endif
