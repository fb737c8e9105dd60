/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/ntt_kernels: transforms in passes. A pass does up to 10 levels on tiles that fit
 * in shared memory: 2^levels rows a power of two apart by a few neighbouring columns. Inside a
 * tile a thread does two levels on four elements at a time.
 *
 * All twiddles come from the domain's two tables; no pass needs a correction between it and the
 * next, and the coset costs nothing. In the inverse network all columns of a tile share their
 * twiddles. */
#include "backend/cuda/ntt.h"

#include "backend/cuda/field.cuh"

#define BLOCK              256
#define TILE_LOG           10u
#define STRIDED_LEVELS_MAX 9u /* then a tile is two columns, 64 bytes, wide */
#define PASSES_MAX         8u

typedef fp<8> fr_t;
typedef modulus<8> mod_t;

typedef struct ntt_pass {
    unsigned log_stride, n_levels, log_columns;
} ntt_pass;

/* Elements as two halves of 16 bytes, so that neighbours never meet in a bank. */
struct tile {
    uint4 low[1u << TILE_LOG], high[1u << TILE_LOG];

    __device__ __forceinline__ fr_t get(uint32_t i) const {
        const uint4 a = low[i], b = high[i];
        return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    }
    __device__ __forceinline__ void set(uint32_t i, const fr_t &v) {
        low[i] = make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]);
        high[i] = make_uint4(v.w[4], v.w[5], v.w[6], v.w[7]);
    }
};

/* Where a block's tile lies. */
struct tile_place {
    size_t base;
    uint32_t block, column; /* which block of the pass's widest level; the first column */
    unsigned log_stride, log_columns;

    __device__ __forceinline__ tile_place(const ntt_pass &p) {
        const unsigned log_strips = p.log_stride - p.log_columns;
        block = blockIdx.x >> log_strips;
        column = (blockIdx.x & ((1u << log_strips) - 1)) << p.log_columns;
        base = ((size_t)block << (p.log_stride + p.n_levels)) + column;
        log_stride = p.log_stride;
        log_columns = p.log_columns;
    }
    __device__ __forceinline__ size_t at(uint32_t i) const { /* i = row, column */
        return base + ((size_t)(i >> log_columns) << log_stride) +
               (i & ((1u << log_columns) - 1));
    }
};

__device__ __forceinline__ void tile_load(tile &t, const tile_place &place,
                                          const uint32_t *data, uint32_t n) {
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK)
        t.set(i, fp_load<8>(data + place.at(i) * 8));
    __syncthreads();
}
__device__ __forceinline__ void tile_store(const tile &t, const tile_place &place,
                                           uint32_t *data, uint32_t n) {
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK)
        fp_store(data + place.at(i) * 8, t.get(i));
}

/* (a, b) -> (a + c b, a - c b) */
__device__ __forceinline__ void butterfly(fr_t &a, fr_t &b, const fr_t &c, const mod_t &m) {
    const fr_t t = fp_mul(c, b, m);
    b = fp_sub(a, t, m);
    a = fp_add(a, t, m);
}
__device__ __forceinline__ fr_t twiddle(const uint32_t *table, size_t i) {
    return fp_load_constant<8>(table + i * 8);
}

/* `scale`: the first pass, whose widest level has c = 1 and brings in 1/n. */
__global__ void __launch_bounds__(BLOCK, 2)
    inverse_pass(uint32_t *data, const uint32_t *table, const ntt_pass pass, bool scale,
                 const __grid_constant__ fr_t n_inv, const __grid_constant__ mod_t m) {
    __shared__ tile t;
    const tile_place place(pass);
    const unsigned cols = pass.log_columns, levels = pass.n_levels;
    const uint32_t n = 1u << (levels + cols), column_mask = (1u << cols) - 1;
    tile_load(t, place, data, n);
    unsigned level = 0;
    if (levels % 2) {
        const uint32_t half = n / 2;
        const fr_t c = scale ? n_inv : twiddle(table, place.block);
        for (uint32_t i = threadIdx.x; i < half; i += BLOCK) {
            fr_t a = t.get(i), b = t.get(i + half);
            if (scale) a = fp_mul(a, n_inv, m);
            butterfly(a, b, c, m);
            t.set(i, a);
            t.set(i + half, b);
        }
        level = 1;
        __syncthreads();
    }
    for (; level < levels; level += 2) {
        const unsigned log_q = levels - level - 2;
        const bool first = scale && level == 0;
        for (uint32_t i = threadIdx.x; i < n / 4; i += BLOCK) {
            const uint32_t row = i >> cols, block = row >> log_q,
                           offset = row & ((1u << log_q) - 1);
            const uint32_t at = ((block << (log_q + 2) | offset) << cols) | (i & column_mask),
                           q = 1u << (log_q + cols);
            const size_t b = ((size_t)place.block << level) + block;
            const fr_t c = first ? n_inv : twiddle(table, b);
            fr_t x0 = t.get(at), x1 = t.get(at + q), x2 = t.get(at + 2 * q),
                 x3 = t.get(at + 3 * q);
            if (first) {
                x0 = fp_mul(x0, n_inv, m);
                x1 = fp_mul(x1, n_inv, m);
            }
            butterfly(x0, x2, c, m);
            butterfly(x1, x3, c, m);
            butterfly(x0, x1, twiddle(table, 2 * b), m);
            butterfly(x2, x3, twiddle(table, 2 * b + 1), m);
            t.set(at, x0);
            t.set(at + q, x1);
            t.set(at + 2 * q, x2);
            t.set(at + 3 * q, x3);
        }
        __syncthreads();
    }
    tile_store(t, place, data, n);
}

__global__ void __launch_bounds__(BLOCK, 2)
    coset_pass(uint32_t *data, const uint32_t *table, const ntt_pass pass,
               const __grid_constant__ mod_t m) {
    __shared__ tile t;
    const tile_place place(pass);
    const unsigned cols = pass.log_columns, levels = pass.n_levels, stride = pass.log_stride;
    const uint32_t n = 1u << (levels + cols), column_mask = (1u << cols) - 1;
    tile_load(t, place, data, n);
    unsigned level = 0; /* from the narrowest */
    for (; level + 2 <= levels; level += 2) {
        for (uint32_t i = threadIdx.x; i < n / 4; i += BLOCK) {
            const uint32_t row = i >> cols, block = row >> level,
                           offset = row & ((1u << level) - 1);
            const uint32_t at = ((block << (level + 2) | offset) << cols) | (i & column_mask),
                           q = 1u << (level + cols);
            const size_t h = (size_t)1 << (level + stride);
            const size_t j = ((size_t)offset << stride) + place.column + (i & column_mask);
            const fr_t c = twiddle(table, h + j);
            fr_t x0 = t.get(at), x1 = t.get(at + q), x2 = t.get(at + 2 * q),
                 x3 = t.get(at + 3 * q);
            butterfly(x0, x1, c, m);
            butterfly(x2, x3, c, m);
            butterfly(x0, x2, twiddle(table, 2 * h + j), m);
            butterfly(x1, x3, twiddle(table, 3 * h + j), m);
            t.set(at, x0);
            t.set(at + q, x1);
            t.set(at + 2 * q, x2);
            t.set(at + 3 * q, x3);
        }
        __syncthreads();
    }
    if (level < levels) {
        const uint32_t half = n / 2;
        for (uint32_t i = threadIdx.x; i < half; i += BLOCK) {
            const size_t h = (size_t)1 << (level + stride);
            const size_t j =
                ((size_t)(i >> cols) << stride) + place.column + (i & column_mask);
            fr_t a = t.get(i), b = t.get(i + half);
            butterfly(a, b, twiddle(table, h + j), m);
            t.set(i, a);
            t.set(i + half, b);
        }
        __syncthreads();
    }
    tile_store(t, place, data, n);
}

/* Widest first; the last one works on neighbours. */
static unsigned plan_passes(ntt_pass passes[PASSES_MAX], unsigned log_n) {
    const unsigned last = log_n < TILE_LOG ? log_n : TILE_LOG;
    unsigned left = log_n - last, n = (left + STRIDED_LEVELS_MAX - 1) / STRIDED_LEVELS_MAX,
             log = log_n;
    for (unsigned i = 0; i < n; i++) {
        unsigned levels = (left + n - i - 1) / (n - i);
        if (levels % 2 && levels < left && levels < STRIDED_LEVELS_MAX)
            levels++; /* two at a time */
        log -= levels;
        left -= levels;
        passes[i] = {log, levels, TILE_LOG - levels};
    }
    passes[n] = {0, last, 0};
    return n + 1;
}

static unsigned n_tiles(unsigned log_n, const ntt_pass &p) {
    return 1u << (log_n - p.n_levels - p.log_columns);
}

extern "C" cuzk_status cuda_inverse_network(const cuzk_domain *d, uint32_t *data,
                                            cudaStream_t stream, cuzk_err *err) {
    ntt_pass passes[PASSES_MAX];
    const unsigned n =
        d->log_n ? plan_passes(passes, d->log_n) : 0; /* one value is its coefficient */
    fr_t n_inv;
    for (int i = 0; i < 8; i++) n_inv.w[i] = (uint32_t)(d->n_inv.l[i / 2] >> 32 * (i % 2));
    for (unsigned i = 0; i < n; i++) {
        inverse_pass<<<n_tiles(d->log_n, passes[i]), BLOCK, 0, stream>>>(
            data, d->inverse, passes[i], i == 0, n_inv, modulus_of<8>(d->fr));
        CUDA_TRY_LAUNCH("inverse_pass", err);
    }
    return CUZK_OK;
}

extern "C" cuzk_status cuda_coset_network(const cuzk_domain *d, uint32_t *data,
                                          cudaStream_t stream, cuzk_err *err) {
    ntt_pass passes[PASSES_MAX];
    for (unsigned i = d->log_n ? plan_passes(passes, d->log_n) : 0; i-- > 0;) {
        coset_pass<<<n_tiles(d->log_n, passes[i]), BLOCK, 0, stream>>>(
            data, d->coset, passes[i], modulus_of<8>(d->fr));
        CUDA_TRY_LAUNCH("coset_pass", err);
    }
    return CUZK_OK;
}
