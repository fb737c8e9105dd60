/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BACKEND_CUDA_AFFINE_H
#define CUZK_BACKEND_CUDA_AFFINE_H
/* backend/cuda/affine: sums of many affine points in rounds of pairs. A round adds the pairs of
 * all runs at once, so that an inversion is shared by thousands of additions, and an addition
 * costs 6 multiplications instead of 10.
 *
 * A run is what one sum is made of: a bucket's entries. Of n points left in a run the first
 * floor(n / 2) are each added to one ceil(n / 2) behind, so that sums stay where the first point
 * was, a point without a partner stays where it is, and nothing is moved:
 *
 *     round 0   entries of points -> *slots*, ceil(n / 2) consecutive ones for each run
 *     round 1.. slots -> the same slots, until the run's first slot holds its sum
 *
 * A round's pairs are a list; how long it is only the device knows, and the number of rounds
 * is what the longest possible run needs: a round without pairs costs a few microseconds. One
 * long run is as fast as many short ones.
 *
 * All arrays are in device memory. Slots hold packed affine points, coordinates below 2p. */
#include "backend/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In round 0, first and second are entries (point and sign) and place is the slot for their sum;
 * later, first and second are slots and place counts the run's pairs from 0. */
typedef struct affine_pairs {
    uint32_t *first, *second, *place;
    uint32_t *count; /* one word; how many there are */
    size_t n_most;   /* how many there may be */
} affine_pairs;

/* Sorted entries and their runs. */
typedef struct affine_runs {
    size_t n_entries;            /* some may belong to no run: their key is n_runs or more */
    const uint32_t *key;         /* n_entries: the run of each */
    const uint32_t *entry;       /* n_entries: point index, MSM_SIGN to subtract it */
    uint32_t n_runs;             /* empty ones among them */
    const uint32_t *begin, *end; /* n_runs: of their entries */
    uint32_t *first_pair;        /* n_runs + 1: pairs before this run in round 0 */
} affine_runs;

/* Work space of the rounds, for the largest call. */
typedef struct affine_space {
    affine_pairs pairs[3]; /* of round 0; of odd rounds; of even rounds */
    uint32_t *counts;      /* AFFINE_ROUNDS_MAX: pairs of rounds 1 .. */
    uint32_t *products;    /* a coordinate for each pair of round 0 */
    uint32_t *totals[2];   /* AFFINE_BLOCK affine_blocks_most(n_pairs) coordinates each */
} affine_space;

/* The slot of a run's sum. */
#define AFFINE_SLOT(begin, first_pair) ((begin) - (first_pair))

#define AFFINE_ROUNDS_MAX 32u
#define AFFINE_BLOCK      128u       /* threads */
#define AFFINE_THREADS    (1u << 17) /* this many are busy before one takes several pairs, */
#define AFFINE_BATCH      32u        /* and at most this many */

size_t affine_pairs_most(size_t n_entries, unsigned round);
size_t affine_slots_most(size_t n_entries, size_t n_runs);
size_t affine_blocks_most(size_t n_pairs); /* that add n_pairs or fewer in a round */

/* affine_pairs.cu: first_pair, and the pairs of rounds 0 and 1. */
cuzk_status affine_pair_runs(const affine_runs *runs, affine_space *space, void *work,
                             size_t *work_bytes, cudaStream_t stream, cuzk_err *err);
/* The pairs of the round after one that is not round 0. */
cuzk_status affine_pair_sums(const affine_pairs *from, affine_pairs *to, cudaStream_t stream,
                             cuzk_err *err);

/* The sum of one run, when all rounds are done. */
cuzk_status affine_copy_sum(const affine_runs *runs, uint32_t run, const uint32_t *slots,
                            unsigned point_words, uint32_t *out, cudaStream_t stream,
                            cuzk_err *err);

/* affine_g1_8.cu, affine_g1_12.cu: all rounds, for runs of at most n_longest entries. */
typedef cuzk_status affine_add_fn(const field *fq, const uint32_t *points,
                                  const affine_runs *runs, size_t n_longest,
                                  affine_space *space, uint32_t *slots, cudaStream_t stream,
                                  cuzk_err *err);
affine_add_fn affine_add_g1_8, affine_add_g1_12;

#ifdef __cplusplus
}
#endif
#endif
