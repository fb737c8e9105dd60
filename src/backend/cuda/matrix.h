/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_MATRIX_H
#define CUZK_BACKEND_CUDA_MATRIX_H
/* backend/cuda/matrix: a circuit's matrices in device memory, in compressed rows. A and B are
 * one matrix there: row 2i is row i of A and row 2i + 1 that of B, which is how keys order
 * their triplets. Circuits know few coefficients, so a term is a column and a number in a
 * dictionary, 6 bytes for the 44 of a triplet. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The path through a matrix that passes all terms of a row and then the row's end is cut into
 * slices of so many steps: as much work for a block of threads, however rows are filled. */
#define CUDA_SLICE 1024u

#define CUDA_DICTIONARY_MAX 65536u /* values that 16 bits can number */

typedef struct cuda_rows {
    uint32_t n_rows, n_terms, n_slices;
    uint32_t *starts;  /* n_rows + 1: row i has terms starts[i] up to starts[i + 1] */
    uint32_t *columns; /* of each term */
    uint16_t *numbers; /* of each term's value; NULL: they have one each, in order */
    uint32_t *values;  /* v R^2 */
    uint32_t *slices;  /* n_slices + 1: the row in which each begins */
} cuda_rows;

struct cuzk_matrix {
    cuzk_device *dev;
    const field *fr;
    uint32_t n_columns;
    size_t n_values;
    cuda_rows rows;
};

/* matrix.c */
cuzk_status cuda_matrix_open(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                             const matrix_view *view, cuzk_err *err);
void cuda_matrix_close(cuzk_matrix *matrix);
/* As the contract has them; the former counts what an evaluation takes, too. */
uint64_t cuda_matrix_bytes(const matrix_view *view);
uint64_t cuda_matrix_work_bytes(const matrix_view *view);

/* ---- matrix_kernels.cu ---- */
/* What reading triplets finds out, on the device. */
typedef struct cuda_findings {
    uint32_t first_bad; /* UINT32_MAX: none */
    uint32_t n_values;  /* distinct ones; more than CUDA_DICTIONARY_MAX: too many */
    uint32_t is_unordered;
} cuda_findings;

/* Places in a table of the values met so far, by their hash. */
#define CUDA_PLACES (2 * CUDA_DICTIONARY_MAX)

typedef struct cuda_reading {
    const uint32_t *triplets; /* packed, on the device: */
    uint32_t first, n;        /* triplets first .. first + n of n_terms */
    uint32_t row_before;      /* of triplet first - 1, UINT32_MAX when there is none */
    uint32_t n_columns;
    uint32_t *places; /* CUDA_PLACES of them, at first 0 */
    cuda_findings *findings;
} cuda_reading;

#define CUDA_NO_ROW UINT32_MAX

/* Columns and values (as numbers, when rows->numbers is not NULL) of some triplets. starts,
 * which is 0 at first, holds the length of each row when all have been read in order. */
cuzk_status cuda_matrix_read(const cuda_reading *reading, const cuda_rows *rows,
                             const field *fr, cudaStream_t stream, cuzk_err *err);
/* When starts are what they are called. */
cuzk_status cuda_matrix_slice(const cuda_rows *rows, cudaStream_t stream, cuzk_err *err);

#ifdef __cplusplus
}
#endif
#endif
