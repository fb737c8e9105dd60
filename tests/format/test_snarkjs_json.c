/* SPDX-License-Identifier: Apache-2.0 */
/* verification_key.json, proof.json, public.json: golden files come back byte by byte, and what
 * may and may not stand in each place. */
#include "base/alloc.h"
#include "format/circom/snarkjs_json.h"
#include "support/golden.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define VKEY   "verification_key.json"
#define PROOF  "proof.json"
#define PUBLIC "public.json"
static const char *const circuits[] = {"one", "two", "nopub", "poseidon_4", "pub512"};
static const uint32_t n_publics[] = {1, 2, 0, 2, 516};
#define N_CIRCUITS 5

typedef struct curves {
    curve c[CURVE_COUNT];
    const curve *list[CURVE_COUNT];
} curves;

static int make_curves(void **state) {
    curves *cs = malloc(sizeof *cs);
    for (int id = 0; cs && id < CURVE_COUNT; id++) {
        curve_init(&cs->c[id], (curve_id)id, CUZK_CPU_PORTABLE);
        cs->list[id] = &cs->c[id];
    }
    *state = cs;
    return cs ? 0 : -1;
}

static int free_curves(void **state) {
    free(*state);
    return 0;
}

/* Reads `text` as one of the three files; what was read is given back. */
static cuzk_status read_text(const curves *cs, const curve *c, const char *file, blob text,
                             cuzk_err *err) {
    cuzk_status status;
    if (strcmp(file, VKEY) == 0) {
        groth16_vkey vk;
        status = snarkjs_read_vkey(&vk, blob_span(text), cs->list, err);
        if (status == CUZK_OK) groth16_vkey_fini(&vk);
    } else if (strcmp(file, PROOF) == 0) {
        groth16_proof proof;
        status = snarkjs_read_proof(&proof, c, blob_span(text), err);
    } else {
        fe *values;
        size_t n;
        status = snarkjs_read_public(&values, &n, c, blob_span(text), SNARKJS_MAX_PUBLIC, err);
        if (status == CUZK_OK) cuzk_free(values);
    }
    return status;
}

static void expect(const curves *cs, const char *file, blob text, cuzk_status expected,
                   const char *says) {
    cuzk_err err = {.code = CUZK_OK, .text = ""};
    const cuzk_status status = read_text(cs, &cs->c[CURVE_BN254], file, text, &err);
    if (status != expected || strstr(err.text, says) == NULL)
        fail_msg("%s: \"%s\", expected %s: \"%s\"", cuzk_status_name(status), err.text,
                 cuzk_status_name(expected), says);
}

/* The golden BN254 file of circuit "two" with one member replaced: `path` is "pi_a" or "pi_a.0" or
 * "vk_beta_2.1.0", `json` a JSON text, NULL to take the member out. */
static blob edit(const char *file, const char *path, const char *json) {
    blob b = golden_load(CURVE_BN254, "two", file);
    json_t *root = json_loadb((const char *)b.p, b.n_bytes, 0, NULL), *at = root;
    json_t *value = json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;
    char step[32];
    assert_non_null(root);
    assert_true(json == NULL || value != NULL);
    for (;;) {
        const size_t n = strcspn(path, ".");
        (void)snprintf(step, sizeof step, "%.*s", (int)n, path);
        if (path[n] == '\0') break;
        path += n + 1;
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(step))
                               : json_object_get(at, step);
        assert_non_null(at);
    }
    if (json_is_array(at))
        assert_int_equal(value ? json_array_set_new(at, (size_t)atoi(step), value)
                               : json_array_remove(at, (size_t)atoi(step)),
                         0);
    else
        assert_int_equal(
            value ? json_object_set_new(at, step, value) : json_object_del(at, step), 0);
    char *text = json_dumps(root, 0);
    assert_non_null(text);
    blob_free(&b);
    b = blob_text(text);
    free(text);
    json_decref(root);
    return b;
}

static void expect_edit(const curves *cs, const char *file, const char *path, const char *json,
                        cuzk_status expected, const char *says) {
    blob b = edit(file, path, json);
    expect(cs, file, b, expected, says);
    blob_free(&b);
}

static void expect_text(const curves *cs, const char *file, const char *text,
                        cuzk_status expected, const char *says) {
    blob b = blob_text(text);
    expect(cs, file, b, expected, says);
    blob_free(&b);
}

/* ---- golden files ---- */
static void expect_same_text(const char *text, blob b) {
    assert_int_equal(strlen(text), b.n_bytes);
    assert_memory_equal(text, b.p, b.n_bytes);
}

static void test_proof__comes_back_byte_by_byte(void **state) {
    const curves *cs = *state;
    for (int id = 0; id < CURVE_COUNT; id++)
        for (size_t i = 0; i < N_CIRCUITS; i++) {
            blob b = golden_load((curve_id)id, circuits[i], PROOF);
            groth16_proof proof;
            char *text;
            assert_int_equal(snarkjs_read_proof(&proof, cs->list[id], blob_span(b), NULL),
                             CUZK_OK);
            assert_int_equal(snarkjs_write_proof(&text, cs->list[id], &proof, NULL), CUZK_OK);
            expect_same_text(text, b);
            cuzk_free(text);
            blob_free(&b);
        }
}

static void test_public__comes_back_byte_by_byte(void **state) {
    const curves *cs = *state;
    for (int id = 0; id < CURVE_COUNT; id++)
        for (size_t i = 0; i < N_CIRCUITS; i++) {
            const curve *c = cs->list[id];
            blob b = golden_load((curve_id)id, circuits[i], PUBLIC);
            fe *values;
            size_t n;
            char *text;
            assert_int_equal(
                snarkjs_read_public(&values, &n, c, blob_span(b), SNARKJS_MAX_PUBLIC, NULL),
                CUZK_OK);
            assert_int_equal(n, n_publics[i]);
            uint8_t *le = malloc(n * 32 + 1);
            assert_non_null(le);
            for (size_t j = 0; j < n; j++)
                field_store_le(&c->fr, le + 1 + j * 32, values[j].l);
            assert_int_equal(snarkjs_write_public(&text, c, le + 1, n, NULL), CUZK_OK);
            expect_same_text(text, b);
            cuzk_free(text);
            free(le);
            cuzk_free(values);
            blob_free(&b);
        }
}

/* vk_alphabeta_12 is not read by us: taken from the text to be written again. */
static void load_alphabeta(fe12 *out, const curve *c, blob b) {
    json_t *root = json_loadb((const char *)b.p, b.n_bytes, 0, NULL);
    json_t *v = json_object_get(root, "vk_alphabeta_12");
    fe6 *const halves[2] = {&out->c0, &out->c1};
    for (size_t i = 0; i < 2; i++) {
        fe2 *const parts[3] = {&halves[i]->c0, &halves[i]->c1, &halves[i]->c2};
        for (size_t j = 0; j < 3; j++) {
            json_t *pair = json_array_get(json_array_get(v, i), j);
            const char *c0 = json_string_value(json_array_get(pair, 0));
            const char *c1 = json_string_value(json_array_get(pair, 1));
            assert_true(field_load_dec(&c->fq, parts[j]->c0.l, c0, strlen(c0)));
            assert_true(field_load_dec(&c->fq, parts[j]->c1.l, c1, strlen(c1)));
        }
    }
    json_decref(root);
}

static void test_vkey__comes_back_byte_by_byte(void **state) {
    const curves *cs = *state;
    for (int id = 0; id < CURVE_COUNT; id++)
        for (size_t i = 0; i < N_CIRCUITS; i++) {
            blob b = golden_load((curve_id)id, circuits[i], VKEY);
            groth16_vkey vk;
            fe12 alphabeta;
            char *text;
            assert_int_equal(snarkjs_read_vkey(&vk, blob_span(b), cs->list, NULL), CUZK_OK);
            assert_int_equal(vk.curve, id);
            assert_int_equal(vk.n_public, n_publics[i]);
            load_alphabeta(&alphabeta, cs->list[id], b);
            assert_int_equal(snarkjs_write_vkey(&text, cs->list[id], &vk, &alphabeta, NULL),
                             CUZK_OK);
            expect_same_text(text, b);
            cuzk_free(text);
            groth16_vkey_fini(&vk);
            blob_free(&b);
        }
}

static void test_snarkjs_json__refuses_every_truncation(void **state) {
    const curves *cs = *state;
    static const char *const files[] = {VKEY, PROOF, PUBLIC};
    for (size_t i = 0; i < 3; i++) {
        blob b = golden_load(CURVE_BN254, "two", files[i]);
        for (size_t n = 0; n < b.n_bytes; n++) {
            blob part = blob_prefix(b, n);
            expect(cs, files[i], part, CUZK_ERR_FORMAT, "is not JSON");
            blob_free(&part);
        }
        blob_free(&b);
        expect(cs, files[i], (blob){NULL, 0}, CUZK_ERR_FORMAT, "is not JSON");
    }
}

/* ---- public signals ---- */
#define R_BN254     "21888242871839275222246405745257275088548364400416034343698204186575808495617"
#define R_BN254_HEX "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"
#define Q_BN254     "21888242871839275222246405745257275088696311157297823662689037894645226208583"

static void test_public__takes_the_numbers_that_snarkjs_takes(void **state) {
    const curves *cs = *state;
    const curve *c = cs->list[CURVE_BN254];
    blob b = blob_text("[\"0\", \"7\", \"007\", \"0x1F\", \"0x00ff\", 5, 9007199254740991]");
    const uint64_t expected[] = {0, 7, 7, 31, 255, 5, 9007199254740991};
    fe *values;
    size_t n;
    assert_int_equal(
        snarkjs_read_public(&values, &n, c, blob_span(b), SNARKJS_MAX_PUBLIC, NULL), CUZK_OK);
    assert_int_equal(n, 7);
    for (size_t i = 0; i < n; i++) {
        fe e;
        field_set_u64(&c->fr, e.l, expected[i]);
        assert_true(field_equal(&c->fr, values[i].l, e.l));
    }
    cuzk_free(values);
    blob_free(&b);
}

static void test_public__gives_no_signals_when_the_array_is_empty(void **state) {
    const curves *cs = *state;
    static const char *const texts[] = {"[]", "[\n]", " [ ] "};
    for (size_t i = 0; i < 3; i++) {
        blob b = blob_text(texts[i]);
        fe *values = NULL;
        size_t n = 99;
        assert_int_equal(snarkjs_read_public(&values, &n, cs->list[0], blob_span(b),
                                             SNARKJS_MAX_PUBLIC, NULL),
                         CUZK_OK);
        assert_int_equal(n, 0);
        assert_non_null(values);
        cuzk_free(values);
        blob_free(&b);
    }
}

static void test_public__refuses_what_is_no_number_below_r(void **state) {
    const curves *cs = *state;
    const struct {
        const char *text;
        cuzk_status status;
        const char *says;
    } cases[] = {
        {"[\"" R_BN254 "\"]", CUZK_ERR_INVALID, "signal[0] is not below the field's prime r"},
        {"[\"1\", \"000" R_BN254 "\"]", CUZK_ERR_INVALID, "signal[1] is not below"},
        {"[\"0x" R_BN254_HEX "\"]", CUZK_ERR_INVALID, "signal[0] is not below"},
        {"[\"0x1" R_BN254_HEX "\"]", CUZK_ERR_INVALID, "signal[0] is not below"},
        {"[\"1" R_BN254 R_BN254 R_BN254 "\"]", CUZK_ERR_INVALID, "signal[0] is not below"},
        {"[\"\"]", CUZK_ERR_FORMAT, "signal[0] is \"\", expected decimal digits"},
        {"[\"-1\"]", CUZK_ERR_FORMAT, "signal[0] is \"-1\", expected decimal digits"},
        {"[\"+1\"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\" 1\"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\"1 \"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\"1e3\"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\"1n\"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\"0x\"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\"0X1\"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\"0xg\"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\"ff\"]", CUZK_ERR_FORMAT, "signal[0]"},
        {"[\"1\\u0000\"]", CUZK_ERR_FORMAT, "is not JSON"},
        {"[-1]", CUZK_ERR_FORMAT, "signal[0] is the number -1"},
        {"[9007199254740992]", CUZK_ERR_FORMAT, "expected 0 to 2^53 - 1"},
        {"[99999999999999999999]", CUZK_ERR_FORMAT, "is not JSON"},
        {"[1.0]", CUZK_ERR_FORMAT, "signal[0] is a fraction"},
        {"[1, null]", CUZK_ERR_FORMAT, "signal[1] is a literal"},
        {"[true]", CUZK_ERR_FORMAT, "signal[0] is a literal"},
        {"[[\"1\"]]", CUZK_ERR_FORMAT, "signal[0] is an array"},
        {"[{}]", CUZK_ERR_FORMAT, "signal[0] is an object"},
        {"{}", CUZK_ERR_FORMAT, "is an object, expected an array"},
        {"\"1\"", CUZK_ERR_FORMAT, "is not JSON"},
        {"[\"1\"] x", CUZK_ERR_FORMAT, "is not JSON"},
        {"[\"1\",]", CUZK_ERR_FORMAT, "is not JSON"},
        {"[\"\xff\"]", CUZK_ERR_FORMAT, "is not JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_text(cs, PUBLIC, cases[i].text, cases[i].status, cases[i].says);
}

static void test_write_public__refuses_a_value_not_below_r(void **state) {
    const curves *cs = *state;
    const curve *c = cs->list[CURVE_BN254];
    uint8_t values[64] = {1};
    char *text = NULL;
    cuzk_err err;
    for (unsigned i = 0; i < 4; i++) store_le64(values + 32 + 8 * i, c->fr.m.p[i]);
    assert_int_equal(snarkjs_write_public(&text, c, values, 2, &err), CUZK_ERR_WITNESS);
    assert_non_null(strstr(err.text, "public signal 1 of 2 is not below"));
    assert_null(text);
}

/* ---- proof ---- */
static void test_proof__refuses_malformed_members(void **state) {
    const curves *cs = *state;
    const struct {
        const char *path, *json;
        cuzk_status status;
        const char *says;
    } cases[] = {
        {"pi_a", NULL, CUZK_ERR_FORMAT, "pi_a is missing, expected an array of 3"},
        {"pi_b", NULL, CUZK_ERR_FORMAT, "pi_b is missing"},
        {"pi_c", NULL, CUZK_ERR_FORMAT, "pi_c is missing"},
        {"pi_a", "\"1\"", CUZK_ERR_FORMAT, "pi_a is a string, expected an array of 3"},
        {"pi_a.2", NULL, CUZK_ERR_FORMAT, "pi_a is an array of 2 items, expected 3"},
        {"pi_b.0", "\"1\"", CUZK_ERR_FORMAT, "pi_b[0] is a string, expected an array of 2"},
        {"pi_b.1.0", NULL, CUZK_ERR_FORMAT, "pi_b[1] is an array of 1 items, expected 2"},
        {"pi_a.0", "\"x\"", CUZK_ERR_FORMAT, "pi_a[0] is \"x\""},
        {"pi_b.1.1", "null", CUZK_ERR_FORMAT, "pi_b[1][1] is a literal"},
        {"pi_a.2", "\"2\"", CUZK_ERR_FORMAT, "pi_a is not an affine point"},
        {"pi_a.2", "\"0\"", CUZK_ERR_FORMAT, "pi_a is not an affine point"},
        {"pi_b.2", "[\"0\", \"1\"]", CUZK_ERR_FORMAT, "pi_b is not an affine point"},
        {"pi_b.2", "[\"0\", \"0\"]", CUZK_ERR_FORMAT, "pi_b is not an affine point"},
        {"pi_a.0", "\"1\"", CUZK_ERR_INVALID, "point pi_a is not on the curve bn254 (G1)"},
        {"pi_c.1", "\"1\"", CUZK_ERR_INVALID, "point pi_c is not on the curve bn254 (G1)"},
        {"pi_b.0.1", "\"1\"", CUZK_ERR_INVALID, "point pi_b is not on the curve bn254 (G2)"},
        {"pi_a", "[\"0\", \"0\", \"1\"]", CUZK_ERR_INVALID, "not on the curve"},
        {"pi_a.0", "\"" Q_BN254 "\"", CUZK_ERR_INVALID,
         "pi_a[0] is not below the field's prime q"},
        {"pi_b.1.0", "\"" Q_BN254 "\"", CUZK_ERR_INVALID, "pi_b[1][0] is not below"},
        {"protocol", "\"plonk\"", CUZK_ERR_FORMAT, "protocol is plonk, expected \"groth16\""},
        {"protocol", "1", CUZK_ERR_FORMAT, "protocol is an integer"},
        {"curve", "\"bls12381\"", CUZK_ERR_FORMAT, "curve is bls12_381, expected bn254"},
        {"curve", "\"secp256k1\"", CUZK_ERR_FORMAT, "curve is secp256k1"},
        {"curve", "7", CUZK_ERR_FORMAT, "curve is an integer"},
        {"protocol", NULL, CUZK_OK, ""}, /* other provers leave these out */
        {"curve", NULL, CUZK_OK, ""},
        {"curve", "\"bn254\"", CUZK_OK, ""},
        {"note", "\"anything\"", CUZK_ERR_FORMAT, "unknown member \"note\""},
        {"pi_a", "[\"1\", \"2\", \"1\"]", CUZK_OK, ""}, /* the generator */
        {"pi_a", "[1, \"0x2\", 1]", CUZK_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_edit(cs, PROOF, cases[i].path, cases[i].json, cases[i].status, cases[i].says);
    expect_text(cs, PROOF, "[]", CUZK_ERR_FORMAT,
                "proof: the text is an array, expected an object");
    expect_text(cs, PROOF, "{\"pi_a\": 1, \"pi_a\": 2}", CUZK_ERR_FORMAT, "is not JSON");
}

static void test_proof__refuses_the_proof_of_another_curve(void **state) {
    const curves *cs = *state;
    blob b = golden_load(CURVE_BLS12_381, "two", PROOF);
    expect(cs, PROOF, b, CUZK_ERR_FORMAT, "curve is bls12_381, expected bn254");
    blob_free(&b);
}

static void test_proof__keeps_infinity(void **state) {
    const curves *cs = *state;
    const char *text = "{\"pi_a\": [\"0\",\"1\",\"0\"], \"pi_b\": "
                       "[[\"0\",\"0\"],[\"1\",\"0\"],[\"0\",\"0\"]], "
                       "\"pi_c\": [\"0\",\"1\",\"0\"]}";
    for (int id = 0; id < CURVE_COUNT; id++) {
        blob b = blob_text(text);
        groth16_proof proof, again;
        char *written;
        assert_int_equal(snarkjs_read_proof(&proof, cs->list[id], blob_span(b), NULL),
                         CUZK_OK);
        assert_true(proof.a.infinity && proof.b.infinity && proof.c.infinity);
        assert_int_equal(snarkjs_write_proof(&written, cs->list[id], &proof, NULL), CUZK_OK);
        blob copy = blob_text(written);
        assert_int_equal(snarkjs_read_proof(&again, cs->list[id], blob_span(copy), NULL),
                         CUZK_OK);
        assert_true(again.a.infinity && again.b.infinity && again.c.infinity);
        blob_free(&copy);
        cuzk_free(written);
        blob_free(&b);
    }
}

static void test_proof__refuses_texts_over_64_kib(void **state) {
    const curves *cs = *state;
    blob b = {malloc(65537), 65537};
    assert_non_null(b.p);
    memset(b.p, ' ', b.n_bytes);
    memcpy(b.p, "{}", 2);
    expect(cs, PROOF, b, CUZK_ERR_FORMAT, "proof has 65537 bytes, expected at most 65536");
    blob_free(&b);
}

/* ---- size ---- */
/* open, then `item` for at least n_bytes, then close. */
static blob repeat(const char *open, const char *item, const char *close, size_t n_bytes) {
    const size_t n_open = strlen(open), n_item = strlen(item), n_close = strlen(close);
    const size_t n = (n_bytes + n_item - 1) / n_item;
    blob b = {malloc(n_open + n * n_item + n_close), n_open + n * n_item + n_close};
    assert_non_null(b.p);
    memcpy(b.p, open, n_open);
    for (size_t i = 0; i < n; i++) memcpy(b.p + n_open + i * n_item, item, n_item);
    memcpy(b.p + n_open + n * n_item, close, n_close);
    return b;
}

static size_t parser_bytes; /* all that jansson asked for */

static void *counting_malloc(size_t n_bytes) {
    parser_bytes += n_bytes;
    return malloc(n_bytes);
}

/* Short values: an array that says "[]" takes jansson 130 bytes, a number that says "1" 50. */
static void test_snarkjs_json__refuses_many_small_values_without_parsing_them(void **state) {
    const curves *cs = *state;
    const struct {
        const char *file, *open, *item, *close, *says;
        cuzk_status status;
    } cases[] = {
        {VKEY, "{\"IC\": [", "[],", "[]]}", "values, expected at most", CUZK_ERR_FORMAT},
        {VKEY, "{\"IC\": [", "1,", "1]}", "values, expected at most", CUZK_ERR_FORMAT},
        {VKEY, "{\"IC\": [", "\"\",", "1]}", "values, expected at most", CUZK_ERR_FORMAT},
        {VKEY, "{\"IC\": [", "{},", "1]}", "objects, expected 1 at most", CUZK_ERR_FORMAT},
        {PROOF, "{\"pi_a\": [", "[],", "1]}", "values, expected at most", CUZK_ERR_FORMAT},
        {PUBLIC, "[", "[],", "[]]", "values, expected at most", CUZK_ERR_INVALID},
        {PUBLIC, "[", "1,", "1]", "values, expected at most", CUZK_ERR_INVALID},
        {PUBLIC, "[", "{},", "{}]", "objects, expected 1 at most", CUZK_ERR_FORMAT},
        {PUBLIC, "[", "[", "", "is not JSON", CUZK_ERR_FORMAT},
        {PUBLIC, "[[[[[", " ", "]]]]]", "nested 5 deep, expected at most 4", CUZK_ERR_FORMAT},
        {VKEY, "{\"IC\": \"", " ", "\"}", "", CUZK_ERR_FORMAT},
        {VKEY, "{", "\"a\": 1,", "\"b\": 1}", "values, expected at most", CUZK_ERR_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        blob b = repeat(cases[i].open, cases[i].item, cases[i].close, (size_t)4 << 20);
        parser_bytes = 0;
        json_set_alloc_funcs(counting_malloc, free);
        expect(cs, cases[i].file, b, cases[i].status, cases[i].says);
        json_set_alloc_funcs(malloc, free);
        if (parser_bytes > 10 * b.n_bytes)
            fail_msg("case %zu: %zu bytes for a text of %zu", i, parser_bytes, b.n_bytes);
        blob_free(&b);
    }
}

static void test_public__takes_no_more_memory_than_the_signals_expected(void **state) {
    const curves *cs = *state;
    blob b = repeat("[", "1,", "1]", 200);
    fe *values;
    size_t n;
    cuzk_err err;
    assert_int_equal(snarkjs_read_public(&values, &n, cs->list[0], blob_span(b), 2, &err),
                     CUZK_ERR_INVALID);
    assert_non_null(strstr(err.text, "public signals: 101 values, expected at most 18"));
    assert_int_equal(snarkjs_read_public(&values, &n, cs->list[0], blob_span(b), 101, &err),
                     CUZK_OK);
    assert_int_equal(n, 101);
    cuzk_free(values);
    blob_free(&b);
    b = repeat("[", " ", "]", 5000);
    assert_int_equal(snarkjs_read_public(&values, &n, cs->list[0], blob_span(b), 2, &err),
                     CUZK_ERR_FORMAT);
    assert_non_null(strstr(err.text, "has 5002 bytes, expected at most 4288"));
    blob_free(&b);
}

/* ---- no memory ---- */
static size_t n_until_failure; /* jansson takes functions without an argument */

static void *failing_malloc(size_t n_bytes) {
    if (n_until_failure == 0) return NULL;
    n_until_failure--;
    return malloc(n_bytes);
}

static void
test_snarkjs_json__fails_cleanly_whichever_allocation_of_the_parser_fails(void **state) {
    const curves *cs = *state;
    static const char *const files[] = {VKEY, PROOF, PUBLIC};
    for (size_t i = 0; i < 3; i++) {
        blob b = golden_load(CURVE_BN254, "two", files[i]);
        cuzk_status status = CUZK_ERR_NOMEM;
        size_t n = 0, n_nomem = 0;
        /* For a token that it can't store jansson says "invalid token": FORMAT. Never INVALID. */
        for (; status == CUZK_ERR_NOMEM || status == CUZK_ERR_FORMAT; n++) {
            n_nomem += status == CUZK_ERR_NOMEM;
            n_until_failure = n;
            json_set_alloc_funcs(failing_malloc, free);
            status = read_text(cs, cs->list[CURVE_BN254], files[i], b, NULL);
            json_set_alloc_funcs(malloc, free);
        }
        assert_int_equal(status, CUZK_OK);
        assert_true(n > 5 && n_nomem > n / 4);
        blob_free(&b);
    }
}

/* ---- verification key ---- */
static void test_vkey__refuses_malformed_members(void **state) {
    const curves *cs = *state;
    const struct {
        const char *path, *json;
        cuzk_status status;
        const char *says;
    } cases[] = {
        {"protocol", NULL, CUZK_ERR_FORMAT, "protocol is missing, expected \"groth16\""},
        {"protocol", "\"fflonk\"", CUZK_ERR_FORMAT, "protocol is fflonk"},
        {"curve", NULL, CUZK_ERR_FORMAT,
         "curve is missing, expected \"bn128\" or \"bls12381\""},
        {"curve", "\"bls12377\"", CUZK_ERR_FORMAT, "curve is bls12377"},
        {"curve", "\"bls12381\"", CUZK_ERR_FORMAT, "vk_alpha_1"}, /* points of bn128 */
        {"nPublic", NULL, CUZK_ERR_FORMAT, "nPublic is missing"},
        {"nPublic", "\"2\"", CUZK_ERR_FORMAT, "nPublic is a string"},
        {"nPublic", "-1", CUZK_ERR_FORMAT, "nPublic is out of range"},
        {"nPublic", "4294967295", CUZK_ERR_FORMAT, "nPublic is out of range"},
        {"nPublic", "4294967294", CUZK_ERR_FORMAT,
         "IC is an array of 3 items, expected 4294967295"},
        {"nPublic", "1", CUZK_ERR_FORMAT, "IC is an array of 3 items, expected 2"},
        {"nPublic", "3", CUZK_ERR_FORMAT, "IC is an array of 3 items, expected 4"},
        {"IC", NULL, CUZK_ERR_FORMAT, "IC is missing"},
        {"IC.2", NULL, CUZK_ERR_FORMAT, "IC is an array of 2 items, expected 3"},
        {"IC.1.0", "\"1\"", CUZK_ERR_FORMAT, "point IC[1] is not on the curve"},
        {"IC.2.1", "\"y\"", CUZK_ERR_FORMAT, "IC[2][1] is \"y\""},
        {"IC.0", "[\"0\", \"1\", \"0\"]", CUZK_OK, ""}, /* an input without constraints */
        {"vk_alpha_1", NULL, CUZK_ERR_FORMAT, "vk_alpha_1 is missing"},
        {"vk_beta_2", NULL, CUZK_ERR_FORMAT, "vk_beta_2 is missing"},
        {"vk_gamma_2", NULL, CUZK_ERR_FORMAT, "vk_gamma_2 is missing"},
        {"vk_delta_2", NULL, CUZK_ERR_FORMAT, "vk_delta_2 is missing"},
        {"vk_alpha_1.0", "\"" Q_BN254 "\"", CUZK_ERR_FORMAT, "vk_alpha_1[0] is not below"},
        {"vk_gamma_2.0.0", "\"3\"", CUZK_ERR_FORMAT, "point vk_gamma_2 is not on the curve"},
        {"vk_delta_2.2", "[\"1\", \"1\"]", CUZK_ERR_FORMAT,
         "vk_delta_2 is not an affine point"},
        {"vk_alphabeta_12", NULL, CUZK_OK, ""}, /* not used: the verifier computes it */
        {"curve", "\"bn254\"", CUZK_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_edit(cs, VKEY, cases[i].path, cases[i].json, cases[i].status, cases[i].says);
    expect_text(cs, VKEY, "[]", CUZK_ERR_FORMAT, "verification key: the text is an array");
}

static void test_json_kind__tells_the_three_files_apart(void **state) {
    (void)state;
    const struct {
        const char *file;
        char kind;
    } cases[] = {{VKEY, 'v'}, {PROOF, 'p'}, {PUBLIC, 's'}, {"witness.wtns", 0}};
    for (size_t i = 0; i < 4; i++) {
        blob b = golden_load(CURVE_BN254, "one", cases[i].file);
        assert_int_equal(snarkjs_json_kind(blob_span(b)), cases[i].kind);
        blob_free(&b);
    }
    assert_int_equal(snarkjs_json_kind((cuzk_span){NULL, 0}), 0);
    const struct {
        const char *text;
        char kind;
    } texts[] = {
        {"{}", 0},
        {" [ ] ", 's'},
        {"{\"pi_a\" : 1}", 'p'},
        {"{\"x\": \"pi_a\"}", 0}, /* a value, no name */
        {"{\"x\": \"\\\"pi_a\"}", 0},
        {"{\"x\": [\"}\", 1], \"pi_a\": 1}", 'p'},
        {"{\"x\": {\"pi_a\": 1}}", 0},
        {"{\"pi_a\": 1", 0},
        {"{\"pi_a", 0},
        {"{\"pi_a\\", 0},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        blob b = blob_text(texts[i].text);
        assert_int_equal(snarkjs_json_kind(blob_span(b)), texts[i].kind);
        blob_free(&b);
    }
}

/* ---- files that don't say of which curve they are ---- */
static void test_any_proof__finds_the_curve_with_and_without_its_name(void **state) {
    const curves *cs = *state;
    for (int id = 0; id < CURVE_COUNT; id++) {
        blob named = golden_load((curve_id)id, "two", PROOF);
        json_t *root = json_loadb((const char *)named.p, named.n_bytes, 0, NULL);
        assert_int_equal(json_object_del(root, "curve"), 0);
        char *text = json_dumps(root, 0);
        blob nameless = blob_text(text);
        const blob *const both[] = {&named, &nameless};
        for (size_t i = 0; i < 2; i++) {
            groth16_proof proof;
            curve_id found = CURVE_COUNT;
            assert_int_equal(
                snarkjs_read_any_proof(&proof, &found, blob_span(*both[i]), cs->list, NULL),
                CUZK_OK);
            assert_int_equal(found, id);
        }
        blob_free(&nameless);
        free(text);
        json_decref(root);
        blob_free(&named);
    }
}

static void test_fit_public__says_whose_signals_these_may_be(void **state) {
    const curves *cs = *state;
    const struct {
        const char *text;
        cuzk_status status;
        bool bn254, bls12_381;
    } cases[] = {
        {"[]", CUZK_OK, true, true},
        {"[\"1\", 2]", CUZK_OK, true, true},
        {"[\"" R_BN254 "\"]", CUZK_OK, false, true},
        {"[\"" R_BN254 "0\"]", CUZK_ERR_FORMAT, false, false},
        {"[\"x\"]", CUZK_ERR_FORMAT, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        blob b = blob_text(cases[i].text);
        bool fits[CURVE_COUNT] = {false};
        size_t n;
        assert_int_equal(snarkjs_fit_public(fits, &n, blob_span(b), cs->list, NULL),
                         cases[i].status);
        assert_int_equal(fits[CURVE_BN254], cases[i].bn254);
        assert_int_equal(fits[CURVE_BLS12_381], cases[i].bls12_381);
        blob_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proof__comes_back_byte_by_byte),
        cmocka_unit_test(test_public__comes_back_byte_by_byte),
        cmocka_unit_test(test_vkey__comes_back_byte_by_byte),
        cmocka_unit_test(test_snarkjs_json__refuses_every_truncation),
        cmocka_unit_test(test_public__takes_the_numbers_that_snarkjs_takes),
        cmocka_unit_test(test_public__gives_no_signals_when_the_array_is_empty),
        cmocka_unit_test(test_public__refuses_what_is_no_number_below_r),
        cmocka_unit_test(test_write_public__refuses_a_value_not_below_r),
        cmocka_unit_test(test_proof__refuses_malformed_members),
        cmocka_unit_test(test_proof__refuses_the_proof_of_another_curve),
        cmocka_unit_test(test_proof__keeps_infinity),
        cmocka_unit_test(test_proof__refuses_texts_over_64_kib),
        cmocka_unit_test(test_snarkjs_json__refuses_many_small_values_without_parsing_them),
        cmocka_unit_test(test_public__takes_no_more_memory_than_the_signals_expected),
        cmocka_unit_test(
            test_snarkjs_json__fails_cleanly_whichever_allocation_of_the_parser_fails),
        cmocka_unit_test(test_vkey__refuses_malformed_members),
        cmocka_unit_test(test_json_kind__tells_the_three_files_apart),
        cmocka_unit_test(test_any_proof__finds_the_curve_with_and_without_its_name),
        cmocka_unit_test(test_fit_public__says_whose_signals_these_may_be),
    };
    return cmocka_run_group_tests(tests, make_curves, free_curves);
}
