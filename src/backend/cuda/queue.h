/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_QUEUE_H
#define CUZK_BACKEND_CUDA_QUEUE_H
/* backend/cuda/queue: queues, and what an operation in one needs: operands, work space, host
 * memory for its results, and a last word when the queue has been waited for. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

cuzk_status cuda_queue_open(cuzk_queue **out, cuzk_device *dev, const char *name,
                            cuzk_trace *trace, cuzk_err *err);
cuzk_status cuda_queue_wait(cuzk_queue *queue, cuzk_err *err);
cuzk_status cuda_queue_after(cuzk_queue *queue, cuzk_queue *other, cuzk_err *err);
void cuda_queue_close(cuzk_queue *queue);

/* Makes the device current for this thread. */
CUZK_MUST_CHECK cuzk_status cuda_use(const cuzk_device *dev, cuzk_err *err);

/* ---- work space ----
 * Blocks of device memory that live until the work queued so far is done. All are taken before
 * the first kernel of an operation and dropped together, on success and on failure. */
#define CUDA_SCRATCH_MAX 24u
typedef struct cuda_scratch {
    cuzk_queue *queue;
    unsigned n_blocks;
    struct {
        void *p;
        size_t n_bytes;
        bool secret;
    } blocks[CUDA_SCRATCH_MAX];
} cuda_scratch;

/* 256-byte aligned; at least one byte. secret: wiped when dropped. */
CUZK_MUST_CHECK cuzk_status cuda_scratch_take(cuda_scratch *s, void *out_ptr, size_t n_items,
                                              size_t item_bytes, bool secret, cuzk_err *err);
void cuda_scratch_drop(cuda_scratch *s);

/* ---- operands ---- */
typedef enum cuda_access { CUDA_READ, CUDA_WRITE, CUDA_READ_WRITE } cuda_access;
/* A slice as device memory, 16-byte aligned. What does not lie so there is copied into work
 * space. */
typedef struct cuda_operand {
    uint32_t *p;
    uint8_t *home; /* host memory that the result goes back to, or NULL */
    size_t n_bytes;
} cuda_operand;

/* ARG when the slice does not lie inside its buffer, or is to be written and wrapped or not
 * 16-byte aligned; `what` names it in the message. */
CUZK_MUST_CHECK cuzk_status cuda_operand_open(cuda_operand *out, cuda_scratch *s,
                                              cuzk_slice slice, uint64_t n_items,
                                              size_t item_bytes, cuda_access access,
                                              const char *what, cuzk_err *err);
/* Queues the way back of a result. */
CUZK_MUST_CHECK cuzk_status cuda_operand_return(const cuda_operand *o, cuzk_queue *queue,
                                                cuzk_err *err);
/* Where n_items * item_bytes bytes of a slice begin, in whatever memory. ARG as above, but at
 * any alignment. */
CUZK_MUST_CHECK cuzk_status cuda_slice_bytes(uint8_t **out, cuzk_slice slice, uint64_t n_items,
                                             size_t item_bytes, cuda_access access,
                                             const char *what, cuzk_err *err);

/* ---- results on the host ---- */
/* Pinned memory for small results, 16-byte aligned, valid until the next wait has run the
 * queue's tails (no call to the driver in the usual case). */
CUZK_MUST_CHECK cuzk_status cuda_host_take(void *out_ptr, cuzk_queue *queue, size_t n_bytes,
                                           cuzk_err *err);

/* What the host still has to do when the work queued so far is done: the first member of an
 * object of the operation's own, which `end` frees. is_done: false when the work failed, or
 * nobody will wait: then `end` only frees. Tails end in the order they were added. */
typedef struct cuda_tail {
    struct cuda_tail *next;
    void (*end)(struct cuda_tail *tail, bool is_done);
} cuda_tail;

void cuda_queue_add_tail(cuzk_queue *queue, cuda_tail *tail);

#ifdef __cplusplus
}
#endif
#endif
