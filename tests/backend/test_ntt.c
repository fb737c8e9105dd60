/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu: domains and transforms, against the sums that define them. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"
#include "support/testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define W             CPU_FR_LIMBS
#define N_CONVENTIONS 2
#define TWIN_LOG_MAX  8u

/* One way of choosing roots and coset, on one curve, CPU level and number of threads. */
typedef struct setting {
    curve c;
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
} setting;

static const cuzk_backend *be(void) { return &cuzk_backend_cpu; }

static void setting_init(setting *s, curve_id id, cuzk_cpu_level level, unsigned n_threads) {
    curve_init(&s->c, id, level);
    assert_int_equal(cuzk_exec_create(&s->exec, n_threads, NULL), CUZK_OK);
    assert_int_equal(be()->open(&s->dev, &(cuzk_device_options){.index = 0}, s->exec, NULL),
                     CUZK_OK);
    assert_int_equal(be()->queue_open(&s->queue, s->dev, "test", NULL, NULL), CUZK_OK);
}

static void setting_fini(setting *s) {
    be()->queue_close(s->queue);
    be()->close(s->dev);
    cuzk_exec_destroy(s->exec);
}

static cuzk_cpu_level best_level(void) {
    cuzk_cpu_level level;
    assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
    return level;
}

typedef void setting_fn(setting *s);

static void for_all_settings(setting_fn *fn) {
    for (int id = 0; id < CURVE_COUNT; id++) {
        for (int level = 0; level <= (int)best_level(); level++) {
            for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
                setting s;
                setting_init(&s, (curve_id)id, (cuzk_cpu_level)level, n_threads);
                fn(&s);
                setting_fini(&s);
            }
        }
    }
}

/* Convention 0: snarkjs (non-residue 5, odd coset); 1: bellperson (7, coset of 7). */
static cuzk_domain *domain_of(setting *s, unsigned log_n, int convention) {
    cuzk_domain *d = NULL;
    fe seven;
    field_set_u64(&s->c.fr, seven.l, 7);
    cuzk_err err;
    cuzk_status status = be()->domain_open(&d, s->dev, &s->c.fr, log_n, convention ? 7 : 5,
                                           convention ? &seven : NULL, &err);
    if (status != CUZK_OK) fail_msg("%s: %s", err.where, err.text);
    return d;
}

static void coset_of(const setting *s, unsigned log_n, int convention, fe *w, fe *g) {
    const field *fr = &s->c.fr;
    field_root_of_unity(fr, w->l, convention ? 7 : 5, log_n);
    if (convention)
        field_set_u64(fr, g->l, 7);
    else
        field_root_of_unity(fr, g->l, 5, log_n + 1);
}

static cuzk_buf *random_buf(setting *s, testrand *t, size_t n) {
    cuzk_buf *buf;
    assert_int_equal(
        be()->buf_alloc(&buf, s->dev, CUZK_SPACE_DEVICE, n * CPU_FR_BYTES, false, NULL),
        CUZK_OK);
    for (size_t i = 0; i < n; i++)
        testrand_fe(t, &s->c.fr, (uint64_t *)(void *)buf->p + i * W);
    return buf;
}

static cuzk_buf *copy_buf(setting *s, const cuzk_buf *from) {
    cuzk_buf *buf;
    assert_int_equal(
        be()->buf_alloc(&buf, s->dev, CUZK_SPACE_DEVICE, from->n_bytes, true, NULL), CUZK_OK);
    memcpy(buf->p, from->p, from->n_bytes);
    return buf;
}

static uint64_t *words(const cuzk_buf *buf) { return (uint64_t *)(void *)buf->p; }

static void transform(setting *s, const cuzk_domain *d, cuzk_ntt_kind kind, bool brp,
                      cuzk_buf *buf) {
    cuzk_ntt_job job = {.domain = d, .kind = kind, .brp = brp, .data = {buf, 0}};
    assert_int_equal(be()->ntt(s->queue, &job, NULL), CUZK_OK);
    assert_int_equal(be()->queue_wait(s->queue, NULL), CUZK_OK);
}

static size_t brp(size_t i, unsigned log_n) {
    size_t r = 0;
    for (unsigned b = 0; b < log_n; b++) r |= (i >> b & 1) << (log_n - 1 - b);
    return r;
}

/* Horner's rule. */
static void evaluate_at(const field *fr, uint64_t *r, const uint64_t *coefficients, size_t n,
                        const fe *x) {
    field_set_zero(fr, r);
    for (size_t k = n; k-- > 0;) {
        field_mul(fr, r, r, x->l);
        field_add(fr, r, r, coefficients + k * W);
    }
}

/* Values at points of a transform in `kind`'s domain against its coefficients. */
static void assert_values(const setting *s, unsigned log_n, int convention, bool on_coset,
                          const uint64_t *coefficients, bool coefficients_brp,
                          const uint64_t *values, size_t step) {
    const field *fr = &s->c.fr;
    const size_t n = (size_t)1 << log_n;
    uint64_t *natural;
    fe w, g, x;
    assert_int_equal(cuzk_alloc(&natural, n, CPU_FR_BYTES, NULL), CUZK_OK);
    for (size_t k = 0; k < n; k++) {
        memcpy(natural + k * W, coefficients + (coefficients_brp ? brp(k, log_n) : k) * W,
               CPU_FR_BYTES);
    }
    coset_of(s, log_n, convention, &w, &g);
    for (size_t j = 0; j < n; j += step) {
        const uint64_t exponent = j;
        uint64_t value[W];
        field_pow(fr, x.l, w.l, &exponent, 1);
        if (on_coset) field_mul(fr, x.l, x.l, g.l);
        evaluate_at(fr, value, natural, n, &x);
        assert_memory_equal(value, values + j * W, CPU_FR_BYTES);
    }
    cuzk_free(natural);
}

static bool is_inverse(cuzk_ntt_kind kind) {
    return kind == CUZK_NTT_INVERSE || kind == CUZK_NTT_COSET_INVERSE;
}

static void check_kind(setting *s, testrand *t, unsigned log_n, int convention,
                       cuzk_ntt_kind kind, bool in_brp, size_t step) {
    cuzk_domain *d = domain_of(s, log_n, convention);
    cuzk_buf *in = random_buf(s, t, (size_t)1 << log_n), *out = copy_buf(s, in);
    transform(s, d, kind, in_brp, out);
    const cuzk_buf *coefficients = is_inverse(kind) ? out : in;
    const cuzk_buf *values = is_inverse(kind) ? in : out;
    const bool on_coset = kind == CUZK_NTT_COSET_FORWARD || kind == CUZK_NTT_COSET_INVERSE;
    assert_values(s, log_n, convention, on_coset, words(coefficients), in_brp, words(values),
                  step);
    be()->buf_free(in);
    be()->buf_free(out);
    be()->domain_close(d);
}

static void check_twin(setting *s) {
    testrand t;
    testrand_init(&t);
    for (unsigned log_n = 0; log_n <= TWIN_LOG_MAX; log_n++) {
        for (int convention = 0; convention < N_CONVENTIONS; convention++) {
            for (int kind = CUZK_NTT_INVERSE; kind <= CUZK_NTT_COSET_INVERSE; kind++) {
                for (int in_brp = 0; in_brp < 2; in_brp++) {
                    check_kind(s, &t, log_n, convention, (cuzk_ntt_kind)kind, in_brp, 1);
                }
            }
        }
    }
}

static void test_ntt__is_the_sum_of_its_definition_when_small(void **state) {
    (void)state;
    for_all_settings(check_twin);
}

/* Sizes with tiles, blocks, one pass and two passes, at a few points each. */
static void check_points(setting *s) {
    testrand t;
    testrand_init(&t);
    for (unsigned log_n = TWIN_LOG_MAX + 1; log_n <= 15; log_n++) {
        for (int convention = 0; convention < N_CONVENTIONS; convention++) {
            const size_t step = ((size_t)1 << log_n) / 4 + 1;
            check_kind(s, &t, log_n, convention, CUZK_NTT_INVERSE, true, step);
            check_kind(s, &t, log_n, convention, CUZK_NTT_COSET_FORWARD, true, step);
        }
    }
}

static void test_ntt__is_the_value_at_the_points_when_cut_in_passes(void **state) {
    (void)state;
    for_all_settings(check_points);
}

static void round_trip(setting *s, const cuzk_domain *d, testrand *t, cuzk_ntt_kind there,
                       cuzk_ntt_kind back, bool in_brp) {
    cuzk_buf *in = random_buf(s, t, d->n), *out = copy_buf(s, in);
    transform(s, d, there, in_brp, out);
    transform(s, d, back, in_brp, out);
    assert_memory_equal(in->p, out->p, in->n_bytes);
    be()->buf_free(in);
    be()->buf_free(out);
}

static void check_round_trips(setting *s) {
    testrand t;
    testrand_init(&t);
    for (unsigned log_n = 0; log_n <= 14; log_n += log_n < 10 ? 1 : 2) {
        for (int convention = 0; convention < N_CONVENTIONS; convention++) {
            cuzk_domain *d = domain_of(s, log_n, convention);
            const bool in_brp = log_n % 2 == 0;
            round_trip(s, d, &t, CUZK_NTT_INVERSE, CUZK_NTT_FORWARD, in_brp);
            round_trip(s, d, &t, CUZK_NTT_COSET_FORWARD, CUZK_NTT_COSET_INVERSE, in_brp);
            be()->domain_close(d);
        }
    }
}

static void test_ntt__comes_back_when_inverted(void **state) {
    (void)state;
    for_all_settings(check_round_trips);
}

static void test_ntt__comes_back_when_in_two_passes(void **state) {
    (void)state;
    setting s;
    testrand t;
    testrand_init(&t);
    setting_init(&s, CURVE_BN254, best_level(), 129); /* so many threads want small blocks */
    cuzk_domain *d = domain_of(&s, 16, 1);
    round_trip(&s, d, &t, CUZK_NTT_INVERSE, CUZK_NTT_FORWARD, false);
    be()->domain_close(d);
    d = domain_of(&s, 17, 0);
    round_trip(&s, d, &t, CUZK_NTT_INVERSE, CUZK_NTT_FORWARD, true);
    round_trip(&s, d, &t, CUZK_NTT_COSET_FORWARD, CUZK_NTT_COSET_INVERSE, false);
    check_kind(&s, &t, 17, 0, CUZK_NTT_INVERSE, true, 40000);
    check_kind(&s, &t, 17, 1, CUZK_NTT_COSET_FORWARD, true, 40000);
    be()->domain_close(d);
    setting_fini(&s);
}

static void test_ntt__is_linear_and_the_same_when_threads_differ(void **state) {
    (void)state;
    testrand t;
    testrand_init(&t);
    setting s, s3;
    setting_init(&s, CURVE_BLS12_381, best_level(), 1);
    setting_init(&s3, CURVE_BLS12_381, best_level(), 3);
    const field *fr = &s.c.fr;
    const size_t n = (size_t)1 << 13;
    cuzk_domain *d = domain_of(&s, 13, 1);
    cuzk_buf *a = random_buf(&s, &t, n), *b = random_buf(&s, &t, n), *sum = copy_buf(&s, a);
    for (size_t i = 0; i < n; i++) {
        field_add(fr, words(sum) + i * W, words(a) + i * W, words(b) + i * W);
    }
    transform(&s, d, CUZK_NTT_COSET_FORWARD, true, a);
    transform(&s, d, CUZK_NTT_COSET_FORWARD, true, b);
    transform(&s3, d, CUZK_NTT_COSET_FORWARD, true, sum);
    for (size_t i = 0; i < n; i++) {
        field_add(fr, words(a) + i * W, words(a) + i * W, words(b) + i * W);
    }
    assert_memory_equal(a->p, sum->p, n * CPU_FR_BYTES);
    be()->buf_free(a);
    be()->buf_free(b);
    be()->buf_free(sum);
    be()->domain_close(d);
    setting_fini(&s);
    setting_fini(&s3);
}

static void test_ntt__leaves_its_neighbours_when_in_the_middle_of_a_buffer(void **state) {
    (void)state;
    testrand t;
    testrand_init(&t);
    setting s;
    setting_init(&s, CURVE_BN254, best_level(), 2);
    const size_t n = (size_t)1 << 10;
    cuzk_domain *d = domain_of(&s, 10, 0);
    cuzk_buf *whole = random_buf(&s, &t, n + 2), *before = copy_buf(&s, whole);
    cuzk_buf *part = random_buf(&s, &t, n);
    memcpy(part->p, whole->p + CPU_FR_BYTES, n * CPU_FR_BYTES);
    cuzk_ntt_job job = {d, CUZK_NTT_INVERSE, true, {whole, CPU_FR_BYTES}};
    assert_int_equal(be()->ntt(s.queue, &job, NULL), CUZK_OK);
    transform(&s, d, CUZK_NTT_INVERSE, true, part);
    const size_t last = (n + 1) * CPU_FR_BYTES;
    assert_memory_equal(whole->p, before->p, CPU_FR_BYTES);
    assert_memory_equal(whole->p + CPU_FR_BYTES, part->p, n * CPU_FR_BYTES);
    assert_memory_equal(whole->p + last, before->p + last, CPU_FR_BYTES);
    be()->buf_free(whole);
    be()->buf_free(before);
    be()->buf_free(part);
    be()->domain_close(d);
    setting_fini(&s);
}

static void assert_refused(setting *s, const cuzk_domain *d, cuzk_buf *buf, size_t offset) {
    cuzk_err err;
    cuzk_ntt_job job = {d, CUZK_NTT_INVERSE, true, {buf, offset}};
    assert_int_equal(be()->ntt(s->queue, &job, &err), CUZK_ERR_ARG);
    assert_string_equal(err.where, "backend.cpu");
}

static void test_ntt__is_refused_when_the_slice_does_not_fit(void **state) {
    (void)state;
    testrand t;
    testrand_init(&t);
    setting s;
    setting_init(&s, CURVE_BN254, best_level(), 1);
    cuzk_domain *d = domain_of(&s, 4, 0);
    cuzk_buf *buf = random_buf(&s, &t, 16), *wrapped;
    assert_int_equal(be()->buf_wrap(&wrapped, s.dev, buf->p, buf->n_bytes, NULL), CUZK_OK);
    assert_refused(&s, d, buf, 1);
    assert_refused(&s, d, buf, CPU_FR_BYTES);
    assert_refused(&s, d, buf, 16 * CPU_FR_BYTES + 8);
    assert_refused(&s, d, buf, SIZE_MAX - 7);
    assert_refused(&s, d, NULL, 0);
    assert_refused(&s, d, wrapped, 0);
    be()->domain_close(d);
    d = domain_of(&s, 3, 0);
    assert_refused(&s, d, buf, 4);
    be()->buf_free(buf);
    be()->buf_free(wrapped);
    be()->domain_close(d);
    setting_fini(&s);
}

static void assert_no_domain(setting *s, unsigned log_n, uint64_t nonresidue, const fe *coset,
                             const char *text) {
    cuzk_domain *d = NULL;
    cuzk_err err;
    assert_int_equal(be()->domain_open(&d, s->dev, &s->c.fr, log_n, nonresidue, coset, &err),
                     CUZK_ERR_ARG);
    assert_string_equal(err.text, text);
    assert_null(d);
}

static void test_domain__is_refused_when_the_field_has_none(void **state) {
    (void)state;
    setting s;
    setting_init(&s, CURVE_BN254, best_level(), 1);
    fe zero;
    field_set_zero(&s.c.fr, zero.l);
    assert_no_domain(&s, 28, 5, NULL,
                     "odd coset of 2^28 elements, the field has none above 2^27");
    assert_no_domain(&s, 29, 5, NULL,
                     "domain of 2^29 elements, the field has none above 2^28");
    assert_no_domain(&s, UINT32_MAX, 5, NULL,
                     "domain of 2^4294967295 elements, the field has none above 2^28");
    assert_no_domain(&s, 4, 4, NULL, "4 is a square, expected a quadratic non-residue");
    assert_no_domain(&s, 4, 0, NULL, "0 is a square, expected a quadratic non-residue");
    assert_no_domain(&s, 4, 5, &zero, "the coset's generator is 0");
    setting_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ntt__is_the_sum_of_its_definition_when_small),
        cmocka_unit_test(test_ntt__is_the_value_at_the_points_when_cut_in_passes),
        cmocka_unit_test(test_ntt__comes_back_when_inverted),
        cmocka_unit_test(test_ntt__comes_back_when_in_two_passes),
        cmocka_unit_test(test_ntt__is_linear_and_the_same_when_threads_differ),
        cmocka_unit_test(test_ntt__leaves_its_neighbours_when_in_the_middle_of_a_buffer),
        cmocka_unit_test(test_ntt__is_refused_when_the_slice_does_not_fit),
        cmocka_unit_test(test_domain__is_refused_when_the_field_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
