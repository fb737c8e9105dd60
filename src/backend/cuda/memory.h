/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_MEMORY_H
#define CUZK_BACKEND_CUDA_MEMORY_H
/* backend/cuda/memory: the one place where device memory is taken and given back, so that it
 * is counted and a limit means something. It comes from a pool of the device's own, in stream
 * order: taking and giving cost no synchronisation. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The pool, and what there is for it: memory_limit bytes (0 = all), or what is free if that is
 * less. fini: all is given back. */
CUZK_MUST_CHECK cuzk_status cuda_memory_init(cuzk_device *dev, uint64_t memory_limit,
                                             cuzk_err *err);
void cuda_memory_fini(cuzk_device *dev);

/* For what lasts: usable in every queue at once. At least one byte, 256-byte aligned. NOMEM
 * beyond the limit or what the card has. Given back when no queue uses it any more; p NULL is
 * fine; secret: wiped before. */
CUZK_MUST_CHECK cuzk_status cuda_memory_take(void *out_ptr, cuzk_device *dev, size_t n_bytes,
                                             cuzk_err *err);
void cuda_memory_give(cuzk_device *dev, void *p, size_t n_bytes, bool secret);

/* For use in one queue, from this point of it on until that one. */
CUZK_MUST_CHECK cuzk_status cuda_memory_take_queued(void *out_ptr, cuzk_queue *queue,
                                                    size_t n_bytes, cuzk_err *err);
void cuda_memory_give_queued(cuzk_queue *queue, void *p, size_t n_bytes, bool secret);

#ifdef __cplusplus
}
#endif
#endif
