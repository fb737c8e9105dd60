/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_BACKEND_H
#define CUZK_BACKEND_BACKEND_H
/* backend: the contract between the prover, which plans, and the kernels, which compute.
 * Coarse operations on buffers in a queue; nothing in here sits in an inner loop. Same results
 * on every backend, bit for bit. The CPU backend runs an operation before the call returns; a
 * device returns early, and its errors surface in queue_wait at the latest.
 *
 * Operands must stay alive and unchanged until queue_wait. Thread: a device is shared; a
 * queue, a buffer and a scalar set are owned by one thread at a time (buffers may be read by
 * several queues). */
#include "base/executor.h"
#include "base/status.h"
#include "circuit/matrix.h"
#include "math/group/group.h"

typedef struct cuzk_device cuzk_device;
typedef struct cuzk_queue cuzk_queue;
typedef struct cuzk_buf cuzk_buf;
typedef struct cuzk_scalars cuzk_scalars;
typedef struct cuzk_domain cuzk_domain;

typedef enum cuzk_space {
    CUZK_SPACE_HOST,  /* ordinary memory                                             */
    CUZK_SPACE_DEVICE /* where the device computes; the same as HOST on the CPU       */
} cuzk_space;

/* Offsets are in bytes. Fr elements are 32 bytes, Montgomery form, unless said otherwise. */
typedef struct cuzk_slice {
    cuzk_buf *buf;
    size_t offset;
} cuzk_slice;

/* a = A w and b = B w, n_rows elements each; w canonical little-endian, n_columns * 32 bytes.
 * FORMAT when a triplet names a matrix, row or column that does not exist, or its value is not
 * below r: the first such index is in the message. */
typedef struct cuzk_evaluate_job {
    const field *fr;
    const matrix_view *matrix;
    cuzk_slice w, a, b;
} cuzk_evaluate_job;

typedef enum cuzk_ntt_kind {
    CUZK_NTT_INVERSE,       /* values -> coefficients, 1/n included                    */
    CUZK_NTT_FORWARD,       /* coefficients -> values on the domain                    */
    CUZK_NTT_COSET_FORWARD, /* coefficients -> values on the domain's coset            */
    CUZK_NTT_COSET_INVERSE  /* values on the coset -> coefficients, 1/n included       */
} cuzk_ntt_kind;

/* In place over n elements. `brp`: the coefficient side is in bit-reversed order (this saves the
 * permutation: INVERSE with brp, then COSET_FORWARD with brp); values are always in natural order. */
typedef struct cuzk_ntt_job {
    const cuzk_domain *domain;
    cuzk_ntt_kind kind;
    bool brp;
    cuzk_slice data;
} cuzk_ntt_job;

typedef enum cuzk_pointwise_kind {
    CUZK_POINTWISE_MUL,     /* out = a b                                                */
    CUZK_POINTWISE_QUOTIENT /* out = (a b - c) k                                        */
} cuzk_pointwise_kind;

typedef struct cuzk_pointwise_job {
    const field *fr;
    cuzk_pointwise_kind kind;
    size_t n;
    cuzk_slice out, a, b, c; /* out may be any of the operands */
    fe k;                    /* QUOTIENT only */
} cuzk_pointwise_job;

/* result = sum of scalars[first + i] * points[i] for i < n. */
typedef struct cuzk_msm_job {
    const curve *curve;
    group_id group;
    cuzk_slice points; /* packed affine (group.h), n of them, any alignment */
    const cuzk_scalars *scalars;
    size_t first, n; /* range of the scalar set */
    point *result;   /* host; written by queue_wait at the latest */
} cuzk_msm_job;

typedef struct cuzk_backend {
    uint32_t abi;     /* CUZK_BACKEND_ABI */
    const char *name; /* "cpu", "cuda" */

    /* score 0 = not usable here; the highest score is the default. */
    cuzk_status (*probe)(int *score, unsigned *n_devices, cuzk_err *err);
    /* exec: for host-side loops; outlives the device. */
    cuzk_status (*open)(cuzk_device **out, unsigned index, cuzk_exec *exec, cuzk_err *err);
    void (*close)(cuzk_device *dev);

    /* secret buffers are wiped when freed. buf_wrap: a view of the caller's memory (a mapped
     * key), read only, not owned. */
    cuzk_status (*buf_alloc)(cuzk_buf **out, cuzk_device *dev, cuzk_space space, size_t bytes,
                             bool secret, cuzk_err *err);
    cuzk_status (*buf_wrap)(cuzk_buf **out, cuzk_device *dev, const void *bytes,
                            size_t n_bytes, cuzk_err *err);
    void (*buf_free)(cuzk_buf *buf);

    cuzk_status (*queue_open)(cuzk_queue **out, cuzk_device *dev, cuzk_err *err);
    cuzk_status (*queue_wait)(cuzk_queue *queue, cuzk_err *err);
    void (*queue_close)(cuzk_queue *queue);

    /* Roots and twiddles for transforms of 2^log_n elements of fr. The root of unity of order
     * 2^log_n is nonresidue^((r-1)/2^log_n). coset NULL: the coset is w_2n * domain, w_2n the
     * root of twice the order (needs log_n < two_adicity); else generator *coset.
     * ARG when log_n exceeds the field. Immutable once open; several queues may use it. */
    cuzk_status (*domain_open)(cuzk_domain **out, cuzk_device *dev, const field *fr,
                               unsigned log_n, uint64_t nonresidue, const fe *coset,
                               cuzk_err *err);
    void (*domain_close)(cuzk_domain *domain);

    /* n scalars, classified once (0, 1, -1, small, full) for any number of MSMs. montgomery:
     * values are in Montgomery form (else canonical, already below r, and used in place: they
     * stay alive until the set is closed). Wiped when closed. */
    cuzk_status (*scalars_open)(cuzk_scalars **out, cuzk_queue *queue, const field *fr,
                                cuzk_slice values, size_t n, bool montgomery, cuzk_err *err);
    void (*scalars_close)(cuzk_scalars *scalars);

    cuzk_status (*evaluate)(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err);
    cuzk_status (*ntt)(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err);
    cuzk_status (*pointwise)(cuzk_queue *queue, const cuzk_pointwise_job *job, cuzk_err *err);
    /* Several at once, so that their work is balanced over all threads together. */
    cuzk_status (*msm)(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                       cuzk_err *err);
} cuzk_backend;

#define CUZK_BACKEND_ABI 1u

/* By name, or the usable one with the highest score when name is NULL. DEVICE when there is
 * none of that name, with the names there are. */
CUZK_MUST_CHECK cuzk_status cuzk_backend_find(const cuzk_backend **out, const char *name,
                                              cuzk_err *err);

extern const cuzk_backend cuzk_backend_cpu;
extern const cuzk_backend cuzk_backend_cuda; /* in builds with CUZK_HAVE_CUDA */

#endif
