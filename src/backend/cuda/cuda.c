/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/cuda: an NVIDIA GPU as a backend: devices, and the contract's table. */
#include "backend/cuda/cuda.h"

#include "backend/cuda/buffers.h"
#include "backend/cuda/evaluate.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/msm.h"
#include "backend/cuda/multiples.h"
#include "backend/cuda/ntt.h"
#include "backend/cuda/queue.h"
#include "backend/cuda/scalars.h"
#include "backend/cuda/spans.h"
#include "backend/cuda/unpack.h"
#include "base/alloc.h"

#include <string.h>

#define SCORE          100 /* any usable GPU beats the CPU */
#define CAPABILITY_MIN 8   /* major; the oldest architecture that is built for */

/* ---- devices ---- */
/* No driver and no device are not errors: there is nothing to use. */
static cuzk_status cuda_probe(int *score, unsigned *n_devices, cuzk_err *err) {
    int n = 0, major = 0;
    *score = 0;
    *n_devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&n);
    if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ||
        code == cudaErrorStubLibrary) {
        (void)cudaGetLastError();
        (void)cuzk_fail(err, CUZK_ERR_DEVICE, "backend.cuda", "%s",
                        code == cudaErrorInsufficientDriver
                            ? "no NVIDIA driver, or an older one than this build's CUDA needs"
                            : cudaGetErrorString(code));
        return CUZK_OK;
    }
    CUZK_TRY(cuda_check(code, "cudaGetDeviceCount", err));
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), err);
    if (major < CAPABILITY_MIN) {
        (void)cuzk_fail(err, CUZK_ERR_DEVICE, "backend.cuda",
                        "device 0 has compute capability %d, expected %d or later", major,
                        CAPABILITY_MIN);
        return CUZK_OK;
    }
    *score = SCORE;
    *n_devices = (unsigned)n;
    return CUZK_OK;
}

static cuzk_status read_properties(cuzk_device *dev, cuzk_err *err) {
    struct cudaDeviceProp properties;
    CUDA_TRY(cudaGetDeviceProperties(&properties, dev->index), err);
    memcpy(dev->name, properties.name, sizeof dev->name - 1); /* zeroed: a NUL follows */
    return CUZK_OK;
}

static cuzk_status cuda_open(cuzk_device **out, const cuzk_device_options *options,
                             cuzk_exec *exec, cuzk_err *err) {
    int score;
    unsigned n_devices;
    CUZK_TRY(cuda_probe(&score, &n_devices, err));
    if (options->index >= n_devices) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda", "device %u, there are %u",
                         options->index, n_devices);
    }
    cuzk_device *dev;
    CUZK_TRY(cuzk_zalloc(&dev, 1, sizeof *dev, err));
    dev->exec = exec;
    dev->index = (int)options->index;
    cuzk_status status = cuda_use(dev, err);
    if (status == CUZK_OK) status = read_properties(dev, err);
    if (status == CUZK_OK) status = cuda_memory_init(dev, options->memory_limit, err);
    if (status != CUZK_OK) {
        cuzk_free(dev);
        return status;
    }
    *out = dev;
    return CUZK_OK;
}

static void cuda_close(cuzk_device *dev) {
    if (!dev) return;
    (void)cudaSetDevice(dev->index);
    cuda_memory_fini(dev);
    cuzk_free(dev);
}

static void cuda_device_info(cuzk_device *dev, cuzk_device_info *out) {
    memset(out, 0, sizeof *out);
    memcpy(out->name, dev->name, sizeof out->name);
    out->total_bytes = dev->total_bytes;
    out->limit_bytes = dev->limit_bytes;
    out->can_copy_async = true;
    pthread_mutex_lock(&dev->lock);
    out->used_bytes = dev->used_bytes;
    out->peak_bytes = dev->peak_bytes;
    pthread_mutex_unlock(&dev->lock);
}

static void cuda_device_info_reset(cuzk_device *dev) {
    pthread_mutex_lock(&dev->lock);
    dev->peak_bytes = dev->used_bytes;
    pthread_mutex_unlock(&dev->lock);
}

/* ---- operations, each in a span ---- */
static cuzk_status upload(cuzk_queue *queue, cuzk_slice to, const void *from, size_t n_bytes,
                          cuzk_err *err) {
    CUZK_TRY(cuda_span_begin(queue, "upload", n_bytes, err));
    return cuda_span_end(queue, cuda_upload(queue, to, from, n_bytes, err), err);
}

static cuzk_status download(cuzk_queue *queue, void *to, cuzk_slice from, size_t n_bytes,
                            cuzk_err *err) {
    CUZK_TRY(cuda_span_begin(queue, "download", n_bytes, err));
    return cuda_span_end(queue, cuda_download(queue, to, from, n_bytes, err), err);
}

static cuzk_status unpack(cuzk_queue *queue, cuzk_slice to, const packed_witness *w,
                          cuzk_err *err) {
    CUZK_TRY(cuda_span_begin(queue, "unpack", w->n_bytes, err));
    return cuda_span_end(queue, cuda_unpack(queue, to, w, err), err);
}

static cuzk_status matrix_open(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                               const matrix_view *view, cuzk_err *err) {
    cuzk_matrix *matrix = NULL;
    CUZK_TRY(cuda_span_begin(queue, "matrix", 0, err));
    cuzk_status status = cuda_matrix_open(&matrix, queue, fr, view, err);
    status = cuda_span_end(queue, status, err);
    if (status == CUZK_OK)
        *out = matrix;
    else
        cuda_matrix_close(matrix);
    return status;
}

static cuzk_status scalars_open(cuzk_scalars **out, cuzk_queue *queue, const field *fr,
                                cuzk_slice values, size_t n, bool montgomery, cuzk_err *err) {
    cuzk_scalars *scalars = NULL;
    CUZK_TRY(cuda_span_begin(queue, "scalars", 0, err));
    cuzk_status status = cuda_scalars_open(&scalars, queue, fr, values, n, montgomery, err);
    status = cuda_span_end(queue, status, err);
    if (status == CUZK_OK)
        *out = scalars;
    else
        cuda_scalars_close(scalars);
    return status;
}

static cuzk_status evaluate(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err) {
    CUZK_TRY(cuda_span_begin(queue, "evaluate", 0, err));
    return cuda_span_end(queue, cuda_evaluate(queue, job, err), err);
}

static cuzk_status ntt(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err) {
    CUZK_TRY(cuda_span_begin(queue, "ntt", 0, err));
    return cuda_span_end(queue, cuda_ntt(queue, job, err), err);
}

static cuzk_status pointwise(cuzk_queue *queue, const cuzk_pointwise_job *job, cuzk_err *err) {
    CUZK_TRY(cuda_span_begin(queue, "pointwise", 0, err));
    return cuda_span_end(queue, cuda_pointwise(queue, job, err), err);
}

static cuzk_status msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                       cuzk_err *err) {
    CUZK_TRY(cuda_span_begin(queue, "msm", 0, err));
    return cuda_span_end(queue, cuda_msm(queue, jobs, n_jobs, err), err);
}

static cuzk_status multiples(cuzk_queue *queue, const cuzk_multiples_job *job, cuzk_err *err) {
    CUZK_TRY(cuda_span_begin(queue, "multiples", 0, err));
    return cuda_span_end(queue, cuda_multiples(queue, job, err), err);
}

const cuzk_backend cuzk_backend_cuda = {
    .abi = CUZK_BACKEND_ABI,
    .name = "cuda",
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .device_info = cuda_device_info,
    .device_info_reset = cuda_device_info_reset,
    .pinner = cuda_pinner,
    .buf_alloc = cuda_buf_alloc,
    .buf_wrap = cuda_buf_wrap,
    .buf_free = cuda_buf_free,
    .queue_open = cuda_queue_open,
    .queue_wait = cuda_queue_wait,
    .queue_after = cuda_queue_after,
    .queue_close = cuda_queue_close,
    .upload = upload,
    .download = download,
    .unpack = unpack,
    .domain_bytes = cuda_domain_bytes,
    .matrix_bytes = cuda_matrix_bytes,
    .matrix_work_bytes = cuda_matrix_work_bytes,
    .scalars_bytes = cuda_scalars_bytes,
    .msm_bytes = cuda_msm_bytes,
    .ntt_bytes = cuda_ntt_bytes,
    .domain_open = cuda_domain_open,
    .domain_close = cuda_domain_close,
    .scalars_open = scalars_open,
    .scalars_close = cuda_scalars_close,
    .matrix_open = matrix_open,
    .matrix_close = cuda_matrix_close,
    .evaluate = evaluate,
    .ntt = ntt,
    .pointwise = pointwise,
    .msm = msm,
    .multiples = multiples,
};
