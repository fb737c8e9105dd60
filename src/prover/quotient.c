/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/quotient.h"

#define VECTORS 3 /* a, b, c */

typedef struct quotient_plan {
    uint64_t nonresidue; /* the roots of unity come from it */
    bool odd_coset;      /* else the coset of `nonresidue` */
} quotient_plan;

static quotient_plan plan_for(const proving_key *key) {
    if (key->quotient == QUOTIENT_MONOMIAL) return (quotient_plan){7, false};
    return (quotient_plan){field_least_nonresidue(&key->curve->fr), true};
}

/* 1 / Z(g x) for x in the domain: Z(g x) = g^n - 1, the same everywhere. */
static fe vanishing_inverse(const field *fr, const fe *g, unsigned log_n) {
    fe z = *g, one;
    field_set_one(fr, one.l);
    for (unsigned i = 0; i < log_n; i++) field_sqr(fr, z.l, z.l);
    field_sub(fr, z.l, z.l, one.l);
    field_inv(fr, z.l, z.l);
    return z;
}

static cuzk_status on_coset(const proving_key *key, cuzk_queue *queue,
                            const cuzk_domain *domain, cuzk_buf *const v[VECTORS],
                            cuzk_err *err) {
    for (unsigned i = 0; i < VECTORS; i++) {
        cuzk_ntt_job job = {domain, CUZK_NTT_INVERSE, true, {v[i], 0}};
        CUZK_TRY(key->backend->ntt(queue, &job, err));
        job.kind = CUZK_NTT_COSET_FORWARD;
        CUZK_TRY(key->backend->ntt(queue, &job, err));
    }
    return CUZK_OK;
}

cuzk_status quotient_compute(cuzk_buf **out, const proving_key *key, cuzk_queue *queue,
                             cuzk_slice w, quotient_step_fn *step, void *step_arg,
                             cuzk_err *err) {
    const cuzk_backend *be = key->backend;
    const field *fr = &key->curve->fr;
    const size_t n = (size_t)1 << key->log_domain;
    const quotient_plan plan = plan_for(key);
    cuzk_buf *v[VECTORS] = {NULL, NULL, NULL};
    cuzk_domain *domain = NULL;
    cuzk_matrix *matrix = NULL;
    fe g, k;
    field_set_u64(fr, g.l, plan.nonresidue);
    field_set_one(fr, k.l);
    if (!plan.odd_coset) k = vanishing_inverse(fr, &g, key->log_domain);

    cuzk_status st = step(step_arg, "evaluate", err);
    for (unsigned i = 0; i < VECTORS && st == CUZK_OK; i++)
        st = be->buf_alloc(&v[i], key->device, CUZK_SPACE_DEVICE, n * fr->n_bytes, true, err);
    if (st == CUZK_OK) st = be->matrix_open(&matrix, queue, fr, &key->matrix, err);
    if (st == CUZK_OK)
        st = be->evaluate(queue, &(cuzk_evaluate_job){matrix, w, {v[0], 0}, {v[1], 0}}, err);
    if (st == CUZK_OK)
        st = be->pointwise(queue,
                           &(cuzk_pointwise_job){.fr = fr,
                                                 .kind = CUZK_POINTWISE_MUL,
                                                 .n = n,
                                                 .out = {v[2], 0},
                                                 .a = {v[0], 0},
                                                 .b = {v[1], 0}},
                           err);
    if (st == CUZK_OK) st = step(step_arg, "quotient", err);
    if (st == CUZK_OK)
        st = be->domain_open(&domain, key->device, fr, key->log_domain, plan.nonresidue,
                             plan.odd_coset ? NULL : &g, err);
    if (st == CUZK_OK) st = on_coset(key, queue, domain, v, err);
    if (st == CUZK_OK)
        st = be->pointwise(
            queue,
            &(cuzk_pointwise_job){
                fr, CUZK_POINTWISE_QUOTIENT, n, {v[0], 0}, {v[0], 0}, {v[1], 0}, {v[2], 0}, k},
            err);
    if (st == CUZK_OK && key->quotient == QUOTIENT_MONOMIAL)
        st = be->ntt(queue, &(cuzk_ntt_job){domain, CUZK_NTT_COSET_INVERSE, false, {v[0], 0}},
                     err);

    /* Also on failure: the queue may still read the buffers that are freed below. */
    cuzk_status waited = be->queue_wait(queue, st == CUZK_OK ? err : NULL);
    if (st == CUZK_OK) st = waited;
    if (st == CUZK_OK) {
        *out = v[0];
        v[0] = NULL;
    }
    if (matrix) be->matrix_close(matrix);
    if (domain) be->domain_close(domain);
    for (unsigned i = 0; i < VECTORS; i++)
        if (v[i]) be->buf_free(v[i]);
    return st;
}
