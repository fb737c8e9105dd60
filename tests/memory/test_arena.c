/* SPDX-License-Identifier: Apache-2.0 */
/* memory/arena: pieces of one lease. */
#include "memory/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES 4001u

typedef struct fixture {
    budget *b;
    pinned_pool *pool;
    arena a;
} fixture;

static int open_arena(void **state) {
    static fixture f;
    f = (fixture){0};
    lease l;
    budget_request request = {.priority = BUDGET_NORMAL};
    if (budget_create(&f.b, 1u << 20, BUDGET_AGING_NS, NULL) != CUZK_OK ||
        pinned_pool_create(&f.pool, f.b, NULL, NULL) != CUZK_OK ||
        pinned_pool_checkout(&l, f.pool, ARENA_BYTES, false, &request, NULL) != CUZK_OK) {
        return -1;
    }
    arena_init(&f.a, &l);
    *state = &f;
    return l.data == NULL ? 0 : -1; /* moved */
}

static int close_arena(void **state) {
    fixture *f = *state;
    arena_fini(&f->a);
    arena_fini(&f->a); /* harmless */
    pinned_pool_stats stats;
    pinned_pool_get_stats(f->pool, &stats);
    pinned_pool_destroy(f->pool);
    budget_destroy(f->b);
    return stats.n_leased == 0 && stats.n_double_returns == 0 ? 0 : -1;
}

static uint8_t *piece(arena *a, size_t n_items, size_t item_bytes, size_t alignment) {
    uint8_t *p = NULL;
    assert_int_equal(arena_alloc(&p, a, n_items, item_bytes, alignment, NULL), CUZK_OK);
    assert_int_equal((uintptr_t)p % alignment, 0);
    return p;
}

static void test_arena__gives_aligned_pieces_that_do_not_overlap(void **state) {
    arena *a = &((fixture *)*state)->a;
    uint8_t *one = piece(a, 3, 1, 1), *two = piece(a, 2, 8, 8), *three = piece(a, 1, 1, 64);
    assert_true(two >= one + 3);
    assert_true(three >= two + 16);
    assert_ptr_equal(piece(a, 1, 1, 1), three + 1); /* no byte lost without need */
    memset(a->memory.data, 1, ARENA_BYTES);         /* all of it is ours */
}

static void test_arena__refuses_with_numbers_when_exhausted(void **state) {
    arena *a = &((fixture *)*state)->a;
    (void)piece(a, 1, ARENA_BYTES - 10, 1);
    uint8_t *p = NULL;
    cuzk_err err;
    assert_int_equal(arena_alloc(&p, a, 11, 1, 1, &err), CUZK_ERR_BUDGET);
    assert_null(p);
    assert_non_null(strstr(err.text, "11 items of 1 bytes"));
    assert_non_null(strstr(err.text, "10 bytes of 4001"));
    assert_int_equal(arena_alloc(&p, a, 1, 1, 4096, &err), CUZK_ERR_BUDGET); /* padding */
    assert_int_equal(arena_alloc(&p, a, SIZE_MAX, 2, 1, &err), CUZK_ERR_BUDGET);
    assert_int_equal(arena_alloc(&p, a, SIZE_MAX / 2 + 2, 2, 1, &err), CUZK_ERR_BUDGET);
    (void)piece(a, 10, 1, 1); /* to the last byte */
    assert_int_equal(arena_alloc(&p, a, 0, 1, 64, &err), CUZK_ERR_BUDGET); /* padding again */
    (void)piece(a, SIZE_MAX, 0, 1);
    assert_int_equal(arena_alloc(&p, a, 1, 1, 1, &err), CUZK_ERR_BUDGET);
}

static void test_arena__goes_back_to_a_mark_when_reset(void **state) {
    arena *a = &((fixture *)*state)->a;
    arena_mark start = arena_get_mark(a);
    uint8_t *kept = piece(a, 100, 1, 1);
    memset(kept, 7, 100);
    arena_mark mark = arena_get_mark(a);
    uint8_t *passing = piece(a, 200, 1, 16);
    memset(passing, 8, 200);
    arena_reset(a, mark);
    assert_ptr_equal(piece(a, 50, 1, 16), passing);
    for (int i = 0; i < 100; i++) assert_int_equal(kept[i], 7);
    arena_reset(a, start);
    assert_ptr_equal(piece(a, ARENA_BYTES, 1, 4096), kept);
}

static void test_arena__remembers_its_peak_when_reset(void **state) {
    arena *a = &((fixture *)*state)->a;
    arena_mark start = arena_get_mark(a);
    (void)piece(a, 1000, 1, 1);
    arena_reset(a, start);
    (void)piece(a, 10, 1, 1);
    assert_int_equal(a->n_peak, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arena__gives_aligned_pieces_that_do_not_overlap,
                                        open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_arena__refuses_with_numbers_when_exhausted,
                                        open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_arena__goes_back_to_a_mark_when_reset, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(test_arena__remembers_its_peak_when_reset, open_arena,
                                        close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
