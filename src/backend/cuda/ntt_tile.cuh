/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_NTT_TILE_CUH
#define CUZK_BACKEND_CUDA_NTT_TILE_CUH
/* backend/cuda/ntt_tile: what the passes of both networks share.
 *
 * A pass does up to 10 levels on tiles that fit in shared memory: 2^levels rows a power of two
 * apart by a few neighbouring columns. Inside a tile a thread does two levels on four elements
 * at a time. The coset is in the twiddles and costs nothing. Between passes values are below
 * 2p.
 *
 * The twist (ntt.h) is done by the pass behind it, when it loads its tiles. */
#include "backend/cuda/ntt.h"

#include "backend/cuda/field.cuh"

#define BLOCK              256
#define TILE_LOG           CUDA_LOG_BLOCK
#define STRIDED_LEVELS_MAX 9u /* then a tile is two columns, 64 bytes, wide */
#define PASSES_MAX         8u
#define BLOCKS_AT_ONCE     4 /* on a multiprocessor: 64 registers a thread */

typedef fp<8> fr_t;
typedef modulus<8> mod_t;

typedef struct ntt_pass {
    unsigned log_stride, n_levels, log_columns;
} ntt_pass;

/* What all passes of a network know. */
typedef struct ntt_network {
    cuda_factors table, after; /* twiddles; after: of the levels behind the twist */
    cuda_powers twist;
    cuda_factors shift; /* with the twist; empty: none */
    cuda_powers scale;  /* coefficient k is multiplied by power k; empty: by none */
    unsigned log_n;
    bool twists, is_odd;
    bool is_turned; /* one tile, its coefficients in natural order */
} ntt_network;

/* Elements as two halves of 16 bytes, so that neighbours never meet in a bank. */
template <unsigned n_elements> struct ntt_tile {
    uint4 low[n_elements], high[n_elements];

    __device__ __forceinline__ fr_t get(uint32_t i) const {
        const uint4 a = low[i], b = high[i];
        return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    }
    __device__ __forceinline__ void set(uint32_t i, const fr_t &v) {
        low[i] = make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]);
        high[i] = make_uint4(v.w[4], v.w[5], v.w[6], v.w[7]);
    }
};
typedef ntt_tile<1u << TILE_LOG> tile;

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

__device__ __forceinline__ uint32_t reversed(uint32_t i, unsigned n_bits) {
    return n_bits ? __brev(i) >> (32 - n_bits) : 0;
}

__device__ __forceinline__ uint32_t low_bits(unsigned n) { /* n < 33 */
    return n ? ~0u >> (32 - n) : 0;
}

__device__ __forceinline__ factor<8> entry(const cuda_factors &table, uint32_t i) {
    const uint4 *p = (const uint4 *)table.p + i;
    const uint4 a = __ldg(p), b = __ldg(p + table.n), c = __ldg(p + 2 * (size_t)table.n),
                d = __ldg(p + 3 * (size_t)table.n);
    return {{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}},
            {{c.x, c.y, c.z, c.w, d.x, d.y, d.z, d.w}}};
}

/* (a, b) -> (a + c b, a - c b) */
template <bool LOW_ONE>
__device__ __forceinline__ void butterfly(fr_t &a, fr_t &b, const factor<8> &c,
                                          const mod_t &m) {
    const fr_t t = fr_mul_factor<LOW_ONE>(b, c, m);
    b = fr_sub(a, t, m);
    a = fr_add(a, t, m);
}
__device__ __forceinline__ void butterfly_of_one(fr_t &a, fr_t &b, const mod_t &m) {
    const fr_t t = b;
    b = fr_sub(a, t, m);
    a = fr_add(a, t, m);
}

/* v times a power */
template <bool LOW_ONE>
__device__ __forceinline__ fr_t times_power(const fr_t &v, const cuda_powers &p,
                                            uint32_t exponent, const mod_t &m) {
    const fr_t u = fr_mul_factor<LOW_ONE>(v, entry(p.high, exponent >> p.log_low), m);
    return fr_mul_factor<LOW_ONE>(u, entry(p.low, exponent & low_bits(p.log_low)), m);
}
/* Coefficient k on its way in or out. */
template <bool LOW_ONE>
__device__ __forceinline__ fr_t scaled(const fr_t &v, const ntt_network &net, uint32_t k,
                                       const mod_t &m) {
    return net.scale.low.n ? times_power<LOW_ONE>(v, net.scale, k, m) : v;
}

/* ---- the twist ----
 * The factor of an element of a tile depends on its index i through a sum of two exponents: of
 * the lower bits of i, and of the upper ones; the lowest may count in both. So a tile needs
 * some hundred products of table entries, not a thousand. */
#define TWIST_MAX 128u

struct tile_twist {
    ntt_tile<TWIST_MAX> w, q;

    __device__ __forceinline__ void set(uint32_t i, const fr_t &v, const mod_t &m) {
        const factor<8> f = factor_of(fr_reduce(v, m), m);
        w.set(i, f.w);
        q.set(i, f.q);
    }
    __device__ __forceinline__ factor<8> get(uint32_t i) const { return {w.get(i), q.get(i)}; }
};

/* Which entries there are. */
struct twist_split {
    unsigned log_low, log_both;
    uint32_t n_low, n;

    __device__ __forceinline__ twist_split(unsigned log_tile, unsigned log_both)
        : log_low((log_tile + log_both + 1) / 2), log_both(log_both) {
        n_low = 1u << log_low;
        n = n_low + (1u << (log_tile - log_low + log_both));
    }
    /* An index that entry e is the factor of: of its lower bits, or of its upper bits. */
    __device__ __forceinline__ uint32_t index(uint32_t e) const {
        const uint32_t u = e - n_low;
        return e < n_low ? e : (u >> log_both << log_low) | (u & low_bits(log_both));
    }
    __device__ __forceinline__ uint32_t upper_entry(uint32_t i) const {
        return n_low + ((i >> log_low << log_both) | (i & low_bits(log_both)));
    }
};

/* Each thread its own elements: those that it has loaded. */
template <bool LOW_ONE>
__device__ __forceinline__ void twist_tile(tile &t, const tile_twist &f, const twist_split &s,
                                           uint32_t n, const mod_t &m) {
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK) {
        const fr_t v = fr_mul_factor<LOW_ONE>(t.get(i), f.get(i & low_bits(s.log_low)), m);
        t.set(i, fr_mul_factor<LOW_ONE>(v, f.get(s.upper_entry(i)), m));
    }
}

/* ---- coefficients in natural order ----
 * Only the last pass of the inverse network and the first of the other touch them. When the
 * transform is one tile, the tile is permuted. Else that pass does few levels, on pairs of
 * tiles that exchange their places: an index is (a, m, b), a and b of TURN_LOG bits, and tile
 * m becomes tile m reversed, transposed. */
#define TURN_LOG   4u
#define TURN_SIDE  (1u << TURN_LOG)
#define TURN_AREA  (TURN_SIDE * TURN_SIDE)
#define TURN_BLOCK (TURN_AREA / 2) /* four elements a thread, of two tiles */
#define TURN_ROW   (TURN_SIDE + 1) /* in shared memory: a column has all banks */
typedef ntt_tile<2 * TURN_SIDE * TURN_ROW> turn_tiles;

struct turn_place {
    uint32_t m[2]; /* each the other reversed */
    unsigned log_n, n_tiles;

    __device__ __forceinline__ turn_place(unsigned log_n) : log_n(log_n) {
        m[0] = blockIdx.x;
        m[1] = reversed(blockIdx.x, log_n - 2 * TURN_LOG);
        n_tiles = m[0] < m[1] ? 2 : m[0] == m[1] ? 1 : 0; /* 0: the other block does it */
    }
    /* i = tile, a, b */
    __device__ __forceinline__ uint32_t
    block(uint32_t i) const { /* of 2^TURN_LOG neighbours */
        return (i / TURN_SIDE % TURN_SIDE) << (log_n - 2 * TURN_LOG) |
               (i < TURN_AREA ? m[0] : m[1]);
    }
    __device__ __forceinline__ uint32_t at(uint32_t i) const {
        return block(i) << TURN_LOG | i % TURN_SIDE;
    }
    __device__ __forceinline__ static uint32_t in_tile(uint32_t i) {
        return i / TURN_SIDE * TURN_ROW + i % TURN_SIDE;
    }
    /* Where at(i) reversed lies. */
    __device__ __forceinline__ uint32_t in_other_tile(uint32_t i) const {
        const uint32_t t = n_tiles == 2 ? 1 - i / TURN_AREA : 0,
                       a = reversed(i % TURN_SIDE, TURN_LOG),
                       b = reversed(i / TURN_SIDE % TURN_SIDE, TURN_LOG);
        return (t * TURN_SIDE + a) * TURN_ROW + b;
    }
};

/* ---- plans ---- */
/* Adds passes for the levels from blocks of 2^log to those of 2^log_end, widest first. The
 * narrowest gets the most, so that its tiles have few columns: each needs factors of its own
 * when the pass twists. */
static inline unsigned plan_levels(ntt_pass *passes, unsigned n, unsigned log,
                                   unsigned log_end) {
    const unsigned most = log_end ? STRIDED_LEVELS_MAX : TILE_LOG,
                   n_passes = (log - log_end + most - 1) / most;
    for (unsigned i = n_passes, stride = log_end; i-- > 0;) {
        const unsigned left = log - stride, others = i * most; /* what they can do */
        unsigned levels = left < most ? left : most;
        if (levels % 2 && levels > 1 && levels - 1 + others >= left) levels--; /* by twos */
        const unsigned columns = TILE_LOG - levels;
        passes[n + i] = {stride, levels, columns < stride ? columns : stride};
        stride += levels;
    }
    return n + n_passes;
}

/* All but the pass that turns, if there is one (`turns`): widest first. */
static inline unsigned plan_passes(ntt_pass passes[PASSES_MAX], bool *turns, unsigned log_n,
                                   bool brp) {
    *turns = !brp && log_n > TILE_LOG;
    if (log_n == 0) return 0; /* one value is its coefficient */
    const unsigned block = log_n < TILE_LOG ? log_n : TILE_LOG;
    const unsigned n = plan_levels(passes, 0, log_n, block);
    return plan_levels(passes, n, block, *turns ? TURN_LOG : 0);
}

static inline unsigned n_tiles(unsigned log_n, const ntt_pass &p) {
    return 1u << (log_n - p.n_levels - p.log_columns);
}

static inline unsigned n_turns(unsigned log_n) { return 1u << (log_n - 2 * TURN_LOG); }

/* `scales`: coefficients by powers of 1/g. */
static inline ntt_network network_of(const cuzk_domain *d, bool brp, bool scales) {
    ntt_network net = {};
    net.twist = d->twist;
    net.log_n = d->log_n;
    net.twists = d->twists;
    net.is_odd = d->is_odd;
    if (scales) net.scale = d->unshift;
    net.is_turned = !brp && d->log_n <= TILE_LOG;
    return net;
}

static inline bool is_low_one(const field *fr) { return fr->m.p[0] == 0xffffffff00000001u; }

#endif
