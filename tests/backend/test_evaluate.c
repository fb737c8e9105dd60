/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu: evaluation of matrices, against one loop over the triplets. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"
#include "support/testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define W CPU_FR_LIMBS

/* A matrix and a witness with room for both results, on one setting. */
typedef struct fixture {
    curve c;
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
    testrand t;
    uint8_t *triplets;
    matrix_view m;
    cuzk_buf *w, *a, *b;
} fixture;

static const cuzk_backend *be(void) { return &cuzk_backend_cpu; }

static uint64_t *words(const cuzk_buf *buf) { return (uint64_t *)(void *)buf->p; }

static cuzk_buf *new_buf(const fixture *f, size_t n) {
    cuzk_buf *buf;
    assert_int_equal(
        be()->buf_alloc(&buf, f->dev, CUZK_SPACE_DEVICE, n * CPU_FR_BYTES, true, NULL),
        CUZK_OK);
    memset(buf->p, 0xA5, n * CPU_FR_BYTES);
    return buf;
}

static void set_triplet(fixture *f, uint64_t i, uint32_t matrix, uint32_t row,
                        uint32_t column) {
    uint8_t *t = f->triplets + i * MATRIX_TRIPLET_BYTES;
    uint64_t value[LIMBS_MAX];
    store_le32(t, matrix);
    store_le32(t + 4, row);
    store_le32(t + 8, column);
    testrand_fe(&f->t, &f->c.fr, value);
    for (unsigned k = 0; k < W; k++) store_le64(t + 12 + 8 * k, value[k]);
}

/* Rows in order, A before B in each, gaps and long rows among them, as key writers do it. */
static void fill_sorted(fixture *f) {
    const uint64_t n = f->m.n_triplets;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t row = i * f->m.n_rows / n;
        if (row % 7 == 3) row--; /* an empty row after a longer one */
        if (row > f->m.n_rows / 2 && row < f->m.n_rows / 2 + 2000) row = f->m.n_rows / 2;
        set_triplet(f, i, (uint32_t)(i % 2), (uint32_t)row,
                    (uint32_t)testrand_below(&f->t, f->m.n_columns));
    }
}

static void shuffle(fixture *f) {
    for (uint64_t i = f->m.n_triplets; i > 1; i--) {
        uint8_t swap[MATRIX_TRIPLET_BYTES];
        uint8_t *a = f->triplets + (i - 1) * MATRIX_TRIPLET_BYTES;
        uint8_t *b = f->triplets + testrand_below(&f->t, i) * MATRIX_TRIPLET_BYTES;
        memcpy(swap, a, sizeof swap);
        memcpy(a, b, sizeof swap);
        memcpy(b, swap, sizeof swap);
    }
}

static void fixture_init(fixture *f, curve_id id, unsigned n_threads, uint64_t n_triplets,
                         uint64_t n_rows, uint32_t n_columns) {
    cuzk_cpu_level level;
    assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
    curve_init(&f->c, id, level);
    testrand_init(&f->t);
    assert_int_equal(cuzk_exec_create(&f->exec, n_threads, NULL), CUZK_OK);
    assert_int_equal(be()->open(&f->dev, &(cuzk_device_options){.index = 0}, f->exec, NULL),
                     CUZK_OK);
    assert_int_equal(be()->queue_open(&f->queue, f->dev, "test", NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&f->triplets, n_triplets, MATRIX_TRIPLET_BYTES, NULL),
                     CUZK_OK);
    f->m = (matrix_view){f->triplets, n_triplets, n_rows, n_columns};
    f->w = new_buf(f, n_columns);
    f->a = new_buf(f, n_rows);
    f->b = new_buf(f, n_rows);
    for (uint32_t i = 0; i < n_columns; i++) {
        uint64_t *value = words(f->w) + (size_t)i * W;
        testrand_fe(&f->t, &f->c.fr, value); /* any value below r will do as canonical */
        if (i % 3 == 0) memset(value, 0, CPU_FR_BYTES);
        if (i % 6 == 0) value[0] = 1;
    }
    if (n_triplets > 0) fill_sorted(f);
}

static void fixture_fini(fixture *f) {
    be()->buf_free(f->w);
    be()->buf_free(f->a);
    be()->buf_free(f->b);
    cuzk_free(f->triplets);
    be()->queue_close(f->queue);
    be()->close(f->dev);
    cuzk_exec_destroy(f->exec);
}

static cuzk_status evaluate_slices(fixture *f, cuzk_slice w, cuzk_slice a, cuzk_slice b,
                                   cuzk_err *err) {
    cuzk_matrix *matrix;
    CUZK_TRY(be()->matrix_open(&matrix, f->queue, &f->c.fr, &f->m, err));
    const cuzk_status st =
        be()->evaluate(f->queue, &(cuzk_evaluate_job){matrix, w, a, b}, err);
    be()->matrix_close(matrix);
    return st;
}

static cuzk_status evaluate(fixture *f, cuzk_err *err) {
    return evaluate_slices(f, (cuzk_slice){f->w, 0}, (cuzk_slice){f->a, 0},
                           (cuzk_slice){f->b, 0}, err);
}

static void assert_is_the_plain_loop(fixture *f) {
    const field *fr = &f->c.fr;
    const size_t n_words = (size_t)f->m.n_rows * W;
    uint64_t *expected[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cuzk_zalloc(&expected[i], n_words, sizeof(uint64_t), NULL), CUZK_OK);
    }
    for (uint64_t i = 0; i < f->m.n_triplets; i++) {
        const uint8_t *t = f->triplets + i * MATRIX_TRIPLET_BYTES;
        uint64_t value[W];
        for (unsigned k = 0; k < W; k++) value[k] = load_le64(t + 12 + 8 * k);
        field_mul(fr, value, value, words(f->w) + (size_t)load_le32(t + 8) * W);
        uint64_t *sum = expected[load_le32(t)] + (size_t)load_le32(t + 4) * W;
        field_add(fr, sum, sum, value);
    }
    cuzk_err err;
    if (evaluate(f, &err) != CUZK_OK) fail_msg("%s: %s", err.where, err.text);
    assert_memory_equal(f->a->p, expected[0], n_words * sizeof(uint64_t));
    assert_memory_equal(f->b->p, expected[1], n_words * sizeof(uint64_t));
    cuzk_free(expected[0]);
    cuzk_free(expected[1]);
}

typedef void fixture_fn(fixture *f);

static void for_all_sizes(fixture_fn *fn) {
    static const uint64_t n_triplets[] = {0, 1, 63, 64, 65, 1000, 30000};
    for (size_t i = 0; i < sizeof n_triplets / sizeof n_triplets[0]; i++) {
        for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
            fixture f;
            fixture_init(&f, i % 2 ? CURVE_BLS12_381 : CURVE_BN254, n_threads, n_triplets[i],
                         8192, 500);
            fn(&f);
            fixture_fini(&f);
        }
    }
}

static void test_evaluate__is_the_plain_loop_when_rows_are_sorted(void **state) {
    (void)state;
    for_all_sizes(assert_is_the_plain_loop);
}

static void check_shuffled(fixture *f) {
    shuffle(f);
    assert_is_the_plain_loop(f);
}

static void test_evaluate__is_the_plain_loop_when_rows_are_shuffled(void **state) {
    (void)state;
    for_all_sizes(check_shuffled);
}

/* Nearly sorted: the disorder is inside a piece, or one row far from home. */
static void test_evaluate__is_the_plain_loop_when_one_row_is_out_of_order(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 30000; i += 4999) {
        fixture f;
        fixture_init(&f, CURVE_BN254, 3, 30000, 8192, 500);
        set_triplet(&f, i, 0, 8191, 1);
        set_triplet(&f, 29999 - i, 1, 0, 2);
        assert_is_the_plain_loop(&f);
        fixture_fini(&f);
    }
}

static void test_evaluate__adds_up_when_a_place_is_named_again_and_again(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, CURVE_BN254, 3, 20000, 4, 5);
    for (uint64_t i = 0; i < f.m.n_triplets; i++) set_triplet(&f, i, 1, 2, 3);
    assert_is_the_plain_loop(&f);
    fixture_fini(&f);
}

static void test_evaluate__reads_a_witness_at_any_alignment(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, CURVE_BN254, 2, 5000, 1024, 100);
    uint8_t *copy;
    cuzk_buf *wrapped;
    assert_int_equal(cuzk_alloc(&copy, f.w->n_bytes + 3, 1, NULL), CUZK_OK);
    memcpy(copy + 3, f.w->p, f.w->n_bytes);
    assert_is_the_plain_loop(&f);
    cuzk_buf *a = new_buf(&f, 1024), *b = new_buf(&f, 1024);
    assert_int_equal(be()->buf_wrap(&wrapped, f.dev, copy, f.w->n_bytes + 3, NULL), CUZK_OK);
    assert_int_equal(evaluate_slices(&f, (cuzk_slice){wrapped, 3}, (cuzk_slice){a, 0},
                                     (cuzk_slice){b, 0}, NULL),
                     CUZK_OK);
    assert_memory_equal(a->p, f.a->p, a->n_bytes);
    assert_memory_equal(b->p, f.b->p, b->n_bytes);
    be()->buf_free(a);
    be()->buf_free(b);
    be()->buf_free(wrapped);
    cuzk_free(copy);
    fixture_fini(&f);
}

static void assert_fault(fixture *f, const char *text) {
    cuzk_err err;
    assert_int_equal(evaluate(f, &err), CUZK_ERR_FORMAT);
    assert_string_equal(err.where, "circuit.sparse");
    assert_string_equal(err.text, text);
}

typedef void fault_fn(uint8_t *triplet, const field *fr);
static void no_matrix(uint8_t *t, const field *fr) {
    (void)fr;
    store_le32(t, 2);
}
static void no_row(uint8_t *t, const field *fr) {
    (void)fr;
    store_le32(t + 4, 4096);
}
static void no_column(uint8_t *t, const field *fr) {
    (void)fr;
    store_le32(t + 8, INT32_MAX);
}
static void value_is_r(uint8_t *t, const field *fr) {
    for (unsigned k = 0; k < W; k++) store_le64(t + 12 + 8 * k, fr->m.p[k]);
}
static void value_is_all_ones(uint8_t *t, const field *fr) {
    (void)fr;
    memset(t + 12, 0xFF, CPU_FR_BYTES);
}

static void check_fault(fault_fn *fault, const char *what) {
    static const uint64_t places[] = {0, 1, 12345, 19998, 19999};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
            fixture f;
            char text[200];
            fixture_init(&f, CURVE_BN254, n_threads, 20000, 4096, 300);
            fault(f.triplets + places[i] * MATRIX_TRIPLET_BYTES, &f.c.fr);
            if (i == 2) value_is_r(f.triplets + 19999 * MATRIX_TRIPLET_BYTES, &f.c.fr);
            (void)snprintf(text, sizeof text, "coefficient %llu: %s",
                           (unsigned long long)places[i], what);
            assert_fault(&f, text);
            fixture_fini(&f);
        }
    }
}

static void test_evaluate__names_the_first_fault_when_a_triplet_is_bad(void **state) {
    (void)state;
    check_fault(no_matrix, "matrix 2, expected 0 (A) or 1 (B)");
    check_fault(no_row, "constraint 4096, expected below 4096");
    check_fault(no_column, "signal 2147483647, expected below 300");
    check_fault(value_is_r, "its value is not below the field's modulus");
    check_fault(value_is_all_ones, "its value is not below the field's modulus");
}

static void test_evaluate__takes_a_value_when_it_is_one_below_the_modulus(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, CURVE_BLS12_381, 1, 10, 16, 4);
    value_is_r(f.triplets, &f.c.fr);
    f.triplets[12]--; /* r is odd */
    assert_is_the_plain_loop(&f);
    fixture_fini(&f);
}

static void test_evaluate__is_refused_when_an_operand_is_short(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, CURVE_BN254, 1, 10, 16, 4);
    cuzk_buf *const good[3] = {f.w, f.a, f.b};
    for (int i = 0; i < 3; i++) {
        cuzk_slice s[3] = {{good[0], 0}, {good[1], 0}, {good[2], 0}};
        s[i].offset = 8;
        assert_int_equal(evaluate_slices(&f, s[0], s[1], s[2], NULL), CUZK_ERR_ARG);
    }
    f.m.n_rows = UINT64_MAX / CPU_FR_BYTES + 2;
    assert_int_equal(evaluate(&f, NULL), CUZK_ERR_ARG);
    fixture_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evaluate__is_the_plain_loop_when_rows_are_sorted),
        cmocka_unit_test(test_evaluate__is_the_plain_loop_when_rows_are_shuffled),
        cmocka_unit_test(test_evaluate__is_the_plain_loop_when_one_row_is_out_of_order),
        cmocka_unit_test(test_evaluate__adds_up_when_a_place_is_named_again_and_again),
        cmocka_unit_test(test_evaluate__reads_a_witness_at_any_alignment),
        cmocka_unit_test(test_evaluate__names_the_first_fault_when_a_triplet_is_bad),
        cmocka_unit_test(test_evaluate__takes_a_value_when_it_is_one_below_the_modulus),
        cmocka_unit_test(test_evaluate__is_refused_when_an_operand_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
