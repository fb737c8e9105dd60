/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/assemble.h"
#include "base/alloc.h"

/* out = base + [k] p */
static void add_multiple(const curve *c, group_id g, point *out, const point *base,
                         const point *p, const fe *k) {
    point t;
    point_mul_fr(c, g, &t, p, k);
    point_add(c, g, out, base, &t);
    cuzk_wipe(&t, sizeof t);
}

cuzk_status blinding_make(blinding *out, const proving_key *key, const blinders *fixed,
                          cuzk_err *err) {
    const curve *c = key->curve;
    blinding b = {0};
    point alpha1, beta1, delta1, beta2, delta2;
    point_from_g1(c, &alpha1, &key->alpha1);
    point_from_g1(c, &beta1, &key->beta1);
    point_from_g1(c, &delta1, &key->delta1);
    point_from_g2(c, &beta2, &key->beta2);
    point_from_g2(c, &delta2, &key->delta2);
    if (fixed)
        b.by = *fixed;
    else
        CUZK_TRY(blinders_draw(&b.by, &c->fr, err));
    add_multiple(c, GROUP_G1, &b.a, &alpha1, &delta1, &b.by.r);
    add_multiple(c, GROUP_G2, &b.b, &beta2, &delta2, &b.by.s);
    point_mul_fr(c, GROUP_G1, &b.c, &b.a, &b.by.s);
    add_multiple(c, GROUP_G1, &b.c, &b.c, &beta1, &b.by.r);
    *out = b;
    blinding_wipe(&b);
    return CUZK_OK;
}

void blinding_wipe(blinding *b) { cuzk_wipe(b, sizeof *b); }

void assemble(groth16_proof *out, const proving_key *key, const sums *s, const blinding *b) {
    const curve *c = key->curve;
    point p;
    point_add(c, GROUP_G1, &p, &s->a, &b->a);
    point_to_g1(c, &out->a, &p);
    point_add(c, GROUP_G2, &p, &s->b2, &b->b);
    point_to_g2(c, &out->b, &p);
    point_add(c, GROUP_G1, &p, &s->l, &s->h);
    point_add(c, GROUP_G1, &p, &p, &b->c);
    add_multiple(c, GROUP_G1, &p, &p, &s->a, &b->by.s);
    add_multiple(c, GROUP_G1, &p, &p, &s->b1, &b->by.r);
    point_to_g1(c, &out->c, &p);
}
