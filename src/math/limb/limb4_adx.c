/* SPDX-License-Identifier: Apache-2.0 */
/* math/limb: the table for 4 limbs on x86-64 with BMI2 and ADX. */
#include "math/limb/limb.h"

#if defined(__x86_64__)
#define W 4
#include "math/limb/limb4_adx.inc.h"
#define TABLE      limb_ops4_adx
#define TABLE_NAME "adx"
#include "math/limb/limb_table.tmpl.h"
#endif
