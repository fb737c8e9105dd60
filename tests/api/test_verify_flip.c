/* SPDX-License-Identifier: Apache-2.0 */
/* A proof and its public signals are refused after a change of any single byte, whether the text
 * is then no JSON, no proof, no point, a point outside the subgroup, or another statement. */
#include "cuzk/cuzk.h"
#include "support/golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct statement {
    cuzk_runtime *rt;
    blob vkey, publics, proof;
} statement;

static cuzk_status verify(const statement *s) {
    return cuzk_verify(s->rt, s->vkey.p, s->vkey.n_bytes, s->publics.p, s->publics.n_bytes,
                       s->proof.p, s->proof.n_bytes, NULL);
}

static statement load(curve_id id, const char *circuit) {
    statement s = {0};
    cuzk_runtime_options options = CUZK_RUNTIME_OPTIONS_INIT;
    options.n_threads = 1;
    assert_int_equal(cuzk_runtime_create(&s.rt, &options, NULL), CUZK_OK);
    s.vkey = golden_load(id, circuit, "verification_key.json");
    s.publics = golden_load(id, circuit, "public.json");
    s.proof = golden_load(id, circuit, "proof.json");
    assert_int_equal(verify(&s), CUZK_OK);
    return s;
}

static void unload(statement *s) {
    blob_free(&s->vkey);
    blob_free(&s->publics);
    blob_free(&s->proof);
    cuzk_runtime_destroy(s->rt);
}

/* `text` is a part of `s`. Of these flips the first makes another digit out of every digit, and
 * none makes another white space out of one, so there is no harmless one. */
static void refuse_every_flip(statement *s, blob *text) {
    static const uint8_t flips[] = {0x01, 0x10, 0xff};
    for (size_t i = 0; i < text->n_bytes; i++) {
        for (size_t k = 0; k < sizeof flips; k++) {
            text->p[i] ^= flips[k];
            cuzk_status status = verify(s);
            text->p[i] ^= flips[k];
            if (status == CUZK_ERR_INVALID || status == CUZK_ERR_FORMAT) continue;
            fail_msg("byte %zu, flipped by 0x%02x: %s", i, flips[k], cuzk_status_name(status));
        }
    }
    assert_int_equal(verify(s), CUZK_OK);
}

static void refuse_every_flip_of(curve_id id, const char *circuit) {
    statement s = load(id, circuit);
    refuse_every_flip(&s, &s.proof);
    refuse_every_flip(&s, &s.publics);
    unload(&s);
}

static void test_verify__refuses_when_any_byte_of_a_bn254_proof_is_flipped(void **state) {
    (void)state;
    refuse_every_flip_of(CURVE_BN254, "one");
}

static void test_verify__refuses_when_any_byte_of_a_bls12_381_proof_is_flipped(void **state) {
    (void)state;
    refuse_every_flip_of(CURVE_BLS12_381, "one");
}

static void test_verify__refuses_when_any_byte_of_no_signals_is_flipped(void **state) {
    (void)state;
    statement s = load(CURVE_BN254, "nopub");
    refuse_every_flip(&s, &s.publics);
    unload(&s);
}

/* Every prefix too: a text that was cut is never taken for a whole one. */
static void test_verify__refuses_when_a_text_is_cut(void **state) {
    (void)state;
    statement s = load(CURVE_BN254, "two");
    blob *texts[] = {&s.vkey, &s.publics, &s.proof};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        size_t n_bytes = texts[k]->n_bytes;
        size_t n_needed = n_bytes;
        while (texts[k]->p[n_needed - 1] == '\n') n_needed--;
        for (size_t n = 0; n < n_needed; n++) {
            texts[k]->n_bytes = n;
            assert_int_equal(verify(&s), CUZK_ERR_FORMAT);
        }
        texts[k]->n_bytes = n_bytes;
    }
    unload(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify__refuses_when_any_byte_of_a_bn254_proof_is_flipped),
        cmocka_unit_test(test_verify__refuses_when_any_byte_of_a_bls12_381_proof_is_flipped),
        cmocka_unit_test(test_verify__refuses_when_any_byte_of_no_signals_is_flipped),
        cmocka_unit_test(test_verify__refuses_when_a_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
