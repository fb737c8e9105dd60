/* SPDX-License-Identifier: Apache-2.0 */
/* circuit/sparse: who is told about rows, and when. That the sums are right is tested where a
 * backend uses them (test_evaluate). */
#define _POSIX_C_SOURCE 200809L
#include "circuit/sparse.h"

#include "base/alloc.h"
#include "math/curves/curve.h"
#include "testrand.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { W = 4, FR_BYTES = 32, N_COLUMNS = 100 };

typedef struct fixture {
    curve c;
    testrand rnd;
    cuzk_exec *exec;
    uint8_t *triplets, *w;
    matrix_view m;
    uint64_t *a, *b, *expected_a, *expected_b;
    /* what rows_done was told */
    pthread_t caller;
    uint64_t n_calls, n_begun_anew, next_row, stop_at_call;
} fixture;

static void set_triplet(fixture *f, uint64_t i, uint64_t row) {
    uint8_t *t = f->triplets + i * MATRIX_TRIPLET_BYTES;
    uint64_t value[LIMBS_MAX];
    store_le32(t, (uint32_t)testrand_below(&f->rnd, 2));
    store_le32(t + 4, (uint32_t)row);
    store_le32(t + 8, (uint32_t)testrand_below(&f->rnd, N_COLUMNS));
    testrand_fe(&f->rnd, &f->c.fr, value);
    for (unsigned k = 0; k < W; k++) store_le64(t + 12 + 8 * k, value[k]);
}

/* Triplets in the first n_used of the rows. */
static void fixture_init_part(fixture *f, unsigned n_threads, uint64_t n_triplets,
                              uint64_t n_used, uint64_t n_rows) {
    cuzk_cpu_level level;
    *f = (fixture){.caller = pthread_self(), .stop_at_call = UINT64_MAX};
    assert_int_equal(cuzk_cpu_select(&level, NULL, NULL), CUZK_OK);
    curve_init(&f->c, CURVE_BN254, level);
    testrand_init(&f->rnd);
    assert_int_equal(cuzk_exec_create(&f->exec, n_threads, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&f->triplets, n_triplets, MATRIX_TRIPLET_BYTES, NULL),
                     CUZK_OK);
    assert_int_equal(cuzk_alloc(&f->w, N_COLUMNS, FR_BYTES, NULL), CUZK_OK);
    uint64_t **const out[] = {&f->a, &f->b, &f->expected_a, &f->expected_b};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cuzk_alloc(out[i], n_rows, FR_BYTES, NULL), CUZK_OK);
        memset(*out[i], 0xA5, n_rows * FR_BYTES);
    }
    f->m = (matrix_view){f->triplets, n_triplets, n_rows, N_COLUMNS};
    for (uint64_t i = 0; i < n_triplets; i++) set_triplet(f, i, i * n_used / n_triplets);
    for (uint32_t i = 0; i < N_COLUMNS; i++) {
        uint64_t value[LIMBS_MAX];
        testrand_fe(&f->rnd, &f->c.fr, value); /* any value below r will do as canonical */
        memcpy(f->w + i * FR_BYTES, value, FR_BYTES);
    }
}

static void fixture_init(fixture *f, unsigned n_threads, uint64_t n_triplets,
                         uint64_t n_rows) {
    fixture_init_part(f, n_threads, n_triplets, n_rows, n_rows);
}

static void fixture_fini(fixture *f) {
    cuzk_exec_destroy(f->exec);
    cuzk_free(f->triplets);
    cuzk_free(f->w);
    cuzk_free(f->a);
    cuzk_free(f->b);
    cuzk_free(f->expected_a);
    cuzk_free(f->expected_b);
}

static void assert_rows_are_done(const fixture *f, uint64_t first_row, uint64_t end_row) {
    const size_t n_bytes = (size_t)(end_row - first_row) * FR_BYTES;
    assert_memory_equal(f->a + first_row * W, f->expected_a + first_row * W, n_bytes);
    assert_memory_equal(f->b + first_row * W, f->expected_b + first_row * W, n_bytes);
}

static cuzk_status take_rows(void *arg, uint64_t first_row, uint64_t end_row, cuzk_err *err) {
    fixture *f = arg;
    assert_true(pthread_equal(pthread_self(), f->caller));
    assert_true(first_row < end_row && end_row <= f->m.n_rows);
    if (first_row != f->next_row) {
        assert_int_equal(first_row, 0);
        f->n_begun_anew++;
    }
    f->next_row = end_row;
    if (f->n_calls++ == f->stop_at_call)
        return cuzk_fail(err, CUZK_ERR_DEVICE, "test", "stopped");
    return CUZK_OK;
}

static cuzk_status take_final_rows(void *arg, uint64_t first_row, uint64_t end_row,
                                   cuzk_err *err) {
    assert_rows_are_done(arg, first_row, end_row);
    return take_rows(arg, first_row, end_row, err);
}

static void expect(fixture *f) {
    assert_int_equal(sparse_evaluate(f->expected_a, f->expected_b, &f->c.fr, &f->m, f->w,
                                     f->exec, NULL, NULL, NULL),
                     CUZK_OK);
}

static cuzk_status evaluate(fixture *f, sparse_rows_fn *rows_done, cuzk_err *err) {
    return sparse_evaluate(f->a, f->b, &f->c.fr, &f->m, f->w, f->exec, rows_done, f, err);
}

static void test_sparse__tells_of_all_rows_in_order_when_they_are_done(void **state) {
    static const uint64_t sizes[][2] = {{0, 1}, {1, 5}, {5000, 100}, {40000, 1 << 20}};
    (void)state;
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            fixture f;
            fixture_init(&f, n_threads, sizes[i][0], sizes[i][1]);
            expect(&f);
            assert_int_equal(evaluate(&f, take_final_rows, NULL), CUZK_OK);
            assert_int_equal(f.next_row, f.m.n_rows);
            assert_int_equal(f.n_begun_anew, 0);
            assert_true(f.n_calls >= 1);
            if (i == 3 && n_threads == 1) assert_int_equal(f.n_calls, 4); /* of 2^18 rows */
            fixture_fini(&f);
        }
    }
}

/* The rows behind the last triplet are as many, or one, or none at all. */
static void test_sparse__clears_the_rows_behind_the_last_triplet(void **state) {
    static const uint64_t n_used[] = {1 << 19, (1 << 20) - 1, 1 << 20, 1};
    (void)state;
    for (size_t i = 0; i < sizeof n_used / sizeof n_used[0]; i++) {
        fixture f;
        static const uint8_t zeros[FR_BYTES];
        fixture_init_part(&f, 2, 40000, n_used[i], 1 << 20);
        assert_int_equal(evaluate(&f, take_rows, NULL), CUZK_OK);
        assert_int_equal(f.next_row, f.m.n_rows);
        assert_int_equal(f.n_begun_anew, 0);
        for (uint64_t row = n_used[i]; row < f.m.n_rows; row++) {
            if (memcmp(f.a + row * W, zeros, FR_BYTES) ||
                memcmp(f.b + row * W, zeros, FR_BYTES))
                fail_msg("row %llu is not zero", (unsigned long long)row);
        }
        fixture_fini(&f);
    }
}

static void test_sparse__tells_nothing_when_there_are_no_rows(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, 2, 0, 0);
    assert_int_equal(evaluate(&f, take_rows, NULL), CUZK_OK);
    assert_int_equal(f.n_calls, 0);
    fixture_fini(&f);
}

/* The disorder comes after rows have been told of, or is seen before. */
static void test_sparse__tells_of_all_rows_at_last_when_they_are_out_of_order(void **state) {
    static const uint64_t places[] = {20001, 39999};
    (void)state;
    for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
        for (size_t i = 0; i < 2; i++) {
            fixture f;
            fixture_init(&f, n_threads, 40000, 1 << 20);
            set_triplet(&f, places[i], 7);
            expect(&f);
            assert_int_equal(evaluate(&f, take_rows, NULL), CUZK_OK);
            assert_rows_are_done(&f, 0, f.m.n_rows);
            assert_int_equal(f.next_row, f.m.n_rows);
            assert_int_equal(f.n_begun_anew, f.n_calls > 1);
            fixture_fini(&f);
        }
    }
}

static void test_sparse__stops_when_it_is_told_to(void **state) {
    (void)state;
    for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
        for (uint64_t call = 0; call < 2; call++) {
            fixture f;
            cuzk_err err;
            fixture_init(&f, n_threads, 40000, 1 << 20);
            f.stop_at_call = n_threads == 1 ? call : 0; /* others may do all in one call */
            assert_int_equal(evaluate(&f, take_rows, &err), CUZK_ERR_DEVICE);
            assert_string_equal(err.text, "stopped");
            assert_int_equal(f.n_calls, f.stop_at_call + 1);
            fixture_fini(&f);
        }
    }
}

static void test_sparse__names_the_bad_triplet_when_rows_were_told_of(void **state) {
    (void)state;
    fixture f;
    cuzk_err err;
    fixture_init(&f, 1, 40000, 1 << 20);
    store_le32(f.triplets + 39990 * MATRIX_TRIPLET_BYTES + 8, N_COLUMNS);
    assert_int_equal(evaluate(&f, take_rows, &err), CUZK_ERR_FORMAT);
    assert_string_equal(err.text, "coefficient 39990: signal 100, expected below 100");
    assert_int_equal(f.n_calls, 3);
    fixture_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparse__tells_of_all_rows_in_order_when_they_are_done),
        cmocka_unit_test(test_sparse__clears_the_rows_behind_the_last_triplet),
        cmocka_unit_test(test_sparse__tells_nothing_when_there_are_no_rows),
        cmocka_unit_test(test_sparse__tells_of_all_rows_at_last_when_they_are_out_of_order),
        cmocka_unit_test(test_sparse__stops_when_it_is_told_to),
        cmocka_unit_test(test_sparse__names_the_bad_triplet_when_rows_were_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
