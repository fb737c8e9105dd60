/* SPDX-License-Identifier: Apache-2.0 */
/* math/limb: the table for 6 limbs on x86-64 with AVX-512 IFMA as well as BMI2 and ADX. */
#include "math/limb/limb.h"

#if defined(__x86_64__)
#define W 6
#include "math/limb/limb6_ifma.inc.h"
#define TABLE      limb_ops6_ifma
#define TABLE_NAME "ifma"
#include "math/limb/limb_table.tmpl.h"
#endif
