/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/evaluate: triplets in any order are checked and sorted by row on the device,
 * then each row is summed. */
#include "backend/cuda/evaluate.h"

#include "base/alloc.h"

#include "backend/cuda/queue.h"
#include "backend/cuda/sort.h"

typedef struct rows {
    uint32_t *key[2], *order[2], *begin, *end, *first_bad;
} rows;

static cuzk_status fail_triplet(const cuzk_evaluate_job *job, uint32_t i, cuzk_err *err) {
    const matrix_view *m = &job->matrix->view;
    const uint8_t *t = m->triplets + (size_t)i * MATRIX_TRIPLET_BYTES;
    const uint32_t matrix = load_le32(t), row = load_le32(t + 4), column = load_le32(t + 8);
    if (matrix > 1) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.evaluate",
                         "coefficient %u: matrix %u, expected 0 (A) or 1 (B)", i, matrix);
    }
    if (row >= m->n_rows) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.evaluate",
                         "coefficient %u: constraint %u, expected below %llu", i, row,
                         (unsigned long long)m->n_rows);
    }
    if (column >= m->n_columns) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.evaluate",
                         "coefficient %u: signal %u, expected below %u", i, column,
                         m->n_columns);
    }
    return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.evaluate",
                     "coefficient %u: its value is not below the field's modulus", i);
}

static cuzk_status take_rows(cuda_scratch *s, rows *r, size_t n, size_t n_keys,
                             cuzk_err *err) {
    for (unsigned i = 0; i < 2; i++) {
        CUZK_TRY(cuda_scratch_take(s, &r->key[i], n, sizeof(uint32_t), false, err));
        CUZK_TRY(cuda_scratch_take(s, &r->order[i], n, sizeof(uint32_t), false, err));
    }
    CUZK_TRY(cuda_scratch_take(s, &r->begin, n_keys, sizeof(uint32_t), false, err));
    CUZK_TRY(cuda_scratch_take(s, &r->end, n_keys, sizeof(uint32_t), false, err));
    return cuda_scratch_take(s, &r->first_bad, 1, sizeof(uint32_t), false, err);
}

static cuzk_status sort_rows(cuzk_queue *queue, cuda_scratch *s, const cuzk_evaluate_job *job,
                             const uint32_t *triplets, rows *r, cuzk_err *err) {
    const uint32_t n = (uint32_t)job->matrix->view.n_triplets,
                   n_rows = (uint32_t)job->matrix->view.n_rows;
    const unsigned key_bits = cuda_bits_of(2 * n_rows);
    uint32_t first_bad = UINT32_MAX;
    CUDA_TRY(cudaMemsetAsync(r->first_bad, 0xff, sizeof first_bad, queue->stream), err);
    CUZK_TRY(cuda_triplet_keys(job->matrix->fr, triplets, n, n_rows,
                               job->matrix->view.n_columns, r->key[0], r->order[0],
                               r->first_bad, queue->stream, err));
    CUDA_TRY(cudaMemcpyAsync(&first_bad, r->first_bad, sizeof first_bad,
                             cudaMemcpyDeviceToHost, queue->stream),
             err);
    CUDA_TRY(cudaStreamSynchronize(queue->stream), err);
    if (first_bad != UINT32_MAX) return fail_triplet(job, first_bad, err);
    size_t n_bytes = 0;
    void *work;
    CUZK_TRY(cuda_sort_pairs(r->key, r->order, n, key_bits, false, NULL, &n_bytes,
                             queue->stream, err));
    CUZK_TRY(cuda_scratch_take(s, &work, n_bytes, 1, false, err));
    CUZK_TRY(cuda_sort_pairs(r->key, r->order, n, key_bits, false, work, &n_bytes,
                             queue->stream, err));
    return cuda_group_bounds(r->key[0], n, r->begin, r->end, 2 * (size_t)n_rows, queue->stream,
                             err);
}

static cuzk_status run(cuzk_queue *queue, cuda_scratch *s, const cuzk_evaluate_job *job,
                       cuzk_err *err) {
    const matrix_view *m = &job->matrix->view;
    const size_t n_bytes = (size_t)m->n_triplets * MATRIX_TRIPLET_BYTES;
    cuda_operand w, a, b;
    uint32_t *triplets;
    rows r;
    CUZK_TRY(
        cuda_operand_open(&w, s, job->w, m->n_columns, CUDA_FR_BYTES, CUDA_READ, "w", err));
    CUZK_TRY(cuda_operand_open(&a, s, job->a, m->n_rows, CUDA_FR_BYTES, CUDA_WRITE, "a", err));
    CUZK_TRY(cuda_operand_open(&b, s, job->b, m->n_rows, CUDA_FR_BYTES, CUDA_WRITE, "b", err));
    CUZK_TRY(take_rows(s, &r, (size_t)m->n_triplets, 2 * (size_t)m->n_rows, err));
    CUZK_TRY(cuda_scratch_take(s, &triplets, n_bytes, 1, false, err));
    CUDA_TRY(
        cudaMemcpyAsync(triplets, m->triplets, n_bytes, cudaMemcpyHostToDevice, queue->stream),
        err);
    CUZK_TRY(sort_rows(queue, s, job, triplets, &r, err));
    CUZK_TRY(cuda_sum_triplets(job->matrix->fr, triplets, r.order[0], r.begin, r.end,
                               (uint32_t)m->n_rows, w.p, a.p, b.p, queue->stream, err));
    CUZK_TRY(cuda_operand_return(&a, queue, err));
    return cuda_operand_return(&b, queue, err);
}

cuzk_status cuda_matrix_open(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                             const matrix_view *view, cuzk_err *err) {
    cuzk_matrix *matrix;
    (void)queue;
    CUZK_TRY(cuzk_alloc(&matrix, 1, sizeof *matrix, err));
    *matrix = (cuzk_matrix){fr, *view};
    *out = matrix;
    return CUZK_OK;
}

void cuda_matrix_close(cuzk_matrix *matrix) { cuzk_free(matrix); }

cuzk_status cuda_evaluate(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err) {
    if (job->matrix->view.n_triplets >= UINT32_MAX ||
        job->matrix->view.n_rows > UINT32_MAX / 4) {
        return cuzk_fail(err, CUZK_ERR_NOMEM, "backend.evaluate",
                         "%llu coefficients in %llu rows, more than this backend takes",
                         (unsigned long long)job->matrix->view.n_triplets,
                         (unsigned long long)job->matrix->view.n_rows);
    }
    CUZK_TRY(cuda_use(queue->dev, err));
    cuda_scratch scratch = {.queue = queue};
    const cuzk_status status = run(queue, &scratch, job, err);
    cuda_scratch_drop(&scratch);
    return status;
}
