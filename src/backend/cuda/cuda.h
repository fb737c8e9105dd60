/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_CUDA_H
#define CUZK_BACKEND_CUDA_CUDA_H
/* backend/cuda: what its files share. cuda.c holds devices and the contract's table; memory.c
 * counts the device's memory; buffers.c moves bytes; queue.c gives an operation its operands
 * and work space, spans.c its place in a trace; the other .c files plan operations; each .cu
 * file is one family of kernels behind functions of C. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "backend/backend.h" /* whose functions are those of C */

#define CUDA_FR_WORDS       8u
#define CUDA_FR_BYTES       32u
#define CUDA_SCALAR_LENGTHS 257u /* from 0 to 256 bits */

/* ---- errors (cuda_error.cu) ---- */
/* OK, NOMEM when the device or the driver lacks memory, else DEVICE; `what` names the call. */
CUZK_MUST_CHECK cuzk_status cuda_check(cudaError_t code, const char *what, cuzk_err *err);
/* A call's status. All calls that can be answered for go through here. */
#ifdef CUZK_FAULTS
/* Builds for tests: true makes this call fail instead of being made. The test defines it. */
bool cuda_fault(const char *what) __attribute__((weak));
cuzk_status cuda_fail_injected(const char *what, cuzk_err *err); /* as a real one would */
#define CUDA_CALL(call, what, err)                                                            \
    (cuda_fault && cuda_fault(what) ? cuda_fail_injected((what), (err))                       \
                                    : cuda_check((call), (what), (err)))
#else
#define CUDA_CALL(call, what, err) cuda_check((call), (what), (err))
#endif
#define CUDA_TRY(call, err) CUZK_TRY(CUDA_CALL((call), #call, (err)))
/* After a launch: what the launch itself answers. */
#define CUDA_TRY_LAUNCH(name, err) CUZK_TRY(CUDA_CALL(cudaGetLastError(), (name), (err)))

/* ---- objects ---- */
struct cuzk_device {
    cuzk_exec *exec;
    int index;
    cudaMemPool_t pool;
    cudaStream_t stream; /* orders what lasts longer than an operation (memory.h) */
    char name[64];
    uint64_t total_bytes, limit_bytes;
    pthread_mutex_t lock; /* of the two below */
    uint64_t used_bytes, peak_bytes;
};

typedef enum cuda_buf_kind {
    CUDA_BUF_DEVICE,
    CUDA_BUF_PINNED,
    CUDA_BUF_WRAPPED
} cuda_buf_kind;

struct cuzk_buf {
    cuzk_device *dev;
    uint8_t *p; /* on the device, or pinned or wrapped memory of the host */
    size_t n_bytes;
    cuda_buf_kind kind;
    bool secret;
};

/* See queue.h and spans.h. */
struct cuzk_queue {
    cuzk_device *dev;
    cudaStream_t stream;
    cudaEvent_t mark; /* for other queues to wait for */
    struct cuda_tail *tails;
    struct cuda_host_block *host_blocks;
    struct cuda_spans *spans; /* NULL: nobody wants to know */
};

/* See scalars.h. Closed before its queue. */
struct cuzk_scalars {
    cuzk_queue *queue;
    const field *fr;
    size_t n;
    uint32_t *values; /* device */
    uint32_t *units;  /* device: index and sign of those that are 1 or -1, in no order */
    unsigned long long n_by_bits[CUDA_SCALAR_LENGTHS];
};

#ifdef __cplusplus
}
#endif
#endif
