/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/queue: see queue.h. */
#include "backend/cuda/queue.h"

#include "backend/cuda/spans.h"
#include "base/alloc.h"

cuzk_status cuda_use(const cuzk_device *dev, cuzk_err *err) {
    CUDA_TRY(cudaSetDevice(dev->index), err);
    return CUZK_OK;
}

/* ---- work space ---- */
cuzk_status cuda_scratch_take(cuda_scratch *s, void *out_ptr, size_t n_items,
                              size_t item_bytes, bool secret, cuzk_err *err) {
    if (item_bytes && n_items > SIZE_MAX / item_bytes) {
        return cuzk_fail(err, CUZK_ERR_NOMEM, "backend.cuda",
                         "%zu items of %zu bytes are more than an address can reach", n_items,
                         item_bytes);
    }
    CUZK_ASSERT(s->n_blocks < CUDA_SCRATCH_MAX);
    const size_t n_bytes = n_items * item_bytes;
    void *p;
    CUZK_TRY(cuda_memory_take_queued(&p, s->queue, n_bytes, err));
    s->blocks[s->n_blocks].p = p;
    s->blocks[s->n_blocks].n_bytes = n_bytes;
    s->blocks[s->n_blocks++].secret = secret;
    *(void **)out_ptr = p;
    return CUZK_OK;
}

void cuda_scratch_drop(cuda_scratch *s) {
    while (s->n_blocks > 0) {
        s->n_blocks--;
        cuda_memory_give_queued(s->queue, s->blocks[s->n_blocks].p,
                                s->blocks[s->n_blocks].n_bytes, s->blocks[s->n_blocks].secret);
    }
}

/* ---- operands ---- */
#define ALIGNMENT 16u

cuzk_status cuda_slice_bytes(uint8_t **out, cuzk_slice slice, uint64_t n_items,
                             size_t item_bytes, cuda_access access, const char *what,
                             cuzk_err *err) {
    const cuzk_buf *buf = slice.buf;
    if (!buf)
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda", "operand %s has no buffer", what);
    if (slice.offset > buf->n_bytes || n_items > (buf->n_bytes - slice.offset) / item_bytes) {
        return cuzk_fail(
            err, CUZK_ERR_ARG, "backend.cuda",
            "operand %s: %llu items of %zu bytes at offset %zu, but the buffer has %zu bytes",
            what, (unsigned long long)n_items, item_bytes, slice.offset, buf->n_bytes);
    }
    if (access != CUDA_READ && buf->kind == CUDA_BUF_WRAPPED) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda",
                         "result %s lies in wrapped memory, which is read only", what);
    }
    *out = buf->p + slice.offset;
    return CUZK_OK;
}

static cuzk_status open_by_copy(cuda_operand *out, cuda_scratch *s, const uint8_t *from,
                                cuda_access access, cuzk_err *err) {
    CUZK_TRY(cuda_scratch_take(s, &out->p, out->n_bytes, 1, true, err));
    if (access == CUDA_WRITE) return CUZK_OK;
    cuda_span_add_bytes(s->queue, out->n_bytes);
    CUDA_TRY(cudaMemcpyAsync(out->p, from, out->n_bytes, cudaMemcpyDefault, s->queue->stream),
             err);
    return CUZK_OK;
}

cuzk_status cuda_operand_open(cuda_operand *out, cuda_scratch *s, cuzk_slice slice,
                              uint64_t n_items, size_t item_bytes, cuda_access access,
                              const char *what, cuzk_err *err) {
    uint8_t *p = NULL;
    CUZK_TRY(cuda_slice_bytes(&p, slice, n_items, item_bytes, access, what, err));
    const bool is_aligned = slice.offset % ALIGNMENT == 0;
    if (access != CUDA_READ && !is_aligned) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda",
                         "result %s is not aligned to %u bytes", what, ALIGNMENT);
    }
    *out = (cuda_operand){.n_bytes = (size_t)n_items * item_bytes};
    if (out->n_bytes == 0) return cuda_scratch_take(s, &out->p, 0, 0, false, err);
    if (slice.buf->kind == CUDA_BUF_DEVICE && is_aligned) {
        out->p = (uint32_t *)(void *)p;
        return CUZK_OK;
    }
    if (access != CUDA_READ) out->home = p;
    return open_by_copy(out, s, p, access, err);
}

cuzk_status cuda_operand_return(const cuda_operand *o, cuzk_queue *queue, cuzk_err *err) {
    if (!o->home) return CUZK_OK;
    cuda_span_add_bytes(queue, o->n_bytes);
    CUDA_TRY(cudaMemcpyAsync(o->home, o->p, o->n_bytes, cudaMemcpyDefault, queue->stream),
             err);
    return CUZK_OK;
}

/* ---- results on the host ---- */
#define HOST_BLOCK_BYTES ((size_t)64 << 10)

/* One block serves a queue for ever, unless a result is larger. */
typedef struct cuda_host_block {
    struct cuda_host_block *next;
    uint8_t *p;
    size_t n_bytes, n_used;
} host_block;

static cuzk_status add_host_block(cuzk_queue *queue, size_t n_bytes, cuzk_err *err) {
    host_block *block;
    CUZK_TRY(cuzk_zalloc(&block, 1, sizeof *block, err));
    const cuzk_status status =
        CUDA_CALL(cudaMallocHost((void **)&block->p, n_bytes), "cudaMallocHost", err);
    if (status != CUZK_OK) {
        cuzk_free(block);
        return status;
    }
    block->n_bytes = n_bytes;
    block->next = queue->host_blocks;
    queue->host_blocks = block;
    return CUZK_OK;
}

cuzk_status cuda_host_take(void *out_ptr, cuzk_queue *queue, size_t n_bytes, cuzk_err *err) {
    n_bytes = (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    host_block *block = queue->host_blocks;
    while (block && block->n_bytes - block->n_used < n_bytes) block = block->next;
    if (!block) {
        const size_t at_least = HOST_BLOCK_BYTES;
        CUZK_TRY(add_host_block(queue, n_bytes > at_least ? n_bytes : at_least, err));
        block = queue->host_blocks;
    }
    *(void **)out_ptr = block->p + block->n_used;
    block->n_used += n_bytes;
    return CUZK_OK;
}

static void reuse_host_blocks(cuzk_queue *queue) {
    for (host_block *block = queue->host_blocks; block; block = block->next) block->n_used = 0;
}

static void free_host_blocks(cuzk_queue *queue) {
    while (queue->host_blocks) {
        host_block *block = queue->host_blocks;
        queue->host_blocks = block->next;
        (void)cudaFreeHost(block->p);
        cuzk_free(block);
    }
}

/* ---- tails ---- */
void cuda_queue_add_tail(cuzk_queue *queue, cuda_tail *tail) {
    cuda_tail **end = &queue->tails;
    while (*end) end = &(*end)->next;
    tail->next = NULL;
    *end = tail;
}

static void end_tails(cuzk_queue *queue, bool is_done) {
    while (queue->tails) {
        cuda_tail *tail = queue->tails;
        queue->tails = tail->next;
        tail->end(tail, is_done);
    }
    if (is_done) reuse_host_blocks(queue); /* else they may still be written to */
}

/* ---- queues ---- */
static cuzk_status open_stream(cuzk_queue *queue, const char *name, cuzk_trace *trace,
                               cuzk_err *err) {
    CUDA_TRY(cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking), err);
    CUDA_TRY(cudaEventCreateWithFlags(&queue->mark, cudaEventDisableTiming), err);
    return trace ? cuda_spans_open(queue, name, trace, err) : CUZK_OK;
}

cuzk_status cuda_queue_open(cuzk_queue **out, cuzk_device *dev, const char *name,
                            cuzk_trace *trace, cuzk_err *err) {
    cuzk_queue *queue;
    CUZK_TRY(cuda_use(dev, err));
    CUZK_TRY(cuzk_zalloc(&queue, 1, sizeof *queue, err));
    queue->dev = dev;
    const cuzk_status status = open_stream(queue, name, trace, err);
    if (status != CUZK_OK) {
        cuda_queue_close(queue);
        return status;
    }
    *out = queue;
    return CUZK_OK;
}

static cuzk_status synchronise(cuzk_queue *queue, cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    CUDA_TRY(cudaStreamSynchronize(queue->stream), err);
    return cuda_spans_tell(queue, err);
}

cuzk_status cuda_queue_wait(cuzk_queue *queue, cuzk_err *err) {
    const cuzk_status status = synchronise(queue, err);
    end_tails(queue, status == CUZK_OK);
    return status;
}

cuzk_status cuda_queue_after(cuzk_queue *queue, cuzk_queue *other, cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    CUDA_TRY(cudaEventRecord(other->mark, other->stream), err);
    CUDA_TRY(cudaStreamWaitEvent(queue->stream, other->mark, 0), err);
    return CUZK_OK;
}

/* Also of a queue whose opening failed, or whose device has: errors have nowhere to go. */
void cuda_queue_close(cuzk_queue *queue) {
    if (!queue) return;
    (void)cudaSetDevice(queue->dev->index);
    if (queue->stream) (void)cudaStreamSynchronize(queue->stream);
    end_tails(queue, false);
    cuda_spans_close(queue);
    free_host_blocks(queue);
    if (queue->mark) (void)cudaEventDestroy(queue->mark);
    if (queue->stream) (void)cudaStreamDestroy(queue->stream);
    cuzk_free(queue);
}
