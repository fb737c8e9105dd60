/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/queue: see queue.h. Work space comes from the device's pool in stream order, so
 * taking and dropping it costs no synchronisation. */
#include "backend/cuda/queue.h"

#include "base/alloc.h"

#include <pthread.h>

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
    size_t n_bytes = n_items * item_bytes;
    if (n_bytes == 0) n_bytes = 1;
    void *p;
    CUDA_TRY(cudaMallocAsync(&p, n_bytes, s->queue->stream), err);
    s->blocks[s->n_blocks].p = p;
    s->blocks[s->n_blocks].n_bytes = n_bytes;
    s->blocks[s->n_blocks++].secret = secret;
    *(void **)out_ptr = p;
    return CUZK_OK;
}

/* Errors have nowhere to go here; a device that fails now fails the next wait too. */
void cuda_scratch_drop(cuda_scratch *s) {
    while (s->n_blocks > 0) {
        s->n_blocks--;
        if (s->blocks[s->n_blocks].secret) {
            (void)cudaMemsetAsync(s->blocks[s->n_blocks].p, 0, s->blocks[s->n_blocks].n_bytes,
                                  s->queue->stream);
        }
        (void)cudaFreeAsync(s->blocks[s->n_blocks].p, s->queue->stream);
    }
}

/* ---- operands ---- */
#define ALIGNMENT 16u

/* The upload is complete when this returns: other queues may read the copy at once. */
static cuzk_status upload(cuda_copy *copy, const cuzk_buf *buf, cudaStream_t stream,
                          cuzk_err *err) {
    void *p;
    CUDA_TRY(cudaMalloc(&p, copy->n_bytes), err);
    cudaError_t code = cudaMemcpyAsync(p, buf->p + copy->offset, copy->n_bytes,
                                       cudaMemcpyHostToDevice, stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
    if (code != cudaSuccess) {
        (void)cudaFree(p);
        return cuda_check(code, "upload", err);
    }
    copy->p = p;
    return CUZK_OK;
}

static cuzk_status find_copy(uint32_t **out, cuzk_buf *buf, size_t offset, size_t n_bytes,
                             cudaStream_t stream, cuzk_err *err) {
    cuda_copy *copy = buf->copies;
    while (copy && (copy->offset != offset || copy->n_bytes < n_bytes)) copy = copy->next;
    if (!copy) {
        CUZK_TRY(cuzk_alloc(&copy, 1, sizeof *copy, err));
        *copy = (cuda_copy){.next = buf->copies, .offset = offset, .n_bytes = n_bytes};
        const cuzk_status status = upload(copy, buf, stream, err);
        if (status != CUZK_OK) {
            cuzk_free(copy);
            return status;
        }
        buf->copies = copy;
    }
    *out = (uint32_t *)(void *)copy->p;
    return CUZK_OK;
}

static cuzk_status open_wrapped(cuda_operand *out, cuzk_queue *queue, cuzk_buf *buf,
                                size_t offset, cuzk_err *err) {
    pthread_mutex_lock(&buf->copies_lock);
    const cuzk_status status =
        find_copy(&out->p, buf, offset, out->n_bytes, queue->stream, err);
    pthread_mutex_unlock(&buf->copies_lock);
    return status;
}

static cuzk_status open_by_copy(cuda_operand *out, cuda_scratch *s, const uint8_t *from,
                                cuda_access access, cuzk_err *err) {
    CUZK_TRY(cuda_scratch_take(s, &out->p, out->n_bytes, 1, true, err));
    if (access == CUDA_WRITE) return CUZK_OK;
    CUDA_TRY(cudaMemcpyAsync(out->p, from, out->n_bytes, cudaMemcpyDefault, s->queue->stream),
             err);
    return CUZK_OK;
}

cuzk_status cuda_operand_open(cuda_operand *out, cuda_scratch *s, cuzk_slice slice,
                              uint64_t n_items, size_t item_bytes, cuda_access access,
                              const char *what, cuzk_err *err) {
    cuzk_buf *buf = slice.buf;
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
    if (access != CUDA_READ && slice.offset % ALIGNMENT != 0) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda",
                         "result %s is not aligned to %u bytes", what, ALIGNMENT);
    }
    *out = (cuda_operand){.n_bytes = (size_t)n_items * item_bytes};
    if (out->n_bytes == 0) return cuda_scratch_take(s, &out->p, 0, 0, false, err);
    if (buf->kind == CUDA_BUF_WRAPPED)
        return open_wrapped(out, s->queue, buf, slice.offset, err);
    uint8_t *from = buf->p + slice.offset;
    if (buf->kind == CUDA_BUF_PINNED || slice.offset % ALIGNMENT != 0) {
        if (access != CUDA_READ) out->home = from;
        return open_by_copy(out, s, from, access, err);
    }
    out->p = (uint32_t *)(void *)from;
    return CUZK_OK;
}

cuzk_status cuda_operand_return(const cuda_operand *o, cuzk_queue *queue, cuzk_err *err) {
    if (!o->home) return CUZK_OK;
    CUDA_TRY(cudaMemcpyAsync(o->home, o->p, o->n_bytes, cudaMemcpyDefault, queue->stream),
             err);
    return CUZK_OK;
}
