/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/ntt: transforms and products of vectors, as sequences of kernels. */
#include "backend/cuda/ntt.h"

#include "backend/cuda/queue.h"

static cuda_powers unshift_powers(const cuzk_domain *d) {
    const size_t n_low = (size_t)1 << d->log_low;
    return (cuda_powers){d->unshift, d->unshift + n_low * CUDA_FR_WORDS, d->log_low};
}

static cuzk_status inverse(const cuzk_ntt_job *job, uint32_t *data, cudaStream_t stream,
                           cuzk_err *err) {
    const cuzk_domain *d = job->domain;
    CUZK_TRY(cuda_inverse_network(d, data, stream, err));
    if (job->kind == CUZK_NTT_COSET_INVERSE) {
        CUZK_TRY(cuda_scale_brp(d->fr, data, d->log_n, unshift_powers(d), stream, err));
    }
    return job->brp ? CUZK_OK : cuda_reverse_bits(data, d->log_n, stream, err);
}

static cuzk_status forward(const cuzk_ntt_job *job, uint32_t *data, cudaStream_t stream,
                           cuzk_err *err) {
    const cuzk_domain *d = job->domain;
    if (!job->brp) CUZK_TRY(cuda_reverse_bits(data, d->log_n, stream, err));
    if (job->kind == CUZK_NTT_FORWARD) {
        CUZK_TRY(cuda_scale_brp(d->fr, data, d->log_n, unshift_powers(d), stream, err));
    }
    return cuda_coset_network(d, data, stream, err);
}

static cuzk_status run_ntt(cuzk_queue *queue, cuda_scratch *s, const cuzk_ntt_job *job,
                           cuzk_err *err) {
    const bool is_inverse =
        job->kind == CUZK_NTT_INVERSE || job->kind == CUZK_NTT_COSET_INVERSE;
    const uint64_t n = (uint64_t)1 << job->domain->log_n;
    cuda_operand data;
    CUZK_TRY(cuda_operand_open(&data, s, job->data, n, CUDA_FR_BYTES, CUDA_READ_WRITE, "data",
                               err));
    if (is_inverse)
        CUZK_TRY(inverse(job, data.p, queue->stream, err));
    else
        CUZK_TRY(forward(job, data.p, queue->stream, err));
    return cuda_operand_return(&data, queue, err);
}

cuzk_status cuda_ntt(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    cuda_scratch scratch = {.queue = queue};
    const cuzk_status status = run_ntt(queue, &scratch, job, err);
    cuda_scratch_drop(&scratch);
    return status;
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
