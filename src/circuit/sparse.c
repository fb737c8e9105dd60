/* SPDX-License-Identifier: Apache-2.0 */
/* circuit/sparse: see sparse.h.
 *
 * Whoever writes triplets writes them row by row, so they are cut into pieces at changes of
 * row, and each piece owns the rows from its first one to that of the next piece. Nothing
 * relies on it: a piece that meets a row it does not own, or a bad triplet, stops, and then
 * one thread goes over all triplets from the first: it needs no order, and it finds the first
 * fault. */
#include "circuit/sparse.h"

#include "base/alloc.h"

#include <stdatomic.h>
#include <string.h>

#define W                 4u /* limbs of Fr */
#define FR_BYTES          32u
#define PIECES_PER_THREAD 16u
#define PIECE_MIN         1024u      /* triplets */
#define TAIL_ROWS         (1u << 16) /* to be cleared at once */
#define BATCH             64u        /* products made in one call */
#define ROWS_TOLD_MIN     (1u << 18) /* at once: 8 MiB of each result */

#define MATRIX_OFFSET 0u
#define ROW_OFFSET    4u
#define COLUMN_OFFSET 8u
#define VALUE_OFFSET  12u

typedef struct piece {
    uint64_t first;     /* triplet */
    uint64_t first_row; /* owned, up to that of the next piece */
    atomic_bool is_done;
} piece;

/* Whom to tell about finished rows, and what he was told. Used by the calling thread only. */
typedef struct listener {
    sparse_rows_fn *fn; /* or NULL */
    void *arg;
    cuzk_err *err;
    cuzk_status status;
    size_t n_done;     /* pieces, from the first, all of them done */
    uint64_t next_row; /* to be told */
} listener;

typedef struct work {
    const field *fr;
    const matrix_view *matrix;
    const uint8_t *w;
    uint64_t *out[2]; /* a, b */
    piece *pieces;    /* and a last one that marks the end */
    size_t n_pieces;
    atomic_bool stopped;
    listener listener;
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
        load_words(factor, k->w + (size_t)column * FR_BYTES);
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
        memset(k->out[i] + first_row * W, 0, (size_t)(end_row - first_row) * FR_BYTES);
    }
}

/* Tells of the rows up to the first unfinished piece; with `least` or more of them only. */
static void tell(work *k, uint64_t least) {
    listener *l = &k->listener;
    if (!l->fn || l->status != CUZK_OK) return;
    while (l->n_done < k->n_pieces &&
           atomic_load_explicit(&k->pieces[l->n_done].is_done, memory_order_acquire)) {
        l->n_done++;
    }
    const uint64_t end_row = k->pieces[l->n_done].first_row;
    if (end_row - l->next_row < least) return;
    l->status = l->fn(l->arg, l->next_row, end_row, l->err);
    l->next_row = end_row;
    if (l->status != CUZK_OK) atomic_store_explicit(&k->stopped, true, memory_order_relaxed);
}

static void run_piece(void *arg, size_t item, unsigned slot) {
    work *k = arg;
    piece *p = &k->pieces[item];
    if (atomic_load_explicit(&k->stopped, memory_order_relaxed)) return;
    clear_rows(k, p[0].first_row, p[1].first_row);
    if (add_triplets(k, p[0].first, p[1].first, p[0].first_row, p[1].first_row) !=
        p[1].first) {
        atomic_store_explicit(&k->stopped, true, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&p->is_done, true, memory_order_release);
    if (slot == 0) tell(k, ROWS_TOLD_MIN); /* the calling thread's slot */
}

/* Cuts before the first change of row at or after each even share, or, when a share has none,
 * where the next one is cut. False when the rows at the cuts are out of order. */
static bool cut(piece *pieces, size_t n_pieces, const matrix_view *m) {
    const uint64_t share = m->n_triplets / n_pieces;
    for (size_t i = n_pieces; i-- > 1;) {
        const uint64_t end = i + 1 == n_pieces ? m->n_triplets : share * (i + 1);
        uint64_t first = share * i;
        while (first < end && row_at(m, first) == row_at(m, first - 1)) first++;
        pieces[i].first = first < end ? first : pieces[i + 1].first;
        pieces[i].first_row = first < end ? row_at(m, first) : pieces[i + 1].first_row;
        if (pieces[i].first_row > pieces[i + 1].first_row) return false;
    }
    return true;
}

/* The rows behind the last that has triplets are up to half of a domain, and to be cleared. */
static uint64_t first_row_of_tail(const matrix_view *m) {
    const uint64_t row = (uint64_t)row_at(m, m->n_triplets - 1) + 1;
    return row < m->n_rows ? row : m->n_rows;
}

static size_t count_tail_pieces(const matrix_view *m) {
    return (size_t)((m->n_rows - first_row_of_tail(m) + TAIL_ROWS - 1) / TAIL_ROWS);
}

static void cut_tail(piece *pieces, size_t n_pieces, const matrix_view *m) {
    const uint64_t first_row = first_row_of_tail(m);
    for (size_t i = 0; i < n_pieces; i++) {
        pieces[i].first = m->n_triplets;
        pieces[i].first_row = first_row + i * TAIL_ROWS;
    }
    pieces[n_pieces].first = m->n_triplets;
    pieces[n_pieces].first_row = m->n_rows;
}

/* One is as good as any for a single thread, unless somebody waits for the first rows. */
static size_t count_pieces(const matrix_view *m, unsigned n_threads, bool is_heard) {
    const uint64_t n_most = m->n_triplets / PIECE_MIN,
                   n_wanted = n_threads * PIECES_PER_THREAD;
    if ((n_threads == 1 && !is_heard) || n_most == 0) return 1;
    return (size_t)(n_most < n_wanted ? n_most : n_wanted);
}

cuzk_status sparse_fail_triplet(const matrix_view *m, uint64_t i, cuzk_err *err) {
    const uint8_t *t = triplet_at(m, i);
    const uint32_t matrix = load_le32(t + MATRIX_OFFSET), row = load_le32(t + ROW_OFFSET);
    const uint32_t column = load_le32(t + COLUMN_OFFSET);
    const unsigned long long index = i;
    if (matrix > 1) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "circuit.sparse",
                         "coefficient %llu: matrix %u, expected 0 (A) or 1 (B)", index,
                         matrix);
    }
    if (row >= m->n_rows) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "circuit.sparse",
                         "coefficient %llu: constraint %u, expected below %llu", index, row,
                         (unsigned long long)m->n_rows);
    }
    if (column >= m->n_columns) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "circuit.sparse",
                         "coefficient %llu: signal %u, expected below %u", index, column,
                         m->n_columns);
    }
    return cuzk_fail(err, CUZK_ERR_FORMAT, "circuit.sparse",
                     "coefficient %llu: its value is not below the field's modulus", index);
}

/* All rows at once, also those that were told of already. */
static cuzk_status evaluate_in_order(work *k, cuzk_err *err) {
    const matrix_view *m = k->matrix;
    const listener *l = &k->listener;
    clear_rows(k, 0, m->n_rows);
    const uint64_t stopped = add_triplets(k, 0, m->n_triplets, 0, m->n_rows);
    if (stopped != m->n_triplets) return sparse_fail_triplet(m, stopped, err);
    return l->fn && m->n_rows > 0 ? l->fn(l->arg, 0, m->n_rows, err) : CUZK_OK;
}

/* False when it has to be done in order. */
static bool evaluate_in_pieces(work *k, size_t n_tail, cuzk_exec *exec) {
    const size_t n_cut = k->n_pieces - n_tail;
    cut_tail(k->pieces + n_cut, n_tail, k->matrix);
    if (!cut(k->pieces, n_cut, k->matrix)) return false;
    cuzk_exec_for(exec, k->n_pieces, run_piece, k);
    if (k->listener.status != CUZK_OK) return true;
    if (atomic_load(&k->stopped)) return false;
    tell(k, 1);
    return true;
}

cuzk_status sparse_evaluate(uint64_t *a, uint64_t *b, const field *fr, const matrix_view *m,
                            const uint8_t *w, cuzk_exec *exec, sparse_rows_fn *rows_done,
                            void *rows_arg, cuzk_err *err) {
    const size_t n_cut = count_pieces(m, cuzk_exec_n_threads(exec), rows_done != NULL);
    work k = {.fr = fr, .matrix = m, .w = w, .out = {a, b}};
    k.listener = (listener){.fn = rows_done, .arg = rows_arg, .err = err};
    if (n_cut == 1) return evaluate_in_order(&k, err);

    const size_t n_tail = count_tail_pieces(m);
    k.n_pieces = n_cut + n_tail;
    atomic_init(&k.stopped, false);
    CUZK_TRY(cuzk_zalloc(&k.pieces, k.n_pieces + 1, sizeof *k.pieces, err));
    const bool done = evaluate_in_pieces(&k, n_tail, exec);
    cuzk_free(k.pieces);
    return done ? k.listener.status : evaluate_in_order(&k, err);
}
