/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/spans: see spans.h. Pairs of events in the stream, used again after each wait.
 * Their times are counted from an event that the host saw happen. */
#include "backend/cuda/spans.h"

#include "backend/cuda/queue.h"
#include "base/alloc.h"
#include "base/clock.h"

#define NONE     UINT32_MAX
#define CAPACITY 64u /* of the list at first */

typedef struct span {
    const char *name;
    size_t n_bytes;
    uint32_t outer; /* the one it is nested in, or NONE */
    cudaEvent_t begin, end;
} span;

struct cuda_spans {
    const char *lane;
    cuzk_trace *trace;
    cudaEvent_t base;
    uint64_t base_ns;
    span *list; /* events live in it from their first use on */
    uint32_t n, capacity, open;
};
typedef struct cuda_spans cuda_spans;

/* ---- opening and closing ---- */
static cuzk_status set_base(cuda_spans *spans, cudaStream_t stream, cuzk_err *err) {
    CUDA_TRY(cudaEventRecord(spans->base, stream), err);
    CUDA_TRY(cudaEventSynchronize(spans->base), err);
    spans->base_ns = cuzk_clock_ns();
    return CUZK_OK;
}

cuzk_status cuda_spans_open(cuzk_queue *queue, const char *lane, cuzk_trace *trace,
                            cuzk_err *err) {
    cuda_spans *spans;
    CUZK_TRY(cuzk_zalloc(&spans, 1, sizeof *spans, err));
    spans->lane = lane;
    spans->trace = trace;
    spans->open = NONE;
    queue->spans = spans; /* closed with the queue from here on */
    CUDA_TRY(cudaEventCreate(&spans->base), err);
    return set_base(spans, queue->stream, err);
}

void cuda_spans_close(cuzk_queue *queue) {
    cuda_spans *spans = queue->spans;
    if (!spans) return;
    for (uint32_t i = 0; i < spans->capacity; i++) {
        if (spans->list[i].begin) (void)cudaEventDestroy(spans->list[i].begin);
        if (spans->list[i].end) (void)cudaEventDestroy(spans->list[i].end);
    }
    if (spans->base) (void)cudaEventDestroy(spans->base);
    cuzk_free(spans->list);
    cuzk_free(spans);
    queue->spans = NULL;
}

/* ---- recording ---- */
static cuzk_status grow(cuda_spans *spans, cuzk_err *err) {
    span *list;
    const uint32_t capacity = spans->capacity ? 2 * spans->capacity : CAPACITY;
    CUZK_TRY(cuzk_zalloc(&list, capacity, sizeof *list, err));
    for (uint32_t i = 0; i < spans->capacity; i++) list[i] = spans->list[i];
    cuzk_free(spans->list);
    spans->list = list;
    spans->capacity = capacity;
    return CUZK_OK;
}

static cuzk_status record(cudaEvent_t *event, cudaStream_t stream, cuzk_err *err) {
    if (!*event) CUDA_TRY(cudaEventCreate(event), err);
    CUDA_TRY(cudaEventRecord(*event, stream), err);
    return CUZK_OK;
}

cuzk_status cuda_span_begin(cuzk_queue *queue, const char *name, size_t n_bytes,
                            cuzk_err *err) {
    cuda_spans *spans = queue->spans;
    if (!spans) return CUZK_OK;
    CUZK_TRY(cuda_use(queue->dev, err));
    if (spans->n == spans->capacity) CUZK_TRY(grow(spans, err));
    span *s = &spans->list[spans->n];
    CUZK_TRY(record(&s->begin, queue->stream, err));
    s->name = name;
    s->n_bytes = n_bytes;
    s->outer = spans->open;
    spans->open = spans->n++;
    return CUZK_OK;
}

/* One that failed stays in the list without a name, and is not told. */
cuzk_status cuda_span_end(cuzk_queue *queue, cuzk_status status, cuzk_err *err) {
    cuda_spans *spans = queue->spans;
    if (!spans) return status;
    span *s = &spans->list[spans->open];
    spans->open = s->outer;
    if (status == CUZK_OK) status = record(&s->end, queue->stream, err);
    if (status != CUZK_OK) s->name = NULL;
    return status;
}

void cuda_span_add_bytes(cuzk_queue *queue, size_t n_bytes) {
    cuda_spans *spans = queue->spans;
    if (spans && spans->open != NONE) spans->list[spans->open].n_bytes += n_bytes;
}

/* ---- telling ---- */
static cuzk_status time_of(uint64_t *out_ns, const cuda_spans *spans, cudaEvent_t event,
                           cuzk_err *err) {
    float ms;
    CUDA_TRY(cudaEventElapsedTime(&ms, spans->base, event), err);
    *out_ns = spans->base_ns + (uint64_t)(ms > 0 ? (double)ms * 1e6 : 0);
    return CUZK_OK;
}

static cuzk_status tell(const cuda_spans *spans, const span *s, cuzk_err *err) {
    cuzk_span_record r = {.lane = spans->lane, .name = s->name, .n_bytes = s->n_bytes};
    if (!s->name) return CUZK_OK; /* it failed */
    CUZK_TRY(time_of(&r.begin_ns, spans, s->begin, err));
    CUZK_TRY(time_of(&r.end_ns, spans, s->end, err));
    cuzk_trace_add(spans->trace, &r);
    return CUZK_OK;
}

/* With a new base, because a float's milliseconds get coarse in a minute. */
cuzk_status cuda_spans_tell(cuzk_queue *queue, cuzk_err *err) {
    cuda_spans *spans = queue->spans;
    if (!spans) return CUZK_OK;
    cuzk_status status = CUZK_OK;
    for (uint32_t i = 0; i < spans->n && status == CUZK_OK; i++)
        status = tell(spans, &spans->list[i], err);
    spans->n = 0;
    spans->open = NONE;
    return status == CUZK_OK ? set_base(spans, queue->stream, err) : status;
}
