/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench_h2d: what the bus carries, from pageable, registered and pinned memory, and what a
 * copy costs when its memory must be made first. */
#include "api/bench.h"
#include "base/alloc.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SMALLEST     ((uint64_t)1 << 20)
#define LARGEST      ((uint64_t)1 << 30) /* by default */
#define SIZE_STEP    16u
#define DEFAULT_RUNS 10u

typedef struct bus {
    const bench *b;
    cuzk_queue *back; /* for the other direction */
    size_t n_bytes;
    cuzk_buf *device, *device_back;
    void *host, *host_back;
    pages_pinner pinner;
    double pinned_s; /* what every share is of; 0: not known yet */
} bus;

/* ---- copies ---- */
static cuzk_status up(const bus *x, const void *from, cuzk_err *err) {
    return x->b->rt->backend->upload(x->b->queue, (cuzk_slice){x->device, 0}, from, x->n_bytes,
                                     err);
}

static cuzk_status run_up(void *arg, cuzk_err *err) {
    const bus *x = arg;
    return bench_wait(x->b, up(x, x->host, err), err);
}

static cuzk_status run_down(void *arg, cuzk_err *err) {
    const bus *x = arg;
    const cuzk_status status = x->b->rt->backend->download(
        x->b->queue, x->host, (cuzk_slice){x->device, 0}, x->n_bytes, err);
    return bench_wait(x->b, status, err);
}

static cuzk_status run_both(void *arg, cuzk_err *err) {
    const bus *x = arg;
    const cuzk_backend *be = x->b->rt->backend;
    cuzk_status status = up(x, x->host, err);
    if (status == CUZK_OK)
        status = be->download(x->back, x->host_back, (cuzk_slice){x->device_back, 0},
                              x->n_bytes, err);
    const cuzk_status waited = be->queue_wait(x->back, status == CUZK_OK ? err : NULL);
    return bench_wait(x->b, status == CUZK_OK ? waited : status, err);
}

/* The memory is made for each copy, as it would be without a pool, and written to. */
static cuzk_status run_fresh(void *arg, cuzk_err *err) {
    const bus *x = arg;
    pages p;
    cuzk_err why;
    CUZK_TRY(pages_alloc(&p, x->n_bytes, &x->pinner, &why, err));
    memset(p.data, 1, x->n_bytes);
    const cuzk_status status = bench_wait(x->b, up(x, p.data, err), err);
    pages_free(&p, &x->pinner);
    return status;
}

static cuzk_status checkout(lease *out, const bus *x, cuzk_err *err) {
    const budget_request request = {.priority = BUDGET_NORMAL};
    return pinned_pool_checkout(out, x->b->rt->memory->pool, x->n_bytes, false, &request, err);
}

static cuzk_status run_pool(void *arg, cuzk_err *err) {
    const bus *x = arg;
    lease l;
    CUZK_TRY(checkout(&l, x, err));
    memset(l.data, 1, x->n_bytes);
    const cuzk_status status = bench_wait(x->b, up(x, l.data, err), err);
    lease_release(&l);
    return status;
}

/* ---- lines ---- */
static void name_size(char text[24], uint64_t n_bytes) {
    const char *unit = "KiB";
    n_bytes >>= 10;
    if (n_bytes % 1024 == 0) {
        unit = "MiB";
        n_bytes >>= 10;
    }
    if (n_bytes % 1024 == 0) {
        unit = "GiB";
        n_bytes >>= 10;
    }
    (void)snprintf(text, 24, "%" PRIu64 "%s", n_bytes, unit);
}

/* n_ways: how many times n_bytes cross in one run. */
static cuzk_status measure(bus *x, const char *name, unsigned n_ways, bench_run_fn *run) {
    const bench *b = x->b;
    const double n_bytes = (double)x->n_bytes * n_ways;
    run_times t;
    char line[200], size[24];
    CUZK_TRY(bench_time(&t, b->n_runs, run, x, b->err));
    if (x->pinned_s == 0) x->pinned_s = t.wall_s;
    name_size(size, x->n_bytes);
    (void)snprintf(
        line, sizeof line,
        "{\"id\":\"%s/%s\",\"ms\":%.4g,\"gib_s\":%.4g,\"share\":%.3f,\"bytes\":%.0f,"
        "\"n_runs\":%u}",
        name, size, t.wall_s * 1e3, n_bytes / t.wall_s / ((uint64_t)1 << 30),
        x->pinned_s * n_ways / t.wall_s, n_bytes, b->n_runs);
    b->fn(b->fn_arg, line);
    return CUZK_OK;
}

/* ---- kinds of memory ---- */
static cuzk_status with_pinned(bus *x) {
    lease to = {0}, from = {0};
    cuzk_status status = checkout(&to, x, x->b->err);
    if (status == CUZK_OK) status = checkout(&from, x, x->b->err);
    if (status == CUZK_OK) {
        x->host = to.data;
        x->host_back = from.data;
        memset(x->host, 1, x->n_bytes);
        memset(x->host_back, 1, x->n_bytes);
        status = measure(x, "h2d/pinned", 1, run_up);
    }
    if (status == CUZK_OK) status = measure(x, "d2h/pinned", 1, run_down);
    if (status == CUZK_OK) status = measure(x, "both/pinned", 2, run_both);
    lease_release(&from);
    lease_release(&to);
    return status;
}

static cuzk_status with_pageable(bus *x) {
    CUZK_TRY(cuzk_alloc(&x->host, x->n_bytes, 1, x->b->err));
    memset(x->host, 1, x->n_bytes);
    cuzk_status status = measure(x, "h2d/pageable", 1, run_up);
    if (status == CUZK_OK) status = measure(x, "d2h/pageable", 1, run_down);
    cuzk_free(x->host);
    return status;
}

/* Memory of the caller that is pinned where it lies: pages that exist already. */
static cuzk_status with_registered(bus *x) {
    const size_t n_bytes = pages_round_up(x->n_bytes);
    CUZK_TRY(cuzk_alloc(&x->host, n_bytes + 4096, 1, x->b->err));
    uint8_t *const block = x->host, *const page =
                                        block + (4096 - (uintptr_t)block % 4096) % 4096;
    memset(page, 1, n_bytes);
    cuzk_status status = x->pinner.pin(x->pinner.arg, page, n_bytes, x->b->err);
    if (status == CUZK_OK) {
        x->host = page;
        status = measure(x, "h2d/registered", 1, run_up);
        x->pinner.unpin(x->pinner.arg, page, n_bytes);
    }
    cuzk_free(block);
    return status;
}

static cuzk_status measure_size(const bench *b, cuzk_queue *back, uint64_t n_bytes) {
    const cuzk_backend *be = b->rt->backend;
    bus x = {.b = b, .back = back, .n_bytes = (size_t)n_bytes};
    x.pinner = be->pinner(b->rt->device);
    cuzk_status status = bench_alloc(&x.device, b, x.n_bytes);
    if (status == CUZK_OK) status = bench_alloc(&x.device_back, b, x.n_bytes);
    if (status == CUZK_OK) status = with_pinned(&x);
    if (status == CUZK_OK) status = with_registered(&x);
    if (status == CUZK_OK) status = with_pageable(&x);
    if (status == CUZK_OK) status = measure(&x, "h2d/write_and_copy/pool", 1, run_pool);
    if (status == CUZK_OK) status = measure(&x, "h2d/write_and_copy/fresh", 1, run_fresh);
    bench_free(b, x.device_back);
    bench_free(b, x.device);
    return status;
}

static cuzk_status check_arguments(const cuzk_runtime *rt, const cuzk_bench_h2d_options *o,
                                   cuzk_bench_fn *fn, cuzk_err *err) {
    if (!rt || !fn) return cuzk_fail(err, CUZK_ERR_ARG, "api.bench", "a NULL argument");
    if (o->struct_bytes != sizeof *o)
        return cuzk_fail(
            err, CUZK_ERR_ARG, "api.bench",
            "options of %zu bytes, expected %zu: start from CUZK_BENCH_H2D_OPTIONS_INIT",
            o->struct_bytes, sizeof *o);
    if (o->n_bytes && (o->n_bytes < SMALLEST || o->n_bytes > SIZE_MAX / 4))
        return cuzk_fail(err, CUZK_ERR_ARG, "api.bench",
                         "copies of %" PRIu64 " bytes, expected at least %" PRIu64, o->n_bytes,
                         SMALLEST);
    if (!rt->device_info.can_copy_async)
        return cuzk_fail(err, CUZK_ERR_DEVICE, "api.bench",
                         "the backend \"%s\" computes where the data lies, nothing is copied",
                         rt->backend->name);
    return CUZK_OK;
}

cuzk_status cuzk_bench_h2d(cuzk_runtime *rt, const cuzk_bench_h2d_options *options,
                           cuzk_bench_fn *fn, void *arg, cuzk_err *err) {
    const cuzk_bench_h2d_options defaults = CUZK_BENCH_H2D_OPTIONS_INIT;
    if (!options) options = &defaults;
    CUZK_TRY(check_arguments(rt, options, fn, err));
    const uint64_t largest = options->n_bytes ? options->n_bytes : LARGEST;
    bench b;
    cuzk_queue *back = NULL;
    CUZK_TRY(
        bench_open(&b, rt, options->n_runs ? options->n_runs : DEFAULT_RUNS, fn, arg, err));
    cuzk_status status = rt->backend->queue_open(&back, rt->device, "back", NULL, err);
    for (uint64_t n = SMALLEST; status == CUZK_OK; n *= SIZE_STEP) {
        status = measure_size(&b, back, n < largest ? n : largest);
        if (n >= largest) break;
    }
    if (back) rt->backend->queue_close(back);
    bench_close(&b);
    return status;
}
