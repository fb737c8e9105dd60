/* SPDX-License-Identifier: Apache-2.0 */
/* wtns: the golden witnesses of both curves, damaged twins, and the check of the values. */
#include "format/circom/wtns.h"
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const circuits[] = {"one", "two", "nopub", "poseidon_4"};
static const uint32_t n_values[] = {4, 8, 5, 963};
#define N_SMALL 3

static blob load_witness(curve_id id, const char *circuit) {
    return golden_load(id, circuit, "witness.wtns");
}

static void refuse(blob b, const char *says) {
    wtns_view v = {.n_values = 12345};
    cuzk_err err = {.code = CUZK_OK};
    const cuzk_status status = wtns_parse(&v, blob_span(b), &err);
    if (status != CUZK_ERR_FORMAT || strstr(err.text, says) == NULL)
        fail_msg("%s: \"%s\", expected FORMAT: \"%s\"", cuzk_status_name(status), err.text,
                 says);
    assert_int_equal(v.n_values, 12345);
}

static void refuse_and_free(blob b, const char *says) {
    refuse(b, says);
    blob_free(&b);
}

static void test_wtns__reads_and_writes_golden_witnesses(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        for (size_t i = 0; i < 4; i++) {
            blob b = load_witness((curve_id)id, circuits[i]), copy = {NULL, 0};
            const byte_sink sink = {blob_sink, &copy};
            wtns_view v;
            cuzk_err err = {.code = CUZK_OK};
            if (wtns_parse(&v, blob_span(b), &err) != CUZK_OK) fail_msg("%s", err.text);
            assert_int_equal(v.curve, id);
            assert_int_equal(v.n_values, n_values[i]);
            assert_int_equal(v.values.n_bytes, n_values[i] * WTNS_VALUE_BYTES);
            assert_ptr_equal(v.values.p, b.p + blob_section(b, 2));
            assert_int_equal(wtns_check_values(&v, &c.fr, NULL), CUZK_OK);
            assert_int_equal(wtns_write(&v, &c, &sink, NULL), CUZK_OK);
            assert_int_equal(copy.n_bytes, b.n_bytes);
            assert_memory_equal(copy.p, b.p, b.n_bytes);
            blob_free(&copy);
            blob_free(&b);
        }
    }
}

static void test_wtns__refuses_every_truncation(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++)
        for (size_t i = 0; i < N_SMALL; i++) {
            blob b = load_witness((curve_id)id, circuits[i]);
            for (size_t n = 0; n < b.n_bytes; n++) refuse_and_free(blob_prefix(b, n), "");
            blob_free(&b);
        }
    blob b = load_witness(CURVE_BN254, "poseidon_4"); /* whole values are missing */
    for (size_t n = 32; n < b.n_bytes; n += 32)
        refuse_and_free(blob_prefix(b, b.n_bytes - n), "");
    blob_free(&b);
}

/* Every byte outside the values matters; version 1 had the same layout. */
static void test_wtns__refuses_any_change_of_the_frame(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        blob b = load_witness((curve_id)id, "two");
        const size_t values = blob_section(b, 2);
        for (size_t at = 0; at < values; at++)
            for (unsigned mask = 1; mask < 256; mask++) {
                b.p[at] ^= (uint8_t)mask;
                if (at != 4 || b.p[at] != 1) refuse(b, "");
                b.p[at] ^= (uint8_t)mask;
            }
        blob_free(&b);
    }
}

static void test_wtns__says_what_is_wrong_with_a_field(void **state) {
    (void)state;
    const struct {
        size_t at;
        uint32_t value;
        const char *says;
    } cases[] = {
        {4, 3, "version at offset 4 is 3, expected 1 to 2"},
        {24, 48, "is 48 bytes, but the section ends after 36"},
        {24, 31, "scalar field prime r at offset 28 (31 bytes"},
        {60, 0, "number of values at offset 60 is 0, expected at least 1"},
        {60, 7, "section 2 (values) at offset 76 has 256 bytes, expected 224 (7 of 32)"},
        {60, 9, "expected 288 (9 of 32)"},
        {60, 0xffffffff, "expected 137438953440 (4294967295 of 32)"},
    };
    blob b = load_witness(CURVE_BN254, "two");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        blob twin = blob_copy(b);
        store_le32(twin.p + cases[i].at, cases[i].value);
        refuse_and_free(twin, cases[i].says);
    }
    refuse_and_free(blob_resize_section(b, 1, 1), "has 41 bytes, expected 40");
    refuse_and_free(blob_resize_section(b, 1, -1), "has 39 bytes, expected 40");
    refuse_and_free(blob_resize_section(b, 1, -40), "length of the scalar field prime r");
    refuse_and_free(blob_resize_section(b, 2, -256), "has 0 bytes, expected 256");
    refuse_and_free(blob_resize_section(b, 2, 32), "has 288 bytes, expected 256");
    refuse_and_free(blob_drop_section(b, 1), "section 1 (header) is missing");
    refuse_and_free(blob_drop_section(b, 2), "section 2 (values) is missing");
    refuse_and_free(blob_add_section(b, 2), "repeats");
    blob_free(&b);
    refuse_and_free(golden_load(CURVE_BN254, "one", "circuit_final.zkey"), "expected 'wtns'");
}

static void test_wtns__takes_sections_in_any_order_and_skips_unknown_ones(void **state) {
    (void)state;
    blob b = load_witness(CURVE_BLS12_381, "two");
    blob twins[] = {blob_reverse_sections(b), blob_add_section(b, 99)};
    for (size_t i = 0; i < 2; i++) {
        wtns_view v;
        assert_int_equal(wtns_parse(&v, blob_span(twins[i]), NULL), CUZK_OK);
        assert_int_equal(v.n_values, 8);
        blob_free(&twins[i]);
    }
    blob_free(&b);
}

static void expect_witness_error(const wtns_view *v, const field *fr, const char *says) {
    cuzk_err err = {.code = CUZK_OK};
    const cuzk_status status = wtns_check_values(v, fr, &err);
    if (status != CUZK_ERR_WITNESS || strstr(err.text, says) == NULL)
        fail_msg("%s: \"%s\", expected WITNESS: \"%s\"", cuzk_status_name(status), err.text,
                 says);
}

static void test_wtns_check_values__names_the_first_value_not_below_r(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        blob b = load_witness((curve_id)id, "poseidon_4");
        wtns_view v;
        assert_int_equal(wtns_parse(&v, blob_span(b), NULL), CUZK_OK);
        uint8_t *values = b.p + blob_section(b, 2), *last = values + (size_t)962 * 32;
        for (unsigned i = 0; i < 4; i++) store_le64(last + 8 * i, c.fr.m.p[i]); /* r */
        expect_witness_error(
            &v, &c.fr, "witness value 962 of 963 is not below the scalar field's prime r of ");
        store_le64(last, c.fr.m.p[0] - 1); /* r - 1 */
        assert_int_equal(wtns_check_values(&v, &c.fr, NULL), CUZK_OK);
        store_le64(last + 8, c.fr.m.p[1] + 1);
        expect_witness_error(&v, &c.fr, "witness value 962");
        memset(values + (size_t)500 * 32, 0xff, 32);
        expect_witness_error(&v, &c.fr, "witness value 500");
        memset(values + 32, 0xff, 32);
        expect_witness_error(&v, &c.fr, "witness value 1 of");
        blob_free(&b);
    }
}

static void test_wtns_check_values__refuses_value_0_other_than_1(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    blob b = load_witness(CURVE_BN254, "one");
    wtns_view v;
    assert_int_equal(wtns_parse(&v, blob_span(b), NULL), CUZK_OK);
    uint8_t *first = b.p + blob_section(b, 2);
    for (size_t i = 0; i < 32; i++) {
        first[i] ^= 0x10;
        expect_witness_error(&v, &c.fr, "witness value 0 of 4 is not the constant 1");
        first[i] ^= 0x10;
    }
    first[0] = 0;
    expect_witness_error(&v, &c.fr, "witness value 0 of 4 is not the constant 1");
    blob_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wtns__reads_and_writes_golden_witnesses),
        cmocka_unit_test(test_wtns__refuses_every_truncation),
        cmocka_unit_test(test_wtns__refuses_any_change_of_the_frame),
        cmocka_unit_test(test_wtns__says_what_is_wrong_with_a_field),
        cmocka_unit_test(test_wtns__takes_sections_in_any_order_and_skips_unknown_ones),
        cmocka_unit_test(test_wtns_check_values__names_the_first_value_not_below_r),
        cmocka_unit_test(test_wtns_check_values__refuses_value_0_other_than_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
