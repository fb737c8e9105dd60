/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/evaluate: matrices stay where they lie, as triplets (circuit/sparse). */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"
#include "circuit/sparse.h"

cuzk_status cpu_matrix_open(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                            const matrix_view *view, cuzk_err *err) {
    cuzk_matrix *matrix;
    (void)queue;
    CUZK_TRY(cpu_check_fr(fr, err));
    CUZK_TRY(cuzk_alloc(&matrix, 1, sizeof *matrix, err));
    *matrix = (cuzk_matrix){fr, *view};
    *out = matrix;
    return CUZK_OK;
}

void cpu_matrix_close(cuzk_matrix *matrix) { cuzk_free(matrix); }

cuzk_status cpu_evaluate(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err) {
    const matrix_view *m = &job->matrix->view;
    const uint8_t *w;
    uint64_t *a, *b;
    CUZK_TRY(cpu_slice_bytes(&w, job->w, m->n_columns, CPU_FR_BYTES, "w", err));
    CUZK_TRY(cpu_slice_fr(&a, job->a, m->n_rows, CPU_WRITE, "a", err));
    CUZK_TRY(cpu_slice_fr(&b, job->b, m->n_rows, CPU_WRITE, "b", err));
    return sparse_evaluate(a, b, job->matrix->fr, m, w, queue->dev->exec, NULL, NULL, err);
}
