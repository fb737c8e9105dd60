/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CPU_CPU_H
#define CUZK_BACKEND_CPU_CPU_H
/* backend/cpu: what the files of the CPU backend share. cpu.c holds the contract's table and
 * the objects; every other file is an operation. */
#include "backend/backend.h"

struct cuzk_device {
    cuzk_exec *exec;
};
struct cuzk_queue {
    cuzk_device *dev;
    const char *name;  /* its lane in the trace */
    cuzk_trace *trace; /* may be NULL */
};
struct cuzk_matrix {
    const field *fr;
    matrix_view view;
};
struct cuzk_buf {
    uint8_t *p; /* wrapped memory is never written through it */
    size_t n_bytes;
    bool owned, secret;
};

/* ---- operands ---- */
#define CPU_FR_LIMBS 4u
#define CPU_FR_BYTES 32u

/* Where n_items * item_bytes bytes of a slice begin, at any alignment. ARG when they do not
 * lie inside its buffer; `what` names the operand in the message. */
cuzk_status cpu_slice_bytes(const uint8_t **out, cuzk_slice slice, uint64_t n_items,
                            size_t item_bytes, const char *what, cuzk_err *err);
/* The same for n elements of Fr. ARG also when they are not 8-byte aligned, or are to be
 * written in wrapped memory. */
typedef enum cpu_access { CPU_READ, CPU_WRITE } cpu_access;
cuzk_status cpu_slice_fr(uint64_t **out, cuzk_slice slice, uint64_t n, cpu_access access,
                         const char *what, cuzk_err *err);
/* The same for bytes that are to be written. */
cuzk_status cpu_slice_written(uint8_t **out, cuzk_slice slice, uint64_t n_items,
                              size_t item_bytes, const char *what, cuzk_err *err);
/* ARG unless elements of fr are CPU_FR_BYTES long. */
cuzk_status cpu_check_fr(const field *fr, cuzk_err *err);

/* ---- domains (domain.c) ---- */
/* Scaling by powers of 1/g in bit-reversed order goes by rows of this many elements. */
#define CPU_SCALE_ROW_LOG 8u

/* n = 2^log_n, w the root of order n, g the coset's generator, brp the reversal of bits.
 * The tables hold the twiddles of two networks (ntt.c); other transforms add a scaling. */
struct cuzk_domain {
    const field *fr;
    unsigned log_n;
    size_t n;
    uint64_t *tables;  /* the one allocation, holding: */
    uint64_t *inverse; /* n/2: w^-brp(i), so that any prefix serves a smaller transform */
    uint64_t *coset;   /* n: at h + j, for each power h < n and j < h, g^(n/2h) w^(jn/2h) */
    uint64_t *unshift; /* row of min(n, 256): g^-k for the k of the first positions */
    fe n_inv, g_inv;
};

cuzk_status cpu_domain_open(cuzk_domain **out, cuzk_device *dev, const field *fr,
                            unsigned log_n, uint64_t nonresidue, const fe *coset,
                            cuzk_err *err);
void cpu_domain_close(cuzk_domain *domain);

/* ---- transfers (transfer.c) ---- */
cuzk_status cpu_upload(cuzk_queue *queue, cuzk_slice to, const void *from, size_t n_bytes,
                       cuzk_err *err);
cuzk_status cpu_download(cuzk_queue *queue, void *to, cuzk_slice from, size_t n_bytes,
                         cuzk_err *err);

/* ---- kernels ---- */
cuzk_status cpu_ntt(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err);
cuzk_status cpu_matrix_open(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                            const matrix_view *view, cuzk_err *err);
void cpu_matrix_close(cuzk_matrix *matrix);
cuzk_status cpu_unpack(cuzk_queue *queue, cuzk_slice to, const packed_witness *w,
                       cuzk_err *err);
cuzk_status cpu_evaluate(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err);
cuzk_status cpu_pointwise(cuzk_queue *queue, const cuzk_pointwise_job *job, cuzk_err *err);
/* scalars.c, msm.c */
cuzk_status cpu_scalars_open(cuzk_scalars **out, cuzk_queue *queue, const field *fr,
                             cuzk_slice values, size_t n, bool montgomery, cuzk_err *err);
void cpu_scalars_close(cuzk_scalars *set);
cuzk_status cpu_msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs, cuzk_err *err);
cuzk_status cpu_multiples(cuzk_queue *queue, const cuzk_multiples_job *job, cuzk_err *err);

#endif
