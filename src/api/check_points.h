/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_API_CHECK_POINTS_H
#define CUZK_API_CHECK_POINTS_H
/* api/check_points: is every point of a packed vector, of a verification key, of a proof on its
 * curve and in its group? */
#include "base/bytes.h"
#include "base/executor.h"
#include "format/circom/snarkjs_json.h"
#include "math/group/group.h"

typedef struct check_points_job {
    const char *name; /* for the error: "A" gives "A[17] is not ..." */
    group_id group;
    cuzk_span points; /* packed, whole points */
    bool is_constant; /* can't be at infinity: one of the key's own points, not of a query */
} check_points_job;

/* FORMAT names the first one that is not. */
CUZK_MUST_CHECK cuzk_status check_points(const curve *c, const check_points_job *job,
                                         cuzk_exec *exec, cuzk_err *err);

/* The same for points as read from JSON (so on their curve). FORMAT names the first bad one; of a
 * verification key also alpha, beta, gamma, delta at infinity, which no setup makes. */
CUZK_MUST_CHECK cuzk_status check_vkey_points(const curve *c, const groth16_vkey *vk,
                                              cuzk_err *err);
CUZK_MUST_CHECK cuzk_status check_proof_points(const curve *c, const groth16_proof *proof,
                                               cuzk_err *err);

#endif
