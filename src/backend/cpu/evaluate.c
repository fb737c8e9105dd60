/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/evaluate: a = A w and b = B w from triplets in any order.
 *
 * Whoever writes triplets writes them row by row, so they are cut into pieces at changes of
 * row, and each piece owns the rows from its first one to that of the next piece. Nothing
 * relies on it: a piece that meets a row it does not own, or a bad triplet, stops, and then
 * one thread goes over all triplets from the first: it needs no order, and it finds the first
 * fault. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"

#include <stdatomic.h>
#include <string.h>

#define W                 CPU_FR_LIMBS
#define PIECES_PER_THREAD 16u
#define PIECE_MIN         1024u /* triplets */
#define BATCH             64u   /* products made in one call */

#define MATRIX_OFFSET 0u
#define ROW_OFFSET    4u
#define COLUMN_OFFSET 8u
#define VALUE_OFFSET  12u

typedef struct piece {
    uint64_t first;     /* triplet */
    uint64_t first_row; /* owned, up to that of the next piece */
} piece;

typedef struct work {
    const field *fr;
    const matrix_view *matrix;
    const uint8_t *w;
    uint64_t *out[2];    /* a, b */
    const piece *pieces; /* and a last one that marks the end */
    atomic_bool failed;
} work;

/* Triplets waiting for their product. */
typedef struct batch {
    size_t n;
    uint64_t values[BATCH * W], factors[BATCH * W];
    uint64_t *sums[BATCH]; /* where each product is added */
} batch;

static const uint8_t *triplet_at(const matrix_view *m, uint64_t i) {
    return m->triplets + i * MATRIX_TRIPLET_BYTES;
}

static uint32_t row_at(const matrix_view *m, uint64_t i) {
    return load_le32(triplet_at(m, i) + ROW_OFFSET);
}

static void load_words(uint64_t *r, const uint8_t *bytes) {
    for (unsigned i = 0; i < W; i++) r[i] = load_le64(bytes + 8 * i);
}

static bool is_below(const uint64_t *a, const uint64_t *p) {
    for (unsigned i = W; i-- > 0;) {
        if (a[i] != p[i]) return a[i] < p[i];
    }
    return false;
}

static void flush(const field *fr, batch *b) {
    fr->ops->vec_mul(b->values, b->values, b->factors, b->n, &fr->m);
    for (size_t i = 0; i < b->n; i++) field_add(fr, b->sums[i], b->sums[i], b->values + i * W);
    b->n = 0;
}

/* Adds triplets [first, end), all of rows [first_row, end_row), to a and b. Returns the index
 * of the first triplet that is wrong or of another row, or end. */
static uint64_t add_triplets(const work *k, uint64_t first, uint64_t end, uint64_t first_row,
                             uint64_t end_row) {
    batch b;
    b.n = 0;
    uint64_t i = first;
    for (; i < end; i++) {
        const uint8_t *t = triplet_at(k->matrix, i);
        const uint32_t matrix = load_le32(t + MATRIX_OFFSET);
        const uint32_t row = load_le32(t + ROW_OFFSET);
        const uint32_t column = load_le32(t + COLUMN_OFFSET);
        if (matrix > 1 || row < first_row || row >= end_row ||
            column >= k->matrix->n_columns) {
            break;
        }
        uint64_t *value = b.values + b.n * W, *factor = b.factors + b.n * W;
        load_words(value, t + VALUE_OFFSET);
        load_words(factor, k->w + (size_t)column * CPU_FR_BYTES);
        if (!is_below(value, k->fr->m.p)) break;
        if ((factor[0] | factor[1] | factor[2] | factor[3]) == 0) continue;
        b.sums[b.n] = k->out[matrix] + (size_t)row * W;
        if (++b.n == BATCH) flush(k->fr, &b);
    }
    flush(k->fr, &b);
    cuzk_wipe(&b, sizeof b);
    return i;
}

static void clear_rows(const work *k, uint64_t first_row, uint64_t end_row) {
    for (unsigned i = 0; i < 2; i++) {
        memset(k->out[i] + first_row * W, 0, (size_t)(end_row - first_row) * CPU_FR_BYTES);
    }
}

static void run_piece(void *arg, size_t item, unsigned slot) {
    work *k = arg;
    const piece *p = &k->pieces[item];
    (void)slot;
    if (atomic_load_explicit(&k->failed, memory_order_relaxed)) return;
    clear_rows(k, p[0].first_row, p[1].first_row);
    if (add_triplets(k, p[0].first, p[1].first, p[0].first_row, p[1].first_row) !=
        p[1].first) {
        atomic_store_explicit(&k->failed, true, memory_order_relaxed);
    }
}

/* Cuts before the first change of row at or after each even share, or, when a share has none,
 * where the next one is cut. False when the rows at the cuts are out of order. */
static bool cut(piece *pieces, size_t n_pieces, const matrix_view *m) {
    const uint64_t share = m->n_triplets / n_pieces;
    pieces[n_pieces] = (piece){m->n_triplets, m->n_rows};
    for (size_t i = n_pieces; i-- > 1;) {
        const uint64_t end = i + 1 == n_pieces ? m->n_triplets : share * (i + 1);
        uint64_t first = share * i;
        while (first < end && row_at(m, first) == row_at(m, first - 1)) first++;
        pieces[i] = first < end ? (piece){first, row_at(m, first)} : pieces[i + 1];
        if (pieces[i].first_row > pieces[i + 1].first_row) return false;
    }
    pieces[0] = (piece){0, 0};
    return true;
}

static size_t count_pieces(const matrix_view *m, unsigned n_threads) {
    const uint64_t n_most = m->n_triplets / PIECE_MIN,
                   n_wanted = n_threads * PIECES_PER_THREAD;
    if (n_threads == 1 || n_most == 0) return 1;
    return (size_t)(n_most < n_wanted ? n_most : n_wanted);
}

static cuzk_status fail_triplet(const work *k, uint64_t i, cuzk_err *err) {
    const matrix_view *m = k->matrix;
    const uint8_t *t = triplet_at(m, i);
    const uint32_t matrix = load_le32(t + MATRIX_OFFSET), row = load_le32(t + ROW_OFFSET);
    const uint32_t column = load_le32(t + COLUMN_OFFSET);
    const unsigned long long index = i;
    if (matrix > 1) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.evaluate",
                         "coefficient %llu: matrix %u, expected 0 (A) or 1 (B)", index,
                         matrix);
    }
    if (row >= m->n_rows) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.evaluate",
                         "coefficient %llu: constraint %u, expected below %llu", index, row,
                         (unsigned long long)m->n_rows);
    }
    if (column >= m->n_columns) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.evaluate",
                         "coefficient %llu: signal %u, expected below %u", index, column,
                         m->n_columns);
    }
    return cuzk_fail(err, CUZK_ERR_FORMAT, "backend.evaluate",
                     "coefficient %llu: its value is not below the field's modulus", index);
}

static cuzk_status evaluate_in_order(const work *k, cuzk_err *err) {
    const matrix_view *m = k->matrix;
    clear_rows(k, 0, m->n_rows);
    const uint64_t stopped = add_triplets(k, 0, m->n_triplets, 0, m->n_rows);
    return stopped == m->n_triplets ? CUZK_OK : fail_triplet(k, stopped, err);
}

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
    work k = {.fr = job->matrix->fr, .matrix = m};
    CUZK_TRY(cpu_slice_bytes(&k.w, job->w, m->n_columns, CPU_FR_BYTES, "w", err));
    CUZK_TRY(cpu_slice_fr(&k.out[0], job->a, m->n_rows, CPU_WRITE, "a", err));
    CUZK_TRY(cpu_slice_fr(&k.out[1], job->b, m->n_rows, CPU_WRITE, "b", err));
    atomic_init(&k.failed, false);

    const size_t n_pieces = count_pieces(m, cuzk_exec_n_threads(queue->dev->exec));
    if (n_pieces == 1) return evaluate_in_order(&k, err);

    piece *pieces;
    CUZK_TRY(cuzk_alloc(&pieces, n_pieces + 1, sizeof *pieces, err));
    k.pieces = pieces;
    bool done = cut(pieces, n_pieces, m);
    if (done) {
        cuzk_exec_for(queue->dev->exec, n_pieces, run_piece, &k);
        done = !atomic_load(&k.failed);
    }
    cuzk_free(pieces);
    return done ? CUZK_OK : evaluate_in_order(&k, err);
}
