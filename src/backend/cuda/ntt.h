/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_NTT_H
#define CUZK_BACKEND_CUDA_NTT_H
/* backend/cuda/ntt: domains, transforms and products of vectors. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* domain.c, ntt.c, pointwise.c */
cuzk_status cuda_domain_open(cuzk_domain **out, cuzk_device *dev, const field *fr,
                             unsigned log_n, uint64_t nonresidue, const fe *coset,
                             cuzk_err *err);
void cuda_domain_close(cuzk_domain *domain);
cuzk_status cuda_ntt(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err);
cuzk_status cuda_pointwise(cuzk_queue *queue, const cuzk_pointwise_job *job, cuzk_err *err);

/* All powers of an element below 2^log_n from two short tables on the device: low[i] = x^i for
 * i < 2^log_low, high[i] = x^(i 2^log_low). */
typedef struct cuda_powers {
    const uint32_t *low, *high;
    unsigned log_low;
} cuda_powers;

/* ntt_tables.cu: fill the tables of a domain of 2^log_n, w its root. coset_roots[l] = g^(n/2^(l+1)). */
cuzk_status cuda_fill_inverse(const field *fr, uint32_t *inverse, unsigned log_n,
                              cuda_powers w, cudaStream_t stream, cuzk_err *err);
cuzk_status cuda_fill_coset(const field *fr, uint32_t *coset, unsigned log_n, cuda_powers w,
                            const uint32_t *coset_roots, cudaStream_t stream, cuzk_err *err);
/* The coefficient side, in bit-reversed order: that of x^k is multiplied by base^k. */
cuzk_status cuda_scale_brp(const field *fr, uint32_t *data, unsigned log_n, cuda_powers base,
                           cudaStream_t stream, cuzk_err *err);
cuzk_status cuda_reverse_bits(uint32_t *data, unsigned log_n, cudaStream_t stream,
                              cuzk_err *err);

/* ntt_kernels.cu: the two networks (cpu/ntt.c says how they work): values -> coefficients in
 * bit-reversed order, and back to values on the coset. */
cuzk_status cuda_inverse_network(const cuzk_domain *d, uint32_t *data, cudaStream_t stream,
                                 cuzk_err *err);
cuzk_status cuda_coset_network(const cuzk_domain *d, uint32_t *data, cudaStream_t stream,
                               cuzk_err *err);

/* pointwise.cu: out = a b; out = (a b - c) k. */
cuzk_status cuda_multiply(const field *fr, uint32_t *out, const uint32_t *a, const uint32_t *b,
                          size_t n, cudaStream_t stream, cuzk_err *err);
cuzk_status cuda_quotient(const field *fr, uint32_t *out, const uint32_t *a, const uint32_t *b,
                          const uint32_t *c, const fe *k, size_t n, cudaStream_t stream,
                          cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
