/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/ntt_tables: the tables of a domain. Every entry is a power, made from the squares
 * of its base: some 30 multiplications, once. */
#include "backend/cuda/ntt_tile.cuh"

typedef struct squares {
    fr_t x[32]; /* x^(2^i) */
} squares;

__device__ __forceinline__ fr_t power(const squares &base, uint32_t exponent, fr_t times,
                                      const mod_t &m) {
    for (unsigned i = 0; i < 32; i++)
        if (exponent >> i & 1) times = fp_mul(times, base.x[i], m);
    return times;
}

__device__ __forceinline__ void store_factor(const cuda_factors &table, uint32_t i,
                                             const fr_t &v, const mod_t &m) {
    const factor<8> f = factor_of(v, m);
    uint4 *p = (uint4 *)table.p + i;
    p[0] = make_uint4(f.w.w[0], f.w.w[1], f.w.w[2], f.w.w[3]);
    p[table.n] = make_uint4(f.w.w[4], f.w.w[5], f.w.w[6], f.w.w[7]);
    p[2 * (size_t)table.n] = make_uint4(f.q.w[0], f.q.w[1], f.q.w[2], f.q.w[3]);
    p[3 * (size_t)table.n] = make_uint4(f.q.w[4], f.q.w[5], f.q.w[6], f.q.w[7]);
}

/* base^(i 2^log_step) */
__global__ void __launch_bounds__(BLOCK)
    powers_kernel(const cuda_factors table, unsigned log_step,
                  const __grid_constant__ squares base, const __grid_constant__ mod_t m) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < table.n) store_factor(table, i, power(base, i << log_step, element_one(m), m), m);
}

/* base^-brp(i), base of order 2^log_order, of which the indices reversed are the upper bits */
__global__ void __launch_bounds__(BLOCK)
    brp_kernel(const cuda_factors table, unsigned log_n, unsigned log_order,
               const __grid_constant__ squares base, const __grid_constant__ mod_t m) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= table.n) return;
    const uint32_t e = (0u - (reversed(i, log_n - 1) << (log_order - log_n)));
    store_factor(table, i, power(base, e & low_bits(log_order), element_one(m), m), m);
}

/* At 2^l + j: base^(j 2^(log_order - 1 - l)), times shift^(2^(log_n - 1 - l)) if it shifts. */
__global__ void __launch_bounds__(BLOCK)
    levels_kernel(const cuda_factors table, unsigned log_n, unsigned log_order,
                  const __grid_constant__ squares base, bool shifts,
                  const __grid_constant__ squares shift, const __grid_constant__ mod_t m) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= table.n || i == 0) return;
    const unsigned level = 31 - __clz((int)i);
    const uint32_t e = (i - (1u << level)) << (log_order - 1 - level);
    const fr_t first = shifts ? shift.x[log_n - 1 - level] : element_one(m);
    store_factor(table, i, power(base, e, first, m), m);
}

/* ---- host ---- */
static unsigned blocks_for(size_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

static squares squares_of(const field *fr, const fe *a) {
    squares s;
    fe x = *a;
    for (int i = 0; i < 32; i++) {
        s.x[i] = element_of<8>(&x);
        field_sqr(fr, x.l, x.l);
    }
    return s;
}

static cuzk_status fill_powers(const cuzk_domain *d, const cuda_factors &table,
                               unsigned log_step, const squares &base, cudaStream_t stream,
                               cuzk_err *err) {
    powers_kernel<<<blocks_for(table.n), BLOCK, 0, stream>>>(table, log_step, base,
                                                             modulus_of<8>(d->fr));
    CUDA_TRY_LAUNCH("powers_kernel", err);
    return CUZK_OK;
}

static cuzk_status fill_two_powers(const cuzk_domain *d, const cuda_powers &p,
                                   const squares &base, cudaStream_t stream, cuzk_err *err) {
    CUZK_TRY(fill_powers(d, p.low, 0, base, stream, err));
    return fill_powers(d, p.high, p.log_low, base, stream, err);
}

static cuzk_status fill_levels(const cuzk_domain *d, const cuda_factors &table,
                               const squares &base, const squares *shift, cudaStream_t stream,
                               cuzk_err *err) {
    levels_kernel<<<blocks_for(table.n), BLOCK, 0, stream>>>(
        table, d->log_n, d->log_n + d->is_odd, base, shift != NULL, shift ? *shift : base,
        modulus_of<8>(d->fr));
    CUDA_TRY_LAUNCH("levels_kernel", err);
    return CUZK_OK;
}

static cuzk_status fill_brp(const cuzk_domain *d, const squares &base, cudaStream_t stream,
                            cuzk_err *err) {
    brp_kernel<<<blocks_for(d->brp.n), BLOCK, 0, stream>>>(
        d->brp, d->log_n, d->log_n + d->is_odd, base, modulus_of<8>(d->fr));
    CUDA_TRY_LAUNCH("brp_kernel", err);
    return CUZK_OK;
}

extern "C" cuzk_status cuda_fill_tables(const cuzk_domain *d, const fe *w, const fe *g,
                                        cudaStream_t stream, cuzk_err *err) {
    const squares root = squares_of(d->fr, w), shift = squares_of(d->fr, g);
    fe g_inv;
    field_inv(d->fr, g_inv.l, g->l);
    CUZK_TRY(fill_two_powers(d, d->unshift, squares_of(d->fr, &g_inv), stream, err));
    if (d->log_n == 0) return CUZK_OK; /* no level */
    CUZK_TRY(fill_brp(d, root, stream, err));
    CUZK_TRY(fill_levels(d, d->coset, root, &shift, stream, err));
    if (!d->twists) return CUZK_OK;
    CUZK_TRY(fill_levels(d, d->plain, root, NULL, stream, err));
    if (!d->is_odd) CUZK_TRY(fill_powers(d, d->shift, 0, shift, stream, err));
    return fill_two_powers(d, d->twist, root, stream, err);
}
