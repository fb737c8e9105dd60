/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime.h"
#include "circuit/constraints.h"
#include "cuzk/tools.h"
#include "format/circom/wtns.h"

static cuzk_status check_files(const cuzk_runtime *rt, const file_in *r1cs_file,
                               const char *r1cs_path, const file_in *wtns_file,
                               const char *wtns_path, cuzk_err *err) {
    r1cs_view r1cs;
    wtns_view wtns;
    cuzk_status st = r1cs_parse(&r1cs, r1cs_file->bytes, err);
    if (st != CUZK_OK) {
        cuzk_err_prefix(err, r1cs_path);
        return st;
    }
    const field *fr = &rt->curves[r1cs.curve].fr;
    st = wtns_parse(&wtns, wtns_file->bytes, err);
    if (st == CUZK_OK && wtns.curve != r1cs.curve)
        st = cuzk_fail(err, CUZK_ERR_WITNESS, "api.witness",
                       "curve mismatch: the witness is over %s, the circuit over %s",
                       curve_params_of(wtns.curve)->name, curve_params_of(r1cs.curve)->name);
    if (st == CUZK_OK && wtns.n_values != r1cs.n_wires)
        st = cuzk_fail(err, CUZK_ERR_WITNESS, "api.witness",
                       "witness length mismatch: %u values, the circuit has %u", wtns.n_values,
                       r1cs.n_wires);
    if (st == CUZK_OK) st = wtns_check_values(&wtns, fr, err);
    if (st != CUZK_OK) {
        cuzk_err_prefix(err, wtns_path);
        return st;
    }
    st = constraints_check(&r1cs, wtns.values.p, wtns.n_values, fr, rt->exec, err);
    if (st == CUZK_ERR_FORMAT) cuzk_err_prefix(err, r1cs_path);
    return st;
}

cuzk_status cuzk_witness_check(cuzk_runtime *rt, const char *r1cs_path, const char *wtns_path,
                               cuzk_err *err) {
    file_in r1cs, wtns;
    if (!rt) return cuzk_fail(err, CUZK_ERR_ARG, "api.witness", "a NULL argument");
    CUZK_TRY(api_open(&r1cs, r1cs_path, err));
    cuzk_status st = api_open(&wtns, wtns_path, err);
    if (st == CUZK_OK) {
        st = check_files(rt, &r1cs, r1cs_path, &wtns, wtns_path, err);
        file_in_close(&wtns);
    }
    file_in_close(&r1cs);
    return st;
}
