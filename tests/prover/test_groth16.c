/* SPDX-License-Identifier: Apache-2.0 */
/* prover/groth16: whole proofs on keys made in memory, so both quotient conventions are proved
 * right by the pairing, and the plan is checked against itself across threads and CPU levels. */
#include "api/runtime.h"
#include "base/alloc.h"
#include "format/circom/wtns.h"
#include "prover/groth16.h"
#include "prover/setup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const curve_dirs[CURVE_COUNT] = {"bn128", "bls12381"};
static const char *const circuits[] = {"one", "two", "nopub", "poseidon_4"};

typedef struct fixture {
    cuzk_runtime *rt;
    file_in r1cs_file, wtns_file;
    r1cs_view r1cs;
    wtns_view wtns;
    uint8_t *values;
    setup_key made;
    proving_key key;
    uint8_t *image; /* all vectors of the key in one piece, as a device buffer wants them */
} fixture;

static void golden(char *path, size_t n, const char *dir, const char *circuit,
                   const char *file) {
    (void)snprintf(path, n, "tests/golden/%s/%s/%s", dir, circuit, file);
}

static key_query put(fixture *f, size_t *at, const uint8_t *packed, size_t n,
                     size_t point_bytes) {
    key_query q = {{f->key.buf, *at}, n};
    memcpy(f->image + *at, packed, n * point_bytes);
    *at += n * point_bytes;
    return q;
}

/* The key in memory, as proving_key_open_zkey would give it. */
static void adopt(fixture *f, const curve *c, quotient_kind kind) {
    const setup_key *m = &f->made;
    const size_t g1 = curve_g1_bytes(c), g2 = curve_g2_bytes(c), n = m->n_vars;
    const size_t n_ic = (size_t)m->n_public + 1, n_l = n - n_ic;
    const size_t total = (n_ic + 2 * n + n_l + m->n_h) * g1 + n * g2;
    const cuzk_backend *be = f->rt->backend;
    assert_int_equal(cuzk_alloc(&f->image, total, 1, NULL), CUZK_OK);
    f->key = (proving_key){
        .curve = c,
        .backend = be,
        .device = f->rt->device,
        .quotient = kind,
        .n_vars = m->n_vars,
        .n_public = m->n_public,
        .log_domain = m->log_domain,
        .matrix = {m->triplets, m->n_triplets, (uint64_t)1 << m->log_domain, m->n_vars}};
    assert_int_equal(be->buf_wrap(&f->key.buf, f->rt->device, f->image, total, NULL), CUZK_OK);
    point p;
    g1_affine *const out1[] = {&f->key.alpha1, &f->key.beta1, &f->key.delta1};
    g2_affine *const out2[] = {&f->key.beta2, &f->key.gamma2, &f->key.delta2};
    for (size_t i = 0; i < 3; i++) {
        assert_true(point_load_packed(c, GROUP_G1, &p, m->g1_constants + i * g1));
        point_to_g1(c, out1[i], &p);
        assert_true(point_load_packed(c, GROUP_G2, &p, m->g2_constants + i * g2));
        point_to_g2(c, out2[i], &p);
    }
    size_t at = 0;
    f->key.ic_packed = f->image;
    f->key.ic = put(f, &at, m->ic, n_ic, g1);
    f->key.a = put(f, &at, m->a, n, g1);
    f->key.b1 = put(f, &at, m->b1, n, g1);
    f->key.b2 = put(f, &at, m->b2, n, g2);
    f->key.l = put(f, &at, m->l, n_l, g1);
    f->key.h = put(f, &at, m->h, m->n_h, g1);
}

static void begin(fixture *f, curve_id id, const char *circuit, quotient_kind kind,
                  unsigned threads, const char *cpu) {
    char path[256];
    *f = (fixture){0};
    cuzk_runtime_options o = CUZK_RUNTIME_OPTIONS_INIT;
    o.n_threads = threads;
    o.cpu = cpu;
    assert_int_equal(cuzk_runtime_create(&f->rt, &o, NULL), CUZK_OK);
    const curve *c = f->rt->curve_of[id];
    golden(path, sizeof path, curve_dirs[id], circuit, "circuit.r1cs");
    assert_int_equal(file_in_open(&f->r1cs_file, path, NULL), CUZK_OK);
    assert_int_equal(r1cs_parse(&f->r1cs, f->r1cs_file.bytes, NULL), CUZK_OK);
    golden(path, sizeof path, curve_dirs[id], circuit, "witness.wtns");
    assert_int_equal(file_in_open(&f->wtns_file, path, NULL), CUZK_OK);
    assert_int_equal(wtns_parse(&f->wtns, f->wtns_file.bytes, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&f->values, f->wtns.values.n_bytes, 1, NULL), CUZK_OK);
    memcpy(f->values, f->wtns.values.p, f->wtns.values.n_bytes);
    setup_trapdoor t;
    assert_int_equal(setup_trapdoor_make(&t, &c->fr, "test", NULL), CUZK_OK);
    assert_int_equal(setup_run(&f->made, c, &f->r1cs, &t, kind, f->rt->exec, NULL, NULL, NULL),
                     CUZK_OK);
    adopt(f, c, kind);
}

static void end(fixture *f) {
    proving_key_close(&f->key);
    setup_key_fini(&f->made);
    cuzk_free(f->image);
    cuzk_free(f->values);
    file_in_close(&f->r1cs_file);
    file_in_close(&f->wtns_file);
    cuzk_runtime_destroy(f->rt);
}

static blinders fixed_blinders(const curve *c) {
    blinders b;
    field_set_u64(&c->fr, b.r.l, 0x123456789abcdefu);
    field_set_u64(&c->fr, b.s.l, 0xfedcba987654321u);
    field_inv(&c->fr, b.s.l, b.s.l);
    return b;
}

static void test_groth16__proof_verifies_on_either_quotient_convention(void **state) {
    (void)state;
    for (unsigned id = 0; id < CURVE_COUNT; id++)
        for (unsigned kind = 0; kind < 2; kind++)
            for (size_t i = 0; i < sizeof circuits / sizeof circuits[0]; i++) {
                fixture f;
                groth16_proof proof;
                begin(&f, (curve_id)id, circuits[i], (quotient_kind)kind, 2, NULL);
                assert_int_equal(
                    groth16_prove(&proof, &f.key, f.values, &(groth16_options){0}, NULL),
                    CUZK_OK); /* it checks itself */
                const verifying_key vk = groth16_verifying_key(&f.key);
                assert_int_equal(
                    groth16_verify(&vk, f.rt->backend, f.rt->device, &proof, f.values, NULL),
                    CUZK_OK);
                end(&f);
            }
}

static void test_groth16__proof_is_the_same_on_any_threads_and_cpu_level(void **state) {
    (void)state;
    static const struct {
        unsigned threads;
        const char *cpu;
    } how[] = {{1, "portable"}, {3, "portable"}, {1, NULL}, {2, NULL}};
    for (unsigned id = 0; id < CURVE_COUNT; id++) {
        groth16_proof first, proof;
        for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
            fixture f;
            begin(&f, (curve_id)id, "poseidon_4", QUOTIENT_LAGRANGE_ODD, how[i].threads,
                  how[i].cpu);
            const curve *c = f.key.curve;
            const blinders b = fixed_blinders(c);
            assert_int_equal(
                groth16_prove(&proof, &f.key, f.values, &(groth16_options){.fixed = &b}, NULL),
                CUZK_OK);
            if (i == 0) first = proof;
            assert_true(field_equal(&c->fq, proof.a.x.l, first.a.x.l));
            assert_true(field_equal(&c->fq, proof.c.x.l, first.c.x.l));
            assert_true(field_equal(&c->fq, proof.c.y.l, first.c.y.l));
            assert_true(fe2_equal(c, &proof.b.x, &first.b.x));
            end(&f);
        }
    }
}

static void test_groth16__names_the_witness_when_it_does_not_satisfy(void **state) {
    (void)state;
    for (unsigned id = 0; id < CURVE_COUNT; id++) {
        fixture f;
        groth16_proof proof;
        cuzk_err err;
        begin(&f, (curve_id)id, "poseidon_4", QUOTIENT_LAGRANGE_ODD, 1, NULL);
        f.values[32 * 500] ^= 1;
        assert_int_equal(groth16_prove(&proof, &f.key, f.values, &(groth16_options){0}, &err),
                         CUZK_ERR_WITNESS);
        assert_non_null(strstr(err.text, "does not satisfy the circuit"));
        assert_int_equal(groth16_prove(&proof, &f.key, f.values,
                                       &(groth16_options){.skip_check = true}, &err),
                         CUZK_OK);
        const verifying_key vk = groth16_verifying_key(&f.key);
        assert_int_equal(
            groth16_verify(&vk, f.rt->backend, f.rt->device, &proof, f.values, &err),
            CUZK_ERR_INVALID);
        end(&f);
    }
}

static void test_groth16__two_proofs_of_one_witness_differ(void **state) {
    (void)state;
    fixture f;
    groth16_proof a, b;
    begin(&f, CURVE_BN254, "one", QUOTIENT_LAGRANGE_ODD, 1, NULL);
    assert_int_equal(groth16_prove(&a, &f.key, f.values, &(groth16_options){0}, NULL),
                     CUZK_OK);
    assert_int_equal(groth16_prove(&b, &f.key, f.values, &(groth16_options){0}, NULL),
                     CUZK_OK);
    assert_false(field_equal(&f.key.curve->fq, a.a.x.l, b.a.x.l));
    assert_false(field_equal(&f.key.curve->fq, a.c.x.l, b.c.x.l));
    end(&f);
}

static int stop_at(void *arg, const char *stage, unsigned done, unsigned total) {
    unsigned *left = arg;
    (void)stage;
    (void)done;
    (void)total;
    return (*left)-- == 0;
}

static void test_groth16__is_cancelled_at_any_stage(void **state) {
    (void)state;
    fixture f;
    begin(&f, CURVE_BN254, "two", QUOTIENT_LAGRANGE_ODD, 2, NULL);
    for (unsigned n = 0;; n++) {
        unsigned left = n;
        groth16_proof proof;
        cuzk_status st =
            groth16_prove(&proof, &f.key, f.values,
                          &(groth16_options){.stage = stop_at, .stage_arg = &left}, NULL);
        if (st == CUZK_OK) {
            assert_int_equal(n, 5);
            break;
        }
        assert_int_equal(st, CUZK_ERR_CANCELLED);
    }
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groth16__proof_verifies_on_either_quotient_convention),
        cmocka_unit_test(test_groth16__proof_is_the_same_on_any_threads_and_cpu_level),
        cmocka_unit_test(test_groth16__names_the_witness_when_it_does_not_satisfy),
        cmocka_unit_test(test_groth16__two_proofs_of_one_witness_differ),
        cmocka_unit_test(test_groth16__is_cancelled_at_any_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
