/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/snarkjs_write: see snarkjs_json.h. */
#include "format/circom/json_text.h"
#include "format/circom/snarkjs_json.h"

#define WHERE "format.snarkjs_json"

static void put_fe(json_text *t, const field *f, const fe *a) {
    char digits[FIELD_DEC_MAX];
    field_store_dec(f, digits, a->l);
    json_text_string(t, NULL, digits);
}

static void put_fe2(json_text *t, const field *fq, const fe2 *a) {
    json_text_open(t, NULL, '[');
    put_fe(t, fq, &a->c0);
    put_fe(t, fq, &a->c1);
    json_text_close(t, ']');
}

static void put_fe6(json_text *t, const field *fq, const fe6 *a) {
    json_text_open(t, NULL, '[');
    put_fe2(t, fq, &a->c0);
    put_fe2(t, fq, &a->c1);
    put_fe2(t, fq, &a->c2);
    json_text_close(t, ']');
}

/* Projective, as snarkjs has it: (x, y, 1), or (0, 1, 0) at infinity. */
static void put_g1(json_text *t, const char *key, const field *fq, const g1_affine *a) {
    json_text_open(t, key, '[');
    if (a->infinity) {
        json_text_string(t, NULL, "0");
        json_text_string(t, NULL, "1");
    } else {
        put_fe(t, fq, &a->x);
        put_fe(t, fq, &a->y);
    }
    json_text_string(t, NULL, a->infinity ? "0" : "1");
    json_text_close(t, ']');
}

static void put_small2(json_text *t, const char *c0) {
    json_text_open(t, NULL, '[');
    json_text_string(t, NULL, c0);
    json_text_string(t, NULL, "0");
    json_text_close(t, ']');
}

static void put_g2(json_text *t, const char *key, const field *fq, const g2_affine *a) {
    json_text_open(t, key, '[');
    if (a->infinity) {
        put_small2(t, "0");
        put_small2(t, "1");
    } else {
        put_fe2(t, fq, &a->x);
        put_fe2(t, fq, &a->y);
    }
    put_small2(t, a->infinity ? "0" : "1");
    json_text_close(t, ']');
}

cuzk_status snarkjs_write_proof(char **out, const curve *c, const groth16_proof *proof,
                                cuzk_err *err) {
    json_text t;
    json_text_init(&t, err);
    json_text_open(&t, NULL, '{');
    put_g1(&t, "pi_a", &c->fq, &proof->a);
    put_g2(&t, "pi_b", &c->fq, &proof->b);
    put_g1(&t, "pi_c", &c->fq, &proof->c);
    json_text_string(&t, "protocol", "groth16");
    json_text_string(&t, "curve", c->params->snarkjs_name);
    json_text_close(&t, '}');
    return json_text_finish(out, &t);
}

cuzk_status snarkjs_write_public(char **out, const curve *c, const uint8_t *publics, size_t n,
                                 cuzk_err *err) {
    json_text t;
    json_text_init(&t, err);
    json_text_open(&t, NULL, '[');
    for (size_t i = 0; i < n; i++) {
        fe value;
        if (!field_load_le(&c->fr, value.l, publics + i * c->fr.n_bytes))
            return json_text_abandon(
                &t, cuzk_fail(err, CUZK_ERR_WITNESS, WHERE,
                              "public signal %zu of %zu is not below the scalar field prime r",
                              i, n));
        put_fe(&t, &c->fr, &value);
    }
    json_text_close(&t, ']');
    return json_text_finish(out, &t);
}

cuzk_status snarkjs_write_vkey(char **out, const curve *c, const groth16_vkey *vk,
                               const fe12 *alphabeta, cuzk_err *err) {
    const field *fq = &c->fq;
    json_text t;
    json_text_init(&t, err);
    json_text_open(&t, NULL, '{');
    json_text_string(&t, "protocol", "groth16");
    json_text_string(&t, "curve", c->params->snarkjs_name);
    json_text_u32(&t, "nPublic", vk->n_public);
    put_g1(&t, "vk_alpha_1", fq, &vk->alpha1);
    put_g2(&t, "vk_beta_2", fq, &vk->beta2);
    put_g2(&t, "vk_gamma_2", fq, &vk->gamma2);
    put_g2(&t, "vk_delta_2", fq, &vk->delta2);
    json_text_open(&t, "vk_alphabeta_12", '[');
    put_fe6(&t, fq, &alphabeta->c0);
    put_fe6(&t, fq, &alphabeta->c1);
    json_text_close(&t, ']');
    json_text_open(&t, "IC", '[');
    for (size_t i = 0; i <= vk->n_public; i++) put_g1(&t, NULL, fq, &vk->ic[i]);
    json_text_close(&t, ']');
    json_text_close(&t, '}');
    return json_text_finish(out, &t);
}
