/* SPDX-License-Identifier: Apache-2.0 */
/* r1cs: the golden circuits of both curves, damaged twins, and the cursor over constraints. */
#include "format/circom/r1cs.h"
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const small_circuits[] = {"one", "two", "nopub"};
#define N_SMALL 3

static blob load_circuit(curve_id id, const char *circuit) {
    return golden_load(id, circuit, "circuit.r1cs");
}

/* Parses and walks all constraints. */
static cuzk_status read_all(r1cs_view *v, blob b, const field *fr, uint64_t *n_terms,
                            cuzk_err *err) {
    r1cs_cursor cur, skipping;
    r1cs_constraint k;
    bool done = false, skip_done = false;
    *n_terms = 0;
    CUZK_TRY(r1cs_parse(v, blob_span(b), err));
    r1cs_cursor_init(&cur, v);
    r1cs_cursor_init(&skipping, v);
    for (;;) {
        CUZK_TRY(r1cs_next(&cur, &k, &done, fr, err));
        assert_int_equal(r1cs_skip(&skipping, &skip_done, NULL), CUZK_OK);
        assert_int_equal(skipping.pos, cur.pos);
        assert_int_equal(skipping.next, cur.next);
        assert_int_equal(skip_done, done);
        if (done) return CUZK_OK;
        *n_terms += (uint64_t)k.a.n_terms + k.b.n_terms + k.c.n_terms;
    }
}

static void refuse(blob b, const field *fr, const char *says) {
    r1cs_view v;
    uint64_t n_terms;
    cuzk_err err = {.code = CUZK_OK};
    const cuzk_status status = read_all(&v, b, fr, &n_terms, &err);
    if (status != CUZK_ERR_FORMAT || strstr(err.text, says) == NULL)
        fail_msg("%s: \"%s\", expected FORMAT: \"%s\"", cuzk_status_name(status), err.text,
                 says);
}

static void refuse_and_free(blob b, const field *fr, const char *says) {
    refuse(b, fr, says);
    blob_free(&b);
}

static void accept_and_free(blob b, const field *fr) {
    r1cs_view v;
    uint64_t n_terms;
    cuzk_err err = {.code = CUZK_OK};
    if (read_all(&v, b, fr, &n_terms, &err) != CUZK_OK) fail_msg("%s", err.text);
    blob_free(&b);
}

static void test_r1cs__reads_and_writes_golden_circuits(void **state) {
    (void)state;
    const struct {
        const char *circuit;
        uint32_t n_wires, n_pub_out, n_pub_in, n_prv_in, n_constraints;
        uint64_t n_labels, n_terms;
    } cases[] = {
        {"one", 4, 1, 0, 2, 1, 4, 3},
        {"two", 8, 1, 1, 1, 5, 8, 15},
        {"nopub", 5, 0, 0, 2, 3, 5, 9},
        {"poseidon_4", 963, 1, 1, 1, 960, 3072, 12160},
    };
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            blob b = load_circuit((curve_id)id, cases[i].circuit), copy = {NULL, 0};
            const byte_sink sink = {blob_sink, &copy};
            r1cs_view v;
            uint64_t n_terms = 0;
            cuzk_err err = {.code = CUZK_OK};
            if (read_all(&v, b, &c.fr, &n_terms, &err) != CUZK_OK) fail_msg("%s", err.text);
            assert_int_equal(v.curve, id);
            assert_int_equal(v.n_wires, cases[i].n_wires);
            assert_int_equal(v.n_pub_out, cases[i].n_pub_out);
            assert_int_equal(v.n_pub_in, cases[i].n_pub_in);
            assert_int_equal(v.n_prv_in, cases[i].n_prv_in);
            assert_int_equal(v.n_constraints, cases[i].n_constraints);
            assert_int_equal(v.n_labels, cases[i].n_labels);
            assert_int_equal(r1cs_n_public(&v), cases[i].n_pub_out + cases[i].n_pub_in);
            assert_int_equal(n_terms * R1CS_TERM_BYTES + 12 * (uint64_t)v.n_constraints,
                             v.constraints.n_bytes);
            assert_int_equal(n_terms, cases[i].n_terms);
            assert_int_equal(r1cs_write(&v, &c, &sink, NULL), CUZK_OK);
            assert_int_equal(copy.n_bytes, b.n_bytes);
            assert_memory_equal(copy.p, b.p, b.n_bytes);
            blob_free(&copy);
            blob_free(&b);
        }
    }
}

static void test_r1cs__writes_a_readable_file_when_there_are_no_labels(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    blob all = load_circuit(CURVE_BN254, "two"), b = blob_drop_section(all, 3),
         copy = {NULL, 0};
    const byte_sink sink = {blob_sink, &copy};
    r1cs_view v;
    assert_int_equal(r1cs_parse(&v, blob_span(b), NULL), CUZK_OK);
    assert_int_equal(v.labels.n_bytes, 0);
    assert_int_equal(r1cs_write(&v, &c, &sink, NULL), CUZK_OK);
    assert_int_equal(copy.n_bytes, b.n_bytes);
    assert_memory_equal(copy.p, b.p, b.n_bytes);
    blob_free(&copy);
    blob_free(&b);
    blob_free(&all);
}

/* 3 w[1] * 5 = w[2], by hand. */
static void test_r1cs_next__gives_wires_and_values(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    uint8_t bytes[3 * 4 + 3 * R1CS_TERM_BYTES] = {0};
    const uint32_t wires[] = {1, 0, 2};
    const uint8_t values[] = {3, 5, 1};
    for (size_t i = 0; i < 3; i++) {
        uint8_t *lc = bytes + i * (4 + R1CS_TERM_BYTES);
        store_le32(lc, 1);
        store_le32(lc + 4, wires[i]);
        lc[8] = values[i];
    }
    const r1cs_view v = {
        .n_wires = 3, .n_constraints = 1, .constraints = {bytes, sizeof bytes}};
    r1cs_cursor cur;
    r1cs_constraint k;
    bool done;
    r1cs_cursor_init(&cur, &v);
    assert_int_equal(r1cs_next(&cur, &k, &done, &c.fr, NULL), CUZK_OK);
    assert_false(done);
    const r1cs_lc *const lc[] = {&k.a, &k.b, &k.c};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(lc[i]->n_terms, 1);
        assert_int_equal(r1cs_term_wire(lc[i], 0), wires[i]);
        assert_int_equal(r1cs_term_value(lc[i], 0)[0], values[i]);
    }
    assert_int_equal(r1cs_next(&cur, &k, &done, &c.fr, NULL), CUZK_OK);
    assert_true(done);
}

static void test_r1cs__refuses_every_truncation(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        for (size_t i = 0; i < N_SMALL; i++) {
            blob b = load_circuit((curve_id)id, small_circuits[i]);
            for (size_t n = 0; n < b.n_bytes; n++)
                refuse_and_free(blob_prefix(b, n), &c.fr, "");
            blob_free(&b);
        }
        blob b = load_circuit((curve_id)id, "poseidon_4");
        for (uint32_t s = 1; s <= 3; s++) {
            const size_t at = blob_section(b, s), end = at + (size_t)blob_section_bytes(b, s);
            const size_t cuts[] = {at - 12, at - 1, at, at + 1, (at + end) / 2, end - 1};
            for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
                refuse_and_free(blob_prefix(b, cuts[i]), &c.fr, "");
        }
        blob_free(&b);
    }
}

/* File header, section headers, prime, number of wires and of constraints. (Another number of
 * terms may by chance still read as constraints.) */
static void test_r1cs__refuses_any_change_of_the_frame(void **state) {
    (void)state;
    static const uint8_t masks[] = {0x01, 0x02, 0x40, 0x80, 0xff};
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        blob b = load_circuit((curve_id)id, "two");
        const size_t header = blob_section(b, 1);
        uint8_t *is_frame = calloc(b.n_bytes, 1);
        assert_non_null(is_frame);
        memset(is_frame, 1, 12);
        for (uint32_t s = 1; s <= 3; s++) memset(is_frame + blob_section(b, s) - 12, 1, 12);
        memset(is_frame + blob_section(b, 3) - 12, 0, 4); /* labels are optional */
        memset(is_frame + header, 1, 4 + 32 + 4);         /* prime, number of wires */
        memset(is_frame + header + 60, 1, 4);             /* number of constraints */
        for (size_t at = 0; at < b.n_bytes; at++)
            for (size_t m = 0; is_frame[at] && m < sizeof masks; m++) {
                b.p[at] ^= masks[m];
                refuse(b, &c.fr, "");
                b.p[at] ^= masks[m];
            }
        free(is_frame);
        accept_and_free(b, &c.fr);
    }
}

static void test_r1cs__says_what_is_wrong_with_a_field(void **state) {
    (void)state;
    enum { PRIME_LENGTH, WIRES, PUB_OUT, PUB_IN, CONSTRAINTS, A_TERMS, A_WIRE, A_VALUE_TOP };
    const struct {
        int where;
        uint32_t value;
        const char *says;
    } cases[] = {
        {PRIME_LENGTH, 0, "scalar field prime r"},
        {PRIME_LENGTH, 33, "scalar field prime r"},
        {PRIME_LENGTH, 0xffffffff, "but the section ends after 60"},
        {WIRES, 0, "is 0, expected at least 3 (1 outputs, 1 public inputs and 1)"},
        {WIRES, 2, "is 2, expected at least 3"},
        {WIRES, 7, "section 3 (labels)"},
        {WIRES, 9, "has 64 bytes, expected 72 (9 of 8)"},
        {PUB_OUT, 7, "expected at least 9 (7 outputs, 1 public inputs and 1)"},
        {PUB_OUT, 0xffffffff, "expected at least 4294967297"},
        {PUB_IN, 0xffffffff, "expected at least 4294967297"},
        {CONSTRAINTS, 0, "600 bytes follow the last of 0 constraints"},
        {CONSTRAINTS, 4, "bytes follow the last of 4 constraints"},
        {CONSTRAINTS, 6, "constraint 5 of 6, A at offset 624"},
        {CONSTRAINTS, 50, "constraint 5 of 50, A"},
        {CONSTRAINTS, 51, "has 600 bytes, expected at least 612"},
        {CONSTRAINTS, 0xffffffff, "expected at least 51539607540"},
        {A_TERMS, 0xffffffff,
         "constraint 0 of 5, A at offset 24: 4294967295 terms of 36 bytes"},
        {A_TERMS, 17, "17 terms of 36 bytes, but section 2 ends after 596"},
        {A_WIRE, 8, "constraint 0 of 5, A term 0: wire is 8, expected below 8"},
        {A_WIRE, 0xffffffff, "wire is 4294967295, expected below 8"},
        {A_VALUE_TOP, 0xffffffff, "constraint 0 of 5, A term 0: value is not below"},
    };
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    blob b = load_circuit(CURVE_BN254, "two");
    const size_t h = blob_section(b, 1), k = blob_section(b, 2);
    const size_t at[] = {h, h + 36, h + 40, h + 44, h + 60, k, k + 4, k + 8 + 28};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        blob twin = blob_copy(b);
        store_le32(twin.p + at[cases[i].where], cases[i].value);
        refuse_and_free(twin, &c.fr, cases[i].says);
    }
    refuse_and_free(blob_resize_section(b, 1, 1), &c.fr, "has 65 bytes, expected 64");
    refuse_and_free(blob_resize_section(b, 1, -64), &c.fr, "scalar field prime r");
    refuse_and_free(blob_resize_section(b, 2, 1), &c.fr, "1 bytes follow the last of 5");
    refuse_and_free(blob_resize_section(b, 2, -1), &c.fr, "constraint 4 of 5, C");
    refuse_and_free(blob_resize_section(b, 2, -600), &c.fr,
                    "has 0 bytes, expected at least 60");
    refuse_and_free(blob_resize_section(b, 3, 8), &c.fr, "has 72 bytes, expected 64 (8 of 8)");
    refuse_and_free(blob_drop_section(b, 1), &c.fr, "section 1 (header) is missing");
    refuse_and_free(blob_drop_section(b, 2), &c.fr, "section 2 (constraints) is missing");
    refuse_and_free(blob_add_section(b, 1), &c.fr, "repeats");
    blob_free(&b);
}

static void test_r1cs__names_the_term_whose_value_is_exactly_r(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        blob b = load_circuit((curve_id)id, "one");
        uint8_t *value = b.p + blob_section(b, 2) + 2 * 40 + 8; /* of the only term of C */
        for (unsigned i = 0; i < 4; i++) store_le64(value + 8 * i, c.fr.m.p[i]);
        refuse(b, &c.fr, "constraint 0 of 1, C term 0: value is not below");
        store_le64(value, c.fr.m.p[0] - 1);
        accept_and_free(b, &c.fr);
    }
}

static void test_r1cs__takes_sections_in_any_order_and_skips_unknown_ones(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BLS12_381, CUZK_CPU_PORTABLE);
    blob b = load_circuit(CURVE_BLS12_381, "two");
    accept_and_free(blob_reverse_sections(b), &c.fr);
    accept_and_free(blob_add_section(b, 99), &c.fr);
    blob_free(&b);
}

static void test_r1cs__refuses_custom_gates_unless_there_are_none(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    blob b = load_circuit(CURVE_BN254, "one");
    for (uint32_t id = 4; id <= 5; id++) {
        blob empty = blob_add_section(b, id), none = blob_resize_section(empty, id, 4);
        blob some = blob_copy(none);
        some.p[blob_section(some, id)] = 1;
        refuse_and_free(empty, &c.fr, "custom gates");
        refuse_and_free(some, &c.fr, "custom gates");
        accept_and_free(none, &c.fr);
    }
    blob_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_r1cs__reads_and_writes_golden_circuits),
        cmocka_unit_test(test_r1cs__writes_a_readable_file_when_there_are_no_labels),
        cmocka_unit_test(test_r1cs_next__gives_wires_and_values),
        cmocka_unit_test(test_r1cs__refuses_every_truncation),
        cmocka_unit_test(test_r1cs__refuses_any_change_of_the_frame),
        cmocka_unit_test(test_r1cs__says_what_is_wrong_with_a_field),
        cmocka_unit_test(test_r1cs__names_the_term_whose_value_is_exactly_r),
        cmocka_unit_test(test_r1cs__takes_sections_in_any_order_and_skips_unknown_ones),
        cmocka_unit_test(test_r1cs__refuses_custom_gates_unless_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
