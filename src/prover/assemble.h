/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_ASSEMBLE_H
#define CUZK_PROVER_ASSEMBLE_H
/* prover/assemble: from five sums to a proof (Groth 2016, section 3.2):
 *
 *   A = alpha + a + r delta      B = beta + b + s delta
 *   C = l + h + s A + r B1 - r s delta = l + h + s a + r b1 + (s (alpha + r delta) + r beta)
 *
 * What needs no sum is computed ahead, while a device adds up. In: sums, a key's constants, two
 * secrets. Out: three points. */
#include "prover/blinders.h"
#include "prover/groth16.h"
#include "prover/multiexp.h"

/* Secret. */
typedef struct blinding { /* Thread: owned */
    blinders by;
    point a, b, c; /* what A, B and C have beside the sums: the last terms above */
} blinding;

/* fixed: tests only; NULL draws them. IO. Owner: caller, blinding_wipe. */
CUZK_MUST_CHECK cuzk_status blinding_make(blinding *out, const proving_key *key,
                                          const blinders *fixed, cuzk_err *err);
void blinding_wipe(blinding *b);

void assemble(groth16_proof *out, const proving_key *key, const sums *s, const blinding *b);

#endif
