/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_TRACE_H
#define CUZK_BASE_TRACE_H
/* base/trace: what ran when, and where: named spans in lanes ("host", "gpu0 main", "gpu0
 * copy"), for timelines, busy shares and timing lines. */
#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct cuzk_trace cuzk_trace; /* Thread: shared (locks inside) */

typedef struct cuzk_span_record {
    const char *lane, *name;   /* copied by the trace */
    uint64_t begin_ns, end_ns; /* cuzk_clock_ns() */
    uint64_t n_bytes;          /* moved by it; 0 = none */
} cuzk_span_record;

/* Keeps at most max_spans; those that come later are counted and dropped. NOMEM. */
CUZK_MUST_CHECK cuzk_status cuzk_trace_create(cuzk_trace **out, size_t max_spans,
                                              cuzk_err *err);
void cuzk_trace_destroy(cuzk_trace *trace); /* NULL is fine */

/* trace NULL: does nothing. Cannot fail: without memory the span is dropped. */
void cuzk_trace_add(cuzk_trace *trace, const cuzk_span_record *span);

/* Time in which at least one span of the lanes that begin with `prefix` ran, between begin and
 * end (0 and UINT64_MAX: all). NOMEM. */
CUZK_MUST_CHECK cuzk_status cuzk_trace_busy_ns(uint64_t *out, cuzk_trace *trace,
                                               const char *prefix, uint64_t begin_ns,
                                               uint64_t end_ns, cuzk_err *err);
/* Sums over the spans of `name` (in lanes that begin with `prefix`). Any out may be NULL. */
void cuzk_trace_sum(cuzk_trace *trace, const char *prefix, const char *name, uint64_t *wall_ns,
                    uint64_t *n_bytes, uint64_t *n_spans);

/* Chrome's trace event format (opens in Perfetto), as one JSON text. NUL-terminated; owner:
 * caller, cuzk_free(). NOMEM. */
CUZK_MUST_CHECK cuzk_status cuzk_trace_chrome_json(char **out, cuzk_trace *trace,
                                                   cuzk_err *err);

#endif
