/* SPDX-License-Identifier: Apache-2.0 */
#include "support/testpoint.h"

#include "math/field/tower.h"
#include "math/group/encoding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BYTES_MAX 192

typedef struct form {
    group_id g;
    bool compressed;
    size_t n_bytes;
} form;
static const form forms[] = {
    {GROUP_G1, true, 48}, {GROUP_G1, false, 96}, {GROUP_G2, true, 96}, {GROUP_G2, false, 192}};
#define N_FORMS (sizeof forms / sizeof forms[0])

static void assert_refused(const curve *c, const form *f, const uint8_t *bytes,
                           encoding_check check, const char *reason) {
    point r;
    cuzk_err err = {0};
    assert_int_equal(encoding_load(c, f->g, &r, bytes, f->compressed, check, &err),
                     CUZK_ERR_FORMAT);
    if (strstr(err.text, reason) == NULL) fail_msg("\"%s\" lacks \"%s\"", err.text, reason);
    assert_int_equal(encoding_load(c, f->g, &r, bytes, f->compressed, check, NULL),
                     CUZK_ERR_FORMAT);
}

static void assert_accepted(const curve *c, const form *f, const uint8_t *bytes,
                            const point *want) {
    point r;
    cuzk_err err = {0};
    assert_int_equal(
        encoding_load(c, f->g, &r, bytes, f->compressed, ENCODING_CHECK_SUBGROUP, &err),
        CUZK_OK);
    assert_true(point_equal(c, f->g, &r, want));
}

/* x of the generators: the README named in encoding.h. [2] g: what py_ecc, blst and others
 * print for the public key of secret key 2. */
#define G1_X                                                                                  \
    "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58"                        \
    "6c55e83ff97a1aeffb3af00adb22c6bb"
#define G1_Y                                                                                  \
    "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3ed"                        \
    "d03cc744a2888ae40caa232946c5e7e1"
#define G2_X                                                                                  \
    "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049"                        \
    "334cf11213945d57e5ac7d055d042b7e"                                                        \
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d177"                        \
    "0bac0326a805bbefd48056c8c121bdb8"
#define G2_Y                                                                                  \
    "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab"                        \
    "3f370d275cec1da1aaa9075ff05f79be"                                                        \
    "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c"                        \
    "923ac9cc3baca289e193548608b82801"
#define G1_TWICE                                                                              \
    "a572cbea904d67468808c8eb50a9450c9721db309128012543902d0ac358a62a"                        \
    "e28f75bb8f1c7c42c39a8c5529bf0f4e"
#define G2_TWICE                                                                              \
    "aa4edef9c1ed7f729f520e47730a124fd70662a904ba1074728114d1031e1572"                        \
    "c6c886f6b57ec72a6178288c47c33577"                                                        \
    "1638533957d540a9d2370f17cc7ed5863bc0b995b8825e0ee1ea1e1e4d00dbae"                        \
    "81f14b0bf3611b78c952aacab827a053"

static void check_known_point(const curve *c, const form *f, const point *p, const char *hex,
                              uint8_t flags) {
    uint8_t want[BYTES_MAX], got[BYTES_MAX];
    testpoint_unhex(want, f->n_bytes, hex);
    want[0] |= flags;
    assert_int_equal(encoding_bytes(c, f->g, f->compressed), f->n_bytes);
    encoding_store(c, f->g, got, p, f->compressed);
    assert_memory_equal(got, want, f->n_bytes);
    assert_accepted(c, f, want, p);
}

static void check_known(const curve *c, testrand *rnd) {
    static const char *const uncompressed[] = {G1_X G1_Y, G2_X G2_Y};
    static const char *const x[] = {G1_X, G2_X}, *const twice[] = {G1_TWICE, G2_TWICE};
    (void)rnd;
    for (size_t i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        point p;
        point_set_generator(c, f->g, &p);
        if (!f->compressed) {
            check_known_point(c, f, &p, uncompressed[f->g - 1], 0);
            continue;
        }
        check_known_point(c, f, &p, x[f->g - 1], 0x80); /* both generators: the smaller y */
        point_neg(c, f->g, &p, &p);
        check_known_point(c, f, &p, x[f->g - 1], 0xa0);
        point_neg(c, f->g, &p, &p);
        point_double(c, f->g, &p, &p);
        check_known_point(c, f, &p, twice[f->g - 1], 0);
    }
}

static void check_round_trip(const curve *c, testrand *rnd) {
    for (size_t i = 0; i < 8 * N_FORMS; i++) {
        const form *f = &forms[i % N_FORMS];
        uint8_t bytes[BYTES_MAX + 1], again[BYTES_MAX];
        point p, r;
        if (i % 8 < 4) {
            testpoint_in_subgroup(c, f->g, &p, rnd);
            encoding_store(c, f->g, bytes, &p, f->compressed);
            assert_accepted(c, f, bytes, &p);
            continue;
        }
        testpoint_on_curve(c, f->g, &p, rnd); /* without the subgroup check */
        encoding_store(c, f->g, bytes + 1, &p, f->compressed);
        assert_int_equal(
            encoding_load(c, f->g, &r, bytes + 1, f->compressed, ENCODING_CHECK_CURVE, NULL),
            CUZK_OK);
        assert_true(point_equal(c, f->g, &r, &p));
        encoding_store(c, f->g, again, &r, f->compressed);
        assert_memory_equal(again, bytes + 1, f->n_bytes);
        assert_refused(c, f, bytes + 1, ENCODING_CHECK_SUBGROUP, "subgroup");
    }
}

static void check_infinity(const curve *c, testrand *rnd) {
    (void)rnd;
    for (size_t i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        uint8_t bytes[BYTES_MAX], want[BYTES_MAX] = {0};
        point o;
        point_set_infinity(c, f->g, &o);
        want[0] = f->compressed ? 0xc0 : 0x40;
        encoding_store(c, f->g, bytes, &o, f->compressed);
        assert_memory_equal(bytes, want, f->n_bytes);
        assert_accepted(c, f, bytes, &o);
        for (size_t bit = 0; bit < 8 * f->n_bytes; bit++) {
            if (bit == 7 || bit == 6) continue; /* other flags: below */
            bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            assert_refused(c, f, bytes, ENCODING_CHECK_CURVE, "infinity");
            bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
    }
}

/* All eight values of the flags, on a finite point and on zeros. */
static void check_flags(const curve *c, testrand *rnd) {
    for (size_t i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        uint8_t bytes[BYTES_MAX], zeros[BYTES_MAX] = {0};
        point p, neg, o;
        testpoint_in_subgroup(c, f->g, &p, rnd);
        point_neg(c, f->g, &neg, &p);
        point_set_infinity(c, f->g, &o);
        encoding_store(c, f->g, bytes, &p, f->compressed);
        const unsigned own = bytes[0] & 0xe0u, low = bytes[0] & 0x1fu;
        for (unsigned flags = 0; flags < 0x100; flags += 0x20) {
            bytes[0] = (uint8_t)(flags | low);
            zeros[0] = (uint8_t)flags;
            const bool compressed = (flags & 0x80) != 0, infinity = (flags & 0x40) != 0,
                       larger = (flags & 0x20) != 0;
            if (compressed != f->compressed) {
                assert_refused(c, f, bytes, ENCODING_CHECK_CURVE, "expected");
                assert_refused(c, f, zeros, ENCODING_CHECK_CURVE, "expected");
            } else if (infinity) {
                assert_refused(c, f, bytes, ENCODING_CHECK_CURVE, "infinity");
                if (larger) {
                    assert_refused(c, f, zeros, ENCODING_CHECK_CURVE, "infinity");
                } else {
                    assert_accepted(c, f, zeros, &o);
                }
            } else if (larger && !compressed) {
                assert_refused(c, f, bytes, ENCODING_CHECK_CURVE, "sign flag");
            } else {
                assert_accepted(c, f, bytes, flags == own ? &p : &neg);
            }
        }
    }
}

static void check_not_canonical(const curve *c, testrand *rnd) {
    for (size_t i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        const size_t fe_bytes = c->fq.n_bytes;
        for (size_t at = 0; at < f->n_bytes; at += fe_bytes) {
            uint8_t bytes[BYTES_MAX];
            point p;
            testpoint_in_subgroup(c, f->g, &p, rnd);
            encoding_store(c, f->g, bytes, &p, f->compressed);
            const uint8_t flags = at == 0 ? bytes[0] & 0xe0 : 0;
            for (size_t j = 0; j < fe_bytes; j++) { /* q in place of a coordinate */
                const size_t k = fe_bytes - 1 - j;
                bytes[at + j] = (uint8_t)(c->fq.m.p[k / 8] >> (8 * (k % 8)));
            }
            bytes[at] |= flags;
            assert_refused(c, f, bytes, ENCODING_CHECK_CURVE, "not below");
            if (at > 0) { /* flags belong to the first byte only */
                encoding_store(c, f->g, bytes, &p, f->compressed);
                bytes[at] |= 0x20;
                assert_refused(c, f, bytes, ENCODING_CHECK_CURVE, "not below");
            }
        }
    }
}

static void check_off_curve(const curve *c, testrand *rnd) {
    for (size_t i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        uint8_t bytes[BYTES_MAX];
        point p, r;
        testpoint_in_subgroup(c, f->g, &p, rnd);
        encoding_store(c, f->g, bytes, &p, f->compressed);
        unsigned n_refused = 0;
        for (unsigned low = 0; low < 32; low++) { /* half of all x have no y */
            bytes[f->n_bytes - 1] = (uint8_t)(bytes[f->n_bytes - 1] ^ low);
            n_refused += encoding_load(c, f->g, &r, bytes, f->compressed, ENCODING_CHECK_CURVE,
                                       NULL) != CUZK_OK;
            bytes[f->n_bytes - 1] = (uint8_t)(bytes[f->n_bytes - 1] ^ low);
        }
        assert_in_range(n_refused, f->compressed ? 6 : 31, f->compressed ? 26 : 31);
    }
}

static void on_bls12_381(testpoint_check *check) {
    testrand rnd;
    curve c;
    testrand_init(&rnd);
    testpoint_curve(&c, CURVE_BLS12_381);
    check(&c, &rnd);
}

#define TEST(name, check)                                                                     \
    static void name(void **state) {                                                          \
        (void)state;                                                                          \
        on_bls12_381(check);                                                                  \
    }
TEST(test_encoding__matches_published_points, check_known)
TEST(test_encoding__round_trips, check_round_trip)
TEST(test_encoding__infinity_has_one_encoding, check_infinity)
TEST(test_encoding__every_wrong_flag_combination_is_refused, check_flags)
TEST(test_encoding__coordinate_above_modulus_is_refused, check_not_canonical)
TEST(test_encoding__point_off_the_curve_is_refused, check_off_curve)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encoding__matches_published_points),
        cmocka_unit_test(test_encoding__round_trips),
        cmocka_unit_test(test_encoding__infinity_has_one_encoding),
        cmocka_unit_test(test_encoding__every_wrong_flag_combination_is_refused),
        cmocka_unit_test(test_encoding__coordinate_above_modulus_is_refused),
        cmocka_unit_test(test_encoding__point_off_the_curve_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
