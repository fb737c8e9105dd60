/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda against backend/cpu, through the contract alone: matrices, and witnesses that
 * cross the bus packed. CUZK_TEST_SMALL=1: no large ones. Skipped without a device. */
#include "backend/backend.h"
#include "backendside.h"
#include "base/alloc.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FR_BYTES = 32, FR_WORDS = 4 };

typedef struct setting {
    testrand rnd;
    cuzk_exec *exec;
    side cpu, gpu;
    curve curves[2];
} setting;

#define ok(call)                                                                              \
    do {                                                                                      \
        cuzk_err err_;                                                                        \
        cuzk_err *const err = &err_;                                                          \
        if ((call) != CUZK_OK) fail_msg("%s: %s: %s", #call, err->where, err->text);          \
    } while (0)

/* ---- matrices ---- */
typedef enum order { ROWS_IN_ORDER, ROWS_SHUFFLED, B_BEFORE_A } order;
typedef enum filling {
    ROWS_EVEN,      /* about the same in each */
    ROWS_WITH_GAPS, /* most of them empty, some long */
    ROWS_ONE,       /* all in one */
    ROWS_SAME_PLACE /* the same row and column again and again */
} filling;
typedef enum variety { VALUES_FEW, VALUES_DISTINCT, VALUES_COUNTED } variety;

typedef struct shape {
    size_t n_triplets, n_rows;
    uint32_t n_columns;
    order order;
    filling filling;
    variety variety;
} shape;

typedef struct problem {
    const field *fr;
    matrix_view view;
    uint8_t *triplets, *w; /* the view's; canonical */
} problem;

static size_t row_for(setting *s, const shape *k, size_t i) {
    const size_t even = i * k->n_rows / k->n_triplets;
    switch (k->filling) {
    case ROWS_EVEN:
        return even;
    case ROWS_WITH_GAPS:
        return testrand_below(&s->rnd, 3) ? even / 64 * 64 : even / 8 * 8;
    case ROWS_ONE:
        return k->n_rows / 3;
    case ROWS_SAME_PLACE:
        break;
    }
    return k->n_rows - 1;
}

static int by_row(const void *a, const void *b) {
    const uint32_t x = load_le32((const uint8_t *)a + 4),
                   y = load_le32((const uint8_t *)b + 4);
    if (x != y) return x < y ? -1 : 1;
    const uint32_t u = load_le32(a), v = load_le32(b);
    return (u > v) - (u < v);
}

static void swap_triplets(uint8_t *a, uint8_t *b) {
    uint8_t t[MATRIX_TRIPLET_BYTES];
    memcpy(t, a, sizeof t);
    memcpy(a, b, sizeof t);
    memcpy(b, t, sizeof t);
}

/* FEW: up to 40, of both signs, r - 1 among them. DISTINCT: mostly. COUNTED: one each. */
static void set_value(setting *s, const field *fr, variety how, size_t i, uint64_t *v) {
    const uint64_t kind = testrand_below(&s->rnd, 40);
    if (how == VALUES_COUNTED) {
        field_set_u64(fr, v, i);
        return;
    }
    if (how == VALUES_DISTINCT && kind > 3) {
        testrand_fe(&s->rnd, fr, v);
        return;
    }
    field_set_u64(fr, v, kind);
    if (kind % 2) field_neg(fr, v, v);
    if (kind == 2) {
        memcpy(v, fr->m.p, FR_BYTES);
        v[0]--; /* r is odd */
    }
}

static void fill_triplets(setting *s, const problem *p, const shape *k) {
    const size_t n = k->n_triplets;
    for (size_t i = 0; i < n; i++) {
        uint8_t *t = p->triplets + i * MATRIX_TRIPLET_BYTES;
        const bool fixed = k->filling == ROWS_SAME_PLACE;
        uint64_t v[FR_WORDS];
        store_le32(t, k->filling >= ROWS_ONE ? 1 : (uint32_t)testrand_below(&s->rnd, 2));
        store_le32(t + 4, (uint32_t)row_for(s, k, i));
        store_le32(t + 8, fixed ? 0 : (uint32_t)testrand_below(&s->rnd, k->n_columns));
        set_value(s, p->fr, k->variety, i, v);
        for (int j = 0; j < FR_WORDS; j++) store_le64(t + 12 + 8 * j, v[j]);
    }
    qsort(p->triplets, n, MATRIX_TRIPLET_BYTES, by_row);
    if (k->order == ROWS_SHUFFLED) {
        for (size_t i = n; i > 1; i--) {
            swap_triplets(p->triplets + (i - 1) * MATRIX_TRIPLET_BYTES,
                          p->triplets + testrand_below(&s->rnd, i) * MATRIX_TRIPLET_BYTES);
        }
    }
    if (k->order == B_BEFORE_A) {
        for (size_t i = 0; i < n; i++) {
            uint8_t *t = p->triplets + i * MATRIX_TRIPLET_BYTES;
            store_le32(t, 1 - load_le32(t));
        }
    }
}

static void problem_init(problem *p, setting *s, const field *fr, const shape *k) {
    p->fr = fr;
    assert_int_equal(cuzk_alloc(&p->triplets, k->n_triplets, MATRIX_TRIPLET_BYTES, NULL),
                     CUZK_OK);
    assert_int_equal(cuzk_alloc(&p->w, k->n_columns, FR_BYTES, NULL), CUZK_OK);
    p->view = (matrix_view){p->triplets, k->n_triplets, k->n_rows, k->n_columns};
    if (k->n_triplets > 0) fill_triplets(s, p, k);
    for (size_t i = 0; i < k->n_columns; i++) {
        uint64_t v[FR_WORDS] = {testrand_below(&s->rnd, 2)};
        if (i % 3 == 0) testrand_fe(&s->rnd, fr, v); /* below r, which will do */
        memcpy(p->w + i * FR_BYTES, v, FR_BYTES);
    }
}

static void problem_fini(problem *p) {
    cuzk_free(p->triplets);
    cuzk_free(p->w);
}

static cuzk_buf *new_buf(const side *a, size_t n_bytes) {
    cuzk_buf *buf;
    ok(a->be->buf_alloc(&buf, a->dev, CUZK_SPACE_DEVICE, n_bytes, true, err));
    return buf;
}

/* a, then b. Twice with one matrix: it must not change. */
static cuzk_status evaluate(const side *a, const problem *p, uint8_t *out, cuzk_err *err) {
    const size_t half = p->view.n_rows * FR_BYTES, w_bytes = p->view.n_columns * FR_BYTES;
    cuzk_matrix *matrix = NULL;
    cuzk_buf *w = new_buf(a, w_bytes), *ab = new_buf(a, 2 * half);
    const cuzk_evaluate_job job = {NULL, {w, 0}, {ab, 0}, {ab, half}};
    cuzk_status st = a->be->matrix_open(&matrix, a->queue, p->fr, &p->view, err);
    for (int i = 0; i < 2 && st == CUZK_OK; i++) {
        cuzk_evaluate_job now = job;
        now.matrix = matrix;
        memset(out, 0xA5, 2 * half);
        st = a->be->upload(a->queue, (cuzk_slice){ab, 0}, out, 2 * half, err);
        if (st == CUZK_OK)
            st = a->be->upload(a->queue, (cuzk_slice){w, 0}, p->w, w_bytes, err);
        if (st == CUZK_OK) st = a->be->evaluate(a->queue, &now, err);
        if (st == CUZK_OK)
            st = a->be->download(a->queue, out, (cuzk_slice){ab, 0}, 2 * half, err);
        if (st == CUZK_OK) st = a->be->queue_wait(a->queue, err);
    }
    if (matrix) a->be->matrix_close(matrix);
    a->be->buf_free(w);
    a->be->buf_free(ab);
    return st;
}

static void check_shape(setting *s, const field *fr, const shape *k) {
    const size_t n_bytes = 2 * k->n_rows * FR_BYTES;
    problem p;
    uint8_t *expected, *got;
    problem_init(&p, s, fr, k);
    assert_int_equal(cuzk_alloc(&expected, n_bytes, 1, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&got, n_bytes, 1, NULL), CUZK_OK);
    ok(evaluate(&s->cpu, &p, expected, err));
    ok(evaluate(&s->gpu, &p, got, err));
    if (memcmp(expected, got, n_bytes) != 0) {
        size_t at = 0;
        while (expected[at] == got[at]) at++;
        fail_msg("%zu triplets, %zu rows, order %d, filling %d, values %d: differ at %zu",
                 k->n_triplets, k->n_rows, (int)k->order, (int)k->filling, (int)k->variety,
                 at / FR_BYTES);
    }
    cuzk_free(expected);
    cuzk_free(got);
    problem_fini(&p);
}

static const field *fr_of(const setting *s, size_t i) { return &s->curves[i % 2].fr; }

/* Around the sizes of a warp, a block and a slice. */
static void test_cuda__evaluates_as_the_cpu_does(void **state) {
    static const size_t sizes[] = {0, 1, 2, 31, 33, 511, 512, 513, 1023, 1025, 4097, 20000};
    setting *s = *state;
    size_t i_case = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int o = ROWS_IN_ORDER; o <= B_BEFORE_A; o++) {
            for (int f = ROWS_EVEN; f <= ROWS_SAME_PLACE; f++) {
                const shape k = {sizes[i],   i % 3 ? 1 + sizes[i] / 2 : 3000,
                                 700,        (order)o,
                                 (filling)f, (variety)(i_case % 2)};
                check_shape(s, fr_of(s, i_case++), &k);
            }
        }
    }
}

/* As many as 16 bits can number, one fewer, one more; and many more, out of order, too. */
static void test_cuda__evaluates_as_the_cpu_does_when_values_are_many(void **state) {
    static const size_t sizes[] = {65535, 65536, 65537, 160000};
    setting *s = *state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int o = ROWS_IN_ORDER; o <= ROWS_SHUFFLED; o++) {
            const shape k = {sizes[i], sizes[i] / 3, 5000,
                             (order)o, ROWS_EVEN,    i < 3 ? VALUES_COUNTED : VALUES_DISTINCT};
            check_shape(s, fr_of(s, i), &k);
        }
    }
}

/* More than one piece crosses the bus. */
static void test_cuda__evaluates_as_the_cpu_does_when_large(void **state) {
    setting *s = *state;
    if (side_is_small()) skip();
    const size_t n = (size_t)1 << 22;
    for (size_t i = 0; i < 5; i++) {
        const shape k = {n + i - 2,
                         n / 4,
                         (uint32_t)n / 4,
                         i == 1 ? ROWS_SHUFFLED : ROWS_IN_ORDER,
                         i == 3   ? ROWS_ONE
                         : i == 4 ? ROWS_WITH_GAPS
                                  : ROWS_EVEN,
                         i == 2 ? VALUES_DISTINCT : VALUES_FEW};
        check_shape(s, fr_of(s, i), &k);
    }
}

/* ---- bad triplets ---- */
static void assert_same_fault(setting *s, const problem *p, uint8_t *out) {
    cuzk_err expected, got;
    assert_int_equal(evaluate(&s->cpu, p, out, &expected), CUZK_ERR_FORMAT);
    assert_int_equal(evaluate(&s->gpu, p, out, &got), CUZK_ERR_FORMAT);
    assert_string_equal(expected.where, got.where);
    assert_string_equal(expected.text, got.text);
}

static void break_triplet(uint8_t *t, const problem *p, int how) {
    switch (how) {
    case 0:
        store_le32(t, 2);
        break;
    case 1:
        store_le32(t, UINT32_MAX);
        break;
    case 2:
        store_le32(t + 4, (uint32_t)p->view.n_rows);
        break;
    case 3:
        store_le32(t + 4, UINT32_MAX);
        break;
    case 4:
        store_le32(t + 8, p->view.n_columns);
        break;
    case 5:
        store_le32(t + 8, UINT32_MAX);
        break;
    case 6:
        memcpy(t + 12, p->fr->m.p, FR_BYTES);
        break;
    default:
        memset(t + 12, 0xFF, FR_BYTES);
        break;
    }
}

static void check_faults(setting *s, size_t n) {
    const size_t places[] = {0, 1, n / 2, n - 2, n - 1};
    const shape k = {n, 1000, 500, ROWS_IN_ORDER, ROWS_EVEN, VALUES_FEW};
    problem p;
    uint8_t *out;
    problem_init(&p, s, fr_of(s, n), &k);
    assert_int_equal(cuzk_alloc(&out, 2 * k.n_rows, FR_BYTES, NULL), CUZK_OK);
    uint8_t *last = p.triplets + (n - 1) * MATRIX_TRIPLET_BYTES, good[MATRIX_TRIPLET_BYTES];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (int how = 0; how < 8; how++) {
            uint8_t *t = p.triplets + places[i] * MATRIX_TRIPLET_BYTES,
                    good_last[MATRIX_TRIPLET_BYTES];
            memcpy(good_last, last, sizeof good_last);
            memcpy(good, t, sizeof good);
            if (i > 0) break_triplet(last, &p, 7 - how);
            if (t != last) break_triplet(t, &p, how);
            if (i == 0) break_triplet(t, &p, how);
            assert_same_fault(s, &p, out);
            memcpy(t, good, sizeof good);
            memcpy(last, good_last, sizeof good_last);
        }
    }
    cuzk_free(out);
    problem_fini(&p);
}

static void test_cuda__names_the_first_bad_triplet(void **state) {
    setting *s = *state;
    check_faults(s, 3);
    check_faults(s, 9001);
}

static void test_cuda__names_the_first_bad_triplet_when_it_is_in_a_later_piece(void **state) {
    setting *s = *state;
    if (side_is_small()) skip();
    check_faults(s, ((size_t)1 << 20) + 2);
}

/* What is kept stays below what a plan was told. */
static void test_cuda__keeps_no_more_than_it_says(void **state) {
    setting *s = *state;
    for (int v = VALUES_FEW; v <= VALUES_DISTINCT; v++) {
        for (size_t n = 0; n < 200000; n = 3 * n + 50) {
            const shape k = {n, 1 + n / 3, 100, ROWS_IN_ORDER, ROWS_EVEN, (variety)v};
            cuzk_device_info before, after;
            cuzk_matrix *matrix;
            problem p;
            problem_init(&p, s, fr_of(s, n), &k);
            s->gpu.be->device_info_reset(s->gpu.dev);
            s->gpu.be->device_info(s->gpu.dev, &before);
            ok(s->gpu.be->matrix_open(&matrix, s->gpu.queue, p.fr, &p.view, err));
            s->gpu.be->device_info(s->gpu.dev, &after);
            const uint64_t kept = s->gpu.be->matrix_bytes(&p.view),
                           work = s->gpu.be->matrix_work_bytes(&p.view);
            assert_true(after.used_bytes - before.used_bytes <= kept);
            assert_true(after.peak_bytes - before.used_bytes <= kept + work);
            s->gpu.be->matrix_close(matrix);
            s->gpu.be->device_info(s->gpu.dev, &after);
            assert_true(after.used_bytes == before.used_bytes);
            problem_fini(&p);
        }
    }
}

/* ---- packed witnesses ---- */
static void unpack_on(const side *a, uint8_t *out, const packed_witness *w, size_t n_bytes) {
    cuzk_buf *to = new_buf(a, n_bytes);
    memset(out, 0xA5, n_bytes);
    ok(a->be->upload(a->queue, (cuzk_slice){to, 0}, out, n_bytes, err));
    ok(a->be->unpack(a->queue, (cuzk_slice){to, FR_BYTES}, w, err));
    ok(a->be->download(a->queue, out, (cuzk_slice){to, 0}, n_bytes, err));
    ok(a->be->queue_wait(a->queue, err));
    a->be->buf_free(to);
}

/* With a guard on either side. wide: of 4 values. */
static void check_unpack(setting *s, size_t n, unsigned wide) {
    const size_t n_bytes = (n + 2) * FR_BYTES;
    uint8_t *values, *got, *data;
    packed_draft d;
    packed_witness w;
    assert_int_equal(cuzk_alloc(&values, n_bytes, 1, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&got, n_bytes, 1, NULL), CUZK_OK);
    memset(values, 0xA5, n_bytes);
    uint8_t *first = values + FR_BYTES;
    for (size_t i = 0; i < n; i++) {
        uint8_t *v = first + i * FR_BYTES;
        memset(v, 0, FR_BYTES);
        v[0] = (uint8_t)testrand_below(&s->rnd, 2);
        if (testrand_below(&s->rnd, 4) < wide) testrand_bytes(&s->rnd, v, FR_BYTES);
    }
    ok(packed_draft_init(&d, first, n, s->exec, err));
    ok(cuzk_alloc(&data, d.n_bytes, 1, err));
    packed_draft_pack(&w, data, &d, s->exec);
    packed_draft_fini(&d);
    unpack_on(&s->gpu, got, &w, n_bytes);
    assert_memory_equal(got, values, n_bytes);
    unpack_on(&s->cpu, got, &w, n_bytes);
    assert_memory_equal(got, values, n_bytes);
    cuzk_free(values);
    cuzk_free(got);
    cuzk_free(data);
}

static void test_backends__unpack_what_was_packed(void **state) {
    static const size_t sizes[] = {0, 1, 2, 31, 63, 65, 1023, 1024, 1025, 70000, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] > 70000 && side_is_small()) continue;
        for (unsigned wide = 0; wide <= 4; wide += 2) check_unpack(*state, sizes[i], wide);
    }
}

static void test_backends__refuse_to_unpack_when_there_is_no_room(void **state) {
    setting *s = *state;
    const side *sides[] = {&s->cpu, &s->gpu};
    const packed_witness w = {.n = 3};
    for (int i = 0; i < 2; i++) {
        cuzk_buf *to = new_buf(sides[i], 3 * FR_BYTES);
        assert_int_equal(
            sides[i]->be->unpack(sides[i]->queue, (cuzk_slice){to, FR_BYTES}, &w, NULL),
            CUZK_ERR_ARG);
        sides[i]->be->buf_free(to);
    }
}

/* ---- setting ---- */
static int set_up(void **state) {
    static const curve_id ids[] = {CURVE_BN254, CURVE_BLS12_381};
    cuzk_cpu_level level;
    setting *s;
    ok(cuzk_zalloc(&s, 1, sizeof *s, err));
    testrand_init(&s->rnd);
    ok(cuzk_cpu_select(&level, NULL, err));
    for (int i = 0; i < 2; i++) curve_init(&s->curves[i], ids[i], level);
    ok(cuzk_exec_create(&s->exec, 0, err));
    side_open(&s->cpu, "cpu", s->exec);
    side_open(&s->gpu, "cuda", s->exec);
    *state = s;
    return 0;
}

static int tear_down(void **state) {
    setting *s = *state;
    side_close(&s->cpu);
    side_close(&s->gpu);
    cuzk_exec_destroy(s->exec);
    cuzk_free(s);
    return 0;
}

int main(void) {
    const cuzk_backend *be;
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK) return 77; /* skipped */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda__evaluates_as_the_cpu_does),
        cmocka_unit_test(test_cuda__evaluates_as_the_cpu_does_when_values_are_many),
        cmocka_unit_test(test_cuda__evaluates_as_the_cpu_does_when_large),
        cmocka_unit_test(test_cuda__names_the_first_bad_triplet),
        cmocka_unit_test(test_cuda__names_the_first_bad_triplet_when_it_is_in_a_later_piece),
        cmocka_unit_test(test_cuda__keeps_no_more_than_it_says),
        cmocka_unit_test(test_backends__unpack_what_was_packed),
        cmocka_unit_test(test_backends__refuse_to_unpack_when_there_is_no_room),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
