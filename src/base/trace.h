/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_TRACE_H
#define CUZK_BASE_TRACE_H
/* base/trace: what ran when, and where: named spans in lanes ("host", "gpu0 main", "gpu0
 * copy"), for timelines, busy shares and timing lines. */
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cuzk_trace cuzk_trace; /* Thread: shared (locks inside) */

typedef struct cuzk_span_record {
    const char *lane, *name;   /* copied; their first 63 bytes count */
    uint64_t begin_ns, end_ns; /* cuzk_clock_ns() */
    uint64_t n_bytes;          /* moved by it; 0 = none */
} cuzk_span_record;

/* Keeps at most max_spans (40 bytes each, touched when used) in at most 256 lanes and of as many
 * names; what comes beyond that is counted and dropped. NOMEM. */
CUZK_MUST_CHECK cuzk_status cuzk_trace_create(cuzk_trace **out, size_t max_spans,
                                              cuzk_err *err);
void cuzk_trace_destroy(cuzk_trace *trace); /* NULL is fine */

/* trace NULL: does nothing. */
void cuzk_trace_add(cuzk_trace *trace, const cuzk_span_record *span);

/* Adds what `from` holds, and what it dropped, to `into`: the trace of one proof to that of the
 * process. Either may be NULL. */
void cuzk_trace_append(cuzk_trace *into, cuzk_trace *from);

/* Below, `prefix` chooses lanes: those whose name begins with it, or, when it is NULL, all but
 * "host". */

/* Time in which at least one span of the lanes ran, between begin and end (0 and UINT64_MAX:
 * all). NOMEM. */
CUZK_MUST_CHECK cuzk_status cuzk_trace_busy_ns(uint64_t *out, cuzk_trace *trace,
                                               const char *prefix, uint64_t begin_ns,
                                               uint64_t end_ns, cuzk_err *err);
/* From the first begin to the last end of the lanes' spans; false when there are none. */
bool cuzk_trace_extent(cuzk_trace *trace, const char *prefix, uint64_t *begin_ns,
                       uint64_t *end_ns);
/* The lanes' first span of `name` to begin at after_ns or later; false when there is none. */
bool cuzk_trace_first(cuzk_trace *trace, const char *prefix, const char *name,
                      uint64_t after_ns, uint64_t *begin_ns, uint64_t *end_ns);
/* Sums over the lanes' spans of `name`. Any out may be NULL. */
void cuzk_trace_sum(cuzk_trace *trace, const char *prefix, const char *name, uint64_t *wall_ns,
                    uint64_t *n_bytes, uint64_t *n_spans);

/* Chrome's trace event format (opens in Perfetto), as one JSON text. NUL-terminated; owner:
 * caller, cuzk_free(). NOMEM. */
CUZK_MUST_CHECK cuzk_status cuzk_trace_chrome_json(char **out, cuzk_trace *trace,
                                                   cuzk_err *err);

#endif
