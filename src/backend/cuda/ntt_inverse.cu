/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/ntt_inverse: values -> coefficients, from wide levels to narrow ones. All columns
 * of a tile share their twiddles; those of a block depend on which block of its level it is
 * (behind the twist: which of its level in its block). */
#include "backend/cuda/ntt_tile.cuh"

/* Two levels on four elements, block b on the wider one. */
template <bool LOW_ONE, unsigned n>
__device__ __forceinline__ void split_four(ntt_tile<n> &t, uint32_t at, uint32_t q,
                                           const cuda_factors &table, uint32_t b,
                                           const mod_t &m) {
    const factor<8> c = entry(table, b);
    fr_t x1 = t.get(at + q), x3 = t.get(at + 3 * q);
    butterfly<LOW_ONE>(x1, x3, c, m);
    fr_t x0 = t.get(at), x2 = t.get(at + 2 * q);
    butterfly<LOW_ONE>(x0, x2, c, m);
    butterfly<LOW_ONE>(x0, x1, entry(table, 2 * b), m);
    t.set(at, x0);
    t.set(at + q, x1);
    butterfly<LOW_ONE>(x2, x3, entry(table, 2 * b + 1), m);
    t.set(at + 2 * q, x2);
    t.set(at + 3 * q, x3);
}

/* The same of block 0: three of its four twiddles are 1. */
template <bool LOW_ONE>
__device__ __forceinline__ void split_first_four(tile &t, uint32_t at, uint32_t q,
                                                 const cuda_factors &table, const mod_t &m) {
    fr_t x1 = t.get(at + q), x3 = t.get(at + 3 * q);
    butterfly_of_one(x1, x3, m);
    fr_t x0 = t.get(at), x2 = t.get(at + 2 * q);
    butterfly_of_one(x0, x2, m);
    butterfly_of_one(x0, x1, m);
    t.set(at, x0);
    t.set(at + q, x1);
    butterfly<LOW_ONE>(x2, x3, entry(table, 1), m);
    t.set(at + 2 * q, x2);
    t.set(at + 3 * q, x3);
}

/* An odd level out: the widest of the pass. */
template <bool LOW_ONE>
__device__ __forceinline__ void split_in_two(tile &t, const cuda_factors &table,
                                             uint32_t block, uint32_t n, const mod_t &m) {
    for (uint32_t i = threadIdx.x; i < n / 2; i += BLOCK) {
        fr_t a = t.get(i), b = t.get(i + n / 2);
        if (block == 0)
            butterfly_of_one(a, b, m);
        else
            butterfly<LOW_ONE>(a, b, entry(table, block), m);
        t.set(i, a);
        t.set(i + n / 2, b);
    }
    __syncthreads();
}

/* Two levels on n elements, in blocks of 4q from `first_block` on. */
template <bool LOW_ONE>
__device__ __forceinline__ void split_in_four(tile &t, const cuda_factors &table,
                                              uint32_t first_block, uint32_t n, uint32_t q,
                                              const mod_t &m) {
    for (uint32_t i = threadIdx.x; i < n / 4; i += BLOCK) {
        const uint32_t in_block = i & (q - 1), at = 4 * i - 3 * in_block;
        const uint32_t block = first_block + at / (4 * q);
        if (block == 0 && q >= 32) /* for whole warps */
            split_first_four<LOW_ONE>(t, at, q, table, m);
        else
            split_four<LOW_ONE>(t, at, q, table, block, m);
    }
    __syncthreads();
}

/* Element j of block k (reversed) gets w^-(j k). */
template <bool LOW_ONE>
__device__ __forceinline__ void fill_twist(tile_twist &f, const twist_split &s,
                                           const tile_place &place, const ntt_network &net,
                                           const mod_t &m) {
    const uint32_t block = (uint32_t)(place.base >> CUDA_LOG_BLOCK),
                   k = reversed(block, net.log_n - CUDA_LOG_BLOCK);
    for (uint32_t e = threadIdx.x; e < s.n; e += BLOCK) {
        const uint32_t at = (uint32_t)(place.at(s.index(e)) - (e < s.n_low ? place.base : 0)),
                       j = at & low_bits(CUDA_LOG_BLOCK),
                       exponent =
                           (0u - (j * k << net.is_odd)) & low_bits(net.log_n + net.is_odd);
        f.set(e, times_power<LOW_ONE>(element_one(m), net.twist, exponent, m), m);
    }
    __syncthreads();
}

/* The first pass brings 1/n in. */
__device__ __forceinline__ void load(tile &t, const uint32_t *data, const tile_place &place,
                                     const ntt_network &net, bool is_first, uint32_t n,
                                     const mod_t &m) {
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK) {
        const fr_t v = fp_load<8>(data + place.at(i) * 8);
        t.set(i, is_first ? fr_halve(v, net.log_n, m) : v);
    }
}

template <bool LOW_ONE>
__device__ __forceinline__ void
store_coefficients(uint32_t *data, const tile &t, const tile_place &place,
                   const ntt_network &net, uint32_t n, const mod_t &m) {
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK) {
        const uint32_t at = (uint32_t)place.at(i), brp = reversed(at, net.log_n);
        const fr_t v =
            scaled<LOW_ONE>(t.get(net.is_turned ? brp : i), net, net.is_turned ? at : brp, m);
        fp_store(data + (size_t)at * 8, fr_reduce(v, m));
    }
}

/* Which block of its level is the first of a pass that begins with blocks of 2^log_block. */
__device__ __forceinline__ uint32_t first_block(const ntt_network &net, uint32_t block,
                                                unsigned log_block) {
    const bool is_behind = net.twists && log_block <= CUDA_LOG_BLOCK;
    return is_behind ? block & low_bits(CUDA_LOG_BLOCK - log_block) : block;
}

template <bool LOW_ONE>
__global__ void __launch_bounds__(BLOCK, BLOCKS_AT_ONCE)
    inverse_pass(uint32_t *data, const __grid_constant__ ntt_network net, const ntt_pass pass,
                 const __grid_constant__ mod_t m) {
    __shared__ tile t;
    __shared__ tile_twist f;
    const tile_place place(pass);
    const unsigned log_block = pass.log_stride + pass.n_levels,
                   log_tile = pass.n_levels + pass.log_columns;
    const uint32_t n = 1u << log_tile, block = first_block(net, place.block, log_block);
    load(t, data, place, net, log_block == net.log_n, n, m);
    if (net.twists && log_block == CUDA_LOG_BLOCK) {
        const twist_split s(log_tile, 0);
        fill_twist<LOW_ONE>(f, s, place, net, m);
        twist_tile<LOW_ONE>(t, f, s, n, m);
    }
    if (n < 4 * BLOCK) __syncthreads(); /* else a thread begins with what it has loaded */
    unsigned level = pass.n_levels % 2;
    if (level == 1) split_in_two<LOW_ONE>(t, net.table, block, n, m);
    for (; level < pass.n_levels; level += 2)
        split_in_four<LOW_ONE>(t, net.table, block << level, n, n >> (level + 2), m);
    if (pass.log_stride == 0) {
        store_coefficients<LOW_ONE>(data, t, place, net, n, m);
        return;
    }
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK)
        fp_store(data + place.at(i) * 8, t.get(i));
}

/* The last TURN_LOG levels, on two tiles. */
template <bool LOW_ONE>
__global__ void __launch_bounds__(TURN_BLOCK)
    inverse_turn_pass(uint32_t *data, const __grid_constant__ ntt_network net,
                      const __grid_constant__ mod_t m) {
    __shared__ turn_tiles t;
    const turn_place place(net.log_n);
    const uint32_t n = place.n_tiles * TURN_AREA;
    for (uint32_t i = threadIdx.x; i < n; i += TURN_BLOCK)
        t.set(place.in_tile(i), fp_load<8>(data + (size_t)place.at(i) * 8));
    __syncthreads();
    for (unsigned level = 0; level < TURN_LOG; level += 2) {
        const uint32_t q = TURN_SIDE >> (level + 2);
        const uint32_t i = threadIdx.x * 4 - threadIdx.x % q * 3;
        if (i < n) {
            const uint32_t at = place.in_tile(i),
                           block = first_block(net, place.block(i), TURN_LOG) << level |
                                   i % TURN_SIDE / (4 * q);
            split_four<LOW_ONE>(t, at, q, net.table, block, m);
        }
        __syncthreads();
    }
    for (uint32_t i = threadIdx.x; i < n; i += TURN_BLOCK) {
        const uint32_t k = place.at(i);
        const fr_t v = scaled<LOW_ONE>(t.get(place.in_other_tile(i)), net, k, m);
        fp_store(data + (size_t)k * 8, fr_reduce(v, m));
    }
}

template <bool LOW_ONE>
static cuzk_status run(const cuzk_domain *d, uint32_t *data, const ntt_network &net, bool brp,
                       cudaStream_t stream, cuzk_err *err) {
    const mod_t m = modulus_of<8>(d->fr);
    ntt_pass passes[PASSES_MAX];
    bool turns;
    const unsigned n = plan_passes(passes, &turns, d->log_n, brp);
    for (unsigned i = 0; i < n; i++) {
        inverse_pass<LOW_ONE>
            <<<n_tiles(d->log_n, passes[i]), BLOCK, 0, stream>>>(data, net, passes[i], m);
        CUDA_TRY_LAUNCH("inverse_pass", err);
    }
    if (turns) {
        inverse_turn_pass<LOW_ONE><<<n_turns(d->log_n), TURN_BLOCK, 0, stream>>>(data, net, m);
        CUDA_TRY_LAUNCH("inverse_turn_pass", err);
    }
    return CUZK_OK;
}

extern "C" cuzk_status cuda_inverse_network(const cuzk_domain *d, uint32_t *data, bool brp,
                                            bool is_coset, cudaStream_t stream,
                                            cuzk_err *err) {
    ntt_network net = network_of(d, brp, is_coset);
    net.table = d->brp;
    return is_low_one(d->fr) ? run<true>(d, data, net, brp, stream, err)
                             : run<false>(d, data, net, brp, stream, err);
}
