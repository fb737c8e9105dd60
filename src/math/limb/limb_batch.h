/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_MATH_LIMB_LIMB_BATCH_H
#define CUZK_MATH_LIMB_LIMB_BATCH_H
/* math/limb: the two figures of batch_add.tmpl.h. Steps that need each other's results are
 * kept apart by that many independent ones, so that the multiplier never waits. */

enum {
    BATCH_CHAINS = 8, /* interleaved running products; a power of two */
    BATCH_BLOCK = 16  /* additions that go through one step together; at most 32 */
};

#endif
