/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_SPANS_H
#define CUZK_BACKEND_CUDA_SPANS_H
/* backend/cuda/spans: when the device began and ended each operation of a queue, told to a
 * trace on the host's clock. All do nothing, at once, in a queue without a trace. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

CUZK_MUST_CHECK cuzk_status cuda_spans_open(cuzk_queue *queue, const char *lane,
                                            cuzk_trace *trace, cuzk_err *err);
void cuda_spans_close(cuzk_queue *queue); /* those not told yet are dropped */

/* From the work queued next on; name: a literal. May be nested. */
CUZK_MUST_CHECK cuzk_status cuda_span_begin(cuzk_queue *queue, const char *name,
                                            size_t n_bytes, cuzk_err *err);
/* The innermost one ends with the work queued so far. status: of that work; answered when it
 * is an error already. */
CUZK_MUST_CHECK cuzk_status cuda_span_end(cuzk_queue *queue, cuzk_status status,
                                          cuzk_err *err);
/* The innermost one has moved n_bytes more. */
void cuda_span_add_bytes(cuzk_queue *queue, size_t n_bytes);

/* Tells the trace, when the queue's work is done. */
CUZK_MUST_CHECK cuzk_status cuda_spans_tell(cuzk_queue *queue, cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
