/* SPDX-License-Identifier: Apache-2.0 */
/* backend: memory of a device, the way there and back, queues that wait for each other, and
 * what a trace is told; of every backend that is usable here. */
#include "backend/backend.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "testrand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LARGE = (9 << 20) + 5, MARGIN = 64 };

typedef struct bench {
    const cuzk_backend *be;
    cuzk_exec *exec;
    cuzk_device *dev;
    cuzk_queue *queue;
    uint8_t *bytes; /* LARGE random ones */
} bench;

static bench open_bench(const cuzk_backend *be, uint64_t memory_limit, cuzk_trace *trace) {
    const cuzk_device_options options = {.memory_limit = memory_limit};
    bench b = {.be = be};
    testrand rnd;
    testrand_init(&rnd);
    assert_int_equal(cuzk_exec_create(&b.exec, 3, NULL), CUZK_OK);
    assert_int_equal(be->open(&b.dev, &options, b.exec, NULL), CUZK_OK);
    assert_int_equal(be->queue_open(&b.queue, b.dev, "lane", trace, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&b.bytes, LARGE, 1, NULL), CUZK_OK);
    testrand_bytes(&rnd, b.bytes, LARGE);
    return b;
}

static void close_bench(bench *b) {
    b->be->queue_close(b->queue);
    b->be->close(b->dev);
    cuzk_exec_destroy(b->exec);
    cuzk_free(b->bytes);
}

static cuzk_buf *new_buf(bench *b, cuzk_space space, size_t n_bytes) {
    cuzk_buf *buf = NULL;
    assert_int_equal(b->be->buf_alloc(&buf, b->dev, space, n_bytes, true, NULL), CUZK_OK);
    return buf;
}

static cuzk_device_info info_of(bench *b) {
    cuzk_device_info info;
    b->be->device_info(b->dev, &info);
    return info;
}

/* ---- copies ---- */
/* n_bytes there and back; what lies around them stays as it was. */
static void round_trip(bench *b, cuzk_space space, size_t n_bytes, size_t offset) {
    const size_t n_all = n_bytes + offset + MARGIN;
    cuzk_buf *buf = new_buf(b, space, n_all);
    uint8_t *got;
    assert_int_equal(cuzk_zalloc(&got, n_all, 1, NULL), CUZK_OK);
    assert_int_equal(b->be->upload(b->queue, (cuzk_slice){buf, 0}, got, n_all, NULL), CUZK_OK);
    assert_int_equal(
        b->be->upload(b->queue, (cuzk_slice){buf, offset}, b->bytes, n_bytes, NULL), CUZK_OK);
    memset(got, 0xff, n_all);
    assert_int_equal(b->be->download(b->queue, got, (cuzk_slice){buf, 0}, n_all, NULL),
                     CUZK_OK);
    assert_int_equal(b->be->queue_wait(b->queue, NULL), CUZK_OK);
    for (size_t i = 0; i < offset; i++) assert_int_equal(got[i], 0);
    assert_memory_equal(got + offset, b->bytes, n_bytes);
    for (size_t i = 0; i < MARGIN; i++) assert_int_equal(got[offset + n_bytes + i], 0);
    cuzk_free(got);
    b->be->buf_free(buf);
}

static void test_transfers__come_back_as_they_went(void **state) {
    static const size_t sizes[] = {0, 1, 32, 4097, LARGE};
    bench b = open_bench(*state, 0, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        round_trip(&b, CUZK_SPACE_DEVICE, sizes[i], 0);
        round_trip(&b, CUZK_SPACE_DEVICE, sizes[i], 48);
        round_trip(&b, CUZK_SPACE_HOST, sizes[i], 16);
    }
    close_bench(&b);
}

static void test_transfers__read_wrapped_memory(void **state) {
    bench b = open_bench(*state, 0, NULL);
    cuzk_buf *buf;
    uint8_t got[100];
    assert_int_equal(b.be->buf_wrap(&buf, b.dev, b.bytes, LARGE, NULL), CUZK_OK);
    assert_int_equal(b.be->download(b.queue, got, (cuzk_slice){buf, 7}, sizeof got, NULL),
                     CUZK_OK);
    assert_int_equal(b.be->queue_wait(b.queue, NULL), CUZK_OK);
    assert_memory_equal(got, b.bytes + 7, sizeof got);
    b.be->buf_free(buf);
    close_bench(&b);
}

static void test_transfers__are_refused_when_they_leave_the_buffer(void **state) {
    bench b = open_bench(*state, 0, NULL);
    cuzk_buf *buf = new_buf(&b, CUZK_SPACE_DEVICE, 64), *wrapped;
    uint8_t got[65];
    static const struct {
        size_t offset, n_bytes;
    } cases[] = {{0, 65}, {64, 1}, {65, 0}, {16, SIZE_MAX}, {SIZE_MAX, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cuzk_slice slice = {buf, cases[i].offset};
        cuzk_err err;
        assert_int_equal(b.be->upload(b.queue, slice, b.bytes, cases[i].n_bytes, &err),
                         CUZK_ERR_ARG);
        assert_non_null(strstr(err.text, "64 bytes"));
        assert_int_equal(b.be->download(b.queue, got, slice, cases[i].n_bytes, &err),
                         CUZK_ERR_ARG);
    }
    assert_int_equal(b.be->upload(b.queue, (cuzk_slice){NULL, 0}, b.bytes, 1, NULL),
                     CUZK_ERR_ARG);
    assert_int_equal(b.be->buf_wrap(&wrapped, b.dev, b.bytes, 64, NULL), CUZK_OK);
    assert_int_equal(b.be->upload(b.queue, (cuzk_slice){wrapped, 0}, got, 1, NULL),
                     CUZK_ERR_ARG);
    b.be->buf_free(wrapped);
    b.be->buf_free(buf);
    close_bench(&b);
}

/* ---- pinned pages ---- */
static void test_pinner__makes_pages_that_transfers_take(void **state) {
    bench b = open_bench(*state, 0, NULL);
    const pages_pinner pinner = b.be->pinner(b.dev);
    const size_t n_bytes = pages_round_up(LARGE);
    cuzk_buf *buf = new_buf(&b, CUZK_SPACE_DEVICE, n_bytes);
    pages p;
    cuzk_err why;
    uint8_t *got;
    assert_int_equal(pages_alloc(&p, n_bytes, &pinner, &why, NULL), CUZK_OK);
    assert_true(p.is_pinned || !info_of(&b).can_copy_async); /* mlock has its limits */
    assert_int_equal(cuzk_alloc(&got, LARGE, 1, NULL), CUZK_OK);
    memcpy(p.data, b.bytes, LARGE);
    assert_int_equal(b.be->upload(b.queue, (cuzk_slice){buf, 0}, p.data, LARGE, NULL),
                     CUZK_OK);
    assert_int_equal(b.be->download(b.queue, got, (cuzk_slice){buf, 0}, LARGE, NULL), CUZK_OK);
    assert_int_equal(b.be->queue_wait(b.queue, NULL), CUZK_OK);
    assert_memory_equal(got, b.bytes, LARGE);
    pages_free(&p, &pinner);
    b.be->buf_free(buf);
    cuzk_free(got);
    close_bench(&b);
}

static void test_pinner__keeps_what_the_pages_held(void **state) {
    bench b = open_bench(*state, 0, NULL);
    const pages_pinner pinner = b.be->pinner(b.dev);
    pages p;
    cuzk_err why;
    assert_int_equal(pages_alloc(&p, LARGE, &pinner, &why, NULL), CUZK_OK);
    memcpy(p.data, b.bytes, LARGE);
    if (p.is_pinned) {
        pinner.unpin(pinner.arg, p.data, p.n_bytes);
        p.is_pinned = pinner.pin(pinner.arg, p.data, p.n_bytes, &why) == CUZK_OK;
    }
    assert_memory_equal(p.data, b.bytes, LARGE);
    pages_free(&p, &pinner);
    close_bench(&b);
}

/* ---- queues ---- */
/* The second queue reads what the first still writes when it is told to. */
static void test_queue_after__waits_for_what_the_other_was_told_before(void **state) {
    bench b = open_bench(*state, 0, NULL);
    cuzk_queue *second;
    uint8_t got;
    assert_int_equal(b.be->queue_open(&second, b.dev, "second", NULL, NULL), CUZK_OK);
    cuzk_buf *to = new_buf(&b, CUZK_SPACE_DEVICE, LARGE);
    for (int i = 0; i < 20; i++) {
        b.bytes[LARGE - 1] = (uint8_t)i;
        for (int k = 0; k < 4; k++) {
            assert_int_equal(b.be->upload(b.queue, (cuzk_slice){to, 0}, b.bytes, LARGE, NULL),
                             CUZK_OK);
        }
        assert_int_equal(b.be->queue_after(second, b.queue, NULL), CUZK_OK);
        assert_int_equal(b.be->download(second, &got, (cuzk_slice){to, LARGE - 1}, 1, NULL),
                         CUZK_OK);
        assert_int_equal(b.be->queue_wait(second, NULL), CUZK_OK);
        assert_int_equal(got, i);
    }
    assert_int_equal(b.be->queue_wait(b.queue, NULL), CUZK_OK);
    b.be->buf_free(to);
    b.be->queue_close(second);
    close_bench(&b);
}

static void test_queue__tells_its_trace_what_it_did(void **state) {
    cuzk_trace *trace;
    assert_int_equal(cuzk_trace_create(&trace, 1000, NULL), CUZK_OK);
    bench b = open_bench(*state, 0, trace);
    cuzk_buf *buf = new_buf(&b, CUZK_SPACE_DEVICE, LARGE);
    const uint64_t begin = cuzk_clock_ns();
    uint64_t wall, bytes, n, busy;
    for (int i = 0; i < 2; i++) { /* events are used again */
        for (int k = 0; k < 100; k++) {
            assert_int_equal(b.be->upload(b.queue, (cuzk_slice){buf, 0}, b.bytes, 1000, NULL),
                             CUZK_OK);
        }
        assert_int_equal(b.be->upload(b.queue, (cuzk_slice){buf, 1}, b.bytes, LARGE, NULL),
                         CUZK_ERR_ARG);
        assert_int_equal(b.be->download(b.queue, b.bytes, (cuzk_slice){buf, 0}, LARGE, NULL),
                         CUZK_OK);
        assert_int_equal(b.be->queue_wait(b.queue, NULL), CUZK_OK);
    }
    const uint64_t end = cuzk_clock_ns(), slack = 1000000;
    cuzk_trace_sum(trace, "lane", "upload", &wall, &bytes, &n);
    assert_int_equal(n, 200);
    assert_int_equal(bytes, 200 * 1000);
    cuzk_trace_sum(trace, "lane", "download", &wall, &bytes, &n);
    assert_int_equal(n, 2);
    assert_int_equal(bytes, 2 * (uint64_t)LARGE);
    assert_true(wall > 0 && wall <= end - begin + slack);
    assert_int_equal(
        cuzk_trace_busy_ns(&busy, trace, "lane", begin - slack, end + slack, NULL), CUZK_OK);
    assert_true(busy >= wall);
    b.be->buf_free(buf);
    close_bench(&b);
    cuzk_trace_destroy(trace);
}

/* ---- memory of the device ---- */
static void test_device_info__counts_what_is_taken(void **state) {
    bench b = open_bench(*state, 0, NULL);
    cuzk_device_info info = info_of(&b);
    assert_true(info.name[0] != 0);
    if (info.limit_bytes == 0) { /* the CPU counts nothing */
        close_bench(&b);
        return;
    }
    assert_int_equal(info.used_bytes, 0);
    cuzk_buf *one = new_buf(&b, CUZK_SPACE_DEVICE, LARGE),
             *two = new_buf(&b, CUZK_SPACE_DEVICE, 100);
    assert_true(info_of(&b).used_bytes >= LARGE + 100);
    b.be->buf_free(one);
    info = info_of(&b);
    assert_true(info.used_bytes < LARGE && info.peak_bytes >= LARGE + 100);
    b.be->device_info_reset(b.dev);
    assert_int_equal(info_of(&b).peak_bytes, info.used_bytes);
    b.be->buf_free(two);
    assert_int_equal(info_of(&b).used_bytes, 0);
    close_bench(&b);
}

static void test_buf_alloc__is_refused_when_it_exceeds_the_limit(void **state) {
    const uint64_t limit = (uint64_t)64 << 20;
    bench b = open_bench(*state, limit, NULL);
    if (info_of(&b).limit_bytes != 0) {
        cuzk_buf *most = new_buf(&b, CUZK_SPACE_DEVICE, limit - 1000), *more = NULL;
        cuzk_err err;
        assert_int_equal(info_of(&b).limit_bytes, limit);
        assert_int_equal(b.be->buf_alloc(&more, b.dev, CUZK_SPACE_DEVICE, 1001, false, &err),
                         CUZK_ERR_NOMEM);
        assert_non_null(strstr(err.text, "device memory: 1001 bytes needed, 1000 of"));
        assert_null(more);
        b.be->buf_free(most);
        b.be->buf_free(new_buf(&b, CUZK_SPACE_DEVICE, limit));
        assert_int_equal(
            b.be->buf_alloc(&more, b.dev, CUZK_SPACE_DEVICE, SIZE_MAX, false, NULL),
            CUZK_ERR_NOMEM);
        assert_int_equal(info_of(&b).used_bytes, 0);
    }
    close_bench(&b);
}

static int run(const char *name) {
    const cuzk_backend *be;
    if (cuzk_backend_find(&be, name, NULL) != CUZK_OK) return 0;
    void *const s = (void *)(uintptr_t)be; /* cmocka hands it on, nobody writes to it */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_transfers__come_back_as_they_went, s),
        cmocka_unit_test_prestate(test_transfers__read_wrapped_memory, s),
        cmocka_unit_test_prestate(test_transfers__are_refused_when_they_leave_the_buffer, s),
        cmocka_unit_test_prestate(test_pinner__makes_pages_that_transfers_take, s),
        cmocka_unit_test_prestate(test_pinner__keeps_what_the_pages_held, s),
        cmocka_unit_test_prestate(test_queue_after__waits_for_what_the_other_was_told_before,
                                  s),
        cmocka_unit_test_prestate(test_queue__tells_its_trace_what_it_did, s),
        cmocka_unit_test_prestate(test_device_info__counts_what_is_taken, s),
        cmocka_unit_test_prestate(test_buf_alloc__is_refused_when_it_exceeds_the_limit, s),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void) { return run("cpu") + run("cuda"); }
