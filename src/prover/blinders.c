/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/blinders.h"
#include "base/alloc.h"

cuzk_status blinders_draw(blinders *out, const field *fr, cuzk_err *err) {
    *out = (blinders){0};
    CUZK_TRY(field_random(fr, out->r.l, err));
    return field_random(fr, out->s.l, err);
}

void blinders_wipe(blinders *b) { cuzk_wipe(b, sizeof *b); }
