/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/domain: the tables of a domain. The host makes short tables of powers, from
 * which the device makes every entry with two multiplications. */
#include "backend/cuda/ntt.h"

#include "backend/cuda/queue.h"
#include "base/alloc.h"

#define W (CUDA_FR_BYTES / sizeof(uint64_t))

/* ---- tables of powers ---- */
static void fill_powers(const field *fr, uint64_t *table, size_t n, const fe *x) {
    field_set_one(fr, table);
    for (size_t i = 1; i < n; i++) field_mul(fr, table + i * W, table + (i - 1) * W, x->l);
}

static size_t n_powers(const cuzk_domain *d) {
    return ((size_t)1 << d->log_low) + ((size_t)1 << (d->log_n - d->log_low));
}

/* low and high one after the other. */
static void fill_two_powers(const cuzk_domain *d, uint64_t *table, const fe *x) {
    const size_t n_low = (size_t)1 << d->log_low,
                 n_high = (size_t)1 << (d->log_n - d->log_low);
    fe step = *x;
    fill_powers(d->fr, table, n_low, x);
    for (unsigned i = 0; i < d->log_low; i++) field_sqr(d->fr, step.l, step.l);
    fill_powers(d->fr, table + n_low * W, n_high, &step);
}

/* g^(n/2^(l+1)) for each level l. */
static void fill_coset_roots(const cuzk_domain *d, uint64_t *table, const fe *g) {
    fe power = *g;
    for (unsigned level = d->log_n; level-- > 0;) {
        field_copy(d->fr, table + level * W, power.l);
        field_sqr(d->fr, power.l, power.l);
    }
}

/* ---- opening ---- */
static cuzk_status alloc_tables(cuzk_domain *d, cuzk_err *err) {
    const size_t n = (size_t)1 << d->log_n;
    CUDA_TRY(cudaMalloc((void **)&d->inverse, (n / 2 + 1) * CUDA_FR_BYTES), err);
    CUDA_TRY(cudaMalloc((void **)&d->coset, n * CUDA_FR_BYTES), err);
    CUDA_TRY(cudaMalloc((void **)&d->unshift, n_powers(d) * CUDA_FR_BYTES), err);
    return CUZK_OK;
}

/* powers: room for two tables of powers, then the coset roots. */
static cuzk_status fill(cuzk_queue *queue, cuda_scratch *s, cuzk_domain *d, uint64_t *powers,
                        const fe *w, const fe *g, cuzk_err *err) {
    const size_t n_bytes = n_powers(d) * CUDA_FR_BYTES;
    uint64_t *unshift = powers + n_powers(d) * W, *roots = unshift + n_powers(d) * W;
    fe g_inv;
    field_inv(d->fr, g_inv.l, g->l);
    fill_two_powers(d, powers, w);
    fill_two_powers(d, unshift, &g_inv);
    fill_coset_roots(d, roots, g);
    uint32_t *device_powers, *device_roots;
    CUZK_TRY(cuda_scratch_take(s, &device_powers, n_bytes, 1, false, err));
    CUZK_TRY(cuda_scratch_take(s, &device_roots, d->log_n, CUDA_FR_BYTES, false, err));
    CUDA_TRY(
        cudaMemcpyAsync(device_powers, powers, n_bytes, cudaMemcpyHostToDevice, queue->stream),
        err);
    CUDA_TRY(
        cudaMemcpyAsync(d->unshift, unshift, n_bytes, cudaMemcpyHostToDevice, queue->stream),
        err);
    CUDA_TRY(cudaMemcpyAsync(device_roots, roots, d->log_n * CUDA_FR_BYTES,
                             cudaMemcpyHostToDevice, queue->stream),
             err);
    const cuda_powers root = {
        device_powers, device_powers + ((size_t)CUDA_FR_WORDS << d->log_low), d->log_low};
    if (d->log_n > 0) {
        CUZK_TRY(cuda_fill_inverse(d->fr, d->inverse, d->log_n, root, queue->stream, err));
        CUZK_TRY(cuda_fill_coset(d->fr, d->coset, d->log_n, root, device_roots, queue->stream,
                                 err));
    }
    CUDA_TRY(cudaStreamSynchronize(queue->stream), err);
    return CUZK_OK;
}

static cuzk_status make_tables(cuzk_domain *d, const fe *w, const fe *g, cuzk_err *err) {
    const uint64_t exponent = d->log_n;
    cuzk_queue queue = {.dev = d->dev};
    uint64_t *powers;
    field_set_u64(d->fr, d->n_inv.l, 2);
    field_inv(d->fr, d->n_inv.l, d->n_inv.l);
    field_pow(d->fr, d->n_inv.l, d->n_inv.l, &exponent, 1);
    CUZK_TRY(alloc_tables(d, err));
    CUZK_TRY(cuzk_alloc(&powers, 2 * n_powers(d) + d->log_n, CUDA_FR_BYTES, err));
    cuzk_status status = cuda_check(
        cudaStreamCreateWithFlags(&queue.stream, cudaStreamNonBlocking), "stream", err);
    if (status == CUZK_OK) {
        cuda_scratch scratch = {.queue = &queue};
        status = fill(&queue, &scratch, d, powers, w, g, err);
        cuda_scratch_drop(&scratch);
        (void)cudaStreamDestroy(queue.stream);
    }
    cuzk_free(powers);
    return status;
}

static bool is_nonresidue(const field *fr, uint64_t n) {
    fe minus_one, r;
    field_set_one(fr, minus_one.l);
    field_neg(fr, minus_one.l, minus_one.l);
    field_root_of_unity(fr, r.l, n, 1);
    return field_equal(fr, r.l, minus_one.l);
}

static cuzk_status check(const field *fr, unsigned log_n, uint64_t nonresidue, const fe *coset,
                         cuzk_err *err) {
    if (fr->n_bytes != CUDA_FR_BYTES) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain",
                         "scalar field of %u bytes, expected %u", fr->n_bytes, CUDA_FR_BYTES);
    }
    if (log_n > fr->two_adicity) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain",
                         "domain of 2^%u elements, the field has none above 2^%u", log_n,
                         fr->two_adicity);
    }
    if (!is_nonresidue(fr, nonresidue)) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain",
                         "%llu is a square, expected a quadratic non-residue",
                         (unsigned long long)nonresidue);
    }
    if (coset && field_is_zero(fr, coset->l)) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain", "the coset's generator is 0");
    }
    if (!coset && log_n >= fr->two_adicity) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.domain",
                         "odd coset of 2^%u elements, the field has none above 2^%u", log_n,
                         fr->two_adicity - 1);
    }
    if (log_n > 31) {
        return cuzk_fail(err, CUZK_ERR_NOMEM, "backend.domain",
                         "domain of 2^%u elements, this backend's end at 2^31", log_n);
    }
    return CUZK_OK;
}

cuzk_status cuda_domain_open(cuzk_domain **out, cuzk_device *dev, const field *fr,
                             unsigned log_n, uint64_t nonresidue, const fe *coset,
                             cuzk_err *err) {
    CUZK_TRY(check(fr, log_n, nonresidue, coset, err));
    CUZK_TRY(cuda_use(dev, err));
    fe w, g;
    field_root_of_unity(fr, w.l, nonresidue, log_n);
    if (coset)
        g = *coset;
    else
        field_root_of_unity(fr, g.l, nonresidue, log_n + 1);

    cuzk_domain *d;
    CUZK_TRY(cuzk_zalloc(&d, 1, sizeof *d, err));
    d->dev = dev;
    d->fr = fr;
    d->log_n = log_n;
    d->log_low = (log_n + 1) / 2;
    const cuzk_status status = make_tables(d, &w, &g, err);
    if (status != CUZK_OK) {
        cuda_domain_close(d);
        return status;
    }
    *out = d;
    return CUZK_OK;
}

void cuda_domain_close(cuzk_domain *d) {
    if (!d) return;
    (void)cudaFree(d->inverse);
    (void)cudaFree(d->coset);
    (void)cudaFree(d->unshift);
    cuzk_free(d);
}
