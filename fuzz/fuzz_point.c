/* SPDX-License-Identifier: Apache-2.0 */
/* Points: byte 0 says how to read the rest: bit 0 G2, bit 1 compressed, bit 2 with the subgroup
 * check, bit 3 packed (snarkjs) rather than encoded (ZCash), bit 4 BN254 (packed only). Exactly
 * one text belongs to each point: what is accepted is stored to the same bytes. */
#include "fuzz.h"
#include "math/group/encoding.h"

static void read_packed(const curve *c, group_id g, const uint8_t *data, size_t size) {
    uint8_t out[4 * 8 * LIMBS_MAX];
    point p;
    if (size < point_packed_bytes(c, g) || !point_load_packed(c, g, &p, data)) return;
    if (!point_is_on_curve(c, g, &p)) return;
    point_store_packed(c, g, out, &p);
    CUZK_ASSERT(memcmp(out, data, point_packed_bytes(c, g)) == 0);
}

static void read_encoded(const curve *c, group_id g, bool compressed, encoding_check check,
                         const uint8_t *data, size_t size) {
    uint8_t out[4 * 8 * LIMBS_MAX];
    point p;
    const size_t n = encoding_bytes(c, g, compressed);
    if (size < n) return;
    const cuzk_status status = encoding_load(c, g, &p, data, compressed, check, NULL);
    CUZK_ASSERT(status == CUZK_OK || status == CUZK_ERR_FORMAT);
    if (status != CUZK_OK) return;
    CUZK_ASSERT(point_is_on_curve(c, g, &p));
    CUZK_ASSERT(check != ENCODING_CHECK_SUBGROUP || point_is_in_subgroup(c, g, &p));
    encoding_store(c, g, out, &p, compressed);
    CUZK_ASSERT(memcmp(out, data, n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const unsigned how = data[0];
    const group_id g = how & 1 ? GROUP_G2 : GROUP_G1;
    if (how & 8)
        read_packed(fuzz_curve(how & 16 ? CURVE_BN254 : CURVE_BLS12_381), g, data + 1,
                    size - 1);
    else
        read_encoded(fuzz_curve(CURVE_BLS12_381), g, how & 2,
                     how & 4 ? ENCODING_CHECK_SUBGROUP : ENCODING_CHECK_CURVE, data + 1,
                     size - 1);
    return 0;
}
