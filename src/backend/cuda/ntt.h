/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_NTT_H
#define CUZK_BACKEND_CUDA_NTT_H
/* backend/cuda/ntt: domains, transforms and products of vectors. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- domains ----
 * Up to 2^CUDA_LOG_FULL elements the tables have every twiddle of a network. Above, a transform
 * is cut into blocks of 2^CUDA_LOG_BLOCK neighbours and what lies between them. Between the two
 * each element is multiplied by a power of the root (the twist); then both parts need the
 * twiddles of a short transform only. At 2^27 this makes some 30 MiB of tables from 12 GiB, for
 * two multiplications an element in about fourteen. */
#ifndef CUDA_LOG_FULL
#define CUDA_LOG_FULL 20u
#endif
#define CUDA_LOG_BLOCK 10u

/* n factors (field.cuh), in four planes: words 0 to 3 of each w, 4 to 7, and the same of q; so
 * that threads which read neighbours read whole lines. */
typedef struct cuda_factors {
    uint32_t *p;
    uint32_t n;
} cuda_factors;

/* All powers of an element below some bound: low[i] = x^i for i < 2^log_low, high[i] =
 * x^(i 2^log_low). */
typedef struct cuda_powers {
    cuda_factors low, high;
    unsigned log_low;
} cuda_powers;

/* w: the root of unity of order n = 2^log_n; the coset is that of g. Of brp and coset a domain
 * that twists has only the beginning. */
struct cuzk_domain {
    cuzk_device *dev;
    const field *fr;
    unsigned log_n;
    bool is_odd; /* g is the root of order 2n */
    bool twists;
    uint32_t *tables;    /* one block of device memory; what follows lies in it */
    cuda_factors brp;    /* at i < n/2: w^-brp(i) */
    cuda_factors coset;  /* at h + j, h < n a power of 2, j < h: g^(n/2h) w^(jn/2h) */
    cuda_powers unshift; /* of 1/g */
    /* only if it twists: */
    cuda_factors plain; /* at h + j, h < n / block: w^(jn/2h) */
    cuda_factors shift; /* at k < n / block: g^k; none if is_odd */
    cuda_powers twist;  /* of w, or of its root g if is_odd */
};

/* domain.c, ntt.c, pointwise.c */
cuzk_status cuda_domain_open(cuzk_domain **out, cuzk_device *dev, const field *fr,
                             unsigned log_n, uint64_t nonresidue, const fe *coset,
                             cuzk_err *err);
void cuda_domain_close(cuzk_domain *domain);
uint64_t cuda_domain_bytes(unsigned log_n);
cuzk_status cuda_ntt(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err);
uint64_t cuda_ntt_bytes(unsigned log_n, cuzk_ntt_kind kind, bool brp);
cuzk_status cuda_pointwise(cuzk_queue *queue, const cuzk_pointwise_job *job, cuzk_err *err);

/* ntt_tables.cu: fill all tables of a domain whose pointers are set. w: as for `twist`. */
cuzk_status cuda_fill_tables(const cuzk_domain *d, const fe *w, const fe *g,
                             cudaStream_t stream, cuzk_err *err);

/* ntt_inverse.cu, ntt_coset.cu: the two networks (cpu/ntt.c says how they work): values ->
 * coefficients, and coefficients -> values on the coset. brp: coefficients in bit-reversed
 * order. is_coset: the values are those on the coset; else those on the domain, and the
 * coefficients are multiplied by powers of 1/g on their way. */
cuzk_status cuda_inverse_network(const cuzk_domain *d, uint32_t *data, bool brp, bool is_coset,
                                 cudaStream_t stream, cuzk_err *err);
cuzk_status cuda_coset_network(const cuzk_domain *d, uint32_t *data, bool brp, bool is_coset,
                               cudaStream_t stream, cuzk_err *err);

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
