/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_QUEUE_H
#define CUZK_BACKEND_CUDA_QUEUE_H
/* backend/cuda/queue: operands and work space of an operation in a queue. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/* A slice as device memory, 16-byte aligned. What does not lie there is copied: wrapped memory
 * once for the life of its buffer, other host memory for this operation. */
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

#ifdef __cplusplus
}
#endif
#endif
