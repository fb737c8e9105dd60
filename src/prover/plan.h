/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_PROVER_PLAN_H
#define CUZK_PROVER_PLAN_H
/* prover/plan: how one proof goes through the memory of a device. In: the sizes of a key
 * and what the device's operations take. Out: the first of a ladder of ways, from the
 * fastest to the smallest, that fits. Pure functions; needs no device, only a backend's
 * table.
 *
 *   evaluation  on the device (its matrices; only the packed witness crosses the bus)
 *               or on the host, into pinned memory; rows cross while later ones are computed
 *   key         kept on the device, or streamed through two pieces in every proof
 *   vectors     a, b, c of the quotient all on the device, or one at a time
 *   order       the witness's sums beside the quotient, or after it */
#include "keys/proving_key.h"

typedef struct proof_plan {
    bool in_place; /* the device works on the caller's memory; nothing below matters */
    bool evaluates_on_host;
    bool streams_key;
    bool one_vector;    /* needs evaluates_on_host */
    bool overlaps;      /* two queues */
    size_t piece_bytes; /* of each of two, on either side; when something goes by pieces */
    uint64_t limit_bytes;
    uint64_t key_bytes;   /* kept on the device between proofs: points, matrices, roots */
    uint64_t proof_bytes; /* the most that a proof takes beside them */
} proof_plan;

/* The parts of the key's copy that it works with (bits, keys/residency.h). */
unsigned plan_key_parts(const proof_plan *plan);

/* The way of that many steps down the ladder, with its sizes; false when there are fewer.
 * `out` may come out larger than the limit. */
bool plan_step(proof_plan *out, const proving_key *key, uint64_t limit_bytes, unsigned step);

/* The first that fits into the limit, at `*step` or later; *step becomes where it stands.
 * Limit 0 is a device that computes in the host's memory: in place.
 * BUDGET: not even the smallest fits; the message has the numbers. */
CUZK_MUST_CHECK cuzk_status plan_choose(proof_plan *out, unsigned *step,
                                        const proving_key *key, uint64_t limit_bytes,
                                        cuzk_err *err);

#define PLAN_TEXT_BYTES 120u
/* "device evaluation, key resident, three vectors, 3.1 of 8.0 GiB" */
void plan_describe(char text[PLAN_TEXT_BYTES], const proof_plan *plan);

#endif
