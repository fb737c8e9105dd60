/* SPDX-License-Identifier: Apache-2.0 */
#include "api/check_points.h"
#include "api/runtime.h"
#include "base/alloc.h"
#include "prover/groth16.h"

/* A verification key from a file, in the form the verifier takes. */
typedef struct packed_vkey {
    uint8_t *ic;
    cuzk_buf *buf;
    verifying_key vk;
} packed_vkey;

static cuzk_status pack_vkey(packed_vkey *out, const cuzk_runtime *rt, const groth16_vkey *vk,
                             cuzk_err *err) {
    const curve *c = rt->curve_of[vk->curve];
    const size_t n = (size_t)vk->n_public + 1, point_bytes = curve_g1_bytes(c);
    packed_vkey p = {
        NULL, NULL, {c, vk->alpha1, vk->beta2, vk->gamma2, vk->delta2, {{NULL, 0}, n}}};
    CUZK_TRY(cuzk_alloc(&p.ic, n, point_bytes, err));
    for (size_t i = 0; i < n; i++) {
        point ic;
        point_from_g1(c, &ic, &vk->ic[i]);
        point_store_packed(c, GROUP_G1, p.ic + i * point_bytes, &ic);
    }
    cuzk_status st = rt->backend->buf_wrap(&p.buf, rt->device, p.ic, n * point_bytes, err);
    if (st != CUZK_OK) {
        cuzk_free(p.ic);
        return st;
    }
    p.vk.ic.points.buf = p.buf;
    *out = p;
    return CUZK_OK;
}

/* The constant 1 and the public signals, canonical. */
static cuzk_status statement_of(uint8_t **out, const curve *c, const fe *publics, size_t n,
                                cuzk_err *err) {
    const size_t fr_bytes = c->fr.n_bytes;
    CUZK_TRY(cuzk_zalloc(out, n + 1, fr_bytes, err));
    (*out)[0] = 1;
    for (size_t i = 0; i < n; i++)
        field_store_le(&c->fr, *out + (i + 1) * fr_bytes, publics[i].l);
    return CUZK_OK;
}

/* The three texts under the names that errors shall carry; a name may be NULL. */
typedef struct named_text {
    cuzk_span bytes;
    const char *name;
} named_text;

static cuzk_status blame(const named_text *text, cuzk_status st, cuzk_err *err) {
    if (st != CUZK_OK && text->name) cuzk_err_prefix(err, text->name);
    return st;
}

static cuzk_status verify_texts(cuzk_runtime *rt, named_text vkey, named_text publics,
                                named_text proof, cuzk_err *err) {
    groth16_vkey vk = {0};
    groth16_proof p;
    packed_vkey packed = {0};
    fe *values = NULL;
    uint8_t *statement = NULL;
    size_t n = 0;
    CUZK_TRY(blame(&vkey, snarkjs_read_vkey(&vk, vkey.bytes, rt->curve_of, err), err));
    const curve *c = rt->curve_of[vk.curve];
    cuzk_status st = blame(&vkey, check_vkey_points(c, &vk, err), err);
    if (st == CUZK_OK)
        st = blame(&publics,
                   snarkjs_read_public(&values, &n, c, publics.bytes, vk.n_public, err), err);
    if (st == CUZK_OK) st = blame(&proof, snarkjs_read_proof(&p, c, proof.bytes, err), err);
    if (st == CUZK_OK && n != vk.n_public)
        st =
            blame(&publics,
                  cuzk_fail(err, CUZK_ERR_INVALID, "api.verify",
                            "%zu public signals, the verification key has %u", n, vk.n_public),
                  err);
    if (st == CUZK_OK) st = statement_of(&statement, c, values, n, err);
    if (st == CUZK_OK) st = pack_vkey(&packed, rt, &vk, err);
    if (st == CUZK_OK)
        st = groth16_verify(&packed.vk, rt->backend, rt->device, &p, statement, err);
    if (packed.buf) rt->backend->buf_free(packed.buf);
    cuzk_free(packed.ic);
    cuzk_free(statement);
    cuzk_free(values);
    groth16_vkey_fini(&vk);
    return st;
}

cuzk_status cuzk_verify(cuzk_runtime *rt, const void *vkey, size_t vkey_bytes,
                        const void *publics, size_t public_bytes, const void *proof,
                        size_t proof_bytes, cuzk_err *err) {
    if (!rt || !vkey || !publics || !proof)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.verify", "a NULL argument");
    return verify_texts(rt, (named_text){{vkey, vkey_bytes}, NULL},
                        (named_text){{publics, public_bytes}, NULL},
                        (named_text){{proof, proof_bytes}, NULL}, err);
}

cuzk_status cuzk_verify_files(cuzk_runtime *rt, const char *vkey_path, const char *public_path,
                              const char *proof_path, cuzk_err *err) {
    enum { VKEY, PUBLIC, PROOF, N_FILES };
    const char *const path[N_FILES] = {vkey_path, public_path, proof_path};
    file_in file[N_FILES] = {0};
    if (!rt) return cuzk_fail(err, CUZK_ERR_ARG, "api.verify", "a NULL argument");
    cuzk_status st = CUZK_OK;
    for (unsigned i = 0; i < N_FILES && st == CUZK_OK; i++)
        st = api_open(&file[i], path[i], err);
    if (st == CUZK_OK)
        st = verify_texts(rt, (named_text){file[VKEY].bytes, path[VKEY]},
                          (named_text){file[PUBLIC].bytes, path[PUBLIC]},
                          (named_text){file[PROOF].bytes, path[PROOF]}, err);
    for (unsigned i = 0; i < N_FILES; i++) file_in_close(&file[i]);
    return st;
}
