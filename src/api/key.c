/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime.h"
#include "base/alloc.h"
#include "format/circom/snarkjs_json.h"
#include "math/pairing/pairing.h"

static cuzk_status open_span(cuzk_key **out, cuzk_runtime *rt, cuzk_span bytes,
                             cuzk_err *err) {
    cuzk_key *key = NULL;
    CUZK_TRY(cuzk_zalloc(&key, 1, sizeof *key, err));
    key->rt = rt;
    key->n_bytes = bytes.n_bytes;
    cuzk_status st =
        proving_key_open_zkey(&key->pk, bytes, rt->curve_of, rt->backend, rt->device, err);
    if (st == CUZK_OK) st = proving_key_attach(&key->pk, rt->memory, err);
    if (st == CUZK_OK)
        *out = key;
    else
        cuzk_key_close(key);
    return st;
}

cuzk_status cuzk_key_open_bytes(cuzk_key **out, cuzk_runtime *rt, const void *bytes,
                                size_t n_bytes, cuzk_err *err) {
    if (!out || !rt || !bytes)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.key", "a NULL argument");
    return open_span(out, rt, (cuzk_span){bytes, n_bytes}, err);
}

cuzk_status cuzk_key_open(cuzk_key **out, cuzk_runtime *rt, const char *path, cuzk_err *err) {
    file_in file;
    cuzk_key *key = NULL;
    if (!out || !rt) return cuzk_fail(err, CUZK_ERR_ARG, "api.key", "a NULL argument");
    CUZK_TRY(api_open(&file, path, err));
    cuzk_status st = open_span(&key, rt, file.bytes, err);
    if (st != CUZK_OK) {
        cuzk_err_prefix(err, path);
        file_in_close(&file);
        return st;
    }
    key->file = file;
    const size_t path_bytes = strlen(path) + 1;
    st = cuzk_alloc(&key->path, path_bytes, 1, err);
    if (st != CUZK_OK) {
        cuzk_key_close(key);
        return st;
    }
    memcpy(key->path, path, path_bytes);
    *out = key;
    return CUZK_OK;
}

void cuzk_key_close(cuzk_key *key) {
    if (!key) return;
    proving_key_close(&key->pk);
    file_in_close(&key->file);
    cuzk_free(key->path);
    cuzk_free(key);
}

void cuzk_key_get_info(const cuzk_key *key, cuzk_key_info *out) {
    const proving_key *pk = &key->pk;
    *out = (cuzk_key_info){
        pk->curve->params->name, pk->n_vars,  pk->n_public, (uint64_t)1 << pk->log_domain,
        pk->matrix.n_triplets,   key->n_bytes};
}

cuzk_status cuzk_key_export_vkey(char **out_json, cuzk_key *key, cuzk_err *err) {
    if (!out_json || !key) return cuzk_fail(err, CUZK_ERR_ARG, "api.key", "a NULL argument");
    const proving_key *pk = &key->pk;
    const curve *c = pk->curve;
    groth16_vkey vk = {.curve = c->params->id,
                       .n_public = pk->n_public,
                       .alpha1 = pk->alpha1,
                       .beta2 = pk->beta2,
                       .gamma2 = pk->gamma2,
                       .delta2 = pk->delta2};
    fe12 alphabeta;
    CUZK_TRY(cuzk_alloc(&vk.ic, pk->ic.n, sizeof *vk.ic, err));
    cuzk_status st = CUZK_OK;
    for (size_t i = 0; i < pk->ic.n && st == CUZK_OK; i++) {
        point p;
        st = proving_key_load_point(&p, c, GROUP_G1, pk->ic_packed + i * curve_g1_bytes(c),
                                    "IC", err);
        if (st == CUZK_OK) point_to_g1(c, &vk.ic[i], &p);
    }
    if (st == CUZK_OK) {
        pairing_product(c, &alphabeta, &vk.alpha1, &vk.beta2, 1);
        st = snarkjs_write_vkey(out_json, c, &vk, &alphabeta, err);
    }
    groth16_vkey_fini(&vk);
    return st;
}
