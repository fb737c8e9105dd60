/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/ntt_coset: coefficients -> values on the coset, from narrow levels to wide ones. The
 * twiddle of a pair depends on where in its half it lies (behind the twist: in which block). */
#include "backend/cuda/ntt_tile.cuh"

/* The twiddles of a level whose blocks are two halves of 2^log_half. */
struct level_twiddles {
    cuda_factors table;
    unsigned log_half, shift;

    __device__ __forceinline__ level_twiddles(const ntt_network &net, unsigned log_half) {
        const bool is_behind = net.twists && log_half >= CUDA_LOG_BLOCK;
        table = is_behind ? net.after : net.table;
        shift = is_behind ? CUDA_LOG_BLOCK : 0;
        this->log_half = log_half - shift;
    }
    /* Of pair j of this level, and of the next one. */
    __device__ __forceinline__ factor<8> at(uint32_t j) const {
        return entry(table, (1u << log_half) + (j >> shift));
    }
    __device__ __forceinline__ factor<8> at_next(uint32_t j) const {
        return entry(table, (2u << log_half) + (j >> shift));
    }
    /* There is one, 1, and those of the next level are 1 and a fourth root of it. */
    __device__ __forceinline__ bool is_one() const { return shift > 0 && log_half == 0; }
};

/* Two levels on four elements, pair j on the narrower one. */
template <bool LOW_ONE, unsigned n>
__device__ __forceinline__ void join_four(ntt_tile<n> &t, uint32_t at, uint32_t q,
                                          const level_twiddles &c, uint32_t j,
                                          const mod_t &m) {
    const factor<8> narrow = c.at(j);
    fr_t x2 = t.get(at + 2 * q), x3 = t.get(at + 3 * q);
    butterfly<LOW_ONE>(x2, x3, narrow, m);
    fr_t x0 = t.get(at), x1 = t.get(at + q);
    butterfly<LOW_ONE>(x0, x1, narrow, m);
    butterfly<LOW_ONE>(x0, x2, c.at_next(j), m);
    t.set(at, x0);
    t.set(at + 2 * q, x2);
    butterfly<LOW_ONE>(x1, x3, c.at_next(j + (1u << (c.log_half + c.shift))), m);
    t.set(at + q, x1);
    t.set(at + 3 * q, x3);
}

/* The same where three of the four twiddles are 1. */
template <bool LOW_ONE>
__device__ __forceinline__ void join_first_four(tile &t, uint32_t at, uint32_t q,
                                                const level_twiddles &c, const mod_t &m) {
    fr_t x2 = t.get(at + 2 * q), x3 = t.get(at + 3 * q);
    butterfly_of_one(x2, x3, m);
    fr_t x0 = t.get(at), x1 = t.get(at + q);
    butterfly_of_one(x0, x1, m);
    butterfly_of_one(x0, x2, m);
    t.set(at, x0);
    t.set(at + 2 * q, x2);
    butterfly<LOW_ONE>(x1, x3, entry(c.table, 3), m);
    t.set(at + q, x1);
    t.set(at + 3 * q, x3);
}

/* Two levels of a pass on n elements; q of them are `level` levels of rows. */
template <bool LOW_ONE>
__device__ __forceinline__ void join_in_four(tile &t, const ntt_network &net,
                                             const ntt_pass &pass, unsigned level,
                                             uint32_t column, uint32_t n, const mod_t &m) {
    const unsigned cols = pass.log_columns;
    const uint32_t q = 1u << (level + cols);
    const level_twiddles c(net, pass.log_stride + level);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n / 4; i += BLOCK) {
        const uint32_t in_half = i & (q - 1), at = 4 * i - 3 * in_half;
        const uint32_t j =
            (in_half >> cols << pass.log_stride) + column + (in_half & low_bits(cols));
        if (c.is_one())
            join_first_four<LOW_ONE>(t, at, q, c, m);
        else
            join_four<LOW_ONE>(t, at, q, c, j, m);
    }
}

/* An odd level out: the widest of the pass. */
template <bool LOW_ONE>
__device__ __forceinline__ void join_in_two(tile &t, const ntt_network &net,
                                            const ntt_pass &pass, uint32_t column, uint32_t n,
                                            const mod_t &m) {
    const unsigned cols = pass.log_columns;
    const level_twiddles c(net, pass.log_stride + pass.n_levels - 1);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n / 2; i += BLOCK) {
        const uint32_t j = (i >> cols << pass.log_stride) + column + (i & low_bits(cols));
        fr_t a = t.get(i), b = t.get(i + n / 2);
        butterfly<LOW_ONE>(a, b, c.at(j), m);
        t.set(i, a);
        t.set(i + n / 2, b);
    }
}

/* Element c of block k (reversed) gets (g w^c)^k. */
template <bool LOW_ONE>
__device__ __forceinline__ void fill_twist(tile_twist &f, const twist_split &s,
                                           const tile_place &place, const ntt_network &net,
                                           const mod_t &m) {
    for (uint32_t e = threadIdx.x; e < s.n; e += BLOCK) {
        const uint32_t at = (uint32_t)place.at(s.index(e)),
                       from = e < s.n_low ? (uint32_t)(place.base >> CUDA_LOG_BLOCK) : 0,
                       k = reversed((at >> CUDA_LOG_BLOCK) - from, net.log_n - CUDA_LOG_BLOCK),
                       c = at & low_bits(CUDA_LOG_BLOCK),
                       exponent = k * (c << net.is_odd | net.is_odd) &
                                  low_bits(net.log_n + net.is_odd);
        fr_t v = times_power<LOW_ONE>(element_one(m), net.twist, exponent, m);
        if (net.shift.n) v = fr_mul_factor<LOW_ONE>(v, entry(net.shift, k), m);
        f.set(e, v, m);
    }
    __syncthreads();
}

template <bool LOW_ONE>
__device__ __forceinline__ void
load_coefficients(tile &t, const uint32_t *data, const tile_place &place,
                  const ntt_network &net, uint32_t n, const mod_t &m) {
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK) {
        const uint32_t at = (uint32_t)place.at(i), brp = reversed(at, net.log_n);
        const fr_t v = fp_load<8>(data + (size_t)at * 8);
        t.set(net.is_turned ? brp : i, scaled<LOW_ONE>(v, net, net.is_turned ? at : brp, m));
    }
}

template <bool LOW_ONE>
__global__ void __launch_bounds__(BLOCK, BLOCKS_AT_ONCE)
    coset_pass(uint32_t *data, const __grid_constant__ ntt_network net, const ntt_pass pass,
               const __grid_constant__ mod_t m) {
    __shared__ tile t;
    __shared__ tile_twist f;
    const tile_place place(pass);
    const unsigned log_tile = pass.n_levels + pass.log_columns;
    const uint32_t n = 1u << log_tile;
    if (pass.log_stride == 0) {
        load_coefficients<LOW_ONE>(t, data, place, net, n, m);
    } else {
        for (uint32_t i = threadIdx.x; i < n; i += BLOCK)
            t.set(i, fp_load<8>(data + place.at(i) * 8));
    }
    if (net.twists && pass.log_stride == CUDA_LOG_BLOCK) {
        const twist_split s(log_tile, pass.log_columns);
        fill_twist<LOW_ONE>(f, s, place, net, m);
        twist_tile<LOW_ONE>(t, f, s, n, m);
    }
    for (unsigned level = 0; level + 2 <= pass.n_levels; level += 2)
        join_in_four<LOW_ONE>(t, net, pass, level, place.column, n, m);
    if (pass.n_levels % 2) join_in_two<LOW_ONE>(t, net, pass, place.column, n, m);
    if (n < 4 * BLOCK) __syncthreads(); /* else a thread stores what it has joined */
    const bool is_last = pass.log_stride + pass.n_levels == net.log_n;
    for (uint32_t i = threadIdx.x; i < n; i += BLOCK) {
        const fr_t v = t.get(i);
        fp_store(data + place.at(i) * 8, is_last ? fr_reduce(v, m) : v);
    }
}

/* The first TURN_LOG levels, on two tiles. */
template <bool LOW_ONE>
__global__ void __launch_bounds__(TURN_BLOCK)
    coset_turn_pass(uint32_t *data, const __grid_constant__ ntt_network net,
                    const __grid_constant__ mod_t m) {
    __shared__ turn_tiles t;
    const turn_place place(net.log_n);
    const uint32_t n = place.n_tiles * TURN_AREA;
    for (uint32_t i = threadIdx.x; i < n; i += TURN_BLOCK) {
        const uint32_t k = place.at(i);
        const fr_t v = fp_load<8>(data + (size_t)k * 8);
        t.set(place.in_other_tile(i), scaled<LOW_ONE>(v, net, k, m));
    }
    __syncthreads();
    for (unsigned level = 0; level < TURN_LOG; level += 2) {
        const uint32_t q = 1u << level, in_half = threadIdx.x % q,
                       i = threadIdx.x * 4 - 3 * in_half;
        if (i < n) {
            const uint32_t at = place.in_tile(i);
            join_four<LOW_ONE>(t, at, q, level_twiddles(net, level), in_half, m);
        }
        __syncthreads();
    }
    for (uint32_t i = threadIdx.x; i < n; i += TURN_BLOCK)
        fp_store(data + (size_t)place.at(i) * 8, t.get(place.in_tile(i)));
}

template <bool LOW_ONE>
static cuzk_status run(const cuzk_domain *d, uint32_t *data, const ntt_network &net, bool brp,
                       cudaStream_t stream, cuzk_err *err) {
    const mod_t m = modulus_of<8>(d->fr);
    ntt_pass passes[PASSES_MAX];
    bool turns;
    const unsigned n = plan_passes(passes, &turns, d->log_n, brp);
    if (turns) {
        coset_turn_pass<LOW_ONE><<<n_turns(d->log_n), TURN_BLOCK, 0, stream>>>(data, net, m);
        CUDA_TRY_LAUNCH("coset_turn_pass", err);
    }
    for (unsigned i = n; i-- > 0;) {
        coset_pass<LOW_ONE>
            <<<n_tiles(d->log_n, passes[i]), BLOCK, 0, stream>>>(data, net, passes[i], m);
        CUDA_TRY_LAUNCH("coset_pass", err);
    }
    return CUZK_OK;
}

extern "C" cuzk_status cuda_coset_network(const cuzk_domain *d, uint32_t *data, bool brp,
                                          bool is_coset, cudaStream_t stream, cuzk_err *err) {
    ntt_network net = network_of(d, brp, !is_coset);
    net.table = d->coset;
    net.after = d->plain;
    net.shift = d->shift;
    return is_low_one(d->fr) ? run<true>(d, data, net, brp, stream, err)
                             : run<false>(d, data, net, brp, stream, err);
}
