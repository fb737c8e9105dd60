/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_UNPACK_H
#define CUZK_BACKEND_CUDA_UNPACK_H
/* backend/cuda/unpack: a witness crosses the bus packed and is expanded where it is used. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* unpack.c */
cuzk_status cuda_unpack(cuzk_queue *queue, cuzk_slice to, const packed_witness *w,
                        cuzk_err *err);

/* unpack_kernels.cu. Arrays of w in device memory. */
cuzk_status cuda_unpack_values(uint32_t *to, const packed_witness *w, cudaStream_t stream,
                               cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
