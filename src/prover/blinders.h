/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_BLINDERS_H
#define CUZK_PROVER_BLINDERS_H
/* prover/blinders: the two secrets that make a proof zero-knowledge. */
#include "math/field/field.h"

typedef struct blinders {
    fe r, s; /* Montgomery; uniform below the group order */
} blinders;

/* From the system's CSPRNG. IO. Owner: caller, blinders_wipe. */
CUZK_MUST_CHECK cuzk_status blinders_draw(blinders *out, const field *fr, cuzk_err *err);
void blinders_wipe(blinders *b);

#endif
