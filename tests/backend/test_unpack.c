/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu: unpacking a witness, through the contract. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_buf *to; /* one value more at either end */
    size_t n;
    uint8_t *values, *data;
    packed_witness w;
} fixture;

static const cuzk_backend *be(void) { return &cuzk_backend_cpu; }

static void fixture_init(fixture *f, testrand *rnd, size_t n, unsigned n_threads) {
    *f = (fixture){.n = n};
    assert_int_equal(cuzk_exec_create(&f->exec, n_threads, NULL), CUZK_OK);
    assert_int_equal(be()->open(&f->dev, &(cuzk_device_options){0}, f->exec, NULL), CUZK_OK);
    assert_int_equal(be()->queue_open(&f->queue, f->dev, "test", NULL, NULL), CUZK_OK);
    assert_int_equal(
        be()->buf_alloc(&f->to, f->dev, CUZK_SPACE_DEVICE, (n + 2) * CPU_FR_BYTES, true, NULL),
        CUZK_OK);
    assert_int_equal(cuzk_zalloc(&f->values, n + 2, CPU_FR_BYTES, NULL), CUZK_OK);
    memset(f->to->p, 0xA5, f->to->n_bytes);
    memset(f->values, 0xA5, CPU_FR_BYTES);
    memset(f->values + (n + 1) * CPU_FR_BYTES, 0xA5, CPU_FR_BYTES);
    for (size_t i = 1; i <= n; i++) {
        f->values[i * CPU_FR_BYTES] = (uint8_t)testrand_below(rnd, 2);
        if (testrand_below(rnd, 3) == 0)
            testrand_bytes(rnd, f->values + i * CPU_FR_BYTES, CPU_FR_BYTES);
    }
    packed_draft d;
    assert_int_equal(packed_draft_init(&d, f->values + CPU_FR_BYTES, n, f->exec, NULL),
                     CUZK_OK);
    assert_int_equal(cuzk_alloc(&f->data, d.n_bytes, 1, NULL), CUZK_OK);
    packed_draft_pack(&f->w, f->data, &d, f->exec);
    packed_draft_fini(&d);
}

static void fixture_fini(fixture *f) {
    cuzk_free(f->values);
    cuzk_free(f->data);
    be()->buf_free(f->to);
    be()->queue_close(f->queue);
    be()->close(f->dev);
    cuzk_exec_destroy(f->exec);
}

static void test_unpack__gives_the_values_and_touches_nothing_else(void **state) {
    static const size_t sizes[] = {0, 1, 1023, 1024, 1025, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fixture f;
        fixture_init(&f, *state, sizes[i], 1 + (unsigned)i % 3);
        assert_int_equal(be()->unpack(f.queue, (cuzk_slice){f.to, CPU_FR_BYTES}, &f.w, NULL),
                         CUZK_OK);
        assert_int_equal(be()->queue_wait(f.queue, NULL), CUZK_OK);
        assert_memory_equal(f.to->p, f.values, f.to->n_bytes);
        fixture_fini(&f);
    }
}

static void test_unpack__is_refused_when_there_is_no_room(void **state) {
    fixture f;
    fixture_init(&f, *state, 100, 1);
    assert_int_equal(be()->unpack(f.queue, (cuzk_slice){f.to, 3 * CPU_FR_BYTES}, &f.w, NULL),
                     CUZK_ERR_ARG);
    assert_int_equal(f.to->p[3 * CPU_FR_BYTES], 0xA5);
    fixture_fini(&f);
}

static int set_up(void **state) {
    static testrand rnd;
    testrand_init(&rnd);
    *state = &rnd;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unpack__gives_the_values_and_touches_nothing_else),
        cmocka_unit_test(test_unpack__is_refused_when_there_is_no_room),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
