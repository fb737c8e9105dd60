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
#include "base/trace.h"
#include "circuit/matrix.h"
#include "circuit/packed_witness.h"
#include "math/group/group.h"
#include "memory/pages.h"

typedef struct cuzk_device cuzk_device;
typedef struct cuzk_queue cuzk_queue;
typedef struct cuzk_buf cuzk_buf;
typedef struct cuzk_scalars cuzk_scalars;
typedef struct cuzk_domain cuzk_domain;
typedef struct cuzk_matrix cuzk_matrix;

typedef enum cuzk_space {
    CUZK_SPACE_HOST,  /* ordinary memory                                             */
    CUZK_SPACE_DEVICE /* where the device computes; the same as HOST on the CPU       */
} cuzk_space;

/* Offsets are in bytes. Fr elements are 32 bytes, Montgomery form, unless said otherwise. */
typedef struct cuzk_slice {
    cuzk_buf *buf;
    size_t offset;
} cuzk_slice;

typedef struct cuzk_device_options {
    unsigned index;
    uint64_t memory_limit; /* bytes of device memory that may be taken at once; 0 = all */
} cuzk_device_options;

/* Of one device, in bytes. The CPU backend counts nothing: limit and total are 0 there. */
typedef struct cuzk_device_info {
    char name[64];                     /* "NVIDIA H200" */
    uint64_t total_bytes, limit_bytes; /* of the card; what this process may take of it */
    uint64_t used_bytes, peak_bytes;   /* now; the most since open or device_info_reset */
    bool can_copy_async;               /* copies run beside kernels: worth pinning for */
} cuzk_device_info;

/* a = A w and b = B w, n_rows elements each; w canonical little-endian, n_columns * 32 bytes.
 * FORMAT when a triplet names a matrix, row or column that does not exist, or its value is not
 * below r: the first such index is in the message (here, or in matrix_open already). */
typedef struct cuzk_evaluate_job {
    const cuzk_matrix *matrix;
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

/* out[i] = [k[i]] G for i < n, G the generator of the group. k: Fr, Montgomery; out: packed
 * affine points. For keys with a known trapdoor, so not in constant time. */
typedef struct cuzk_multiples_job {
    const curve *curve;
    group_id group;
    size_t n;
    cuzk_slice k, out;
} cuzk_multiples_job;

typedef struct cuzk_backend {
    uint32_t abi;     /* CUZK_BACKEND_ABI */
    const char *name; /* "cpu", "cuda" */

    /* score 0 = not usable here, for the reason that *err then holds, though the call succeeds;
     * the highest score is the default. */
    cuzk_status (*probe)(int *score, unsigned *n_devices, cuzk_err *err);
    /* exec: for host-side loops; outlives the device. */
    cuzk_status (*open)(cuzk_device **out, const cuzk_device_options *options, cuzk_exec *exec,
                        cuzk_err *err);
    void (*close)(cuzk_device *dev);
    void (*device_info)(cuzk_device *dev, cuzk_device_info *out);
    void (*device_info_reset)(cuzk_device *dev); /* peak_bytes starts again from now */
    /* How memory is pinned so that this device's copies run at the speed of the bus. Valid
     * while the device is open. */
    pages_pinner (*pinner)(cuzk_device *dev);

    /* secret buffers are wiped when freed. buf_wrap: a view of the caller's memory (a mapped
     * key), read only, not owned; an operation of a device that cannot read it where it lies
     * copies what it reads, each time anew (to keep it there: buf_alloc and upload). NOMEM: the
     * device's memory is full, or its limit reached: free something, or plan smaller. */
    cuzk_status (*buf_alloc)(cuzk_buf **out, cuzk_device *dev, cuzk_space space, size_t bytes,
                             bool secret, cuzk_err *err);
    cuzk_status (*buf_wrap)(cuzk_buf **out, cuzk_device *dev, const void *bytes,
                            size_t n_bytes, cuzk_err *err);
    void (*buf_free)(cuzk_buf *buf);

    /* trace: NULL, or where the queue tells what it did and when: a span an operation, in the
     * lane `name`, at the latest in queue_wait. Both outlive the queue. */
    cuzk_status (*queue_open)(cuzk_queue **out, cuzk_device *dev, const char *name,
                              cuzk_trace *trace, cuzk_err *err);
    cuzk_status (*queue_wait)(cuzk_queue *queue, cuzk_err *err);
    /* What is queued in `queue` from now on starts after what is in `other` by now. */
    cuzk_status (*queue_after)(cuzk_queue *queue, cuzk_queue *other, cuzk_err *err);
    void (*queue_close)(cuzk_queue *queue); /* waits */

    /* ---- the way to the device and back ----
     * Between the caller's memory and a buffer, in the queue: `from` and `to` stay until
     * queue_wait. At the speed of the bus when pinned by pinner(). */
    cuzk_status (*upload)(cuzk_queue *queue, cuzk_slice to, const void *from, size_t n_bytes,
                          cuzk_err *err);
    cuzk_status (*download)(cuzk_queue *queue, void *to, cuzk_slice from, size_t n_bytes,
                            cuzk_err *err);
    /* to[i] = value i of a packed witness, canonical, 32 bytes. w and its arrays stay until
     * queue_wait. */
    cuzk_status (*unpack)(cuzk_queue *queue, cuzk_slice to, const packed_witness *w,
                          cuzk_err *err);

    /* ---- what operations take of the device's memory, beside their operands ----
     * Upper bounds in bytes, for plans. n: points of one MSM. */
    uint64_t (*domain_bytes)(unsigned log_n);
    uint64_t (*matrix_bytes)(const matrix_view *view);      /* kept while the matrix is open */
    uint64_t (*matrix_work_bytes)(const matrix_view *view); /* while it is opened */
    uint64_t (*scalars_bytes)(size_t n);
    uint64_t (*msm_bytes)(const curve *c, group_id group, size_t n);
    uint64_t (*ntt_bytes)(unsigned log_n, cuzk_ntt_kind kind, bool brp);

    /* A circuit's matrices in the form the device works on. view and its triplets stay until
     * close. Immutable once open; several queues may use it. */
    cuzk_status (*matrix_open)(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                               const matrix_view *view, cuzk_err *err);
    void (*matrix_close)(cuzk_matrix *matrix);

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
    cuzk_status (*multiples)(cuzk_queue *queue, const cuzk_multiples_job *job, cuzk_err *err);
} cuzk_backend;

#define CUZK_BACKEND_ABI 2u

/* By name, or the usable one with the highest score when name is NULL. DEVICE when there is
 * none of that name, with the names there are. */
CUZK_MUST_CHECK cuzk_status cuzk_backend_find(const cuzk_backend **out, const char *name,
                                              cuzk_err *err);
/* The usable one with the highest score. *why_not: which of the others is not usable and why,
 * text empty when all are. */
CUZK_MUST_CHECK cuzk_status cuzk_backend_find_best(const cuzk_backend **out, cuzk_err *why_not,
                                                   cuzk_err *err);
/* Those of this build, i = 0, 1, ...; NULL behind the last. */
const cuzk_backend *cuzk_backend_at(unsigned i);

extern const cuzk_backend cuzk_backend_cpu;
extern const cuzk_backend cuzk_backend_cuda; /* in builds with CUZK_HAVE_CUDA */

#endif
