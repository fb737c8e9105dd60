/* SPDX-License-Identifier: Apache-2.0 */
/* zkey: what is accepted has all its sections, and is written and read again to the same. */
#include "format/circom/zkey.h"
#include "fuzz.h"

static void expect_same(cuzk_span a, cuzk_span b) {
    CUZK_ASSERT(a.n_bytes == b.n_bytes);
    CUZK_ASSERT(a.n_bytes == 0 || memcmp(a.p, b.p, a.n_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    zkey_view v, w;
    if (zkey_parse(&v, (cuzk_span){data, size}, NULL) != CUZK_OK) return 0;
    const curve *c = fuzz_curve(v.curve);
    const size_t g1 = curve_g1_bytes(c), g2 = curve_g2_bytes(c);
    CUZK_ASSERT(v.a.n_bytes == v.n_vars * g1 && v.b2.n_bytes == v.n_vars * g2);
    CUZK_ASSERT(v.ic.n_bytes + v.l.n_bytes == v.n_vars * g1);
    CUZK_ASSERT(v.h.n_bytes == v.domain_size * g1 && v.domain_size > v.n_public);
    fuzz_buffer out = {NULL, 0};
    const byte_sink sink = {fuzz_collect, &out};
    CUZK_ASSERT(zkey_write(&v, c, &sink, NULL) == CUZK_OK);
    CUZK_ASSERT(zkey_parse(&w, (cuzk_span){out.p, out.n_bytes}, NULL) == CUZK_OK);
    expect_same((cuzk_span){v.alpha1, 3 * g1 + 3 * g2},
                (cuzk_span){w.alpha1, 3 * g1 + 3 * g2});
    expect_same(v.ic, w.ic);
    expect_same(v.coefficients, w.coefficients);
    expect_same(v.a, w.a);
    expect_same(v.b1, w.b1);
    expect_same(v.b2, w.b2);
    expect_same(v.l, w.l);
    expect_same(v.h, w.h);
    free(out.p);
    return 0;
}
