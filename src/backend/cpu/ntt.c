/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/ntt: number-theoretic transforms in place.
 *
 * Two networks do all the work, without a permutation:
 *
 *   inverse        values in natural order -> coefficients bit-reversed, from wide to narrow
 *                  butterflies. It splits a polynomial, whose coefficients are the *values*,
 *                  modulo X^2h - c^2 into its remainders modulo X^h - c and X^h + c, so all
 *                  butterflies of a block share one twiddle, c. The widest ones have c = 1 and
 *                  bring in 1/n.
 *   coset forward  coefficients bit-reversed -> values on g<w>, from narrow to wide: joins the
 *                  even and the odd half of a polynomial, P(x) = E(x^2) + x O(x^2). The points
 *                  x = g^(n/2h) w^(jn/2h) are the twiddles, so the coset costs nothing.
 *
 * The other two kinds are these and a scaling by powers of g.
 *
 * Both networks are cut in the same way. The wide levels go in passes of several levels: the
 * array as 2^k rows, worked on in strips of columns that are copied together, so that each
 * pass reads and writes memory once and rows a power of two apart can't evict each other. The
 * rest is blocks that fit in L2, halved recursively. The last levels of a block are tiles of
 * 16 x 16, transposed so that the table of the limbs still sees 16 butterflies a call. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"

#include <string.h>

#define W                   CPU_FR_LIMBS
#define TILE_SIDE_LOG       4u
#define TILE_SIDE           ((size_t)1 << TILE_SIDE_LOG)
#define TILE_LOG            (2 * TILE_SIDE_LOG)
#define BLOCK_LOG_MAX       14u /* 512 KiB */
#define STRIP_LOG_MAX       12u /* 128 KiB */
#define PASS_LEVELS_MAX     8u  /* then a full strip is still 16 columns, 512 bytes, wide */
#define STRIP_WIDTH_LOG_MIN 3u
#define PARALLEL_LOG_MIN    10u /* below, waking threads costs more than it gives */
#define N_PASSES_MAX        8u  /* 64 levels, more than an address can reach */

static unsigned min_unsigned(unsigned a, unsigned b) { return a < b ? a : b; }

/* (a, b) -> (a + b, a - b), for c = 1. */
static void split_by_one(const field *fr, uint64_t *a, uint64_t *b, size_t h) {
    for (size_t i = 0; i < h; i++, a += W, b += W) {
        uint64_t sum[W];
        field_add(fr, sum, a, b);
        field_sub(fr, b, a, b);
        field_copy(fr, a, sum);
    }
}

/* One level of the inverse network on one block of 2h: (a, b) -> (a + cb, a - cb). The first
 * level, where c = 1, divides by n; block 0 of every other one also has c = 1. */
static void split_level(const cuzk_domain *d, uint64_t *block, size_t h, bool first,
                        size_t i_block) {
    const field *fr = d->fr;
    uint64_t *a = block, *b = block + h * W;
    if (first) {
        for (size_t i = 0; i < h; i++) field_mul(fr, a + i * W, a + i * W, d->n_inv.l);
        fr->ops->vec_dit(a, b, d->n_inv.l, 0, h, &fr->m);
    } else if (i_block == 0) {
        split_by_one(fr, a, b, h);
    } else {
        fr->ops->vec_dit(a, b, d->inverse + i_block * W, 0, h, &fr->m);
    }
}

/* n butterflies of the coset forward network, from column j of their level. */
static void join(const cuzk_domain *d, uint64_t *a, uint64_t *b, size_t h, size_t j,
                 size_t n) {
    d->fr->ops->vec_dit(a, b, d->coset + (h + j) * W, 1, n, &d->fr->m);
}

/* ---- tiles: the narrowest levels ---- */
static void transpose(uint64_t *tile) {
    for (size_t i = 0; i < TILE_SIDE; i++) {
        for (size_t j = 0; j < i; j++) {
            uint64_t *a = tile + (i * TILE_SIDE + j) * W, *b = tile + (j * TILE_SIDE + i) * W;
            uint64_t t[W];
            memcpy(t, a, sizeof t);
            memcpy(a, b, sizeof t);
            memcpy(b, t, sizeof t);
        }
    }
}

/* After the transposition element 16 r + c lies in row c, column r, so that a butterfly of
 * width h < 16 joins rows c and c + h, in all columns alike. */
static void split_tile(const cuzk_domain *d, uint64_t *tile, size_t i_tile) {
    for (size_t n_blocks = 1; n_blocks < TILE_SIDE; n_blocks *= 2) {
        const size_t h = TILE_SIDE * TILE_SIDE / (2 * n_blocks);
        for (size_t i = 0; i < n_blocks; i++) {
            split_level(d, tile + 2 * h * i * W, h, false, i_tile * n_blocks + i);
        }
    }
    transpose(tile);
    for (size_t h = TILE_SIDE / 2; h > 0; h /= 2) {
        const size_t n_blocks = TILE_SIDE / (2 * h); /* in each column */
        const uint64_t *twiddles = d->inverse + i_tile * TILE_SIDE * n_blocks * W;
        for (size_t i = 0; i < n_blocks; i++, twiddles += W) {
            for (size_t j = 0; j < h; j++) {
                uint64_t *a = tile + (2 * h * i + j) * TILE_SIDE * W;
                d->fr->ops->vec_dit(a, a + h * TILE_SIDE * W, twiddles, n_blocks, TILE_SIDE,
                                    &d->fr->m);
            }
        }
    }
    transpose(tile);
}

static void join_tile(const cuzk_domain *d, uint64_t *tile) {
    transpose(tile);
    for (size_t h = 1; h < TILE_SIDE; h *= 2) {
        for (size_t i = 0; i < TILE_SIDE; i += 2 * h) {
            for (size_t j = 0; j < h; j++) {
                uint64_t *a = tile + (i + j) * TILE_SIDE * W;
                d->fr->ops->vec_dit(a, a + h * TILE_SIDE * W, d->coset + (h + j) * W, 0,
                                    TILE_SIDE, &d->fr->m);
            }
        }
    }
    transpose(tile);
    for (size_t h = TILE_SIDE; h < TILE_SIDE * TILE_SIDE; h *= 2) {
        for (size_t i = 0; i < TILE_SIDE * TILE_SIDE; i += 2 * h) {
            uint64_t *a = tile + i * W;
            join(d, a, a + h * W, h, 0, h);
        }
    }
}

/* ---- blocks ---- */
static void split_block(const cuzk_domain *d, uint64_t *block, unsigned log, size_t i_block) {
    if (log == TILE_LOG && log < d->log_n) {
        split_tile(d, block, i_block);
    } else if (log > 0) {
        const size_t h = (size_t)1 << (log - 1);
        split_level(d, block, h, log == d->log_n, i_block);
        split_block(d, block, log - 1, 2 * i_block);
        split_block(d, block + h * W, log - 1, 2 * i_block + 1);
    }
}

static void join_block(const cuzk_domain *d, uint64_t *block, unsigned log) {
    if (log == TILE_LOG) {
        join_tile(d, block);
    } else if (log > 0) {
        const size_t h = (size_t)1 << (log - 1);
        join_block(d, block, log - 1);
        join_block(d, block + h * W, log - 1);
        join(d, block, block + h * W, h, 0, h);
    }
}

/* ---- passes ---- */
/* n_levels levels on super-blocks of 2^log elements, each seen as 2^n_levels rows. */
typedef struct pass {
    unsigned log, n_levels, log_width;
} pass;

typedef struct plan {
    unsigned n_passes, log_block;
    pass passes[N_PASSES_MAX]; /* widest first */
} plan;

/* Levels are given to passes until blocks fit in the cache and there are four of them for
 * each thread; the same goes for strips. */
static plan make_plan(const cuzk_domain *d, unsigned n_threads) {
    unsigned log_items = 0;
    if (n_threads > 1 && d->log_n >= PARALLEL_LOG_MIN) {
        while ((1u << log_items) < 4 * n_threads) log_items++;
    }
    const unsigned log_share = d->log_n > log_items ? d->log_n - log_items : 0;
    plan p = {.log_block = min_unsigned(BLOCK_LOG_MAX, log_share)};
    if (p.log_block < TILE_LOG) p.log_block = min_unsigned(TILE_LOG, d->log_n);

    unsigned n_levels = d->log_n - p.log_block, log = d->log_n;
    p.n_passes = (n_levels + PASS_LEVELS_MAX - 1) / PASS_LEVELS_MAX;
    for (unsigned i = 0; i < p.n_passes; i++) {
        const unsigned k = n_levels / (p.n_passes - i);
        unsigned log_strip = min_unsigned(STRIP_LOG_MAX, log_share);
        if (log_strip < k + STRIP_WIDTH_LOG_MIN) log_strip = k + STRIP_WIDTH_LOG_MIN;
        p.passes[i] = (pass){log, k, min_unsigned(log_strip - k, log - k)};
        n_levels -= k;
        log -= k;
    }
    return p;
}

/* One network at work on one array. */
typedef struct work {
    const cuzk_domain *d;
    uint64_t *data;
    uint64_t *scratch; /* a strip for each thread */
    pass pass;
    unsigned log_block;
} work;

/* Strip `item` of a pass: its super-block, the first of its columns, and its copy. */
typedef struct strip {
    size_t i_block, column;
    size_t n_rows, row_length, width;
    uint64_t *home, *copy;
} strip;

static strip strip_at(const work *w, size_t item, unsigned slot) {
    const pass *p = &w->pass;
    const unsigned log_row = p->log - p->n_levels;
    const size_t n_strips = (size_t)1 << (log_row - p->log_width);
    strip s = {
        .i_block = item / n_strips,
        .column = (item % n_strips) << p->log_width,
        .n_rows = (size_t)1 << p->n_levels,
        .row_length = (size_t)1 << log_row,
        .width = (size_t)1 << p->log_width,
        .copy = w->scratch + ((size_t)slot << STRIP_LOG_MAX) * W,
    };
    s.home = w->data + ((s.i_block << p->log) + s.column) * W;
    return s;
}

static void strip_load(const strip *s) {
    for (size_t r = 0; r < s->n_rows; r++) {
        memcpy(s->copy + r * s->width * W, s->home + r * s->row_length * W,
               s->width * CPU_FR_BYTES);
    }
}

static void strip_store(const strip *s) {
    for (size_t r = 0; r < s->n_rows; r++) {
        memcpy(s->home + r * s->row_length * W, s->copy + r * s->width * W,
               s->width * CPU_FR_BYTES);
    }
}

static void split_strip(void *arg, size_t item, unsigned slot) {
    const work *w = arg;
    const strip s = strip_at(w, item, slot);
    strip_load(&s);
    for (size_t n_blocks = 1; n_blocks < s.n_rows; n_blocks *= 2) {
        const size_t h = s.n_rows / n_blocks / 2 * s.width; /* in the copy */
        const bool first = w->pass.log == w->d->log_n && n_blocks == 1;
        for (size_t i = 0; i < n_blocks; i++) {
            split_level(w->d, s.copy + 2 * h * i * W, h, first, s.i_block * n_blocks + i);
        }
    }
    strip_store(&s);
}

static void join_strip(void *arg, size_t item, unsigned slot) {
    const work *w = arg;
    const strip s = strip_at(w, item, slot);
    strip_load(&s);
    for (size_t h = 1; h < s.n_rows; h *= 2) { /* in rows */
        for (size_t i = 0; i < s.n_rows; i += 2 * h) {
            for (size_t r = 0; r < h; r++) {
                uint64_t *a = s.copy + (i + r) * s.width * W;
                join(w->d, a, a + h * s.width * W, h * s.row_length,
                     r * s.row_length + s.column, s.width);
            }
        }
    }
    strip_store(&s);
}

static void split_block_item(void *arg, size_t item, unsigned slot) {
    const work *w = arg;
    (void)slot;
    split_block(w->d, w->data + (item << w->log_block) * W, w->log_block, item);
}

static void join_block_item(void *arg, size_t item, unsigned slot) {
    const work *w = arg;
    (void)slot;
    join_block(w->d, w->data + (item << w->log_block) * W, w->log_block);
}

static void run_pass(cuzk_exec *exec, work *w, const pass *p, cuzk_exec_fn *fn) {
    w->pass = *p;
    cuzk_exec_for(exec, w->d->n >> (p->n_levels + p->log_width), fn, w);
}

static void inverse_network(cuzk_exec *exec, work *w, const plan *p) {
    for (unsigned i = 0; i < p->n_passes; i++) run_pass(exec, w, &p->passes[i], split_strip);
    cuzk_exec_for(exec, w->d->n >> p->log_block, split_block_item, w);
}

static void coset_forward_network(cuzk_exec *exec, work *w, const plan *p) {
    cuzk_exec_for(exec, w->d->n >> p->log_block, join_block_item, w);
    for (unsigned i = p->n_passes; i-- > 0;) run_pass(exec, w, &p->passes[i], join_strip);
}

/* ---- the coefficient side: order and scaling ---- */
static size_t reverse_bits(size_t i, unsigned n_bits) {
    size_t r = 0;
    for (unsigned b = 0; b < n_bits; b++, i >>= 1) r = r << 1 | (i & 1);
    return r;
}

/* Coefficients lie bit-reversed; row b holds those whose low exponent bits are brp(b). */
static void unshift_row(void *arg, size_t item, unsigned slot) {
    const work *w = arg;
    const cuzk_domain *d = w->d;
    (void)slot;
    const unsigned log_row = min_unsigned(CPU_SCALE_ROW_LOG, d->log_n);
    const size_t n = (size_t)1 << log_row;
    const uint64_t exponent = reverse_bits(item, d->log_n - log_row);
    uint64_t *row = w->data + item * n * W;
    fe factor;
    field_pow(d->fr, factor.l, d->g_inv.l, &exponent, 1);
    for (size_t i = 0; i < n; i++) field_mul(d->fr, row + i * W, row + i * W, factor.l);
    d->fr->ops->vec_mul(row, row, d->unshift, n, &d->fr->m);
}

/* Multiplies the coefficient of x^k by g^-k. */
static void unshift(cuzk_exec *exec, work *w) {
    const unsigned log_row = min_unsigned(CPU_SCALE_ROW_LOG, w->d->log_n);
    cuzk_exec_for(exec, w->d->n >> log_row, unshift_row, w);
}

/* The smaller index of a pair swaps it, so items never meet. */
static void permute_row(void *arg, size_t item, unsigned slot) {
    const work *w = arg;
    (void)slot;
    const size_t n = (size_t)1 << min_unsigned(CPU_SCALE_ROW_LOG, w->d->log_n);
    for (size_t i = item * n; i < (item + 1) * n; i++) {
        const size_t j = reverse_bits(i, w->d->log_n);
        if (j <= i) continue;
        uint64_t t[W];
        memcpy(t, w->data + i * W, sizeof t);
        memcpy(w->data + i * W, w->data + j * W, sizeof t);
        memcpy(w->data + j * W, t, sizeof t);
    }
}

static void permute(cuzk_exec *exec, work *w) {
    const unsigned log_row = min_unsigned(CPU_SCALE_ROW_LOG, w->d->log_n);
    cuzk_exec_for(exec, w->d->n >> log_row, permute_row, w);
}

cuzk_status cpu_ntt(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err) {
    const cuzk_domain *d = job->domain;
    cuzk_exec *exec = d->log_n < PARALLEL_LOG_MIN ? NULL : queue->dev->exec;
    const unsigned n_threads = cuzk_exec_n_threads(exec);
    const plan p = make_plan(d, n_threads);
    work w = {.d = d, .log_block = p.log_block};
    CUZK_TRY(cpu_slice_fr(&w.data, job->data, d->n, CPU_WRITE, "data", err));

    const size_t n_scratch = p.n_passes > 0 ? (size_t)n_threads << STRIP_LOG_MAX : 0;
    CUZK_TRY(cuzk_alloc(&w.scratch, n_scratch, CPU_FR_BYTES, err));
    switch (job->kind) {
    case CUZK_NTT_INVERSE:
    case CUZK_NTT_COSET_INVERSE:
        inverse_network(exec, &w, &p);
        if (job->kind == CUZK_NTT_COSET_INVERSE) unshift(exec, &w);
        if (!job->brp) permute(exec, &w);
        break;
    case CUZK_NTT_FORWARD:
    case CUZK_NTT_COSET_FORWARD:
        if (!job->brp) permute(exec, &w);
        if (job->kind == CUZK_NTT_FORWARD) unshift(exec, &w);
        coset_forward_network(exec, &w, &p);
        break;
    }
    cuzk_free_secret(w.scratch, n_scratch * CPU_FR_BYTES);
    return CUZK_OK;
}
