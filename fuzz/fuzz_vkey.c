/* SPDX-License-Identifier: Apache-2.0 */
/* verification_key.json: what is accepted is written, and the text comes back from itself. */
#include "base/alloc.h"
#include "format/circom/snarkjs_json.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const curve *const curves[CURVE_COUNT] = {fuzz_curve(CURVE_BN254),
                                              fuzz_curve(CURVE_BLS12_381)};
    groth16_vkey vk, again;
    fe12 one;
    char *text, *text_again;
    if (snarkjs_read_vkey(&vk, (cuzk_span){data, size}, curves, NULL) != CUZK_OK) return 0;
    const curve *c = curves[vk.curve];
    fe12_set_one(c, &one);
    CUZK_ASSERT(snarkjs_write_vkey(&text, c, &vk, &one, NULL) == CUZK_OK);
    const cuzk_span span = {(const uint8_t *)text, strlen(text)};
    CUZK_ASSERT(snarkjs_read_vkey(&again, span, curves, NULL) == CUZK_OK);
    CUZK_ASSERT(snarkjs_write_vkey(&text_again, c, &again, &one, NULL) == CUZK_OK);
    CUZK_ASSERT(again.n_public == vk.n_public && strcmp(text, text_again) == 0);
    cuzk_free(text_again);
    cuzk_free(text);
    groth16_vkey_fini(&again);
    groth16_vkey_fini(&vk);
    return 0;
}
