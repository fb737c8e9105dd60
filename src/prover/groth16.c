/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/groth16.h"
#include "base/alloc.h"
#include "prover/quotient.h"

enum { N_STAGES = 5 }; /* evaluate, quotient, multiexp, assemble, check */

typedef struct prove_progress {
    const groth16_options *options;
    unsigned done;
} prove_progress;

static cuzk_status begin_stage(void *arg, const char *stage, cuzk_err *err) {
    prove_progress *p = arg;
    if (p->options->stage &&
        p->options->stage(p->options->stage_arg, stage, p->done, N_STAGES))
        return cuzk_fail(err, CUZK_ERR_CANCELLED, "prover.groth16",
                         "cancelled before stage '%s'", stage);
    p->done++;
    return CUZK_OK;
}

/* The five sums of a proof, before the key's constants and the blinders join them. */
typedef struct sums {
    point a, b1, b2, l, h;
} sums;

static cuzk_status multiexp(sums *out, const proving_key *key, cuzk_queue *queue, cuzk_slice w,
                            cuzk_buf *quotient, cuzk_err *err) {
    const cuzk_backend *be = key->backend;
    const field *fr = &key->curve->fr;
    cuzk_scalars *witness = NULL, *h = NULL;
    cuzk_status st = be->scalars_open(&witness, queue, fr, w, key->n_vars, false, err);
    if (st == CUZK_OK)
        st = be->scalars_open(&h, queue, fr, (cuzk_slice){quotient, 0}, key->h.n, true, err);
    if (st == CUZK_OK) {
        const curve *c = key->curve;
        const size_t first_private = (size_t)key->n_public + 1;
        const cuzk_msm_job jobs[] = {
            {c, GROUP_G2, key->b2.points, witness, 0, key->b2.n, &out->b2},
            {c, GROUP_G1, key->h.points, h, 0, key->h.n, &out->h},
            {c, GROUP_G1, key->a.points, witness, 0, key->a.n, &out->a},
            {c, GROUP_G1, key->b1.points, witness, 0, key->b1.n, &out->b1},
            {c, GROUP_G1, key->l.points, witness, first_private, key->l.n, &out->l},
        };
        st = be->msm(queue, jobs, sizeof jobs / sizeof jobs[0], err);
        cuzk_status waited = be->queue_wait(queue, st == CUZK_OK ? err : NULL);
        if (st == CUZK_OK) st = waited;
    }
    if (h) be->scalars_close(h);
    if (witness) be->scalars_close(witness);
    return st;
}

/* sum += base + [k] delta */
static void blind(const curve *c, group_id g, point *sum, const point *base, const fe *k,
                  const point *delta) {
    point t;
    point_mul_fr(c, g, &t, delta, k);
    point_add(c, g, sum, sum, &t);
    point_add(c, g, sum, sum, base);
}

/* A = alpha + a + r delta, B = beta + b + s delta, C = l + h + s A + r B1 - r s delta. */
static void assemble(groth16_proof *out, const proving_key *key, sums *s, const blinders *bl) {
    const curve *c = key->curve;
    point alpha1, beta1, delta1, beta2, delta2, t;
    fe minus_rs;
    point_from_g1(c, &alpha1, &key->alpha1);
    point_from_g1(c, &beta1, &key->beta1);
    point_from_g1(c, &delta1, &key->delta1);
    point_from_g2(c, &beta2, &key->beta2);
    point_from_g2(c, &delta2, &key->delta2);

    blind(c, GROUP_G1, &s->a, &alpha1, &bl->r, &delta1);
    blind(c, GROUP_G1, &s->b1, &beta1, &bl->s, &delta1);
    blind(c, GROUP_G2, &s->b2, &beta2, &bl->s, &delta2);
    field_mul(&c->fr, minus_rs.l, bl->r.l, bl->s.l);
    field_neg(&c->fr, minus_rs.l, minus_rs.l);
    blind(c, GROUP_G1, &s->l, &s->h, &minus_rs, &delta1);
    point_mul_fr(c, GROUP_G1, &t, &s->a, &bl->s);
    point_add(c, GROUP_G1, &s->l, &s->l, &t);
    point_mul_fr(c, GROUP_G1, &t, &s->b1, &bl->r);
    point_add(c, GROUP_G1, &s->l, &s->l, &t);

    point_to_g1(c, &out->a, &s->a);
    point_to_g2(c, &out->b, &s->b2);
    point_to_g1(c, &out->c, &s->l);
    cuzk_wipe(&minus_rs, sizeof minus_rs);
    cuzk_wipe(&t, sizeof t);
    cuzk_wipe(s, sizeof *s); /* sums without blinders tell about the witness */
}

verifying_key groth16_verifying_key(const proving_key *key) {
    return (verifying_key){key->curve,  key->alpha1, key->beta2,
                           key->gamma2, key->delta2, key->ic};
}

static cuzk_status prove_on(groth16_proof *out, const proving_key *key, cuzk_queue *queue,
                            cuzk_slice w, prove_progress *progress, cuzk_err *err) {
    const groth16_options *options = progress->options;
    cuzk_buf *quotient = NULL;
    sums s;
    CUZK_TRY(quotient_compute(&quotient, key, queue, w, begin_stage, progress, err));
    cuzk_status st = begin_stage(progress, "multiexp", err);
    if (st == CUZK_OK) st = multiexp(&s, key, queue, w, quotient, err);
    key->backend->buf_free(quotient);
    if (st != CUZK_OK) return st;

    CUZK_TRY(begin_stage(progress, "assemble", err));
    blinders bl;
    if (options->fixed)
        bl = *options->fixed;
    else
        st = blinders_draw(&bl, &key->curve->fr, err);
    if (st == CUZK_OK) assemble(out, key, &s, &bl);
    blinders_wipe(&bl);
    return st;
}

cuzk_status groth16_prove(groth16_proof *out, const proving_key *key, const uint8_t *witness,
                          const groth16_options *options, cuzk_err *err) {
    const cuzk_backend *be = key->backend;
    const size_t fr_bytes = key->curve->fr.n_bytes;
    prove_progress progress = {options, 0};
    cuzk_buf *w = NULL;
    cuzk_queue *queue = NULL;
    groth16_proof proof = {0};
    cuzk_status st = be->buf_wrap(&w, key->device, witness, key->n_vars * fr_bytes, err);
    if (st == CUZK_OK) st = be->queue_open(&queue, key->device, "main", NULL, err);
    if (st == CUZK_OK) st = prove_on(&proof, key, queue, (cuzk_slice){w, 0}, &progress, err);
    if (queue) be->queue_close(queue);
    if (w) be->buf_free(w);
    if (st != CUZK_OK) return st;

    if (!options->skip_check) {
        CUZK_TRY(begin_stage(&progress, "check", err));
        const verifying_key vk = groth16_verifying_key(key);
        st = groth16_verify(&vk, be, key->device, &proof, witness, NULL);
        if (st == CUZK_ERR_INVALID)
            return cuzk_fail(
                err, CUZK_ERR_WITNESS, "prover.groth16",
                "the witness does not satisfy the circuit (the finished proof does "
                "not verify)");
        if (st != CUZK_OK)
            return cuzk_fail(err, st, "prover.groth16",
                             "the finished proof could not be checked");
    }
    *out = proof;
    return CUZK_OK;
}
