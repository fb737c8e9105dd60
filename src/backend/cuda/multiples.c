/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/multiples: see multiples.h. */
#include "backend/cuda/multiples.h"

#include "backend/cuda/queue.h"
#include "math/group/multiples_table.h"

#define PIECE (1u << 19) /* scalars at once: some waves of threads, and bounded work space */

static multiples_fn *function_for(const curve *c, group_id g) {
    const bool wide = c->fq.m.n_limbs == 6;
    if (g == GROUP_G1) return wide ? multiples_g1_12 : multiples_g1_8;
    return wide ? multiples_g2_12 : multiples_g2_8;
}

static cuzk_status upload_table(uint32_t **out, cuda_scratch *s, const curve *c, group_id g,
                                cuzk_err *err) {
    multiples_table table;
    CUZK_TRY(multiples_table_init(&table, c, g, MULTIPLES_WINDOW_BITS, err));
    const size_t n_bytes = multiples_table_bytes(&table);
    cuzk_status st = cuda_scratch_take(s, out, n_bytes, 1, false, err);
    if (st == CUZK_OK)
        st = CUDA_CALL(cudaMemcpyAsync(*out, table.points, n_bytes, cudaMemcpyHostToDevice,
                                       s->queue->stream),
                       "upload of a table", err);
    multiples_table_fini(&table); /* the copy has left memory that isn't pinned */
    return st;
}

static cuzk_status run(cuzk_queue *queue, cuda_scratch *s, const cuzk_multiples_job *job,
                       cuzk_err *err) {
    const size_t point_bytes = point_packed_bytes(job->curve, job->group);
    const size_t n_most = job->n < PIECE ? job->n : PIECE;
    cuda_operand k, out;
    uint32_t *table, *sums;
    CUZK_TRY(cuda_operand_open(&k, s, job->k, job->n, CUDA_FR_BYTES, CUDA_READ, "k", err));
    CUZK_TRY(
        cuda_operand_open(&out, s, job->out, job->n, point_bytes, CUDA_WRITE, "out", err));
    CUZK_TRY(cuda_scratch_take(s, &sums, n_most, 2 * point_bytes, false, err));
    CUZK_TRY(upload_table(&table, s, job->curve, job->group, err));
    for (size_t done = 0; done < job->n; done += PIECE) {
        const size_t n = job->n - done < PIECE ? job->n - done : PIECE;
        const multiples_piece piece = {table, k.p + done * CUDA_FR_WORDS, sums,
                                       out.p + done * point_bytes / sizeof(uint32_t),
                                       (uint32_t)n};
        CUZK_TRY(function_for(job->curve, job->group)(job->curve, &piece, queue->stream, err));
    }
    return cuda_operand_return(&out, queue, err);
}

cuzk_status cuda_multiples(cuzk_queue *queue, const cuzk_multiples_job *job, cuzk_err *err) {
    if (job->curve->fr.n_bytes != CUDA_FR_BYTES)
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda",
                         "scalar field of %u bytes, expected %u", job->curve->fr.n_bytes,
                         CUDA_FR_BYTES);
    CUZK_TRY(cuda_use(queue->dev, err));
    cuda_scratch scratch = {.queue = queue};
    const cuzk_status status = run(queue, &scratch, job, err);
    cuda_scratch_drop(&scratch);
    return status;
}
