/* SPDX-License-Identifier: Apache-2.0 */
/* The section container: what is accepted is put together again to the same bytes. */
#include "format/circom/binfile.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    binfile f;
    if (binfile_parse(&f, (cuzk_span){data, size}, "zkey", 2, NULL) != CUZK_OK) return 0;
    fuzz_buffer out = {NULL, 0};
    const byte_sink sink = {fuzz_collect, &out};
    CUZK_ASSERT(binfile_put_header(&sink, f.magic, f.version, f.n_sections, NULL) == CUZK_OK);
    for (uint32_t i = 0; i < f.n_sections; i++) {
        const binfile_section *s = &f.sections[i];
        CUZK_ASSERT(binfile_find(&f, s->id) == s && data + s->offset == s->bytes.p);
        CUZK_ASSERT(binfile_put_span(&sink, s->id, s->bytes, NULL) == CUZK_OK);
    }
    CUZK_ASSERT(out.n_bytes == size && memcmp(out.p, data, size) == 0);
    free(out.p);
    return 0;
}
