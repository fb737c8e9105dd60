/* SPDX-License-Identifier: Apache-2.0 */
/* prover/setup: what it refuses, and how soon it stops. */
#include "prover/setup.h"

#include "api/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { N_WIRES = 40000 }; /* made in three pieces by one thread */

static const uint8_t zeros[N_WIRES * 8];

/* One constraint without terms; every wire has a label. */
static r1cs_view empty_circuit(void) {
    return (r1cs_view){.curve = CURVE_BN254,
                       .n_wires = N_WIRES,
                       .n_constraints = 1,
                       .constraints = {zeros, 12},
                       .labels = {zeros, sizeof zeros}};
}

typedef struct watch {
    const char *stage;         /* of interest */
    unsigned n_calls, stop_at; /* calls in that stage; 0 = never stop */
} watch;

static int look(void *arg, const char *stage, unsigned done, unsigned total) {
    watch *w = arg;
    assert_true(done < total);
    return strcmp(stage, w->stage) == 0 && ++w->n_calls == w->stop_at;
}

static cuzk_status set_up(const r1cs_view *r1cs, watch *w, cuzk_err *err) {
    cuzk_runtime_options options = CUZK_RUNTIME_OPTIONS_INIT;
    options.n_threads = 1;
    cuzk_runtime *rt;
    setup_trapdoor t;
    setup_key key = {0};
    assert_int_equal(cuzk_runtime_create(&rt, &options, NULL), CUZK_OK);
    const curve *c = rt->curve_of[r1cs->curve];
    assert_int_equal(setup_trapdoor_make(&t, &c->fr, "test", NULL), CUZK_OK);
    const setup_options how = {
        QUOTIENT_LAGRANGE_ODD, rt->backend, rt->device, rt->exec, look, w, NULL};
    const cuzk_status st = setup_run(&key, c, r1cs, &t, &how, err);
    setup_key_fini(&key);
    cuzk_runtime_destroy(rt);
    return st;
}

static void test_setup__can_be_stopped_inside_a_stage(void **state) {
    (void)state;
    static const char *const stages[] = {"A", "B1", "B2", "L"};
    const r1cs_view r1cs = empty_circuit();
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        watch w = {stages[i], 0, 3};
        cuzk_err err;
        assert_int_equal(set_up(&r1cs, &w, &err), CUZK_ERR_CANCELLED);
        assert_int_equal(w.n_calls, 3);
        assert_non_null(strstr(err.text, stages[i]));
    }
}

static void test_setup__refuses_wires_that_the_file_does_not_stand_for(void **state) {
    (void)state;
    r1cs_view r1cs = empty_circuit();
    watch w = {"constraints", 0, 0};
    cuzk_err err;
    assert_int_equal(set_up(&r1cs, &w, &err), CUZK_OK);
    r1cs.labels = (cuzk_span){NULL, 0};
    assert_int_equal(set_up(&r1cs, &w, &err), CUZK_ERR_FORMAT);
    assert_non_null(strstr(err.text, "40000 wires"));
    r1cs.n_wires = 3; /* 12 bytes stand for one, besides the constant */
    assert_int_equal(set_up(&r1cs, &w, &err), CUZK_ERR_FORMAT);
    r1cs.n_wires = 2;
    assert_int_equal(set_up(&r1cs, &w, &err), CUZK_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setup__can_be_stopped_inside_a_stage),
        cmocka_unit_test(test_setup__refuses_wires_that_the_file_does_not_stand_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
