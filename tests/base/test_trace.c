/* SPDX-License-Identifier: Apache-2.0 */
/* base/trace: spans from many threads, the cap, sums and busy times, text that JSON takes. */
#include "base/trace.h"

#include "base/alloc.h"

#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static cuzk_trace *new_trace(size_t max_spans) {
    cuzk_trace *t = NULL;
    assert_int_equal(cuzk_trace_create(&t, max_spans, NULL), CUZK_OK);
    return t;
}

static void add(cuzk_trace *t, const char *lane, const char *name, uint64_t begin_ns,
                uint64_t end_ns, uint64_t n_bytes) {
    cuzk_trace_add(t, &(cuzk_span_record){lane, name, begin_ns, end_ns, n_bytes});
}

static uint64_t busy(cuzk_trace *t, const char *prefix, uint64_t begin_ns, uint64_t end_ns) {
    uint64_t ns = 12345;
    assert_int_equal(cuzk_trace_busy_ns(&ns, t, prefix, begin_ns, end_ns, NULL), CUZK_OK);
    return ns;
}

static json_t *parsed(cuzk_trace *t) {
    char *text = NULL;
    assert_int_equal(cuzk_trace_chrome_json(&text, t, NULL), CUZK_OK);
    json_error_t where;
    json_t *json = json_loads(text, 0, &where);
    if (!json) print_error("%s in %s\n", where.text, text);
    assert_non_null(json);
    cuzk_free(text);
    return json;
}

static uint64_t n_dropped(cuzk_trace *t) {
    json_t *json = parsed(t);
    const json_t *other = json_object_get(json, "otherData");
    const uint64_t n = (uint64_t)json_integer_value(json_object_get(other, "dropped_spans"));
    json_decref(json);
    return n;
}

/* ---- busy time ---- */

static void test_trace__counts_time_once_when_spans_overlap(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(100);
    add(t, "gpu0 main", "c", 50, 60, 0); /* apart, and not in order */
    add(t, "gpu0 main", "a", 10, 30, 0);
    add(t, "gpu0 copy", "b", 20, 40, 0); /* overlaps a */
    add(t, "gpu0 copy", "d", 12, 15, 0); /* inside a */
    add(t, "gpu0 main", "e", 60, 70, 0); /* touches c */
    add(t, "gpu1 main", "a", 0, 1000, 0);
    add(t, "host", "a", 0, 1000, 0);
    assert_int_equal(busy(t, "gpu0 ", 0, UINT64_MAX), 30 + 20);
    assert_int_equal(busy(t, "gpu0 main", 0, UINT64_MAX), 20 + 20);
    assert_int_equal(busy(t, "gpu0 copy", 0, UINT64_MAX), 3 + 20);
    assert_int_equal(busy(t, "gpu", 0, UINT64_MAX), 1000);
    assert_int_equal(busy(t, "", 0, UINT64_MAX), 1000);
    assert_int_equal(busy(t, "gpu2", 0, UINT64_MAX), 0);
    assert_int_equal(busy(t, NULL, 0, UINT64_MAX), 1000);
    cuzk_trace_destroy(t);
}

static void test_trace__cuts_spans_when_a_window_is_given(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(100);
    add(t, "gpu0", "a", 10, 30, 0);
    add(t, "gpu0", "b", 40, 60, 0);
    assert_int_equal(busy(t, "gpu0", 20, 50), 10 + 10);
    assert_int_equal(busy(t, "gpu0", 30, 40), 0);
    assert_int_equal(busy(t, "gpu0", 45, 46), 1);
    assert_int_equal(busy(t, "gpu0", 50, 20), 0);
    cuzk_trace_destroy(t);
}

static void test_trace__takes_a_span_for_empty_when_it_ends_before_it_begins(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(100);
    uint64_t wall_ns, n_spans;
    add(t, "gpu0", "a", 30, 10, 0);
    cuzk_trace_sum(t, "", "a", &wall_ns, NULL, &n_spans);
    assert_int_equal(wall_ns, 0);
    assert_int_equal(n_spans, 1);
    assert_int_equal(busy(t, "gpu0", 0, UINT64_MAX), 0);
    json_decref(parsed(t));
    cuzk_trace_destroy(t);
}

static void test_trace__knows_the_extent_of_lanes_and_takes_null_for_devices(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(100);
    uint64_t begin_ns = 1, end_ns = 2;
    add(t, "host", "a", 0, 500, 0);
    assert_false(cuzk_trace_extent(t, NULL, &begin_ns, &end_ns));
    assert_int_equal(begin_ns + end_ns, 3);
    add(t, "main", "b", 30, 40, 0);
    add(t, "side", "c", 20, 35, 0);
    assert_true(cuzk_trace_extent(t, NULL, &begin_ns, &end_ns));
    assert_int_equal(begin_ns, 20);
    assert_int_equal(end_ns, 40);
    assert_true(cuzk_trace_extent(t, "side", &begin_ns, &end_ns));
    assert_int_equal(end_ns, 35);
    assert_int_equal(busy(t, NULL, 0, UINT64_MAX), 20);
    cuzk_trace_destroy(t);
}

/* ---- sums ---- */

static void test_trace__sums_spans_of_one_name_in_lanes_of_a_prefix(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(100);
    uint64_t wall_ns, n_bytes, n_spans;
    add(t, "gpu0 copy", "upload", 0, 10, 100);
    add(t, "gpu0 copy", "upload", 5, 20, 1000); /* sums don't mind overlaps */
    add(t, "gpu0 main", "upload b", 0, 7, 3);
    add(t, "gpu1 copy", "upload", 0, 40, 5);
    cuzk_trace_sum(t, "gpu0", "upload", &wall_ns, &n_bytes, &n_spans);
    assert_int_equal(wall_ns, 25);
    assert_int_equal(n_bytes, 1100);
    assert_int_equal(n_spans, 2);
    cuzk_trace_sum(t, "", "upload", NULL, &n_bytes, NULL);
    assert_int_equal(n_bytes, 1105);
    cuzk_trace_sum(t, "", "download", &wall_ns, &n_bytes, &n_spans);
    assert_int_equal(wall_ns + n_bytes + n_spans, 0);
    cuzk_trace_destroy(t);
}

static void test_trace__finds_the_first_span_of_a_name_after_a_time(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(100);
    uint64_t begin_ns = 0, end_ns = 0;
    add(t, "main", "msm", 50, 60, 0);
    add(t, "main", "msm", 20, 30, 0);
    add(t, "main", "ntt", 1, 5, 0);
    add(t, "side", "msm", 10, 15, 0);
    assert_true(cuzk_trace_first(t, "main", "msm", 0, &begin_ns, &end_ns));
    assert_int_equal(begin_ns, 20);
    assert_int_equal(end_ns, 30);
    assert_true(cuzk_trace_first(t, NULL, "msm", 0, &begin_ns, &end_ns));
    assert_int_equal(begin_ns, 10);
    assert_true(cuzk_trace_first(t, NULL, "msm", 20, &begin_ns, &end_ns));
    assert_int_equal(begin_ns, 20);
    assert_true(cuzk_trace_first(t, NULL, "msm", 21, &begin_ns, &end_ns));
    assert_int_equal(end_ns, 60);
    assert_false(cuzk_trace_first(t, NULL, "msm", 51, &begin_ns, &end_ns));
    assert_false(cuzk_trace_first(t, "side", "ntt", 0, &begin_ns, &end_ns));
    assert_int_equal(end_ns, 60);
    cuzk_trace_destroy(t);
}

/* ---- what is kept ---- */

static void test_trace__drops_and_counts_spans_beyond_the_cap(void **state) {
    (void)state;
    enum { MAX = 700 }; /* more than one growth step */
    cuzk_trace *t = new_trace(MAX);
    uint64_t n_spans;
    for (uint64_t i = 0; i < MAX + 5; i++) add(t, "host", "a", i, i + 1, 0);
    cuzk_trace_sum(t, "host", "a", NULL, NULL, &n_spans);
    assert_int_equal(n_spans, MAX);
    assert_int_equal(busy(t, "host", 0, UINT64_MAX), MAX); /* the first are kept */
    assert_int_equal(n_dropped(t), 5);
    cuzk_trace_destroy(t);

    t = new_trace(0);
    add(t, "host", "a", 0, 1, 0);
    assert_int_equal(n_dropped(t), 1);
    cuzk_trace_destroy(t);
}

static void test_trace__keeps_its_own_copy_of_names(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(10);
    char lane[] = "gpu0", name[] = "ntt";
    uint64_t n_spans;
    add(t, lane, name, 0, 1, 0);
    memset(lane, 'x', sizeof lane - 1);
    memset(name, 'x', sizeof name - 1);
    cuzk_trace_sum(t, "gpu0", "ntt", NULL, NULL, &n_spans);
    assert_int_equal(n_spans, 1);
    cuzk_trace_destroy(t);
}

static void
test_trace__cuts_long_names_and_takes_no_more_when_there_are_too_many(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(1000);
    char name[200];
    uint64_t n_spans;
    memset(name, 'x', sizeof name);
    name[199] = 0;
    add(t, "host", name, 0, 1, 0);
    name[70] = 0; /* the same: only what comes before counts */
    add(t, "host", name, 1, 2, 0);
    cuzk_trace_sum(t, "host", name, NULL, NULL, &n_spans);
    assert_int_equal(n_spans, 2);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "%u", i);
        add(t, "host", name, 0, 1, 0);
    }
    assert_int_equal(n_dropped(t), 300 - 255);
    add(t, "host", "7", 1, 2, 0); /* known names still go in */
    assert_int_equal(n_dropped(t), 300 - 255);
    json_decref(parsed(t));
    cuzk_trace_destroy(t);
}

static void test_trace__does_nothing_when_there_is_none(void **state) {
    (void)state;
    cuzk_trace_add(NULL, &(cuzk_span_record){"host", "a", 0, 1, 0});
    cuzk_trace_destroy(NULL);
}

static void test_trace__takes_over_spans_and_drops_when_one_is_appended(void **state) {
    (void)state;
    cuzk_trace *all = new_trace(4), *one = new_trace(2);
    uint64_t wall_ns, n_bytes, n_spans;
    add(all, "host", "a", 0, 1, 0);
    add(one, "gpu0", "b", 2, 5, 7);
    add(one, "host", "a", 1, 2, 0);
    add(one, "host", "a", 2, 3, 0); /* dropped here already */
    cuzk_trace_append(all, one);
    cuzk_trace_append(all, NULL);
    cuzk_trace_append(NULL, one);
    cuzk_trace_sum(all, "gpu0", "b", &wall_ns, &n_bytes, NULL);
    assert_int_equal(wall_ns, 3);
    assert_int_equal(n_bytes, 7);
    cuzk_trace_sum(all, "host", "a", NULL, NULL, &n_spans);
    assert_int_equal(n_spans, 2);
    assert_int_equal(n_dropped(all), 1);
    cuzk_trace_append(all, one); /* there is room for one of the two */
    assert_int_equal(n_dropped(all), 1 + 1 + 1);
    cuzk_trace_destroy(one);
    cuzk_trace_sum(all, "gpu0", "b", NULL, NULL, &n_spans);
    assert_int_equal(n_spans, 2);
    cuzk_trace_destroy(all);
}

/* ---- threads ---- */

enum { N_THREADS = 8, SPANS_EACH = 2000, CAP = N_THREADS * SPANS_EACH - 1000 };

typedef struct adder {
    cuzk_trace *trace;
    unsigned number;
} adder;

static void *add_many(void *arg) {
    const adder *a = arg;
    char lane[16], name[16];
    (void)snprintf(lane, sizeof lane, "lane %u", a->number);
    for (unsigned i = 0; i < SPANS_EACH; i++) {
        (void)snprintf(name, sizeof name, "op %u", i % 10);
        add(a->trace, lane, name, i, i + 1, 1);
    }
    return NULL;
}

static void test_trace__loses_nothing_when_threads_add_at_once(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(CAP);
    pthread_t threads[N_THREADS];
    adder adders[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        adders[i] = (adder){t, i};
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &adders[i]), 0);
    }
    for (unsigned i = 0; i < 20; i++) (void)busy(t, "lane", 0, UINT64_MAX);
    for (unsigned i = 0; i < N_THREADS; i++) (void)pthread_join(threads[i], NULL);
    uint64_t n_all = 0;
    for (unsigned i = 0; i < 10; i++) {
        char name[16];
        uint64_t n_spans, n_bytes;
        (void)snprintf(name, sizeof name, "op %u", i);
        cuzk_trace_sum(t, "lane ", name, NULL, &n_bytes, &n_spans);
        assert_int_equal(n_bytes, n_spans);
        n_all += n_spans;
    }
    assert_int_equal(n_all, CAP);
    assert_int_equal(n_dropped(t), N_THREADS * SPANS_EACH - CAP);
    cuzk_trace_destroy(t);
}

/* ---- Chrome's format ---- */

static const char *lane_of(const json_t *events, json_int_t tid) {
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event) {
        const char *name = json_string_value(json_object_get(event, "name"));
        if (strcmp(name, "thread_name") != 0) continue;
        if (json_integer_value(json_object_get(event, "tid")) != tid) continue;
        return json_string_value(json_object_get(json_object_get(event, "args"), "name"));
    }
    return NULL;
}

/* The complete event of that name. */
static const json_t *event_of(const json_t *events, const char *name) {
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event) {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0) continue;
        if (strcmp(json_string_value(json_object_get(event, "name")), name) == 0) return event;
    }
    return NULL;
}

static void assert_double_near(double a, double b) {
    if (a - b > 1e-6 || b - a > 1e-6) fail_msg("%.9f, expected %.9f", a, b);
}

static void test_trace__writes_spans_as_complete_events_in_microseconds(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(10);
    add(t, "gpu0 main", "ntt", 5000000000001234, 5000000000003235, 0);
    add(t, "gpu0 copy", "upload", 5000000000000234, 5000000000000235, 77);
    json_t *json = parsed(t);
    const json_t *events = json_object_get(json, "traceEvents");
    const json_t *ntt = event_of(events, "ntt"), *upload = event_of(events, "upload");
    assert_non_null(ntt);
    assert_non_null(upload);
    assert_double_near(json_number_value(json_object_get(upload, "ts")), 0);
    assert_double_near(json_number_value(json_object_get(upload, "dur")), 0.001);
    assert_double_near(json_number_value(json_object_get(ntt, "ts")), 1);
    assert_double_near(json_number_value(json_object_get(ntt, "dur")), 2.001);
    assert_null(json_object_get(ntt, "args"));
    const json_t *args = json_object_get(upload, "args");
    assert_int_equal(json_integer_value(json_object_get(args, "bytes")), 77);
    assert_string_equal(lane_of(events, json_integer_value(json_object_get(ntt, "tid"))),
                        "gpu0 main");
    assert_string_equal(lane_of(events, json_integer_value(json_object_get(upload, "tid"))),
                        "gpu0 copy");
    json_decref(json);
    cuzk_trace_destroy(t);
}

static void test_trace__is_valid_json_when_it_is_empty(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(10);
    json_t *json = parsed(t);
    assert_true(json_is_array(json_object_get(json, "traceEvents")));
    json_decref(json);
    cuzk_trace_destroy(t);
}

static void test_trace__escapes_every_byte_that_json_refuses(void **state) {
    (void)state;
    cuzk_trace *t = new_trace(10);
    for (unsigned first = 1; first < 256; first += 51) {
        char some[52];
        for (unsigned i = 0; i < 51; i++) some[i] = (char)(first + i);
        some[51] = 0;
        add(t, "a \"lane\" \\ of\n\t\xff", some, 0, 1, 0);
    }
    json_t *json = parsed(t);
    const json_t *events = json_object_get(json, "traceEvents");
    assert_string_equal(lane_of(events, 1), "a \"lane\" \\ of\n\t\xc3\xbf"); /* in UTF-8 */
    size_t i;
    const json_t *event;
    unsigned n_found = 0;
    json_array_foreach(events, i, event) {
        const char *name = json_string_value(json_object_get(event, "name"));
        n_found += name[0] == 1 && strlen(name) == 51;
        n_found +=
            name[0] == '\xc3' && name[1] == '\x8d' && strlen(name) == 2 * 51; /* 205 to 255 */
    }
    assert_int_equal(n_found, 2);
    json_decref(json);
    cuzk_trace_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace__counts_time_once_when_spans_overlap),
        cmocka_unit_test(test_trace__cuts_spans_when_a_window_is_given),
        cmocka_unit_test(test_trace__takes_a_span_for_empty_when_it_ends_before_it_begins),
        cmocka_unit_test(test_trace__knows_the_extent_of_lanes_and_takes_null_for_devices),
        cmocka_unit_test(test_trace__sums_spans_of_one_name_in_lanes_of_a_prefix),
        cmocka_unit_test(test_trace__finds_the_first_span_of_a_name_after_a_time),
        cmocka_unit_test(test_trace__drops_and_counts_spans_beyond_the_cap),
        cmocka_unit_test(test_trace__keeps_its_own_copy_of_names),
        cmocka_unit_test(
            test_trace__cuts_long_names_and_takes_no_more_when_there_are_too_many),
        cmocka_unit_test(test_trace__does_nothing_when_there_is_none),
        cmocka_unit_test(test_trace__takes_over_spans_and_drops_when_one_is_appended),
        cmocka_unit_test(test_trace__loses_nothing_when_threads_add_at_once),
        cmocka_unit_test(test_trace__writes_spans_as_complete_events_in_microseconds),
        cmocka_unit_test(test_trace__is_valid_json_when_it_is_empty),
        cmocka_unit_test(test_trace__escapes_every_byte_that_json_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
