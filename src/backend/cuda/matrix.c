/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/matrix: see matrix.h. Triplets cross the bus in pieces, each read by a kernel
 * as it arrives. Two things can make a second round necessary: rows out of order, which the host
 * then puts in order, and more distinct values than a dictionary takes. */
#include "backend/cuda/matrix.h"

#include "backend/cuda/queue.h"
#include "backend/cuda/sort.h"
#include "base/alloc.h"
#include "circuit/sparse.h"

#include <string.h>

#define PIECE          (1u << 17) /* triplets, 5.5 MiB */
#define STAGED_AT_ONCE 4096u      /* triplets, by one thread */
#define ROWS_MAX       (UINT32_MAX / 4)
#define ROUNDING       256u /* of device memory */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---- what is kept ---- */
static size_t n_slices_of(uint64_t n_rows, uint64_t n_terms) {
    return (size_t)((n_rows + n_terms + CUDA_SLICE - 1) / CUDA_SLICE);
}

static cuzk_status take(void *out_ptr, cuzk_matrix *m, size_t n_items, size_t item_bytes,
                        cuzk_err *err) {
    return cuda_memory_take(out_ptr, m->dev, n_items * item_bytes, err);
}

static void give(cuzk_matrix *m, void *p, size_t n_items, size_t item_bytes) {
    cuda_memory_give(m->dev, p, n_items * item_bytes, false);
}

void cuda_matrix_close(cuzk_matrix *matrix) {
    if (!matrix) return;
    const cuda_rows *r = &matrix->rows;
    give(matrix, r->starts, (size_t)r->n_rows + 1, sizeof *r->starts);
    give(matrix, r->columns, r->n_terms, sizeof *r->columns);
    give(matrix, r->numbers, r->n_terms, sizeof *r->numbers);
    give(matrix, r->values, matrix->n_values, CUDA_FR_BYTES);
    give(matrix, r->slices, (size_t)r->n_slices + 1, sizeof *r->slices);
    cuzk_free(matrix);
}

uint64_t cuda_matrix_bytes(const matrix_view *view) {
    const uint64_t n = view->n_triplets, n_rows = 2 * view->n_rows;
    const uint64_t numbered = 2 * n + CUDA_FR_BYTES * smaller((size_t)n, CUDA_DICTIONARY_MAX);
    const uint64_t plain = CUDA_FR_BYTES * n;
    const uint64_t slices = n_slices_of(n_rows, n) + 1;
    return 4 * (n_rows + 1) + 4 * n + (plain < numbered ? numbered : plain) +
           slices * (4 + CUDA_FR_BYTES) + 6 * ROUNDING;
}

uint64_t cuda_matrix_work_bytes(const matrix_view *view) {
    const size_t n_in_piece = smaller((size_t)view->n_triplets, PIECE);
    return (uint64_t)n_in_piece * MATRIX_TRIPLET_BYTES + CUDA_PLACES * sizeof(uint32_t) +
           CUDA_DICTIONARY_MAX * CUDA_FR_BYTES + sizeof(cuda_findings) +
           cuda_sort_work_most(2 * (size_t)view->n_rows + 1) + 5 * ROUNDING;
}

/* ---- order, on the host ---- */
static uint32_t row_of(const uint8_t *triplet) {
    return 2 * load_le32(triplet + 4) + load_le32(triplet);
}

static const uint8_t *triplet_at(const matrix_view *view, size_t i) {
    return view->triplets + i * MATRIX_TRIPLET_BYTES;
}

/* The triplets, all of them good, in the order of their rows: order[i] is the i-th of them. */
static cuzk_status sort_rows(uint32_t **out, const matrix_view *view, cuzk_err *err) {
    uint32_t *order, *next;
    CUZK_TRY(cuzk_alloc(&order, view->n_triplets, sizeof *order, err));
    const cuzk_status status =
        cuzk_zalloc(&next, 2 * (size_t)view->n_rows + 1, sizeof *next, err);
    if (status != CUZK_OK) {
        cuzk_free(order);
        return status;
    }
    for (size_t i = 0; i < view->n_triplets; i++) next[row_of(triplet_at(view, i)) + 1]++;
    for (size_t i = 0; i < 2 * view->n_rows; i++) next[i + 1] += next[i];
    for (size_t i = 0; i < view->n_triplets; i++) {
        order[next[row_of(triplet_at(view, i))]++] = (uint32_t)i;
    }
    cuzk_free(next);
    *out = order;
    return CUZK_OK;
}

/* ---- reading ---- */
typedef struct reader {
    cuzk_queue *queue;
    cuzk_matrix *matrix;
    const matrix_view *view;
    uint32_t *order; /* NULL: as they lie */
    /* The piece that is on its way: */
    size_t first, n;
    uint8_t *staged[2]; /* pinned; one is filled while the other crosses the bus */
    cudaEvent_t is_across[2];
    unsigned half;
    uint8_t *piece; /* device */
    uint32_t *dictionary;
    cuda_reading reading;
    cuda_findings findings;
} reader;

static const uint8_t *in_order(const reader *r, size_t i) {
    return triplet_at(r->view, r->order ? r->order[i] : i);
}

static void stage_some(void *arg, size_t item, unsigned slot) {
    const reader *r = arg;
    const size_t begin = item * STAGED_AT_ONCE, end = smaller(begin + STAGED_AT_ONCE, r->n);
    uint8_t *to = r->staged[r->half] + begin * MATRIX_TRIPLET_BYTES;
    (void)slot;
    if (!r->order) {
        memcpy(to, triplet_at(r->view, r->first + begin),
               (end - begin) * MATRIX_TRIPLET_BYTES);
        return;
    }
    for (size_t i = begin; i < end; i++, to += MATRIX_TRIPLET_BYTES) {
        memcpy(to, in_order(r, r->first + i), MATRIX_TRIPLET_BYTES);
    }
}

/* CUDA_NO_ROW when there is none, or none that exists. */
static uint32_t row_before(const reader *r) {
    if (r->first == 0) return CUDA_NO_ROW;
    const uint8_t *t = in_order(r, r->first - 1);
    return load_le32(t) <= 1 && load_le32(t + 4) < r->view->n_rows ? row_of(t) : CUDA_NO_ROW;
}

static cuzk_status read_piece(reader *r, cuzk_err *err) {
    const cudaStream_t stream = r->queue->stream;
    CUDA_TRY(cudaEventSynchronize(r->is_across[r->half]), err);
    cuzk_exec_for(r->queue->dev->exec, (r->n + STAGED_AT_ONCE - 1) / STAGED_AT_ONCE,
                  stage_some, r);
    r->reading.first = (uint32_t)r->first;
    r->reading.n = (uint32_t)r->n;
    r->reading.row_before = row_before(r);
    CUDA_TRY(cudaMemcpyAsync(r->piece, r->staged[r->half], r->n * MATRIX_TRIPLET_BYTES,
                             cudaMemcpyHostToDevice, stream),
             err);
    CUDA_TRY(cudaEventRecord(r->is_across[r->half], stream), err);
    r->half ^= 1;
    return cuda_matrix_read(&r->reading, &r->matrix->rows, r->matrix->fr, stream, err);
}

static cuzk_status read_all(reader *r, cuzk_err *err) {
    const cudaStream_t stream = r->queue->stream;
    const cuda_rows *rows = &r->matrix->rows;
    CUDA_TRY(cudaMemsetAsync(rows->starts, 0,
                             ((size_t)rows->n_rows + 1) * sizeof *rows->starts, stream),
             err);
    for (r->first = 0; r->first < rows->n_terms; r->first += r->n) {
        r->n = smaller(rows->n_terms - r->first, PIECE);
        CUZK_TRY(read_piece(r, err));
    }
    CUDA_TRY(cudaMemcpyAsync(&r->findings, r->reading.findings, sizeof r->findings,
                             cudaMemcpyDeviceToHost, stream),
             err);
    CUDA_TRY(cudaStreamSynchronize(stream), err);
    if (r->findings.first_bad == UINT32_MAX) return CUZK_OK;
    return sparse_fail_triplet(r->view, r->findings.first_bad, err);
}

static cuzk_status prepare_staging(reader *r, cuzk_err *err) {
    const size_t n_bytes = smaller(r->matrix->rows.n_terms, PIECE) * MATRIX_TRIPLET_BYTES;
    for (unsigned i = 0; i < 2; i++) {
        CUDA_TRY(cudaEventCreateWithFlags(&r->is_across[i], cudaEventDisableTiming), err);
        CUZK_TRY(cuda_host_take(&r->staged[i], r->queue, n_bytes, err));
    }
    return CUZK_OK;
}

static cuzk_status prepare(reader *r, cuda_scratch *s, cuzk_err *err) {
    const cudaStream_t stream = r->queue->stream;
    cuda_reading *reading = &r->reading;
    const size_t n = smaller(r->matrix->rows.n_terms, PIECE);
    r->findings.first_bad = UINT32_MAX;
    reading->n_columns = r->matrix->n_columns;
    CUZK_TRY(prepare_staging(r, err));
    CUZK_TRY(cuda_scratch_take(s, &r->piece, n, MATRIX_TRIPLET_BYTES, false, err));
    CUZK_TRY(
        cuda_scratch_take(s, &r->dictionary, CUDA_DICTIONARY_MAX, CUDA_FR_BYTES, false, err));
    CUZK_TRY(
        cuda_scratch_take(s, &reading->places, CUDA_PLACES, sizeof(uint32_t), false, err));
    CUZK_TRY(cuda_scratch_take(s, &reading->findings, 1, sizeof r->findings, false, err));
    CUDA_TRY(cudaMemsetAsync(reading->places, 0, CUDA_PLACES * sizeof(uint32_t), stream), err);
    CUDA_TRY(cudaMemcpyAsync(reading->findings, &r->findings, sizeof r->findings,
                             cudaMemcpyHostToDevice, stream),
             err);
    reading->triplets = (const uint32_t *)(const void *)r->piece;
    return CUZK_OK;
}

static void unprepare(reader *r) {
    for (unsigned i = 0; i < 2; i++) {
        if (r->is_across[i]) (void)cudaEventDestroy(r->is_across[i]);
    }
    cuzk_free(r->order);
}

static bool has_too_many_values(const reader *r) {
    return r->findings.n_values > CUDA_DICTIONARY_MAX;
}

/* The matrix keeps a dictionary of just the size, or all values. */
static cuzk_status take_values(reader *r, cuzk_err *err) {
    cuzk_matrix *m = r->matrix;
    cuda_rows *rows = &m->rows;
    const bool is_plain = has_too_many_values(r);
    if (is_plain) {
        give(m, rows->numbers, rows->n_terms, sizeof *rows->numbers);
        rows->numbers = NULL;
    }
    m->n_values = is_plain ? rows->n_terms : r->findings.n_values;
    return take(&rows->values, m, m->n_values, CUDA_FR_BYTES, err);
}

static cuzk_status read_again(reader *r, cuzk_err *err) {
    if (r->findings.is_unordered) CUZK_TRY(sort_rows(&r->order, r->view, err));
    return read_all(r, err);
}

static cuzk_status read_matrix(reader *r, cuda_scratch *s, cuzk_err *err) {
    cuda_rows *rows = &r->matrix->rows;
    CUZK_TRY(prepare(r, s, err));
    rows->values = r->dictionary; /* until it is known how many there are */
    const cuzk_status status = read_all(r, err);
    rows->values = NULL;
    CUZK_TRY(status);
    CUZK_TRY(take_values(r, err));
    if (rows->numbers) {
        CUDA_TRY(cudaMemcpyAsync(rows->values, r->dictionary,
                                 r->matrix->n_values * CUDA_FR_BYTES, cudaMemcpyDefault,
                                 r->queue->stream),
                 err);
    }
    return rows->numbers && !r->findings.is_unordered ? CUZK_OK : read_again(r, err);
}

/* From the length of each row to where it starts. */
static cuzk_status sum_lengths(const cuda_rows *rows, cuda_scratch *s, cuzk_err *err) {
    const cudaStream_t stream = s->queue->stream;
    const size_t n = (size_t)rows->n_rows + 1;
    size_t work_bytes = 0;
    void *work;
    CUZK_TRY(cuda_exclusive_sum(rows->starts, n, NULL, &work_bytes, stream, err));
    CUZK_TRY(cuda_scratch_take(s, &work, work_bytes, 1, false, err));
    return cuda_exclusive_sum(rows->starts, n, work, &work_bytes, stream, err);
}

static cuzk_status take_rows(cuzk_matrix *m, cuzk_err *err) {
    cuda_rows *r = &m->rows;
    CUZK_TRY(take(&r->starts, m, (size_t)r->n_rows + 1, sizeof *r->starts, err));
    CUZK_TRY(take(&r->columns, m, r->n_terms, sizeof *r->columns, err));
    CUZK_TRY(take(&r->numbers, m, r->n_terms, sizeof *r->numbers, err));
    return take(&r->slices, m, (size_t)r->n_slices + 1, sizeof *r->slices, err);
}

static cuzk_status fill(cuzk_matrix *matrix, cuzk_queue *queue, const matrix_view *view,
                        cuzk_err *err) {
    cuda_scratch scratch = {.queue = queue};
    reader r = {.queue = queue, .matrix = matrix, .view = view};
    cuzk_status status = take_rows(matrix, err);
    if (status == CUZK_OK) status = read_matrix(&r, &scratch, err);
    if (status == CUZK_OK) status = sum_lengths(&matrix->rows, &scratch, err);
    if (status == CUZK_OK) status = cuda_matrix_slice(&matrix->rows, queue->stream, err);
    cuda_scratch_drop(&scratch);
    /* Other queues may use it from now on; or nobody, and what was begun must not go on. */
    const cuzk_status waited = CUDA_CALL(cudaStreamSynchronize(queue->stream),
                                         "cudaStreamSynchronize", status ? NULL : err);
    unprepare(&r);
    return status != CUZK_OK ? status : waited;
}

cuzk_status cuda_matrix_open(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                             const matrix_view *view, cuzk_err *err) {
    if (fr->n_bytes != CUDA_FR_BYTES) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cuda",
                         "scalar field of %u bytes, expected %u", fr->n_bytes, CUDA_FR_BYTES);
    }
    if (view->n_triplets >= UINT32_MAX || view->n_rows > ROWS_MAX) {
        return cuzk_fail(err, CUZK_ERR_NOMEM, "backend.cuda",
                         "%llu coefficients in %llu rows, more than this backend takes",
                         (unsigned long long)view->n_triplets,
                         (unsigned long long)view->n_rows);
    }
    CUZK_TRY(cuda_use(queue->dev, err));
    cuzk_matrix *matrix;
    CUZK_TRY(cuzk_zalloc(&matrix, 1, sizeof *matrix, err));
    matrix->dev = queue->dev;
    matrix->fr = fr;
    matrix->n_columns = view->n_columns;
    matrix->rows.n_rows = 2 * (uint32_t)view->n_rows;
    matrix->rows.n_terms = (uint32_t)view->n_triplets;
    matrix->rows.n_slices = (uint32_t)n_slices_of(matrix->rows.n_rows, matrix->rows.n_terms);
    const cuzk_status status = fill(matrix, queue, view, err);
    if (status != CUZK_OK) {
        cuda_matrix_close(matrix);
        return status;
    }
    *out = matrix;
    return CUZK_OK;
}
