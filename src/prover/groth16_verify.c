/* SPDX-License-Identifier: Apache-2.0 */
#include "math/pairing/pairing.h"
#include "prover/groth16.h"

static cuzk_status invalid(cuzk_err *err, const char *why) {
    return cuzk_fail(err, CUZK_ERR_INVALID, "prover.groth16_verify",
                     "the proof is not valid: %s", why);
}

static bool g1_in_subgroup(const curve *c, const g1_affine *a) {
    point p;
    point_from_g1(c, &p, a);
    return point_is_on_curve(c, GROUP_G1, &p) && point_is_in_subgroup(c, GROUP_G1, &p);
}

static bool g2_in_subgroup(const curve *c, const g2_affine *a) {
    point p;
    point_from_g2(c, &p, a);
    return point_is_on_curve(c, GROUP_G2, &p) && point_is_in_subgroup(c, GROUP_G2, &p);
}

/* sum of statement[i] ic[i] */
static cuzk_status sum_publics(point *out, const verifying_key *vk, const cuzk_backend *be,
                               cuzk_device *device, const uint8_t *statement, cuzk_err *err) {
    const curve *c = vk->curve;
    const size_t n = vk->ic.n;
    cuzk_buf *buf = NULL;
    cuzk_queue *queue = NULL;
    cuzk_scalars *scalars = NULL;
    cuzk_status st = be->buf_wrap(&buf, device, statement, n * c->fr.n_bytes, err);
    if (st == CUZK_OK) st = be->queue_open(&queue, device, "verify", NULL, err);
    if (st == CUZK_OK)
        st = be->scalars_open(&scalars, queue, &c->fr, (cuzk_slice){buf, 0}, n, false, err);
    if (st == CUZK_OK) {
        const cuzk_msm_job job = {c, GROUP_G1, vk->ic.points, scalars, 0, n, out};
        st = be->msm(queue, &job, 1, err);
        cuzk_status waited = be->queue_wait(queue, st == CUZK_OK ? err : NULL);
        if (st == CUZK_OK) st = waited;
    }
    if (scalars) be->scalars_close(scalars);
    if (queue) be->queue_close(queue);
    if (buf) be->buf_free(buf);
    return st;
}

cuzk_status groth16_verify(const verifying_key *vk, const cuzk_backend *backend,
                           cuzk_device *device, const groth16_proof *proof,
                           const uint8_t *statement, cuzk_err *err) {
    const curve *c = vk->curve;
    if (!g1_in_subgroup(c, &proof->a)) return invalid(err, "pi_a is not in the group G1");
    if (!g2_in_subgroup(c, &proof->b)) return invalid(err, "pi_b is not in the group G2");
    if (!g1_in_subgroup(c, &proof->c)) return invalid(err, "pi_c is not in the group G1");

    point x, minus_a;
    CUZK_TRY(sum_publics(&x, vk, backend, device, statement, err));
    point_from_g1(c, &minus_a, &proof->a);
    point_neg(c, GROUP_G1, &minus_a, &minus_a);
    g1_affine p[4] = {{.infinity = true}, vk->alpha1, {.infinity = true}, proof->c};
    const g2_affine q[4] = {proof->b, vk->beta2, vk->gamma2, vk->delta2};
    point_to_g1(c, &p[0], &minus_a);
    point_to_g1(c, &p[2], &x);
    if (!pairing_product_is_one(c, p, q, 4))
        return invalid(err, "the pairing equation does not hold");
    return CUZK_OK;
}
