/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_CUDA_H
#define CUZK_BACKEND_CUDA_CUDA_H
/* backend/cuda: what its files share. cuda.c holds the contract's table; queue.c gives an
 * operation its operands and work space; evaluate.c and msm.c plan; each .cu file is one family of
 * kernels behind functions of C. */
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
#define CUDA_TRY(call, err) CUZK_TRY(cuda_check((call), #call, (err)))
/* After a launch: what the launch itself answers. */
#define CUDA_TRY_LAUNCH(name, err) CUZK_TRY(cuda_check(cudaGetLastError(), name, (err)))

/* ---- objects ---- */
struct cuzk_device {
    cuzk_exec *exec;
    int index;
};

/* A range of wrapped host memory that the device holds a copy of. */
typedef struct cuda_copy {
    struct cuda_copy *next;
    size_t offset, n_bytes;
    uint8_t *p;
} cuda_copy;

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
    cuda_copy *copies; /* wrapped: made on first use, dropped with the buffer */
    pthread_mutex_t copies_lock;
};

/* An MSM whose windows the host has still to add up. */
typedef struct cuda_msm_tail {
    struct cuda_msm_tail *next;
    const curve *curve;
    group_id group;
    unsigned n_windows, window_bits;
    uint8_t *sums; /* pinned: (sum, weighted sum) in XYZZ for each window */
    point *result;
} cuda_msm_tail;

struct cuzk_queue {
    cuzk_device *dev;
    cudaStream_t stream;
    cuda_msm_tail *tails; /* in order */
};

struct cuzk_matrix {
    const field *fr;
    matrix_view view;
};

/* See scalars.h. Closed before its queue. */
struct cuzk_scalars {
    cuzk_queue *queue;
    const field *fr;
    size_t n;
    uint32_t *values; /* device */
    unsigned long long n_by_bits[CUDA_SCALAR_LENGTHS];
};

struct cuzk_domain {
    cuzk_device *dev;
    const field *fr;
    unsigned log_n, log_low;
    uint32_t *inverse; /* device, n/2: w^-brp(i) */
    uint32_t
        *coset; /* device, n: at h + j, for each power h < n and j < h, g^(n/2h) w^(jn/2h) */
    uint32_t *unshift; /* device: powers of 1/g below n, in two tables (ntt.h) */
    fe n_inv;
};

#ifdef __cplusplus
}
#endif
#endif
