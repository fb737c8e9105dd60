/* SPDX-License-Identifier: Apache-2.0 */
/* base/trace: see trace.h. Room for everything is taken at the start (what is never written costs
 * nothing), and what was written never changes or moves: so the lock is held for a moment only,
 * and who reads needs it just to learn how much there is. */
#include "base/trace.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXTS      256u
#define TEXT_BYTES     64u
#define FIRST_CAPACITY 4096u /* of a text */

/* Lanes and names repeat: distinct ones, in order of appearance. */
typedef struct texts {
    uint32_t n;
    char items[MAX_TEXTS][TEXT_BYTES];
} texts;

typedef struct span {
    uint32_t lane, name;
    uint64_t begin_ns, end_ns, n_bytes;
} span;

struct cuzk_trace {
    pthread_mutex_t
        lock; /* of all that can still change: the counts, and what lies behind them */
    texts lanes, names;
    span *spans;
    size_t n_spans, max_spans;
    uint64_t n_dropped;
};

cuzk_status cuzk_trace_create(cuzk_trace **out, size_t max_spans, cuzk_err *err) {
    cuzk_trace *t;
    CUZK_TRY(cuzk_zalloc(&t, 1, sizeof *t, err));
    t->max_spans = max_spans;
    cuzk_status status = cuzk_alloc(&t->spans, max_spans, sizeof *t->spans, err);
    if (status == CUZK_OK && pthread_mutex_init(&t->lock, NULL) != 0)
        status = cuzk_fail(err, CUZK_ERR_NOMEM, "base.trace", "the system refused a lock");
    if (status == CUZK_OK) {
        *out = t;
    } else {
        cuzk_free(t->spans);
        cuzk_free(t);
    }
    return status;
}

void cuzk_trace_destroy(cuzk_trace *trace) {
    if (!trace) return;
    (void)pthread_mutex_destroy(&trace->lock);
    cuzk_free(trace->spans);
    cuzk_free(trace);
}

/* ---- adding ---- */

static bool texts_number(uint32_t *out, texts *t, const char *text) {
    uint32_t i = 0;
    while (i < t->n && strncmp(t->items[i], text, TEXT_BYTES - 1) != 0) i++;
    if (i == MAX_TEXTS) return false;
    if (i == t->n) (void)snprintf(t->items[t->n++], TEXT_BYTES, "%s", text);
    *out = i;
    return true;
}

static bool add(cuzk_trace *t, const cuzk_span_record *record) {
    span s = {
        .begin_ns = record->begin_ns, .end_ns = record->end_ns, .n_bytes = record->n_bytes};
    if (t->n_spans == t->max_spans) return false;
    if (s.end_ns < s.begin_ns) s.end_ns = s.begin_ns; /* clocks of devices drift */
    if (!texts_number(&s.lane, &t->lanes, record->lane)) return false;
    if (!texts_number(&s.name, &t->names, record->name)) return false;
    t->spans[t->n_spans++] = s;
    return true;
}

void cuzk_trace_add(cuzk_trace *trace, const cuzk_span_record *record) {
    if (!trace) return;
    (void)pthread_mutex_lock(&trace->lock);
    if (!add(trace, record)) trace->n_dropped++;
    (void)pthread_mutex_unlock(&trace->lock);
}

/* What there is by now; stays as it is. */
typedef struct view {
    const cuzk_trace *trace;
    const span *spans;
    size_t n_spans, n_lanes;
    uint64_t n_dropped;
} view;

static view view_of(cuzk_trace *trace) {
    (void)pthread_mutex_lock(&trace->lock);
    const view v = {trace, trace->spans, trace->n_spans, trace->lanes.n, trace->n_dropped};
    (void)pthread_mutex_unlock(&trace->lock);
    return v;
}

static const char *lane_of(const view *v, const span *s) {
    return v->trace->lanes.items[s->lane];
}
static const char *name_of(const view *v, const span *s) {
    return v->trace->names.items[s->name];
}

void cuzk_trace_append(cuzk_trace *into, cuzk_trace *from) {
    if (!into || !from) return;
    const view v = view_of(from);
    for (size_t i = 0; i < v.n_spans; i++) {
        const span *s = &v.spans[i];
        cuzk_trace_add(into, &(cuzk_span_record){lane_of(&v, s), name_of(&v, s), s->begin_ns,
                                                 s->end_ns, s->n_bytes});
    }
    (void)pthread_mutex_lock(&into->lock);
    into->n_dropped += v.n_dropped;
    (void)pthread_mutex_unlock(&into->lock);
}

/* ---- asking ---- */

static bool is_in_lane(const view *v, const span *s, const char *prefix) {
    const char *lane = lane_of(v, s);
    return prefix ? strncmp(lane, prefix, strlen(prefix)) == 0 : strcmp(lane, "host") != 0;
}

static bool is_named(const view *v, const span *s, const char *name) {
    return strncmp(name_of(v, s), name, TEXT_BYTES - 1) == 0;
}

typedef struct interval {
    uint64_t begin_ns, end_ns;
} interval;

static int by_begin(const void *a, const void *b) {
    const uint64_t x = ((const interval *)a)->begin_ns, y = ((const interval *)b)->begin_ns;
    return (x > y) - (x < y);
}

/* What of the lanes' spans lies in `window`; returns how many intervals that are. */
static size_t cut_out(interval *out, const view *v, const char *prefix, interval window) {
    size_t n = 0;
    for (size_t i = 0; i < v->n_spans; i++) {
        const span *s = &v->spans[i];
        interval part = {s->begin_ns, s->end_ns};
        if (!is_in_lane(v, s, prefix)) continue;
        if (part.begin_ns < window.begin_ns) part.begin_ns = window.begin_ns;
        if (part.end_ns > window.end_ns) part.end_ns = window.end_ns;
        if (part.begin_ns < part.end_ns) out[n++] = part;
    }
    return n;
}

static uint64_t length_of_union(interval *parts, size_t n) {
    uint64_t sum = 0, covered_to = 0;
    qsort(parts, n, sizeof *parts, by_begin);
    for (size_t i = 0; i < n; i++) {
        const uint64_t from = parts[i].begin_ns > covered_to ? parts[i].begin_ns : covered_to;
        if (parts[i].end_ns <= from) continue;
        sum += parts[i].end_ns - from;
        covered_to = parts[i].end_ns;
    }
    return sum;
}

cuzk_status cuzk_trace_busy_ns(uint64_t *out, cuzk_trace *trace, const char *prefix,
                               uint64_t begin_ns, uint64_t end_ns, cuzk_err *err) {
    const view v = view_of(trace);
    interval *parts;
    CUZK_TRY(cuzk_alloc(&parts, v.n_spans, sizeof *parts, err));
    const size_t n = cut_out(parts, &v, prefix, (interval){begin_ns, end_ns});
    *out = length_of_union(parts, n);
    cuzk_free(parts);
    return CUZK_OK;
}

bool cuzk_trace_extent(cuzk_trace *trace, const char *prefix, uint64_t *begin_ns,
                       uint64_t *end_ns) {
    const view v = view_of(trace);
    interval all = {UINT64_MAX, 0};
    for (size_t i = 0; i < v.n_spans; i++) {
        const span *s = &v.spans[i];
        if (!is_in_lane(&v, s, prefix)) continue;
        if (s->begin_ns < all.begin_ns) all.begin_ns = s->begin_ns;
        if (s->end_ns > all.end_ns) all.end_ns = s->end_ns;
    }
    if (all.begin_ns > all.end_ns) return false;
    *begin_ns = all.begin_ns;
    *end_ns = all.end_ns;
    return true;
}

bool cuzk_trace_first(cuzk_trace *trace, const char *prefix, const char *name,
                      uint64_t after_ns, uint64_t *begin_ns, uint64_t *end_ns) {
    const view v = view_of(trace);
    const span *first = NULL;
    for (size_t i = 0; i < v.n_spans; i++) {
        const span *s = &v.spans[i];
        if (s->begin_ns < after_ns || (first && s->begin_ns >= first->begin_ns)) continue;
        if (is_named(&v, s, name) && is_in_lane(&v, s, prefix)) first = s;
    }
    if (!first) return false;
    *begin_ns = first->begin_ns;
    *end_ns = first->end_ns;
    return true;
}

void cuzk_trace_sum(cuzk_trace *trace, const char *prefix, const char *name, uint64_t *wall_ns,
                    uint64_t *n_bytes, uint64_t *n_spans) {
    const view v = view_of(trace);
    uint64_t sum_ns = 0, sum_bytes = 0, n = 0;
    for (size_t i = 0; i < v.n_spans; i++) {
        const span *s = &v.spans[i];
        if (!is_named(&v, s, name) || !is_in_lane(&v, s, prefix)) continue;
        sum_ns += s->end_ns - s->begin_ns;
        sum_bytes += s->n_bytes;
        n++;
    }
    if (wall_ns) *wall_ns = sum_ns;
    if (n_bytes) *n_bytes = sum_bytes;
    if (n_spans) *n_spans = n;
}

/* ---- Chrome's format ---- */

/* A growing text; once memory is refused it takes no more. */
typedef struct writer {
    char *text;
    size_t n, capacity;
    bool failed;
} writer;

static void grow(writer *w, size_t n_more) {
    char *larger;
    size_t n_wanted = w->capacity ? 2 * w->capacity : FIRST_CAPACITY;
    if (n_wanted < w->n + n_more) n_wanted = w->n + n_more;
    w->failed = cuzk_alloc(&larger, n_wanted, 1, NULL) != CUZK_OK;
    if (w->failed) return;
    if (w->n) memcpy(larger, w->text, w->n);
    cuzk_free(w->text);
    w->text = larger;
    w->capacity = n_wanted;
}

static void put(writer *w, const char *bytes, size_t n) {
    if (n > w->capacity - w->n && !w->failed) grow(w, n);
    if (w->failed) return;
    memcpy(w->text + w->n, bytes, n);
    w->n += n;
}

static void CUZK_PRINTF(2, 3) put_format(writer *w, const char *fmt, ...) {
    char text[200];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    CUZK_ASSERT(n >= 0 && (size_t)n < sizeof text);
    put(w, text, (size_t)n);
}

/* Other bytes than printable ASCII are taken for Latin-1, so that any text gives valid JSON. */
static void put_string(writer *w, const char *text) {
    put(w, "\"", 1);
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\') {
            put_format(w, "\\%c", byte);
        } else if (byte < 0x20 || byte >= 0x7f) {
            put_format(w, "\\u%04x", byte);
        } else {
            put(w, text, 1);
        }
    }
    put(w, "\"", 1);
}

/* Lanes become threads of one process. */
static void put_lane(writer *w, const view *v, size_t lane) {
    put_format(
        w, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%zu,\"args\":{\"name\":",
        lane + 1);
    put_string(w, v->trace->lanes.items[lane]);
    put_format(w, "}},\n");
    put_format(w,
               "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":%zu,"
               "\"args\":{\"sort_index\":%zu}},\n",
               lane + 1, lane + 1);
}

/* Chrome counts in microseconds; three decimals keep our nanoseconds. */
static void put_time(writer *w, const char *key, uint64_t ns) {
    put_format(w, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void put_span(writer *w, const view *v, const span *s, uint64_t zero_ns) {
    put_format(w, "{\"ph\":\"X\",\"pid\":1,\"tid\":%" PRIu32 ",\"name\":", s->lane + 1);
    put_string(w, name_of(v, s));
    put_time(w, "ts", s->begin_ns - zero_ns);
    put_time(w, "dur", s->end_ns - s->begin_ns);
    if (s->n_bytes) put_format(w, ",\"args\":{\"bytes\":%" PRIu64 "}", s->n_bytes);
    put_format(w, "},\n");
}

/* A last event without a comma behind it: names the process. */
static void put_trace(writer *w, const view *v) {
    uint64_t zero_ns = UINT64_MAX;
    for (size_t i = 0; i < v->n_spans; i++) {
        if (v->spans[i].begin_ns < zero_ns) zero_ns = v->spans[i].begin_ns;
    }
    put_format(w,
               "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped_spans\":%" PRIu64
               "},\"traceEvents\":[\n",
               v->n_dropped);
    for (size_t i = 0; i < v->n_lanes; i++) put_lane(w, v, i);
    for (size_t i = 0; i < v->n_spans; i++) put_span(w, v, &v->spans[i], zero_ns);
    put_format(w, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,"
                  "\"args\":{\"name\":\"cuzk\"}}\n]}\n");
    put(w, "", 1);
}

cuzk_status cuzk_trace_chrome_json(char **out, cuzk_trace *trace, cuzk_err *err) {
    writer w = {0};
    const view v = view_of(trace);
    put_trace(&w, &v);
    if (w.failed) {
        cuzk_free(w.text);
        return cuzk_fail(err, CUZK_ERR_NOMEM, "base.trace",
                         "no memory for the text of a trace, %zu bytes so far", w.n);
    }
    *out = w.text;
    return CUZK_OK;
}
