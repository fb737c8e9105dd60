/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FORMAT_CIRCOM_WTNS_H
#define CUZK_FORMAT_CIRCOM_WTNS_H
/* format/circom/wtns: a witness as a checked view. docs/formats/wtns.md. */
#include "format/circom/binfile.h"
#include "math/curves/curve.h"

#define WTNS_VALUE_BYTES 32u

typedef struct wtns_view {
    binfile file;
    curve_id curve;
    uint32_t n_values; /* at least 1 */
    cuzk_span
        values; /* n_values * 32 bytes, canonical little-endian, unaligned; [0] is the constant 1 */
} wtns_view;

/* Header, lengths; O(1). FORMAT. */
CUZK_MUST_CHECK cuzk_status wtns_parse(wtns_view *out, cuzk_span file, cuzk_err *err);
/* Every value below r, and value 0 equal to 1. WITNESS names the first index that is not. O(n). */
CUZK_MUST_CHECK cuzk_status wtns_check_values(const wtns_view *v, const field *fr,
                                              cuzk_err *err);
/* v->file is not read. */
CUZK_MUST_CHECK cuzk_status wtns_write(const wtns_view *v, const curve *c,
                                       const byte_sink *sink, cuzk_err *err);

#endif
