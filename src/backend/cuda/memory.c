/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/memory: see memory.h. */
#include "backend/cuda/memory.h"

/* Left to the driver, which puts the kernels' code and stacks there. */
#define RESERVE_BYTES ((uint64_t)256 << 20)

/* ---- counting ---- */
static cuzk_status count_taken(cuzk_device *dev, uint64_t n_bytes, cuzk_err *err) {
    pthread_mutex_lock(&dev->lock);
    const uint64_t n_free = dev->limit_bytes - dev->used_bytes;
    const bool fits = n_bytes <= n_free;
    if (fits) dev->used_bytes += n_bytes;
    if (dev->used_bytes > dev->peak_bytes) dev->peak_bytes = dev->used_bytes;
    pthread_mutex_unlock(&dev->lock);
    if (fits) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_NOMEM, "backend.cuda",
                     "device memory: %llu bytes needed, %llu of %llu free on device %d",
                     (unsigned long long)n_bytes, (unsigned long long)n_free,
                     (unsigned long long)dev->limit_bytes, dev->index);
}

static void count_given(cuzk_device *dev, uint64_t n_bytes) {
    pthread_mutex_lock(&dev->lock);
    dev->used_bytes -= n_bytes;
    pthread_mutex_unlock(&dev->lock);
}

/* ---- taking ---- */
/* The pool can make a stream wait for memory that another one has not given back yet. Queues
 * are meant to run side by side, so it only may when there is no other memory. */
static cudaError_t let_pool_wait(cuzk_device *dev, int may_wait) {
    return cudaMemPoolSetAttribute(dev->pool, cudaMemPoolReuseAllowInternalDependencies,
                                   &may_wait);
}

/* The pool holds on to what was given back, in pieces that may be too small. */
static cuzk_status take_with_patience(void **out, cuzk_device *dev, cudaStream_t stream,
                                      size_t n_bytes, cuzk_err *err) {
    CUDA_TRY(cudaStreamSynchronize(stream), err);
    CUDA_TRY(cudaMemPoolTrimTo(dev->pool, 0), err);
    CUDA_TRY(let_pool_wait(dev, 1), err);
    const cuzk_status status = CUDA_CALL(
        cudaMallocFromPoolAsync(out, n_bytes, dev->pool, stream), "cudaMallocAsync", err);
    (void)let_pool_wait(dev, 0); /* else it stays slow, but right */
    return status;
}

static cuzk_status take(void *out_ptr, cuzk_device *dev, cudaStream_t stream, size_t n_bytes,
                        cuzk_err *err) {
    void *p = NULL;
    if (n_bytes == 0) n_bytes = 1;
    CUZK_TRY(count_taken(dev, n_bytes, err));
    cuzk_status status = CUDA_CALL(cudaMallocFromPoolAsync(&p, n_bytes, dev->pool, stream),
                                   "cudaMallocAsync", err);
    if (status == CUZK_ERR_NOMEM) status = take_with_patience(&p, dev, stream, n_bytes, err);
    if (status != CUZK_OK) {
        count_given(dev, n_bytes);
        return status;
    }
    *(void **)out_ptr = p;
    return CUZK_OK;
}

/* Errors have nowhere to go here; a device that fails now fails the next call too. */
static void give(cuzk_device *dev, cudaStream_t stream, void *p, size_t n_bytes, bool secret) {
    if (!p) return;
    if (n_bytes == 0) n_bytes = 1;
    if (secret) (void)cudaMemsetAsync(p, 0, n_bytes, stream);
    (void)cudaFreeAsync(p, stream);
    count_given(dev, n_bytes);
}

cuzk_status cuda_memory_take_queued(void *out_ptr, cuzk_queue *queue, size_t n_bytes,
                                    cuzk_err *err) {
    return take(out_ptr, queue->dev, queue->stream, n_bytes, err);
}

void cuda_memory_give_queued(cuzk_queue *queue, void *p, size_t n_bytes, bool secret) {
    give(queue->dev, queue->stream, p, n_bytes, secret);
}

/* A block is another stream's to use once its own stream has passed the taking. */
cuzk_status cuda_memory_take(void *out_ptr, cuzk_device *dev, size_t n_bytes, cuzk_err *err) {
    void *p;
    CUZK_TRY(take(&p, dev, dev->stream, n_bytes, err));
    const cuzk_status status =
        CUDA_CALL(cudaStreamSynchronize(dev->stream), "cudaStreamSynchronize", err);
    if (status != CUZK_OK) {
        give(dev, dev->stream, p, n_bytes, false);
        return status;
    }
    *(void **)out_ptr = p;
    return CUZK_OK;
}

void cuda_memory_give(cuzk_device *dev, void *p, size_t n_bytes, bool secret) {
    give(dev, dev->stream, p, n_bytes, secret);
}

/* ---- the pool ---- */
static cuzk_status open_pool(cuzk_device *dev, cuzk_err *err) {
    const struct cudaMemPoolProps props = {
        .allocType = cudaMemAllocationTypePinned,
        .location = {.type = cudaMemLocationTypeDevice, .id = dev->index}};
    uint64_t threshold = UINT64_MAX; /* the next operation wants the same again */
    CUDA_TRY(cudaMemPoolCreate(&dev->pool, &props), err);
    CUDA_TRY(cudaMemPoolSetAttribute(dev->pool, cudaMemPoolAttrReleaseThreshold, &threshold),
             err);
    CUDA_TRY(let_pool_wait(dev, 0), err);
    CUDA_TRY(cudaStreamCreateWithFlags(&dev->stream, cudaStreamNonBlocking), err);
    return CUZK_OK;
}

static cuzk_status set_limit(cuzk_device *dev, uint64_t memory_limit, cuzk_err *err) {
    size_t n_free = 0, n_total = 0;
    CUDA_TRY(cudaMemGetInfo(&n_free, &n_total), err);
    dev->total_bytes = n_total;
    dev->limit_bytes = n_free > RESERVE_BYTES ? n_free - RESERVE_BYTES : 0;
    if (memory_limit && memory_limit < dev->limit_bytes) dev->limit_bytes = memory_limit;
    return CUZK_OK;
}

cuzk_status cuda_memory_init(cuzk_device *dev, uint64_t memory_limit, cuzk_err *err) {
    if (pthread_mutex_init(&dev->lock, NULL) != 0)
        return cuzk_fail(err, CUZK_ERR_NOMEM, "backend.cuda", "the system refused a lock");
    cuzk_status status = set_limit(dev, memory_limit, err);
    if (status == CUZK_OK) status = open_pool(dev, err);
    if (status != CUZK_OK) cuda_memory_fini(dev);
    return status;
}

void cuda_memory_fini(cuzk_device *dev) {
    if (dev->stream) (void)cudaStreamSynchronize(dev->stream);
    if (dev->stream) (void)cudaStreamDestroy(dev->stream);
    if (dev->pool) (void)cudaMemPoolDestroy(dev->pool);
    (void)pthread_mutex_destroy(&dev->lock);
}
