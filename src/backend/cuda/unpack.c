/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/unpack: see unpack.h. */
#include "backend/cuda/unpack.h"

#include "backend/cuda/queue.h"

/* The same witness, its data elsewhere. */
static packed_witness moved(const packed_witness *w, uint8_t *data) {
    packed_witness r = *w;
    r.data = data;
    r.ones = (const uint64_t *)(void *)(data + ((const uint8_t *)w->ones - w->data));
    r.wide = (const uint64_t *)(void *)(data + ((const uint8_t *)w->wide - w->data));
    r.first_wide =
        (const uint32_t *)(void *)(data + ((const uint8_t *)w->first_wide - w->data));
    r.values = data + (w->values - w->data);
    return r;
}

static cuzk_status run(cuzk_queue *queue, cuda_scratch *s, cuzk_slice to,
                       const packed_witness *w, cuzk_err *err) {
    cuda_operand out;
    uint8_t *data;
    CUZK_TRY(cuda_operand_open(&out, s, to, w->n, CUDA_FR_BYTES, CUDA_WRITE,
                               "unpacked witness", err));
    CUZK_TRY(cuda_scratch_take(s, &data, w->n_bytes, 1, true, err));
    CUDA_TRY(cudaMemcpyAsync(data, w->data, w->n_bytes, cudaMemcpyDefault, queue->stream),
             err);
    const packed_witness on_device = moved(w, data);
    CUZK_TRY(cuda_unpack_values(out.p, &on_device, queue->stream, err));
    return cuda_operand_return(&out, queue, err);
}

cuzk_status cuda_unpack(cuzk_queue *queue, cuzk_slice to, const packed_witness *w,
                        cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    cuda_scratch scratch = {.queue = queue};
    const cuzk_status status = run(queue, &scratch, to, w, err);
    cuda_scratch_drop(&scratch);
    return status;
}
