/* SPDX-License-Identifier: Apache-2.0 */
/* math/limb: the table for 6 limbs in C alone. */
#define W 6
#include "math/limb/limb_portable.inc.h"
#define TABLE      limb_ops6_portable
#define TABLE_NAME "portable"
#include "math/limb/limb_table.tmpl.h"
