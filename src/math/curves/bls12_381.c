/* SPDX-License-Identifier: Apache-2.0 */
/* math/curves/bls12_381: the curve of ZCash Sapling, Filecoin and Ethereum's consensus. */
#include "math/curves/curve.h"

/* All constants: S. Bowe, https://github.com/zkcrypto/pairing, src/bls12_381/README.md; the
 * same in draft-irtf-cfrg-pairing-friendly-curves, section 4.2.1. The tests check that q and r
 * follow from x. */
const curve_params curve_params_bls12_381 = {
    .id = CURVE_BLS12_381,
    .family = CURVE_FAMILY_BLS12,
    .name = "bls12_381",
    .snarkjs_name = "bls12381",
    .q_hex = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f624"
             "1eabfffeb153ffffb9feffffffffaaab",
    .r_hex = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001",
    .q_limbs = 6,
    .r_limbs = 4,
    .x = 0xd201000000010000u,
    .x_negative = true,
    .b = 4,
    .xi = {1, 1},
    .twist_is_m = true,
    .g1_x = "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58"
            "6c55e83ff97a1aeffb3af00adb22c6bb",
    .g1_y = "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3ed"
            "d03cc744a2888ae40caa232946c5e7e1",
    .g2_x0 = "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d177"
             "0bac0326a805bbefd48056c8c121bdb8",
    .g2_x1 = "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049"
             "334cf11213945d57e5ac7d055d042b7e",
    .g2_y0 = "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c"
             "923ac9cc3baca289e193548608b82801",
    .g2_y1 = "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab"
             "3f370d275cec1da1aaa9075ff05f79be",
};
