/* SPDX-License-Identifier: Apache-2.0 */
/* public.json, read on both curves: what is accepted is written and read again to the same. */
#include "base/alloc.h"
#include "format/circom/snarkjs_json.h"
#include "fuzz.h"

static void read_on(const curve *c, cuzk_span input) {
    fe *values, *again;
    size_t n, n_again;
    uint8_t *le;
    char *text;
    const cuzk_status status =
        snarkjs_read_public(&values, &n, c, input, SNARKJS_MAX_PUBLIC, NULL);
    CUZK_ASSERT(status == CUZK_OK || status == CUZK_ERR_FORMAT || status == CUZK_ERR_INVALID);
    if (status != CUZK_OK) return;
    CUZK_ASSERT(cuzk_alloc(&le, n, 32, NULL) == CUZK_OK);
    for (size_t i = 0; i < n; i++) field_store_le(&c->fr, le + i * 32, values[i].l);
    CUZK_ASSERT(snarkjs_write_public(&text, c, le, n, NULL) == CUZK_OK);
    const cuzk_span span = {(const uint8_t *)text, strlen(text)};
    CUZK_ASSERT(snarkjs_read_public(&again, &n_again, c, span, SNARKJS_MAX_PUBLIC, NULL) ==
                CUZK_OK);
    CUZK_ASSERT(n_again == n);
    for (size_t i = 0; i < n; i++) CUZK_ASSERT(field_equal(&c->fr, values[i].l, again[i].l));
    cuzk_free(again);
    cuzk_free(text);
    cuzk_free(le);
    cuzk_free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_on(fuzz_curve(CURVE_BN254), (cuzk_span){data, size});
    read_on(fuzz_curve(CURVE_BLS12_381), (cuzk_span){data, size});
    return 0;
}
