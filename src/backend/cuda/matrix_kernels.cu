/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/matrix_kernels: triplets into compressed rows. See matrix.h. */
#include "backend/cuda/matrix.h"

#include "backend/cuda/field.cuh"

#define BLOCK         256
#define TRIPLET_WORDS (MATRIX_TRIPLET_BYTES / 4)

/* ---- the dictionary ----
 * A table with open addressing. A place is free, being filled, or holds the number of a value,
 * plus NUMBERED; numbers are given in the order in which threads come. */
#define FREE     0u
#define FILLING  1u
#define NUMBERED 2u

__device__ __forceinline__ uint32_t load_acquire(const uint32_t *p) {
    uint32_t v;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
__device__ __forceinline__ void store_release(uint32_t *p, uint32_t v) {
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}

__device__ __forceinline__ uint32_t hash_of(const fp<8> &v) {
    uint64_t h = 0;
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
        h = (h ^ v.w[i] ^ (uint64_t)v.w[i + 1] << 32) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (uint32_t)(h >> 32);
}

__device__ __forceinline__ bool equals(const fp<8> &v, const uint32_t *p) {
    uint32_t differs = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) differs |= v.w[i] ^ __ldcg(p + i); /* another's store */
    return differs == 0;
}

/* The number of v, which is new if need be. Once there are too many it may be any: the
 * dictionary is given up then. */
__device__ uint32_t number_of(const fp<8> &v, uint32_t *places, uint32_t *values,
                              uint32_t *n_values) {
    for (uint32_t at = hash_of(v);; at++) {
        uint32_t *place = &places[at % CUDA_PLACES];
        uint32_t state = load_acquire(place);
        if (state == FREE) {
            if (load_acquire(n_values) > CUDA_DICTIONARY_MAX) return 0;
            state = atomicCAS(place, FREE, FILLING);
            if (state == FREE) {
                const uint32_t number = atomicAdd(n_values, 1);
                if (number < CUDA_DICTIONARY_MAX) fp_store(values + (size_t)number * 8, v);
                store_release(place, number + NUMBERED);
                return number;
            }
        }
        while (state == FILLING) state = load_acquire(place);
        const uint32_t number = state - NUMBERED;
        if (number >= CUDA_DICTIONARY_MAX) return 0;
        if (equals(v, values + (size_t)number * 8)) return number;
    }
}

/* ---- reading ---- */
__device__ __forceinline__ bool is_below(const fp<8> &v, const modulus<8> &m) {
    uint32_t d, below;
    sub_start(d, v.w[0], m.p[0]);
#pragma unroll
    for (int i = 1; i < 8; i++) sub_next(d, v.w[i], m.p[i]);
    sub_last(below, 0, 0);
    return below != 0;
}

/* CUDA_NO_ROW when there is none such. */
__device__ __forceinline__ uint32_t row_of(const uint32_t *triplet, uint32_t n_rows) {
    return triplet[0] <= 1 && triplet[1] < n_rows / 2 ? 2 * triplet[1] + triplet[0]
                                                      : CUDA_NO_ROW;
}

__global__ void __launch_bounds__(BLOCK)
    read_kernel(const __grid_constant__ cuda_reading r, const __grid_constant__ cuda_rows rows,
                const __grid_constant__ modulus<8> m) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= r.n) return;
    const uint32_t *t = r.triplets + (size_t)i * TRIPLET_WORDS;
    const uint32_t term = r.first + i, row = row_of(t, rows.n_rows);
    fp<8> value;
#pragma unroll
    for (int j = 0; j < 8; j++) value.w[j] = t[3 + j];
    if (row == CUDA_NO_ROW || t[2] >= r.n_columns || !is_below(value, m)) {
        atomicMin(&r.findings->first_bad, term);
        return;
    }
    rows.columns[term] = t[2];
    if (rows.numbers) {
        rows.numbers[term] =
            (uint16_t)number_of(value, r.places, rows.values, &r.findings->n_values);
    } else {
        fp_store(rows.values + (size_t)term * 8, value);
    }
    /* Where a row ends its length is counted up by the end, and down by the beginning. */
    const uint32_t before = i > 0 ? row_of(t - TRIPLET_WORDS, rows.n_rows) : r.row_before;
    if (before != row) {
        atomicSub(&rows.starts[row], term);
        if (before != CUDA_NO_ROW) {
            atomicAdd(&rows.starts[before], term);
            if (before > row) r.findings->is_unordered = 1;
        }
    }
    if (term + 1 == rows.n_terms) atomicAdd(&rows.starts[row], rows.n_terms);
}

extern "C" cuzk_status cuda_matrix_read(const cuda_reading *reading, const cuda_rows *rows,
                                        const field *fr, cudaStream_t stream, cuzk_err *err) {
    read_kernel<<<(reading->n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(*reading, *rows,
                                                                        modulus_of<8>(fr));
    CUDA_TRY_LAUNCH("read_kernel", err);
    return CUZK_OK;
}

/* ---- slices ---- */
/* The end of row i is step starts[i + 1] + i; a slice begins in the first row whose end is not
 * before it. */
__global__ void __launch_bounds__(BLOCK) cut_kernel(const __grid_constant__ cuda_rows rows) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i > rows.n_slices) return;
    const uint64_t n_steps = (uint64_t)rows.n_rows + rows.n_terms;
    const uint64_t slice_start = (uint64_t)i * CUDA_SLICE;
    const uint64_t step = slice_start < n_steps ? slice_start : n_steps;
    uint32_t low = 0, high = rows.n_rows;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((uint64_t)rows.starts[middle + 1] + middle < step)
            low = middle + 1;
        else
            high = middle;
    }
    rows.slices[i] = low;
}

extern "C" cuzk_status cuda_matrix_slice(const cuda_rows *rows, cudaStream_t stream,
                                         cuzk_err *err) {
    cut_kernel<<<rows->n_slices / BLOCK + 1, BLOCK, 0, stream>>>(*rows);
    CUDA_TRY_LAUNCH("cut_kernel", err);
    return CUZK_OK;
}
