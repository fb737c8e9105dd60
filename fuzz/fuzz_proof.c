/* SPDX-License-Identifier: Apache-2.0 */
/* proof.json, read on both curves: what is accepted is written, and comes back from itself. */
#include "base/alloc.h"
#include "format/circom/snarkjs_json.h"
#include "fuzz.h"

static void read_on(const curve *c, cuzk_span input) {
    groth16_proof proof, again;
    char *text, *text_again;
    const cuzk_status status = snarkjs_read_proof(&proof, c, input, NULL);
    CUZK_ASSERT(status == CUZK_OK || status == CUZK_ERR_FORMAT || status == CUZK_ERR_INVALID);
    if (status != CUZK_OK) return;
    CUZK_ASSERT(snarkjs_write_proof(&text, c, &proof, NULL) == CUZK_OK);
    const cuzk_span span = {(const uint8_t *)text, strlen(text)};
    CUZK_ASSERT(snarkjs_read_proof(&again, c, span, NULL) == CUZK_OK);
    CUZK_ASSERT(snarkjs_write_proof(&text_again, c, &again, NULL) == CUZK_OK);
    CUZK_ASSERT(strcmp(text, text_again) == 0);
    cuzk_free(text_again);
    cuzk_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_on(fuzz_curve(CURVE_BN254), (cuzk_span){data, size});
    read_on(fuzz_curve(CURVE_BLS12_381), (cuzk_span){data, size});
    return 0;
}
