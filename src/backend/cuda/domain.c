/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/domain: opening a domain: its roots, and where its tables lie. */
#include "backend/cuda/ntt.h"

#include "backend/cuda/queue.h"
#include "base/alloc.h"

#define FACTOR_WORDS (2 * CUDA_FR_WORDS)
#define FACTOR_BYTES (2 * CUDA_FR_BYTES)
#define LOG_LOW_MAX  10u /* a table of lower powers stays close to the multiprocessors */

/* ---- tables ----
 * Gives each its place in the block; with no block, what counts is how much there is. */
typedef struct placer {
    uint32_t *block;
    size_t n; /* entries placed */
} placer;

static cuda_factors place(placer *p, size_t n) {
    uint32_t *at = p->block ? p->block + p->n * FACTOR_WORDS : NULL;
    p->n += n;
    return (cuda_factors){at, (uint32_t)n};
}

static cuda_powers place_powers(placer *p, unsigned log_bound) {
    cuda_powers powers = {.log_low = log_bound < LOG_LOW_MAX ? log_bound : LOG_LOW_MAX};
    powers.low = place(p, (size_t)1 << powers.log_low);
    powers.high = place(p, (size_t)1 << (log_bound - powers.log_low));
    return powers;
}

/* d->log_n, is_odd and tables are set. Returns how many entries there are. */
static size_t place_tables(cuzk_domain *d) {
    const size_t n = (size_t)1 << d->log_n, block = (size_t)1 << CUDA_LOG_BLOCK,
                 n_blocks = n / block;
    placer p = {.block = d->tables};
    d->twists = d->log_n > CUDA_LOG_FULL;
    d->unshift = place_powers(&p, d->log_n);
    if (!d->twists) {
        d->brp = place(&p, n / 2);
        d->coset = place(&p, n);
        return p.n;
    }
    d->brp = place(&p, (n_blocks > block ? n_blocks : block) / 2);
    d->coset = place(&p, block);
    d->plain = place(&p, n_blocks);
    if (!d->is_odd) d->shift = place(&p, n_blocks);
    d->twist = place_powers(&p, d->log_n + d->is_odd);
    return p.n;
}

static size_t n_table_bytes(unsigned log_n, bool is_odd) {
    cuzk_domain d = {.log_n = log_n, .is_odd = is_odd};
    return place_tables(&d) * FACTOR_BYTES;
}

uint64_t cuda_domain_bytes(unsigned log_n) {
    const size_t odd = n_table_bytes(log_n, true), even = n_table_bytes(log_n, false);
    return odd > even ? odd : even;
}

/* ---- opening ---- */
static cuzk_status make_tables(cuzk_domain *d, const fe *w, const fe *g, cuzk_err *err) {
    cudaStream_t stream;
    CUZK_TRY(cuda_memory_take(&d->tables, d->dev, n_table_bytes(d->log_n, d->is_odd), err));
    (void)place_tables(d);
    CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), err);
    cuzk_status status = cuda_fill_tables(d, w, g, stream, err);
    if (status == CUZK_OK)
        status = CUDA_CALL(cudaStreamSynchronize(stream), "fill tables", err);
    (void)cudaStreamDestroy(stream);
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
    const bool is_odd = coset == NULL;
    fe w, g;
    field_root_of_unity(fr, w.l, nonresidue, log_n + is_odd);
    g = is_odd ? w : *coset;

    cuzk_domain *d;
    CUZK_TRY(cuzk_zalloc(&d, 1, sizeof *d, err));
    d->dev = dev;
    d->fr = fr;
    d->log_n = log_n;
    d->is_odd = is_odd;
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
    cuda_memory_give(d->dev, d->tables, n_table_bytes(d->log_n, d->is_odd), false);
    cuzk_free(d);
}
