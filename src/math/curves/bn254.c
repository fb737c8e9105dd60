/* SPDX-License-Identifier: Apache-2.0 */
/* math/curves/bn254: the curve alt_bn128 of Ethereum and circom (snarkjs calls it bn128). */
#include "math/curves/curve.h"

/* q, r, b and the G1 generator: EIP-196, https://eips.ethereum.org/EIPS/eip-196.
 * xi = 9 + u, the D-twist and the G2 generator: EIP-197,
 * https://eips.ethereum.org/EIPS/eip-197 (which prints Fq2 elements imaginary part first).
 * x: Ben-Sasson et al., https://eprint.iacr.org/2013/879 (libff alt_bn128); the tests check
 * that q and r follow from it. */
const curve_params curve_params_bn254 = {
    .id = CURVE_BN254,
    .family = CURVE_FAMILY_BN,
    .name = "bn254",
    .snarkjs_name = "bn128",
    .q_hex = "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
    .r_hex = "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001",
    .q_limbs = 4,
    .r_limbs = 4,
    .x = 4965661367192848881u,
    .x_negative = false,
    .b = 3,
    .xi = {9, 1},
    .twist_is_m = false,
    .g1_x = "1",
    .g1_y = "2",
    .g2_x0 = "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed",
    .g2_x1 = "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2",
    .g2_y0 = "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa",
    .g2_y1 = "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b",
};
