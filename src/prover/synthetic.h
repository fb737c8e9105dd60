/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_SYNTHETIC_H
#define CUZK_PROVER_SYNTHETIC_H
/* prover/synthetic: constraint systems of any size with a witness that satisfies them, whose
 * cost to a prover is like that of real ones: how many terms a row has, how wide the values of
 * the witness are, which variables occur in B. For benchmarks and tests. */
#include "prover/setup.h"

typedef enum synthetic_profile {
    SYNTHETIC_DENSE, /* products of wide random values, one term in A and in B a row */
    SYNTHETIC_SHA,   /* bits, 32 of them packed into a word, one word in 16 wide instead */
    SYNTHETIC_POREP, /* a Filecoin partition: 1 % wide, 49.5 % ones, else zeros; 25.4 % in B */
} synthetic_profile;

/* By name: "dense", "sha", "porep". False when unknown. */
bool synthetic_profile_find(synthetic_profile *out, const char *name);

#define SYNTHETIC_LOG_MIN 3u
#define SYNTHETIC_PUBLIC  2u

/* Fills a domain of 2^log_rows rows, with as many variables; the same from the same seed.
 * *witness: n_vars canonical values of 32 bytes; owner: caller. ARG: log_rows is out of range (the
 * message has it). NOMEM. */
CUZK_MUST_CHECK cuzk_status synthetic_make(setup_circuit *out, uint8_t **witness,
                                           const field *fr, synthetic_profile profile,
                                           unsigned log_rows, uint64_t seed, cuzk_exec *exec,
                                           cuzk_err *err);

#endif
