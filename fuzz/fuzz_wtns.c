/* SPDX-License-Identifier: Apache-2.0 */
/* wtns: what is accepted is written and read again to the same values. */
#include "format/circom/wtns.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    wtns_view v, w;
    if (wtns_parse(&v, (cuzk_span){data, size}, NULL) != CUZK_OK) return 0;
    const curve *c = fuzz_curve(v.curve);
    const cuzk_status status = wtns_check_values(&v, &c->fr, NULL);
    CUZK_ASSERT(status == CUZK_OK || status == CUZK_ERR_WITNESS);
    fuzz_buffer out = {NULL, 0};
    const byte_sink sink = {fuzz_collect, &out};
    CUZK_ASSERT(wtns_write(&v, c, &sink, NULL) == CUZK_OK);
    CUZK_ASSERT(wtns_parse(&w, (cuzk_span){out.p, out.n_bytes}, NULL) == CUZK_OK);
    CUZK_ASSERT(w.n_values == v.n_values && w.curve == v.curve);
    CUZK_ASSERT(memcmp(w.values.p, v.values.p, v.values.n_bytes) == 0);
    CUZK_ASSERT(wtns_check_values(&w, &c->fr, NULL) == status);
    free(out.p);
    return 0;
}
