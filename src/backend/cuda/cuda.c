/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/cuda: an NVIDIA GPU as a backend: its objects and its table. */
#include "backend/cuda/cuda.h"

#include "backend/cuda/evaluate.h"
#include "backend/cuda/msm.h"
#include "backend/cuda/ntt.h"
#include "backend/cuda/queue.h"
#include "backend/cuda/scalars.h"
#include "base/alloc.h"

#define SCORE          100 /* any usable GPU beats the CPU */
#define CAPABILITY_MIN 8   /* major; the oldest architecture that is built for */

/* No driver and no device are not errors: there is nothing to use. */
static cuzk_status cuda_probe(int *score, unsigned *n_devices, cuzk_err *err) {
    int n = 0;
    *score = 0;
    *n_devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&n);
    if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ||
        code == cudaErrorStubLibrary) {
        (void)cudaGetLastError();
        return CUZK_OK;
    }
    CUZK_TRY(cuda_check(code, "cudaGetDeviceCount", err));
    int major = 0;
    if (n > 0)
        CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), err);
    if (major < CAPABILITY_MIN) return CUZK_OK;
    *score = SCORE;
    *n_devices = (unsigned)n;
    return CUZK_OK;
}

/* Freed work space stays in the pool: the next operation wants the same. */
static cuzk_status keep_pool(int index, cuzk_err *err) {
    cudaMemPool_t pool;
    uint64_t threshold = UINT64_MAX;
    CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, index), err);
    CUDA_TRY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), err);
    return CUZK_OK;
}

static cuzk_status cuda_open(cuzk_device **out, const cuzk_device_options *options,
                             cuzk_exec *exec, cuzk_err *err) {
    const unsigned index = options->index;
    int score;
    unsigned n_devices;
    CUZK_TRY(cuda_probe(&score, &n_devices, err));
    if (index >= n_devices) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda", "device %u, there are %u", index,
                         n_devices);
    }
    CUDA_TRY(cudaSetDevice((int)index), err);
    CUZK_TRY(keep_pool((int)index, err));
    cuzk_device *dev;
    CUZK_TRY(cuzk_alloc(&dev, 1, sizeof *dev, err));
    *dev = (cuzk_device){.exec = exec, .index = (int)index};
    *out = dev;
    return CUZK_OK;
}

static void cuda_close(cuzk_device *dev) { cuzk_free(dev); }

/* ---- buffers ---- */
static cuzk_status new_buf(cuzk_buf **out, cuzk_device *dev, cuda_buf_kind kind,
                           size_t n_bytes, cuzk_err *err) {
    cuzk_buf *buf;
    CUZK_TRY(cuzk_zalloc(&buf, 1, sizeof *buf, err));
    buf->dev = dev;
    buf->kind = kind;
    buf->n_bytes = n_bytes;
    if (pthread_mutex_init(&buf->copies_lock, NULL) != 0) {
        cuzk_free(buf);
        return cuzk_fail(err, CUZK_ERR_NOMEM, "backend.cuda", "the system refused a lock");
    }
    *out = buf;
    return CUZK_OK;
}

static void free_copies(cuzk_buf *buf) {
    while (buf->copies) {
        cuda_copy *copy = buf->copies;
        buf->copies = copy->next;
        (void)cudaMemset(copy->p, 0, copy->n_bytes); /* it may be a witness */
        (void)cudaFree(copy->p);
        cuzk_free(copy);
    }
}

static void cuda_buf_free(cuzk_buf *buf) {
    if (!buf) return;
    (void)cudaSetDevice(buf->dev->index);
    free_copies(buf);
    if (buf->kind == CUDA_BUF_DEVICE) {
        if (buf->p && buf->secret) (void)cudaMemset(buf->p, 0, buf->n_bytes);
        (void)cudaFree(buf->p);
    }
    if (buf->kind == CUDA_BUF_PINNED) {
        if (buf->p && buf->secret) cuzk_wipe(buf->p, buf->n_bytes);
        (void)cudaFreeHost(buf->p);
    }
    (void)pthread_mutex_destroy(&buf->copies_lock);
    cuzk_free(buf);
}

static cuzk_status cuda_buf_alloc(cuzk_buf **out, cuzk_device *dev, cuzk_space space,
                                  size_t n_bytes, bool secret, cuzk_err *err) {
    const bool on_device = space == CUZK_SPACE_DEVICE;
    const size_t n_taken = n_bytes ? n_bytes : 1;
    cuzk_buf *buf = NULL;
    CUZK_TRY(cuda_use(dev, err));
    CUZK_TRY(new_buf(&buf, dev, on_device ? CUDA_BUF_DEVICE : CUDA_BUF_PINNED, n_bytes, err));
    buf->secret = secret;
    void *p = NULL;
    const cuzk_status status =
        on_device ? cuda_check(cudaMalloc(&p, n_taken), "cudaMalloc", err)
                  : cuda_check(cudaMallocHost(&p, n_taken), "cudaMallocHost", err);
    if (status != CUZK_OK) {
        cuda_buf_free(buf);
        return status;
    }
    buf->p = p;
    *out = buf;
    return CUZK_OK;
}

static cuzk_status cuda_buf_wrap(cuzk_buf **out, cuzk_device *dev, const void *bytes,
                                 size_t n_bytes, cuzk_err *err) {
    cuzk_buf *buf = NULL;
    CUZK_TRY(new_buf(&buf, dev, CUDA_BUF_WRAPPED, n_bytes, err));
    buf->p = (uint8_t *)(uintptr_t)bytes; /* never written through it */
    *out = buf;
    return CUZK_OK;
}

/* ---- queues ---- */
static cuzk_status cuda_queue_open(cuzk_queue **out, cuzk_device *dev, const char *name,
                                   cuzk_trace *trace, cuzk_err *err) {
    (void)name;
    (void)trace;
    cuzk_queue *queue;
    CUZK_TRY(cuda_use(dev, err));
    CUZK_TRY(cuzk_zalloc(&queue, 1, sizeof *queue, err));
    queue->dev = dev;
    const cuzk_status status =
        cuda_check(cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking),
                   "cudaStreamCreate", err);
    if (status != CUZK_OK) {
        cuzk_free(queue);
        return status;
    }
    *out = queue;
    return CUZK_OK;
}

static cuzk_status cuda_queue_wait(cuzk_queue *queue, cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    CUDA_TRY(cudaStreamSynchronize(queue->stream), err);
    cuda_msm_finish(queue);
    return CUZK_OK;
}

static void cuda_queue_close(cuzk_queue *queue) {
    if (!queue) return;
    (void)cudaSetDevice(queue->dev->index);
    (void)cudaStreamSynchronize(queue->stream);
    cuda_msm_forget(queue);
    (void)cudaStreamDestroy(queue->stream);
    cuzk_free(queue);
}

const cuzk_backend cuzk_backend_cuda = {
    .abi = CUZK_BACKEND_ABI,
    .name = "cuda",
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .buf_alloc = cuda_buf_alloc,
    .buf_wrap = cuda_buf_wrap,
    .buf_free = cuda_buf_free,
    .queue_open = cuda_queue_open,
    .queue_wait = cuda_queue_wait,
    .queue_close = cuda_queue_close,
    .domain_open = cuda_domain_open,
    .domain_close = cuda_domain_close,
    .scalars_open = cuda_scalars_open,
    .scalars_close = cuda_scalars_close,
    .matrix_open = cuda_matrix_open,
    .matrix_close = cuda_matrix_close,
    .evaluate = cuda_evaluate,
    .ntt = cuda_ntt,
    .pointwise = cuda_pointwise,
    .msm = cuda_msm,
};
