/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime.h"
#include "base/alloc.h"
#include "cuzk/tools.h"
#include "format/circom/zkey.h"
#include "prover/setup.h"

static zkey_view view_of(const setup_key *k) {
    const curve *c = k->curve;
    const size_t g1 = curve_g1_bytes(c), g2 = curve_g2_bytes(c),
                 n_ic = (size_t)k->n_public + 1;
    return (zkey_view){
        .curve = c->params->id,
        .n_vars = k->n_vars,
        .n_public = k->n_public,
        .domain_size = (uint32_t)1 << k->log_domain,
        .log_domain = k->log_domain,
        .alpha1 = k->g1_constants,
        .beta1 = k->g1_constants + g1,
        .delta1 = k->g1_constants + 2 * g1,
        .beta2 = k->g2_constants,
        .gamma2 = k->g2_constants + g2,
        .delta2 = k->g2_constants + 2 * g2,
        .ic = {k->ic, n_ic * g1},
        .n_coefficients = k->n_triplets,
        .coefficients = {k->triplets, (size_t)k->n_triplets * MATRIX_TRIPLET_BYTES},
        .a = {k->a, k->n_vars * g1},
        .b1 = {k->b1, k->n_vars * g1},
        .b2 = {k->b2, k->n_vars * g2},
        .l = {k->l, (k->n_vars - n_ic) * g1},
        .h = {k->h, k->n_h * g1}};
}

static cuzk_status sink_to_file(void *arg, const void *bytes, size_t n_bytes, cuzk_err *err) {
    return file_out_write(arg, bytes, n_bytes, err);
}

cuzk_status cuzk_setup_insecure(cuzk_runtime *rt, const char *r1cs_path, const char *zkey_path,
                                const char *seed, cuzk_progress_fn *progress,
                                void *progress_arg, cuzk_err *err) {
    file_in in;
    file_out *out = NULL;
    r1cs_view r1cs;
    setup_trapdoor trapdoor;
    setup_key key = {0};
    if (!rt || !zkey_path) return cuzk_fail(err, CUZK_ERR_ARG, "api.setup", "a NULL argument");
    CUZK_TRY(api_open(&in, r1cs_path, err));
    const file_in *const inputs[] = {&in};
    cuzk_status st = file_out_open(&out, zkey_path, inputs, 1, err);
    if (st == CUZK_OK) {
        st = r1cs_parse(&r1cs, in.bytes, err);
        const curve *c = st == CUZK_OK ? rt->curve_of[r1cs.curve] : NULL;
        if (st == CUZK_OK) st = setup_trapdoor_make(&trapdoor, &c->fr, seed, err);
        if (st == CUZK_OK)
            st = setup_run(&key, c, &r1cs, &trapdoor,
                           &(setup_options){QUOTIENT_LAGRANGE_ODD, rt->backend, rt->device,
                                            rt->exec, progress, progress_arg, rt->trace},
                           err);
        if (st == CUZK_ERR_FORMAT) cuzk_err_prefix(err, r1cs_path);
        if (st == CUZK_OK) {
            const zkey_view view = view_of(&key);
            st = zkey_write(&view, c, &(byte_sink){sink_to_file, out}, err);
        }
    }
    cuzk_wipe(&trapdoor, sizeof trapdoor);
    setup_key_fini(&key);
    file_in_close(&in);
    if (st == CUZK_OK) return file_out_commit(out, err);
    file_out_abort(out);
    return st;
}
