/* SPDX-License-Identifier: Apache-2.0 */
/* prover/plan: which way a proof goes, by the numbers of a key alone: no device, no key. */
#include "prover/plan.h"

#include "base/cpu.h"
#include "keys/residency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define GIB ((uint64_t)1 << 30)

/* A device of round numbers: work is as large as its operands. */
static uint64_t domain_bytes(unsigned log_n) { return (uint64_t)32 << log_n; }
static uint64_t matrix_bytes(const matrix_view *m) { return 8 * m->n_triplets; }
static uint64_t matrix_work_bytes(const matrix_view *m) { return 16 * m->n_triplets; }
static uint64_t scalars_bytes(size_t n) { return 32 * (uint64_t)n; }
static uint64_t msm_bytes(const curve *c, group_id g, size_t n) {
    return n * point_packed_bytes(c, g);
}
static uint64_t ntt_bytes(unsigned log_n, cuzk_ntt_kind kind, bool brp) {
    (void)kind;
    (void)brp;
    return (uint64_t)32 << log_n;
}
static const cuzk_backend device = {.name = "round numbers",
                                    .domain_bytes = domain_bytes,
                                    .matrix_bytes = matrix_bytes,
                                    .matrix_work_bytes = matrix_work_bytes,
                                    .scalars_bytes = scalars_bytes,
                                    .msm_bytes = msm_bytes,
                                    .ntt_bytes = ntt_bytes};

typedef struct fixture {
    curve curve;
    proving_key key;
} fixture;

static void begin(fixture *f, curve_id id, unsigned log_n) {
    static const uint8_t somewhere[1];
    const size_t n = (size_t)1 << log_n;
    cuzk_cpu_level level;
    assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
    curve_init(&f->curve, id, level);
    f->key = (proving_key){.curve = &f->curve,
                           .backend = &device,
                           .n_vars = (uint32_t)n,
                           .n_public = 2,
                           .log_domain = log_n,
                           .matrix = {somewhere, 4 * n, n, (uint32_t)n},
                           .image = {somewhere, sizeof somewhere}};
    f->key.a.n = f->key.b1.n = f->key.b2.n = f->key.h.n = n;
    f->key.l.n = n - 3;
}

static uint64_t all_bytes(const proof_plan *p) { return p->key_bytes + p->proof_bytes; }

static void test_plan__is_in_place_when_there_is_no_limit(void **state) {
    (void)state;
    fixture f;
    proof_plan p;
    unsigned step = 0;
    char text[PLAN_TEXT_BYTES];
    begin(&f, CURVE_BN254, 20);
    assert_int_equal(plan_choose(&p, &step, &f.key, 0, NULL), CUZK_OK);
    assert_true(p.in_place);
    assert_int_equal(plan_key_parts(&p), KEY_MATRIX_BIT | KEY_ROOTS_BIT);
    plan_describe(text, &p);
    assert_string_equal(text, "in place");
}

static void test_plan__keeps_everything_on_a_large_device(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        fixture f;
        proof_plan p;
        unsigned step = 0;
        begin(&f, (curve_id)id, 22);
        assert_int_equal(plan_choose(&p, &step, &f.key, 100 * GIB, NULL), CUZK_OK);
        assert_int_equal(step, 0);
        assert_true(p.overlaps);
        assert_false(p.in_place || p.evaluates_on_host || p.streams_key || p.one_vector);
        /* points, roots, matrices */
        const uint64_t n = (uint64_t)1 << 22, g1 = curve_g1_bytes(&f.curve),
                       g2 = curve_g2_bytes(&f.curve);
        assert_int_equal(p.key_bytes, (4 * n - 3) * g1 + n * g2 + 32 * n + 8 * 4 * n);
        assert_true(all_bytes(&p) <= 100 * GIB);
    }
}

/* Whatever the limit, the choice fits, is the first that does, and less memory never gives a
 * faster way. */
static void test_plan__is_the_first_of_the_ladder_that_fits(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        fixture f;
        proof_plan p;
        unsigned last = 0;
        cuzk_status st = CUZK_OK;
        begin(&f, (curve_id)id, 20);
        for (uint64_t limit = 4 * GIB; st == CUZK_OK; limit -= limit / 16) {
            unsigned step = 0;
            st = plan_choose(&p, &step, &f.key, limit, NULL);
            if (st != CUZK_OK) break;
            assert_true(all_bytes(&p) <= limit);
            assert_true(step >= last);
            last = step;
            for (unsigned i = 0; i < step; i++) {
                proof_plan larger;
                assert_true(plan_step(&larger, &f.key, limit, i));
                assert_true(all_bytes(&larger) > limit);
            }
        }
        assert_int_equal(st, CUZK_ERR_BUDGET);
        assert_true(p.streams_key && p.evaluates_on_host);
    }
}

static void test_plan__goes_on_from_where_it_stood(void **state) {
    (void)state;
    fixture f;
    proof_plan p;
    unsigned step = 0, n = 0;
    begin(&f, CURVE_BLS12_381, 18);
    while (plan_choose(&p, &step, &f.key, 100 * GIB, NULL) == CUZK_OK) {
        assert_int_equal(step, n);
        step++;
        n++;
    }
    assert_false(plan_step(&p, &f.key, 100 * GIB, n));
    assert_true(n > 8);
}

/* Each saving is one. */
static void test_plan__smaller_ways_take_less(void **state) {
    (void)state;
    fixture f;
    proof_plan p[2];
    begin(&f, CURVE_BLS12_381, 22);
    uint64_t least_kept = UINT64_MAX, least_streamed = UINT64_MAX, three = 0, one = UINT64_MAX;
    for (unsigned i = 0; plan_step(&p[0], &f.key, GIB, i); i++) {
        uint64_t *least = p[0].streams_key ? &least_streamed : &least_kept;
        if (all_bytes(&p[0]) < *least) *least = all_bytes(&p[0]);
        if (p[0].streams_key && p[0].evaluates_on_host && !p[0].one_vector)
            three = all_bytes(&p[0]);
        if (p[0].one_vector && p[0].streams_key) one = all_bytes(&p[0]);
        if (i > 0 && p[0].piece_bytes && p[1].piece_bytes == 2 * p[0].piece_bytes)
            assert_true(p[0].proof_bytes <= p[1].proof_bytes);
        p[1] = p[0];
    }
    assert_true(least_streamed < least_kept / 2);
    assert_true(one <= three);
}

static void test_plan__never_streams_points_that_were_made_on_the_device(void **state) {
    (void)state;
    fixture f;
    proof_plan p;
    begin(&f, CURVE_BN254, 16);
    f.key.image = (cuzk_span){0};
    unsigned n = 0;
    for (; plan_step(&p, &f.key, GIB, n); n++) {
        assert_false(p.streams_key);
        assert_true(p.key_bytes <= ((uint64_t)32 + 8 * 4) << 16); /* no points */
    }
    assert_true(n >= 5);
}

static void test_plan__says_how_much_is_lacking(void **state) {
    (void)state;
    fixture f;
    proof_plan p;
    cuzk_err err;
    unsigned step = 0;
    begin(&f, CURVE_BN254, 20);
    assert_int_equal(plan_choose(&p, &step, &f.key, 1000000, &err), CUZK_ERR_BUDGET);
    assert_non_null(strstr(err.text, "of which 1000000 may be used"));
}

static void test_plan__describes_itself(void **state) {
    (void)state;
    char text[PLAN_TEXT_BYTES];
    const proof_plan fast = {.overlaps = true,
                             .limit_bytes = 8 * GIB,
                             .key_bytes = 3 * GIB,
                             .proof_bytes = GIB / 2},
                     small = {.evaluates_on_host = true,
                              .streams_key = true,
                              .one_vector = true,
                              .limit_bytes = 8 * GIB,
                              .key_bytes = GIB,
                              .proof_bytes = 2 * GIB};
    plan_describe(text, &fast);
    assert_string_equal(text,
                        "device evaluation, key resident, three vectors, 3.5 of 8.0 GiB");
    plan_describe(text, &small);
    assert_string_equal(
        text,
        "host evaluation, key streamed, one vector at a time, one queue, 3.0 of 8.0 GiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan__is_in_place_when_there_is_no_limit),
        cmocka_unit_test(test_plan__keeps_everything_on_a_large_device),
        cmocka_unit_test(test_plan__is_the_first_of_the_ladder_that_fits),
        cmocka_unit_test(test_plan__goes_on_from_where_it_stood),
        cmocka_unit_test(test_plan__smaller_ways_take_less),
        cmocka_unit_test(test_plan__never_streams_points_that_were_made_on_the_device),
        cmocka_unit_test(test_plan__says_how_much_is_lacking),
        cmocka_unit_test(test_plan__describes_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
