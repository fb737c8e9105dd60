/* SPDX-License-Identifier: Apache-2.0 */
/* math/limb: the table for 4 limbs in C alone. */
#define W 4
#include "math/limb/limb_portable.inc.h"
#define TABLE      limb_ops4_portable
#define TABLE_NAME "portable"
#include "math/limb/limb_table.tmpl.h"
