/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/ntt: transforms and products of vectors, as sequences of kernels. */
#include "backend/cuda/ntt.h"

#include "backend/cuda/queue.h"

static cuzk_status run_ntt(cuzk_queue *queue, cuda_scratch *s, const cuzk_ntt_job *job,
                           cuzk_err *err) {
    const uint64_t n = (uint64_t)1 << job->domain->log_n;
    const bool is_coset =
        job->kind == CUZK_NTT_COSET_FORWARD || job->kind == CUZK_NTT_COSET_INVERSE;
    cuda_operand data;
    CUZK_TRY(cuda_operand_open(&data, s, job->data, n, CUDA_FR_BYTES, CUDA_READ_WRITE, "data",
                               err));
    if (job->kind == CUZK_NTT_INVERSE || job->kind == CUZK_NTT_COSET_INVERSE) {
        CUZK_TRY(
            cuda_inverse_network(job->domain, data.p, job->brp, is_coset, queue->stream, err));
    } else {
        CUZK_TRY(
            cuda_coset_network(job->domain, data.p, job->brp, is_coset, queue->stream, err));
    }
    return cuda_operand_return(&data, queue, err);
}

cuzk_status cuda_ntt(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    cuda_scratch scratch = {.queue = queue};
    const cuzk_status status = run_ntt(queue, &scratch, job, err);
    cuda_scratch_drop(&scratch);
    return status;
}

/* Every pass works in place. */
uint64_t cuda_ntt_bytes(unsigned log_n, cuzk_ntt_kind kind, bool brp) {
    (void)log_n;
    (void)kind;
    (void)brp;
    return 0;
}

static cuzk_status run_pointwise(cuzk_queue *queue, cuda_scratch *s,
                                 const cuzk_pointwise_job *job, cuzk_err *err) {
    cuda_operand out, a, b, c;
    CUZK_TRY(
        cuda_operand_open(&out, s, job->out, job->n, CUDA_FR_BYTES, CUDA_WRITE, "out", err));
    CUZK_TRY(cuda_operand_open(&a, s, job->a, job->n, CUDA_FR_BYTES, CUDA_READ, "a", err));
    CUZK_TRY(cuda_operand_open(&b, s, job->b, job->n, CUDA_FR_BYTES, CUDA_READ, "b", err));
    if (job->kind == CUZK_POINTWISE_MUL) {
        CUZK_TRY(cuda_multiply(job->fr, out.p, a.p, b.p, job->n, queue->stream, err));
    } else {
        CUZK_TRY(cuda_operand_open(&c, s, job->c, job->n, CUDA_FR_BYTES, CUDA_READ, "c", err));
        CUZK_TRY(
            cuda_quotient(job->fr, out.p, a.p, b.p, c.p, &job->k, job->n, queue->stream, err));
    }
    return cuda_operand_return(&out, queue, err);
}

cuzk_status cuda_pointwise(cuzk_queue *queue, const cuzk_pointwise_job *job, cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    cuda_scratch scratch = {.queue = queue};
    const cuzk_status status = run_pointwise(queue, &scratch, job, err);
    cuda_scratch_drop(&scratch);
    return status;
}
