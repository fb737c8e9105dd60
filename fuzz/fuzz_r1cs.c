/* SPDX-License-Identifier: Apache-2.0 */
/* r1cs: header and every constraint; what is accepted is written, read again, and checked against
 * a witness of ones. */
#include "base/alloc.h"
#include "circuit/constraints.h"
#include "fuzz.h"

#define MAX_WIRES 4096u /* a file may claim more without labels; the check would be slow */

static uint64_t count_terms(const r1cs_view *v, const field *fr, cuzk_status *status) {
    r1cs_cursor cur;
    r1cs_constraint k;
    bool done = false;
    uint64_t n = 0;
    r1cs_cursor_init(&cur, v);
    for (;;) {
        *status = r1cs_next(&cur, &k, &done, fr, NULL);
        if (*status != CUZK_OK || done) return n;
        const r1cs_lc *const lc[3] = {&k.a, &k.b, &k.c};
        for (unsigned i = 0; i < 3; i++) {
            fuzz_touch((cuzk_span){lc[i]->terms, (size_t)lc[i]->n_terms * R1CS_TERM_BYTES});
            n += lc[i]->n_terms;
        }
    }
}

static void check_ones(const r1cs_view *v, const field *fr, cuzk_status walked) {
    uint8_t *values;
    cuzk_err err;
    if (v->n_wires > MAX_WIRES) return;
    CUZK_ASSERT(cuzk_zalloc(&values, v->n_wires, 32, NULL) == CUZK_OK);
    for (size_t i = 0; i < v->n_wires; i++) values[i * 32] = 1;
    const cuzk_status status = constraints_check(v, values, v->n_wires, fr, NULL, &err);
    CUZK_ASSERT(walked == CUZK_OK ? status == CUZK_OK || status == CUZK_ERR_WITNESS
                                  : status == CUZK_ERR_FORMAT || status == CUZK_ERR_WITNESS);
    cuzk_free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    r1cs_view v, again;
    cuzk_status status, status_again;
    if (r1cs_parse(&v, (cuzk_span){data, size}, NULL) != CUZK_OK) return 0;
    const curve *c = fuzz_curve(v.curve);
    const uint64_t n_terms = count_terms(&v, &c->fr, &status);
    check_ones(&v, &c->fr, status);
    if (status != CUZK_OK) return 0;
    fuzz_buffer out = {NULL, 0};
    const byte_sink sink = {fuzz_collect, &out};
    CUZK_ASSERT(r1cs_write(&v, c, &sink, NULL) == CUZK_OK);
    CUZK_ASSERT(r1cs_parse(&again, (cuzk_span){out.p, out.n_bytes}, NULL) == CUZK_OK);
    CUZK_ASSERT(count_terms(&again, &c->fr, &status_again) == n_terms);
    CUZK_ASSERT(status_again == CUZK_OK && again.n_labels == v.n_labels);
    free(out.p);
    return 0;
}
