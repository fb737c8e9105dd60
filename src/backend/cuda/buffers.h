/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_BUFFERS_H
#define CUZK_BACKEND_CUDA_BUFFERS_H
/* backend/cuda/buffers: memory of the contract's three kinds, and the way between the caller's
 * memory and it. */
#include "backend/cuda/cuda.h"

cuzk_status cuda_buf_alloc(cuzk_buf **out, cuzk_device *dev, cuzk_space space, size_t n_bytes,
                           bool secret, cuzk_err *err);
cuzk_status cuda_buf_wrap(cuzk_buf **out, cuzk_device *dev, const void *bytes, size_t n_bytes,
                          cuzk_err *err);
void cuda_buf_free(cuzk_buf *buf);

cuzk_status cuda_upload(cuzk_queue *queue, cuzk_slice to, const void *from, size_t n_bytes,
                        cuzk_err *err);
cuzk_status cuda_download(cuzk_queue *queue, void *to, cuzk_slice from, size_t n_bytes,
                          cuzk_err *err);
pages_pinner cuda_pinner(cuzk_device *dev);

#endif
