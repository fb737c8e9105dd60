/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/golden: see golden.h. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>

static blob blob_new(size_t n_bytes) {
    blob b = {malloc(n_bytes ? n_bytes : 1), n_bytes};
    CUZK_ASSERT(b.p != NULL);
    return b;
}

blob golden_load(curve_id id, const char *circuit, const char *name) {
    char path[256];
    (void)snprintf(path, sizeof path, "tests/golden/%s/%s/%s",
                   id == CURVE_BN254 ? "bn128" : "bls12381", circuit, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        (void)fprintf(stderr, "%s: can't open; run tests in the top folder\n", path);
    CUZK_ASSERT(f != NULL && fseek(f, 0, SEEK_END) == 0);
    const long n = ftell(f);
    CUZK_ASSERT(n >= 0 && fseek(f, 0, SEEK_SET) == 0);
    blob b = blob_new((size_t)n);
    CUZK_ASSERT(fread(b.p, 1, b.n_bytes, f) == b.n_bytes);
    (void)fclose(f);
    return b;
}

blob blob_copy(blob b) { return blob_prefix(b, b.n_bytes); }

blob blob_prefix(blob b, size_t n_bytes) {
    blob r = blob_new(n_bytes);
    memcpy(r.p, b.p, n_bytes);
    return r;
}

blob blob_text(const char *text) {
    const size_t n = strlen(text);
    blob r = blob_new(n);
    for (size_t i = 0; i < n; i++) r.p[i] = (uint8_t)text[i];
    return r;
}

void blob_free(blob *b) {
    free(b->p);
    *b = (blob){NULL, 0};
}

size_t blob_section(blob b, uint32_t id) {
    size_t at = 12;
    while (load_le32(b.p + at) != id) {
        at += 12 + (size_t)load_le64(b.p + at + 4);
        CUZK_ASSERT(at < b.n_bytes);
    }
    return at + 12;
}

uint64_t blob_section_bytes(blob b, uint32_t id) {
    return load_le64(b.p + blob_section(b, id) - 8);
}

blob blob_insert(blob b, size_t at, const void *bytes, size_t n_bytes) {
    blob r = blob_new(b.n_bytes + n_bytes);
    memcpy(r.p, b.p, at);
    if (n_bytes) memcpy(r.p + at, bytes, n_bytes);
    memcpy(r.p + at + n_bytes, b.p + at, b.n_bytes - at);
    return r;
}

blob blob_cut(blob b, size_t at, size_t n_bytes) {
    blob r = blob_new(b.n_bytes - n_bytes);
    memcpy(r.p, b.p, at);
    memcpy(r.p + at, b.p + at + n_bytes, b.n_bytes - at - n_bytes);
    return r;
}

blob blob_resize_section(blob b, uint32_t id, long n_bytes) {
    static const uint8_t zeros[1024];
    const size_t at = blob_section(b, id), end = at + (size_t)blob_section_bytes(b, id);
    blob r = n_bytes >= 0 ? blob_insert(b, end, zeros, (size_t)n_bytes)
                          : blob_cut(b, end - (size_t)-n_bytes, (size_t)-n_bytes);
    store_le64(r.p + at - 8, blob_section_bytes(b, id) + (uint64_t)n_bytes);
    return r;
}

static void add_to_count(blob b, uint32_t n) { store_le32(b.p + 8, load_le32(b.p + 8) + n); }

blob blob_drop_section(blob b, uint32_t id) {
    blob r = blob_cut(b, blob_section(b, id) - 12, 12 + (size_t)blob_section_bytes(b, id));
    add_to_count(r, (uint32_t)-1);
    return r;
}

blob blob_add_section(blob b, uint32_t id) {
    uint8_t header[12] = {0};
    store_le32(header, id);
    blob r = blob_insert(b, b.n_bytes, header, sizeof header);
    add_to_count(r, 1);
    return r;
}

blob blob_reverse_sections(blob b) {
    blob r = blob_copy(b);
    size_t from = 12, to = b.n_bytes;
    while (from < b.n_bytes) {
        const size_t n = 12 + (size_t)load_le64(b.p + from + 4);
        to -= n;
        memcpy(r.p + to, b.p + from, n);
        from += n;
    }
    return r;
}

cuzk_status blob_sink(void *arg, const void *bytes, size_t n_bytes, cuzk_err *err) {
    blob *b = arg;
    (void)err;
    b->p = realloc(b->p, b->n_bytes + n_bytes);
    CUZK_ASSERT(b->p != NULL);
    memcpy(b->p + b->n_bytes, bytes, n_bytes);
    b->n_bytes += n_bytes;
    return CUZK_OK;
}
