/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/evaluate: see evaluate.h. */
#include "backend/cuda/evaluate.h"

#include "backend/cuda/queue.h"

static cuzk_status run(cuzk_queue *queue, cuda_scratch *s, const cuzk_evaluate_job *job,
                       cuzk_err *err) {
    const cuzk_matrix *m = job->matrix;
    const uint32_t n_rows = m->rows.n_rows / 2;
    cuda_operand w, a, b;
    uint32_t *carries;
    CUZK_TRY(
        cuda_operand_open(&w, s, job->w, m->n_columns, CUDA_FR_BYTES, CUDA_READ, "w", err));
    CUZK_TRY(cuda_operand_open(&a, s, job->a, n_rows, CUDA_FR_BYTES, CUDA_WRITE, "a", err));
    CUZK_TRY(cuda_operand_open(&b, s, job->b, n_rows, CUDA_FR_BYTES, CUDA_WRITE, "b", err));
    CUZK_TRY(cuda_scratch_take(s, &carries, m->rows.n_slices, CUDA_FR_BYTES, true, err));
    CUZK_TRY(cuda_rows_times(&m->rows, m->fr, w.p, a.p, b.p, carries, queue->stream, err));
    CUZK_TRY(cuda_operand_return(&a, queue, err));
    return cuda_operand_return(&b, queue, err);
}

cuzk_status cuda_evaluate(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err) {
    CUZK_TRY(cuda_use(queue->dev, err));
    cuda_scratch scratch = {.queue = queue};
    const cuzk_status status = run(queue, &scratch, job, err);
    cuda_scratch_drop(&scratch);
    return status;
}
