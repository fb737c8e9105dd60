/* SPDX-License-Identifier: Apache-2.0 */
/* The container of r1cs, wtns and zkey: every field of it damaged in every way. */
#define _GNU_SOURCE     /* MAP_ANONYMOUS */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

#include <cmocka.h>

/* magic "test", version 2, three sections: 7 (5 bytes), 1 (none), 3 (2 bytes) */
static blob sample(void) {
    static const uint8_t bytes[] = {
        't', 'e', 's', 't', 2, 0, 0, 0, 3, 0, 0, 0,                            /* offset  0 */
        7,   0,   0,   0,   5, 0, 0, 0, 0, 0, 0, 0, 'h',  'e',  'l', 'l', 'o', /*        12 */
        1,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0,                            /*        29 */
        3,   0,   0,   0,   2, 0, 0, 0, 0, 0, 0, 0, 0xab, 0xcd,                /*        41 */
    };
    return blob_insert((blob){(uint8_t[]){0}, 0}, 0, bytes, sizeof bytes);
}

static cuzk_status parse(binfile *out, blob b, cuzk_err *err) {
    return binfile_parse(out, blob_span(b), "test", 2, err);
}

/* Refused as FORMAT, with a text that contains `says`, and without touching the result. */
static void refuse(blob b, const char *says) {
    binfile f = {.n_sections = 12345};
    cuzk_err err = {.code = CUZK_OK};
    const cuzk_status status = parse(&f, b, &err);
    if (status != CUZK_ERR_FORMAT || strstr(err.text, says) == NULL)
        fail_msg("%s: \"%s\", expected FORMAT: \"%s\"", cuzk_status_name(status), err.text,
                 says);
    assert_string_equal(err.where, "format.binfile");
    assert_int_equal(f.n_sections, 12345);
}

static void refuse_and_free(blob b, const char *says) {
    refuse(b, says);
    blob_free(&b);
}

static void test_binfile__gives_all_sections_in_file_order(void **state) {
    (void)state;
    blob b = sample();
    binfile f;
    assert_int_equal(parse(&f, b, NULL), CUZK_OK);
    assert_string_equal(f.magic, "test");
    assert_int_equal(f.version, 2);
    assert_int_equal(f.n_sections, 3);
    assert_int_equal(f.sections[0].id, 7);
    assert_int_equal(f.sections[0].offset, 24);
    assert_memory_equal(f.sections[0].bytes.p, "hello", 5);
    assert_int_equal(binfile_find(&f, 1)->bytes.n_bytes, 0);
    assert_int_equal(binfile_find(&f, 3)->offset, 53);
    assert_null(binfile_find(&f, 2));
    blob_free(&b);
}

static void test_binfile__accepts_no_sections(void **state) {
    (void)state;
    blob all = sample(), b = blob_prefix(all, 12);
    binfile f;
    store_le32(b.p + 8, 0);
    assert_int_equal(parse(&f, b, NULL), CUZK_OK);
    assert_int_equal(f.n_sections, 0);
    blob_free(&b);
    blob_free(&all);
}

static void test_binfile__refuses_every_truncation(void **state) {
    (void)state;
    blob b = sample();
    for (size_t n = 0; n < b.n_bytes; n++) refuse_and_free(blob_prefix(b, n), "");
    blob_free(&b);
    refuse((blob){NULL, 0}, "the file has 0 bytes, expected at least 12");
}

static void test_binfile__refuses_damaged_fields(void **state) {
    (void)state;
    const struct {
        size_t at;
        unsigned n_bytes;
        uint64_t value;
        const char *says;
    } cases[] = {
        {0, 1, 'T', "magic at offset 0 is 'Test' (54 65 73 74), expected 'test'"},
        {0, 4, 0x79656b7a, "'zkey'"},
        {0, 4, 0x0a0a0a0a, "'\?\?\?\?' (0a 0a 0a 0a)"},
        {4, 4, 0, "version at offset 4 is 0, expected 1 to 2"},
        {4, 4, 3, "version at offset 4 is 3, expected 1 to 2"},
        {4, 4, 0xffffffff, "version at offset 4 is 4294967295"},
        {8, 4, 0, "43 bytes follow the last of 0 sections at offset 12"},
        {8, 4, 2, "14 bytes follow the last of 2 sections at offset 41"},
        {8, 4, 4, "section header 3 of 4 at offset 55: 0 bytes are left, expected 12"},
        {8, 4, 65, "number of sections at offset 8 is 65, expected at most 64"},
        {8, 4, 0xffffffff, "number of sections at offset 8 is 4294967295"},
        {16, 8, 4, ""},
        {16, 8, 6, ""},
        {16, 8, 32, "its length is 32 bytes, but the file ends after 31"},
        {16, 8, 31, "section header 1 of 3 at offset 55: 0 bytes are left"},
        {45, 8, 3, "section 3 at offset 53: its length is 3 bytes, but the file ends after 2"},
        {45, 8, 1, "1 bytes follow the last of 3 sections at offset 54"},
        {45, 8, (uint64_t)1 << 32, "its length is 4294967296 bytes"},
        {45, 8, (uint64_t)1 << 63, "its length is 9223372036854775808 bytes"},
        {45, 8, UINT64_MAX, "its length is 18446744073709551615 bytes"},
        {45, 8, UINT64_MAX - 52, "but the file ends after 2"}, /* 53 + length wraps to 0 */
        {16, 8, UINT64_MAX - 11,
         "section 7 at offset 24"}, /* would point at itself for ever */
        {41, 4, 7, "section 7 at offset 53 repeats the one at offset 24"},
        {29, 4, 3, "section 3 at offset 53 repeats the one at offset 41"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        blob b = sample();
        for (unsigned j = 0; j < cases[i].n_bytes; j++)
            b.p[cases[i].at + j] = (uint8_t)(cases[i].value >> (8 * j));
        refuse_and_free(b, cases[i].says);
    }
}

static void test_binfile__refuses_trailing_bytes(void **state) {
    (void)state;
    blob b = sample();
    refuse_and_free(blob_insert(b, b.n_bytes, "", 1),
                    "1 bytes follow the last of 3 sections at "
                    "offset 55, expected the end of the file");
    blob_free(&b);
}

static void test_binfile__takes_64_sections_and_no_more(void **state) {
    (void)state;
    blob b = sample();
    for (uint32_t id = 100; load_le32(b.p + 8) < BINFILE_MAX_SECTIONS; id++) {
        blob more = blob_add_section(b, id);
        blob_free(&b);
        b = more;
    }
    binfile f;
    assert_int_equal(parse(&f, b, NULL), CUZK_OK);
    assert_int_equal(f.n_sections, 64);
    refuse_and_free(blob_add_section(b, 1000), "is 65, expected at most 64");
    blob_free(&b);
}

static void test_binfile__reads_beyond_4_gib_when_a_section_is_that_long(void **state) {
    (void)state;
    const uint64_t long_bytes = ((uint64_t)4 << 30) + 123,
                   n_bytes = 12 + 12 + long_bytes + 12 + 1;
    uint8_t *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) skip();
    memcpy(p, "test", 4);
    store_le32(p + 4, 1);
    store_le32(p + 8, 2);
    store_le32(p + 12, 5);
    store_le64(p + 16, long_bytes);
    uint8_t *second = p + 24 + long_bytes;
    store_le32(second, 6);
    store_le64(second + 4, 1);
    second[12] = 0x5a;
    binfile f;
    assert_int_equal(binfile_parse(&f, (cuzk_span){p, n_bytes}, "test", 1, NULL), CUZK_OK);
    assert_true(binfile_find(&f, 5)->bytes.n_bytes == long_bytes);
    assert_true(binfile_find(&f, 6)->offset == n_bytes - 1);
    assert_int_equal(*binfile_find(&f, 6)->bytes.p, 0x5a);
    assert_int_equal(munmap(p, n_bytes), 0);
}

static void test_binfile_require__names_what_is_missing_or_short(void **state) {
    (void)state;
    blob b = sample();
    binfile f;
    cuzk_span s;
    cuzk_err err;
    assert_int_equal(parse(&f, b, NULL), CUZK_OK);
    assert_int_equal(binfile_require(&s, &f, 7, 5, "greeting", &err), CUZK_OK);
    assert_int_equal(s.n_bytes, 5);
    assert_int_equal(binfile_require(&s, &f, 7, 6, "greeting", &err), CUZK_ERR_FORMAT);
    assert_string_equal(err.text, "greeting at offset 24 has 5 bytes, expected at least 6");
    assert_int_equal(binfile_require(&s, &f, 2, 0, "header", &err), CUZK_ERR_FORMAT);
    assert_string_equal(err.text, "header is missing from the test file");
    assert_int_equal(binfile_require_exact(&s, &f, 7, 1, 5, "greeting", &err), CUZK_OK);
    assert_int_equal(binfile_require_exact(&s, &f, 7, 2, 3, "greeting", &err),
                     CUZK_ERR_FORMAT);
    assert_string_equal(err.text, "greeting at offset 24 has 5 bytes, expected 6 (2 of 3)");
    blob_free(&b);
}

static cuzk_status broken_sink(void *arg, const void *bytes, size_t n_bytes, cuzk_err *err) {
    (void)arg, (void)bytes, (void)n_bytes;
    return cuzk_fail(err, CUZK_ERR_IO, "test", "no");
}

static void test_binfile_put__writes_what_parse_reads(void **state) {
    (void)state;
    blob b = sample(), copy = {NULL, 0};
    const byte_sink sink = {blob_sink, &copy}, broken = {broken_sink, NULL};
    binfile f;
    assert_int_equal(parse(&f, b, NULL), CUZK_OK);
    assert_int_equal(binfile_put_header(&sink, f.magic, f.version, f.n_sections, NULL),
                     CUZK_OK);
    for (uint32_t i = 0; i < f.n_sections; i++)
        assert_int_equal(binfile_put_span(&sink, f.sections[i].id, f.sections[i].bytes, NULL),
                         CUZK_OK);
    assert_int_equal(copy.n_bytes, b.n_bytes);
    assert_memory_equal(copy.p, b.p, b.n_bytes);
    assert_int_equal(binfile_put_header(&broken, "test", 1, 0, NULL), CUZK_ERR_IO);
    blob_free(&copy);
    blob_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binfile__gives_all_sections_in_file_order),
        cmocka_unit_test(test_binfile__accepts_no_sections),
        cmocka_unit_test(test_binfile__refuses_every_truncation),
        cmocka_unit_test(test_binfile__refuses_damaged_fields),
        cmocka_unit_test(test_binfile__refuses_trailing_bytes),
        cmocka_unit_test(test_binfile__takes_64_sections_and_no_more),
        cmocka_unit_test(test_binfile__reads_beyond_4_gib_when_a_section_is_that_long),
        cmocka_unit_test(test_binfile_require__names_what_is_missing_or_short),
        cmocka_unit_test(test_binfile_put__writes_what_parse_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
