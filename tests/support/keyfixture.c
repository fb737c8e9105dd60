/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/keyfixture: see keyfixture.h. */
#include "keyfixture.h"

#include "base/alloc.h"
#include "base/cpu.h"
#include "format/circom/wtns.h"
#include "golden.h"

#include <stdlib.h>

static void must(cuzk_status st) { CUZK_ASSERT(st == CUZK_OK); }

static void load_witness(keyfixture *f, curve_id id, const char *circuit) {
    blob file = golden_load(id, circuit, "witness.wtns");
    wtns_view view;
    must(wtns_parse(&view, blob_span(file), NULL));
    f->n_witness_bytes = view.values.n_bytes;
    must(cuzk_alloc(&f->witness, f->n_witness_bytes, 1, NULL));
    memcpy(f->witness, view.values.p, f->n_witness_bytes);
    blob_free(&file);
}

static void make_key(keyfixture *f, curve_id id, const char *circuit, quotient_kind kind) {
    blob file = golden_load(id, circuit, "circuit.r1cs");
    const setup_options options = {
        .quotient = kind, .backend = f->backend, .device = f->device, .exec = f->exec};
    r1cs_view r1cs;
    setup_trapdoor trapdoor;
    must(r1cs_parse(&r1cs, blob_span(file), NULL));
    must(setup_trapdoor_make(&trapdoor, &f->curve.fr, "test", NULL));
    must(setup_run(&f->made, &f->curve, &r1cs, &trapdoor, &options, NULL));
    must(setup_key_open(&f->key, &f->made, f->backend, f->device, NULL));
    blob_free(&file);
}

void keyfixture_begin(keyfixture *f, curve_id id, const char *circuit, quotient_kind kind,
                      unsigned n_threads, const char *cpu, const cuzk_backend *backend) {
    cuzk_cpu_level level;
    *f = (keyfixture){.backend = backend ? backend : &cuzk_backend_cpu};
    must(cuzk_cpu_select(&level, cpu ? cpu : getenv("CUZK_CPU"), NULL));
    curve_init(&f->curve, id, level);
    must(cuzk_exec_create(&f->exec, n_threads, NULL));
    must(f->backend->open(&f->device, &(cuzk_device_options){0}, f->exec, NULL));
    load_witness(f, id, circuit);
    make_key(f, id, circuit, kind);
}

void keyfixture_attach(keyfixture *f, uint64_t limit_bytes, uint64_t pinned_bytes) {
    const device_memory_options options = {limit_bytes, pinned_bytes};
    must(device_memory_create(&f->memory, f->backend, f->device, f->exec, &options, NULL));
    must(proving_key_attach(&f->key, f->memory, NULL));
}

void keyfixture_end(keyfixture *f) {
    proving_key_close(&f->key);
    device_memory_destroy(f->memory);
    setup_key_fini(&f->made);
    cuzk_free(f->witness);
    f->backend->close(f->device);
    cuzk_exec_destroy(f->exec);
}

blinders keyfixture_blinders(const curve *c) {
    blinders b;
    field_set_u64(&c->fr, b.r.l, 0x123456789abcdefu);
    field_set_u64(&c->fr, b.s.l, 0xfedcba987654321u);
    field_inv(&c->fr, b.s.l, b.s.l);
    return b;
}

bool keyfixture_same_proof(const curve *c, const groth16_proof *a, const groth16_proof *b) {
    return field_equal(&c->fq, a->a.x.l, b->a.x.l) &&
           field_equal(&c->fq, a->a.y.l, b->a.y.l) && fe2_equal(c, &a->b.x, &b->b.x) &&
           fe2_equal(c, &a->b.y, &b->b.y) && field_equal(&c->fq, a->c.x.l, b->c.x.l) &&
           field_equal(&c->fq, a->c.y.l, b->c.y.l);
}
