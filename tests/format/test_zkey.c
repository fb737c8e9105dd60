/* SPDX-License-Identifier: Apache-2.0 */
/* zkey: the golden keys of both curves, and a damaged twin for every field of their frame. */
#include "format/circom/zkey.h"
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define KEY "circuit_final.zkey"
static const char *const small_circuits[] = {"one", "two", "nopub"};
#define N_SMALL 3

static blob load_key(curve_id id, const char *circuit) {
    return golden_load(id, circuit, KEY);
}

/* Offset of the three counts in the header, behind both primes. */
static size_t counts_at(blob b, curve_id id) {
    return blob_section(b, 2) + 4 + (id == CURVE_BN254 ? 32 : 48) + 4 + 32;
}

static void refuse(blob b, const char *says) {
    zkey_view v = {.n_vars = 12345};
    cuzk_err err = {.code = CUZK_OK};
    const cuzk_status status = zkey_parse(&v, blob_span(b), &err);
    if (status != CUZK_ERR_FORMAT || strstr(err.text, says) == NULL)
        fail_msg("%s: \"%s\", expected FORMAT: \"%s\"", cuzk_status_name(status), err.text,
                 says);
    assert_int_equal(v.n_vars, 12345);
}

static void refuse_and_free(blob b, const char *says) {
    refuse(b, says);
    blob_free(&b);
}

static void accept_and_free(blob b) {
    zkey_view v;
    cuzk_err err = {.code = CUZK_OK};
    if (zkey_parse(&v, blob_span(b), &err) != CUZK_OK) fail_msg("%s", err.text);
    blob_free(&b);
}

static void test_zkey__gives_counts_and_sections_of_golden_keys(void **state) {
    (void)state;
    const struct {
        curve_id id;
        const char *circuit;
        uint32_t n_vars, n_public, domain, n_coefficients;
    } cases[] = {
        {CURVE_BN254, "one", 4, 1, 4, 4},
        {CURVE_BN254, "two", 8, 2, 8, 13},
        {CURVE_BN254, "nopub", 5, 0, 4, 7},
        {CURVE_BN254, "poseidon_4", 963, 2, 1024, 3819},
        {CURVE_BN254, "pub512", 517, 516, 2048, 2563},
        {CURVE_BLS12_381, "one", 4, 1, 4, 4},
        {CURVE_BLS12_381, "two", 8, 2, 8, 13},
        {CURVE_BLS12_381, "nopub", 5, 0, 4, 7},
        {CURVE_BLS12_381, "poseidon_4", 963, 2, 1024, 3819},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        blob b = load_key(cases[i].id, cases[i].circuit);
        zkey_view v;
        cuzk_err err = {.code = CUZK_OK};
        if (zkey_parse(&v, blob_span(b), &err) != CUZK_OK) fail_msg("%s", err.text);
        assert_int_equal(v.curve, cases[i].id);
        assert_int_equal(v.n_vars, cases[i].n_vars);
        assert_int_equal(v.n_public, cases[i].n_public);
        assert_int_equal(v.domain_size, cases[i].domain);
        assert_int_equal((uint32_t)1 << v.log_domain, cases[i].domain);
        assert_int_equal(v.n_coefficients, cases[i].n_coefficients);
        const size_t g1 = cases[i].id == CURVE_BN254 ? 64 : 96;
        assert_int_equal(zkey_point_bytes(v.curve, 1), g1);
        assert_int_equal(zkey_point_bytes(v.curve, 2), 2 * g1);
        assert_ptr_equal(v.alpha1, b.p + counts_at(b, v.curve) + 12);
        assert_ptr_equal(v.beta2, v.alpha1 + 2 * g1);
        assert_ptr_equal(v.gamma2, v.alpha1 + 4 * g1);
        assert_ptr_equal(v.delta1, v.alpha1 + 6 * g1);
        assert_ptr_equal(v.delta2 + 2 * g1,
                         b.p + blob_section(b, 2) + blob_section_bytes(b, 2));
        assert_ptr_equal(v.ic.p, b.p + blob_section(b, 3));
        assert_ptr_equal(v.coefficients.p, b.p + blob_section(b, 4) + 4);
        assert_ptr_equal(v.a.p, b.p + blob_section(b, 5));
        assert_ptr_equal(v.b1.p, b.p + blob_section(b, 6));
        assert_ptr_equal(v.b2.p, b.p + blob_section(b, 7));
        assert_ptr_equal(v.l.p, b.p + blob_section(b, 8));
        assert_int_equal(v.l.n_bytes, (cases[i].n_vars - cases[i].n_public - 1) * g1);
        assert_ptr_equal(v.h.p, b.p + blob_section(b, 9));
        assert_int_equal(v.h.n_bytes, cases[i].domain * g1);
        blob_free(&b);
    }
}

/* gamma2 is the generator in every key of snarkjs: the points lie where the view says. */
static void test_zkey__locates_gamma_when_it_is_the_generator(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        blob b = load_key((curve_id)id, "two");
        zkey_view v;
        uint8_t packed[192];
        assert_int_equal(zkey_parse(&v, blob_span(b), NULL), CUZK_OK);
        const fe *const xy[4] = {&c.g2.x.c0, &c.g2.x.c1, &c.g2.y.c0, &c.g2.y.c1};
        for (unsigned i = 0; i < 4; i++)
            field_store_mont(&c.fq, packed + i * c.fq.n_bytes, xy[i]->l);
        assert_memory_equal(v.gamma2, packed, curve_g2_bytes(&c));
        blob_free(&b);
    }
}

static void test_zkey_write__gives_the_file_back_up_to_contributions(void **state) {
    (void)state;
    static const char *const circuits[] = {"one", "two", "nopub", "poseidon_4"};
    for (int id = 0; id < CURVE_COUNT; id++) {
        curve c;
        curve_init(&c, (curve_id)id, CUZK_CPU_PORTABLE);
        for (size_t i = 0; i < 4; i++) {
            blob b = load_key((curve_id)id, circuits[i]), copy = {NULL, 0};
            const byte_sink sink = {blob_sink, &copy};
            zkey_view v;
            assert_int_equal(zkey_parse(&v, blob_span(b), NULL), CUZK_OK);
            assert_int_equal(zkey_write(&v, &c, &sink, NULL), CUZK_OK);
            const size_t end = blob_section(b, 10) - 12; /* sections 1 to 9 come before */
            assert_int_equal(blob_section(copy, 10) - 12, end);
            assert_memory_equal(copy.p, b.p, end);
            assert_int_equal(blob_section_bytes(copy, 10), 68);
            accept_and_free(copy);
            blob_free(&b);
        }
    }
}

static cuzk_status full_sink(void *arg, const void *bytes, size_t n_bytes, cuzk_err *err) {
    size_t *left = arg;
    (void)bytes;
    if (n_bytes > *left) return cuzk_fail(err, CUZK_ERR_IO, "test", "full");
    *left -= n_bytes;
    return CUZK_OK;
}

static void test_zkey_write__passes_on_the_error_of_the_sink_wherever_it_comes(void **state) {
    (void)state;
    curve c;
    curve_init(&c, CURVE_BN254, CUZK_CPU_PORTABLE);
    blob b = load_key(CURVE_BN254, "one");
    zkey_view v;
    assert_int_equal(zkey_parse(&v, blob_span(b), NULL), CUZK_OK);
    const size_t n_bytes = blob_section(b, 10) + 68;
    for (size_t room = 0; room < n_bytes; room += 7) {
        size_t left = room;
        const byte_sink sink = {full_sink, &left};
        assert_int_equal(zkey_write(&v, &c, &sink, NULL), CUZK_ERR_IO);
    }
    blob_free(&b);
}

static void test_zkey__refuses_every_truncation(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++)
        for (size_t i = 0; i < N_SMALL; i++) {
            blob b = load_key((curve_id)id, small_circuits[i]);
            for (size_t n = 0; n < b.n_bytes; n++) refuse_and_free(blob_prefix(b, n), "");
            blob_free(&b);
        }
}

static void test_zkey__refuses_truncation_at_section_edges_when_large(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        blob b = load_key((curve_id)id, "poseidon_4");
        for (uint32_t s = 1; s <= 10; s++) {
            const size_t at = blob_section(b, s), end = at + (size_t)blob_section_bytes(b, s);
            const size_t cuts[] = {at - 12, at - 11,        at - 1, at,
                                   at + 1,  (at + end) / 2, end - 1};
            for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
                refuse_and_free(blob_prefix(b, cuts[i]), "");
        }
        blob_free(&b);
    }
}

/* No byte of the frame (file header, section headers, protocol, primes, counts, number of
 * coefficients) can change without being noticed. */
static void test_zkey__refuses_any_change_of_the_frame(void **state) {
    (void)state;
    static const uint8_t masks[] = {0x01, 0x02, 0x40, 0x80, 0xff};
    for (int id = 0; id < CURVE_COUNT; id++) {
        blob b = load_key((curve_id)id, "two");
        const size_t counts = counts_at(b, (curve_id)id);
        uint8_t *is_frame = calloc(b.n_bytes, 1);
        assert_non_null(is_frame);
        memset(is_frame, 1, 12);
        for (uint32_t s = 1; s <= 10; s++) memset(is_frame + blob_section(b, s) - 12, 1, 12);
        memset(is_frame + blob_section(b, 10) - 12, 0,
               4); /* another unknown section is fine */
        memset(is_frame + blob_section(b, 1), 1, 4);
        memset(is_frame + blob_section(b, 2), 1, counts + 12 - blob_section(b, 2));
        memset(is_frame + blob_section(b, 4), 1, 4);
        for (size_t at = 0; at < b.n_bytes; at++)
            for (size_t m = 0; is_frame[at] && m < sizeof masks; m++) {
                b.p[at] ^= masks[m];
                refuse(b, "");
                b.p[at] ^= masks[m];
            }
        free(is_frame);
        accept_and_free(b);
    }
}

static void test_zkey__says_what_is_wrong_with_a_header_field(void **state) {
    (void)state;
    enum { PROTOCOL, Q_LENGTH, Q, R_LENGTH, R, N_VARS, N_PUBLIC, DOMAIN, N_COEFFICIENTS };
    const struct {
        int where;
        uint32_t value;
        const char *says;
    } cases[] = {
        {PROTOCOL, 0, "protocol 0 (none), expected 1 (groth16)"},
        {PROTOCOL, 2, "protocol 2 (plonk), expected 1 (groth16)"},
        {PROTOCOL, 10, "protocol 10 (fflonk), expected 1 (groth16)"},
        {PROTOCOL, 0xffffffff, "protocol 4294967295 (unknown)"},
        {Q_LENGTH, 0, "base field prime q"},
        {Q_LENGTH, 31, "base field prime q"},
        {Q_LENGTH, 0xffffffff, "is 4294967295 bytes, but the section ends"},
        {Q, 1, "is not that of bn254 or bls12_381"},
        {R_LENGTH, 0, "scalar field prime r"},
        {R_LENGTH, 40, "scalar field prime r"},
        {R_LENGTH, 0xfffffffc, "is 4294967292 bytes, but the section ends"},
        {R, 1, "is not that of bn254 or bls12_381"},
        {N_VARS, 0, "number of variables at offset"},
        {N_VARS, 2, "is 2, expected at least 3 (2 public signals and 1)"},
        {N_VARS, 7, "section 5 (A points)"},
        {N_VARS, 0xffffffff, "section 5 (A points)"},
        {N_PUBLIC, 0, "section 3 (IC points)"},
        {N_PUBLIC, 3, "expected 256 (4 of 64)"},
        {N_PUBLIC, 8, "expected at least 9 (8 public signals and 1)"},
        {N_PUBLIC, 0xffffffff, "expected at least 4294967296"},
        {DOMAIN, 0, "is 0, expected a power of two"},
        {DOMAIN, 7, "is 7, expected a power of two"},
        {DOMAIN, 0xffffffff, "expected a power of two"},
        {DOMAIN, 4, "section 9 (H points)"},
        {DOMAIN, 16, "section 9 (H points)"},
        {DOMAIN, 2, "domain size at offset"}, /* 2 < 2 public signals + 1 */
        {DOMAIN, (uint32_t)1 << 27, "section 9 (H points)"},
        {DOMAIN, (uint32_t)1 << 28, "is 2^28, expected at most 2^27 on bn254"},
        {N_COEFFICIENTS, 0, "expected 4 (4 and 0 of 44)"},
        {N_COEFFICIENTS, 12, "section 4 (coefficients)"},
        {N_COEFFICIENTS, 14, "section 4 (coefficients)"},
        {N_COEFFICIENTS, 0xffffffff, "expected 188978560984 (4 and 4294967295 of 44)"},
    };
    blob b = load_key(CURVE_BN254, "two");
    const size_t counts = counts_at(b, CURVE_BN254), header = blob_section(b, 2);
    const size_t at[] = {blob_section(b, 1), header,      header + 4,
                         header + 36,        header + 40, counts,
                         counts + 4,         counts + 8,  blob_section(b, 4)};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        blob twin = blob_copy(b);
        store_le32(twin.p + at[cases[i].where], cases[i].value);
        refuse_and_free(twin, cases[i].says);
    }
    blob_free(&b);
}

static void test_zkey__allows_domains_up_to_2_31_on_bls12_381(void **state) {
    (void)state;
    blob b = load_key(CURVE_BLS12_381, "two");
    store_le32(b.p + counts_at(b, CURVE_BLS12_381) + 8, (uint32_t)1 << 31);
    refuse_and_free(b, "section 9 (H points)"); /* passes the domain check, lacks the points */
}

static void test_zkey__refuses_r_of_the_other_curve(void **state) {
    (void)state;
    blob bn = load_key(CURVE_BN254, "one"), bls = load_key(CURVE_BLS12_381, "one");
    memcpy(bn.p + blob_section(bn, 2) + 40, bls.p + blob_section(bls, 2) + 56, 32);
    refuse_and_free(bn, "q is that of bn254, but r that of bls12_381");
    blob_free(&bls);
}

static void test_zkey__refuses_sections_of_any_other_length(void **state) {
    (void)state;
    static const long deltas[] = {1, -1, 44, 64, -64, 96};
    for (int id = 0; id < CURVE_COUNT; id++) {
        blob b = load_key((curve_id)id, "two");
        for (uint32_t s = 1; s <= 9; s++) {
            const long n = (long)blob_section_bytes(b, s);
            char name[16];
            (void)snprintf(name, sizeof name, "section %u", s);
            for (size_t i = 0; i < sizeof deltas / sizeof deltas[0]; i++)
                if (n + deltas[i] >= 0)
                    refuse_and_free(blob_resize_section(b, s, deltas[i]), s == 2 ? "" : name);
            refuse_and_free(blob_resize_section(b, s, -n), s == 2 ? "" : name);
        }
        blob_free(&b);
    }
}

/* H of n - 1 points belongs to other formats. */
static void test_zkey__refuses_h_of_one_point_less(void **state) {
    (void)state;
    blob b = load_key(CURVE_BN254, "two");
    refuse_and_free(blob_resize_section(b, 9, -64), "has 448 bytes, expected 512 (8 of 64)");
    blob_free(&b);
}

static void test_zkey__takes_sections_in_any_order_and_skips_unknown_ones(void **state) {
    (void)state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        blob b = load_key((curve_id)id, "two"), unknown = blob_add_section(b, 77);
        accept_and_free(blob_reverse_sections(b));
        accept_and_free(blob_resize_section(unknown, 77, 1000));
        accept_and_free(blob_drop_section(b, 10));
        blob_free(&unknown);
        blob_free(&b);
    }
}

static void test_zkey__refuses_missing_and_repeated_sections(void **state) {
    (void)state;
    blob b = load_key(CURVE_BN254, "two");
    for (uint32_t s = 1; s <= 9; s++) {
        char missing[32];
        (void)snprintf(missing, sizeof missing, "section %u (", s);
        refuse_and_free(blob_drop_section(b, s), missing);
        refuse_and_free(blob_add_section(b, s), "repeats");
    }
    blob_free(&b);
}

static void test_zkey__refuses_other_formats(void **state) {
    (void)state;
    refuse_and_free(golden_load(CURVE_BN254, "one", "witness.wtns"), "'wtns'");
    refuse_and_free(golden_load(CURVE_BN254, "one", "circuit.r1cs"), "'r1cs'");
    refuse_and_free(golden_load(CURVE_BN254, "one", "proof.json"), "expected 'zkey'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zkey__gives_counts_and_sections_of_golden_keys),
        cmocka_unit_test(test_zkey__locates_gamma_when_it_is_the_generator),
        cmocka_unit_test(test_zkey_write__gives_the_file_back_up_to_contributions),
        cmocka_unit_test(test_zkey_write__passes_on_the_error_of_the_sink_wherever_it_comes),
        cmocka_unit_test(test_zkey__refuses_every_truncation),
        cmocka_unit_test(test_zkey__refuses_truncation_at_section_edges_when_large),
        cmocka_unit_test(test_zkey__refuses_any_change_of_the_frame),
        cmocka_unit_test(test_zkey__says_what_is_wrong_with_a_header_field),
        cmocka_unit_test(test_zkey__allows_domains_up_to_2_31_on_bls12_381),
        cmocka_unit_test(test_zkey__refuses_r_of_the_other_curve),
        cmocka_unit_test(test_zkey__refuses_sections_of_any_other_length),
        cmocka_unit_test(test_zkey__refuses_h_of_one_point_less),
        cmocka_unit_test(test_zkey__takes_sections_in_any_order_and_skips_unknown_ones),
        cmocka_unit_test(test_zkey__refuses_missing_and_repeated_sections),
        cmocka_unit_test(test_zkey__refuses_other_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
