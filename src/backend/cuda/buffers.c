/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/buffers: see buffers.h. */
#include "backend/cuda/buffers.h"

#include "backend/cuda/queue.h"
#include "base/alloc.h"

static cuzk_status new_buf(cuzk_buf **out, cuzk_device *dev, cuda_buf_kind kind,
                           size_t n_bytes, bool secret, cuzk_err *err) {
    CUZK_TRY(cuzk_alloc(out, 1, sizeof **out, err));
    **out = (cuzk_buf){.dev = dev, .n_bytes = n_bytes, .kind = kind, .secret = secret};
    return CUZK_OK;
}

void cuda_buf_free(cuzk_buf *buf) {
    if (!buf) return;
    (void)cudaSetDevice(buf->dev->index);
    if (buf->kind == CUDA_BUF_DEVICE)
        cuda_memory_give(buf->dev, buf->p, buf->n_bytes, buf->secret);
    if (buf->kind == CUDA_BUF_PINNED) {
        if (buf->p && buf->secret) cuzk_wipe(buf->p, buf->n_bytes);
        (void)cudaFreeHost(buf->p);
    }
    cuzk_free(buf);
}

static cuzk_status take_pinned(uint8_t **out, size_t n_bytes, cuzk_err *err) {
    CUDA_TRY(cudaMallocHost((void **)out, n_bytes ? n_bytes : 1), err);
    return CUZK_OK;
}

cuzk_status cuda_buf_alloc(cuzk_buf **out, cuzk_device *dev, cuzk_space space, size_t n_bytes,
                           bool secret, cuzk_err *err) {
    const bool on_device = space == CUZK_SPACE_DEVICE;
    const cuda_buf_kind kind = on_device ? CUDA_BUF_DEVICE : CUDA_BUF_PINNED;
    cuzk_buf *buf;
    CUZK_TRY(cuda_use(dev, err));
    CUZK_TRY(new_buf(&buf, dev, kind, n_bytes, secret, err));
    const cuzk_status status = on_device ? cuda_memory_take(&buf->p, dev, n_bytes, err)
                                         : take_pinned(&buf->p, n_bytes, err);
    if (status != CUZK_OK) {
        cuda_buf_free(buf);
        return status;
    }
    *out = buf;
    return CUZK_OK;
}

cuzk_status cuda_buf_wrap(cuzk_buf **out, cuzk_device *dev, const void *bytes, size_t n_bytes,
                          cuzk_err *err) {
    CUZK_TRY(new_buf(out, dev, CUDA_BUF_WRAPPED, n_bytes, false, err));
    (*out)->p = (uint8_t *)(uintptr_t)bytes; /* never written through it */
    return CUZK_OK;
}

/* ---- to the device and back ---- */
static cuzk_status copy(cuzk_queue *queue, void *to, const void *from, size_t n_bytes,
                        cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    CUDA_TRY(cudaMemcpyAsync(to, from, n_bytes, cudaMemcpyDefault, queue->stream), err);
    return CUZK_OK;
}

cuzk_status cuda_upload(cuzk_queue *queue, cuzk_slice to, const void *from, size_t n_bytes,
                        cuzk_err *err) {
    uint8_t *p = NULL;
    CUZK_TRY(cuda_slice_bytes(&p, to, n_bytes, 1, CUDA_WRITE, "to", err));
    return n_bytes ? copy(queue, p, from, n_bytes, err) : CUZK_OK;
}

cuzk_status cuda_download(cuzk_queue *queue, void *to, cuzk_slice from, size_t n_bytes,
                          cuzk_err *err) {
    uint8_t *p = NULL;
    CUZK_TRY(cuda_slice_bytes(&p, from, n_bytes, 1, CUDA_READ, "from", err));
    return n_bytes ? copy(queue, to, p, n_bytes, err) : CUZK_OK;
}

/* ---- pinning ---- */
#define TOUCH_BYTES ((size_t)16 << 20) /* by one thread at a time */
#define PAGE_BYTES  ((size_t)4 << 10)  /* the smallest there are */

typedef struct touching {
    uint8_t *data;
    size_t n_bytes;
} touching;

static void touch(void *arg, size_t item, unsigned slot) {
    const touching *t = arg;
    const size_t begin = item * TOUCH_BYTES,
                 end = t->n_bytes - begin < TOUCH_BYTES ? t->n_bytes : begin + TOUCH_BYTES;
    (void)slot;
    for (size_t i = begin; i < end; i += PAGE_BYTES)
        ((volatile uint8_t *)t->data)[i] = t->data[i]; /* a write, that changes nothing */
}

/* The driver would fault the pages in itself, one after the other. They are registered in one
 * go, though several threads would be a little faster: a copy across two registrations is
 * refused. */
static cuzk_status pin(void *arg, void *data, size_t n_bytes, cuzk_err *err) {
    cuzk_device *dev = arg;
    touching t = {data, n_bytes};
    CUZK_TRY(cuda_use(dev, err));
    cuzk_exec_for(dev->exec, (n_bytes + TOUCH_BYTES - 1) / TOUCH_BYTES, touch, &t);
    CUDA_TRY(cudaHostRegister(data, n_bytes, cudaHostRegisterPortable), err);
    return CUZK_OK;
}

static void unpin(void *arg, void *data, size_t n_bytes) {
    const cuzk_device *dev = arg;
    (void)n_bytes;
    (void)cudaSetDevice(dev->index);
    (void)cudaHostUnregister(data);
}

pages_pinner cuda_pinner(cuzk_device *dev) {
    return (pages_pinner){.pin = pin, .unpin = unpin, .arg = dev};
}
