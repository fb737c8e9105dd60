/* SPDX-License-Identifier: Apache-2.0 */
#include "api/check_points.h"
#include <stdatomic.h>
#include <stdio.h>

enum { BLOCK = 256 };

typedef struct search {
    const curve *c;
    const check_points_job *job;
    size_t n, point_bytes;
    _Atomic size_t first_bad; /* n = none */
} search;

static const char *fault_of(const search *s, size_t i) {
    point p;
    if (!point_load_packed(s->c, s->job->group, &p, s->job->points.p + i * s->point_bytes))
        return "has a coordinate that is not below the field's modulus";
    if (!point_is_on_curve(s->c, s->job->group, &p)) return "is not on the curve";
    if (!point_is_in_subgroup(s->c, s->job->group, &p))
        return "is not in the group of prime order";
    if (s->job->is_constant && point_is_infinity(s->c, s->job->group, &p))
        return "is the point at infinity, expected another point";
    return NULL;
}

static void search_block(void *arg, size_t item, unsigned slot) {
    search *s = arg;
    (void)slot;
    const size_t end = s->n - item * BLOCK < BLOCK ? s->n : (item + 1) * BLOCK;
    for (size_t i = item * BLOCK; i < end && i < atomic_load(&s->first_bad); i++) {
        if (!fault_of(s, i)) continue;
        size_t seen = atomic_load(&s->first_bad);
        while (i < seen && !atomic_compare_exchange_weak(&s->first_bad, &seen, i)) continue;
        return;
    }
}

cuzk_status check_points(const curve *c, const check_points_job *job, cuzk_exec *exec,
                         cuzk_err *err) {
    const size_t point_bytes = point_packed_bytes(c, job->group);
    search s = {c, job, job->points.n_bytes / point_bytes, point_bytes, 0};
    atomic_store(&s.first_bad, s.n);
    cuzk_exec_for(exec, (s.n + BLOCK - 1) / BLOCK, search_block, &s);
    const size_t bad = atomic_load(&s.first_bad);
    if (bad == s.n) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_FORMAT, "api.check_points", "%s[%zu] %s", job->name, bad,
                     fault_of(&s, bad));
}

static cuzk_status check_point(const curve *c, group_id g, const point *p, const char *name,
                               bool is_constant, cuzk_err *err) {
    if (!point_is_in_subgroup(c, g, p))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "api.check_points",
                         "%s is not in the group G%d", name, (int)g);
    if (is_constant && point_is_infinity(c, g, p))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "api.check_points",
                         "%s is the point at infinity, expected another point", name);
    return CUZK_OK;
}

static cuzk_status check_g1(const curve *c, const g1_affine *a, const char *name,
                            bool is_constant, cuzk_err *err) {
    point p;
    point_from_g1(c, &p, a);
    return check_point(c, GROUP_G1, &p, name, is_constant, err);
}

static cuzk_status check_g2(const curve *c, const g2_affine *a, const char *name,
                            bool is_constant, cuzk_err *err) {
    point p;
    point_from_g2(c, &p, a);
    return check_point(c, GROUP_G2, &p, name, is_constant, err);
}

cuzk_status check_vkey_points(const curve *c, const groth16_vkey *vk, cuzk_err *err) {
    CUZK_TRY(check_g1(c, &vk->alpha1, "vk_alpha_1", true, err));
    CUZK_TRY(check_g2(c, &vk->beta2, "vk_beta_2", true, err));
    CUZK_TRY(check_g2(c, &vk->gamma2, "vk_gamma_2", true, err));
    CUZK_TRY(check_g2(c, &vk->delta2, "vk_delta_2", true, err));
    for (uint32_t i = 0; i <= vk->n_public; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "IC[%u]", i);
        CUZK_TRY(check_g1(c, &vk->ic[i], name, false, err));
    }
    return CUZK_OK;
}

cuzk_status check_proof_points(const curve *c, const groth16_proof *proof, cuzk_err *err) {
    CUZK_TRY(check_g1(c, &proof->a, "pi_a", false, err));
    CUZK_TRY(check_g2(c, &proof->b, "pi_b", false, err));
    return check_g1(c, &proof->c, "pi_c", false, err);
}
