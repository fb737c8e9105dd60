/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_API_BENCH_H
#define CUZK_API_BENCH_H
/* api/bench: what measurements share. One runs a thing n_runs times and reports medians, as a
 * line of JSON; small things are repeated within a run until the clock can see them. Where the
 * machine's limits are known the line also tells the floor, and which share of it was reached. */
#include "api/ceilings.h"
#include "api/runtime.h"
#include "cuzk/tools.h"

#define BENCH_FR_BYTES 32u

typedef struct bench {
    cuzk_runtime *rt;
    cuzk_queue *queue;
    const ceilings *ceilings; /* of the device; NULL = not known */
    const char *filter;
    unsigned n_runs;
    cuzk_bench_fn *fn;
    void *fn_arg;
    cuzk_err *err;
} bench;

/* From what the caller of the API gave; n_runs 0 = the default. */
CUZK_MUST_CHECK cuzk_status bench_open(bench *out, cuzk_runtime *rt, unsigned n_runs,
                                       cuzk_bench_fn *fn, void *arg, cuzk_err *err);
void bench_close(bench *b);
/* OK unless st says otherwise already; waits in any case, for what was queued may still use its
 * operands. */
CUZK_MUST_CHECK cuzk_status bench_wait(const bench *b, cuzk_status st, cuzk_err *err);
bool bench_wants(const bench *b, const char *id);

typedef struct measurement {
    char id[64];
    double n_times;     /* that a run does the thing; the seconds are for one */
    double n_ops;       /* butterflies or points in one; the nanoseconds are for one of them */
    unsigned n_threads; /* that a run may use */
    double n_muls;      /* multiplications in floor_field that one can't do without */
    const field *floor_field; /* NULL = none are known */
    double n_bytes;     /* that one can't help moving in the device's memory; 0 = not known */
    double n_bus_bytes; /* between it and the host */
} measurement;

typedef cuzk_status bench_run_fn(void *arg, cuzk_err *err);

/* On the host: processor time, and the floor by the speed at which this machine multiplies
 * meanwhile. */
CUZK_MUST_CHECK cuzk_status bench_measure_host(const bench *b, const measurement *m,
                                               bench_run_fn *run, void *arg);
/* By the backend's queue, waited for in `run`: on the CPU the same; on a device wall time, and the
 * floor by its ceilings. */
CUZK_MUST_CHECK cuzk_status bench_measure(const bench *b, const measurement *m,
                                          bench_run_fn *run, void *arg);

typedef struct run_times {
    double cpu_s, wall_s; /* medians */
} run_times;
/* The timing alone: n_runs, after one that doesn't count. */
CUZK_MUST_CHECK cuzk_status bench_time(run_times *out, unsigned n_runs, bench_run_fn *run,
                                       void *arg, cuzk_err *err);

/* n elements uniform below p, which are as good in Montgomery form as canonical; the same every
 * time. */
void bench_fill_random(const field *f, uint64_t *out, size_t n);
uint64_t bench_next_u64(uint64_t *state);

/* ---- operands of the backend ---- */
CUZK_MUST_CHECK cuzk_status bench_alloc(cuzk_buf **out, const bench *b, size_t n_bytes);
void bench_free(const bench *b, cuzk_buf *buf); /* NULL is fine */
CUZK_MUST_CHECK cuzk_status bench_bytes(cuzk_buf **out, const bench *b, const void *from,
                                        size_t n_bytes);
/* n values of 32 bytes, made by `fill`, bench_fill_random() say. */
typedef void bench_fill_fn(const field *fr, uint64_t *out, size_t n);
CUZK_MUST_CHECK cuzk_status bench_values(cuzk_buf **out, const bench *b, const field *fr,
                                         size_t n, bench_fill_fn *fill);
/* "what/curve/variant/2^log_n/backend", n_ops = 2^log_n; variant may be NULL. */
measurement bench_measurement(const bench *b, const char *what, const curve *c,
                              const char *variant, unsigned log_n);

/* ---- the parts ---- */
/* Field arithmetic, batched additions and pairing, on one thread of the host. */
CUZK_MUST_CHECK cuzk_status bench_host(const bench *b, const curve *c);

typedef struct bench_sizes {
    unsigned min, max; /* log2 */
} bench_sizes;
/* Operations of the backend. */
CUZK_MUST_CHECK cuzk_status bench_transforms(const bench *b, const curve *c, bench_sizes s);
CUZK_MUST_CHECK cuzk_status bench_witness(const bench *b, const curve *c, bench_sizes s);
CUZK_MUST_CHECK cuzk_status bench_multiexps(const bench *b, const curve *c, bench_sizes s);

#define BENCH_LOG_STEP 2u /* from one size to the next */

#endif
