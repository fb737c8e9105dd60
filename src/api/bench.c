/* SPDX-License-Identifier: Apache-2.0 */
/* api/bench: cuzk_bench_kernels, the parts of a proof measured alone. */
#include "api/bench.h"

/* What the caller left open comes from the default; one that was given wins over it. */
static bench_sizes choose_sizes(const cuzk_bench_options *o, bench_sizes s) {
    if (o->min_log_n) {
        s.min = o->min_log_n;
        if (s.max < s.min) s.max = s.min;
    }
    if (o->max_log_n) {
        s.max = o->max_log_n;
        if (s.min > s.max) s.min = s.max;
    }
    return s;
}

static cuzk_status bench_curve(const bench *b, const curve *c, bench_sizes ntt,
                               bench_sizes msm) {
    if (!b->rt->device_info.can_copy_async) CUZK_TRY(bench_host(b, c));
    CUZK_TRY(bench_transforms(b, c, ntt));
    CUZK_TRY(bench_witness(b, c, ntt));
    return bench_multiexps(b, c, msm);
}

static cuzk_status check_arguments(const cuzk_runtime *rt, const cuzk_bench_options *o,
                                   cuzk_bench_fn *fn, cuzk_err *err) {
    const unsigned max_log_n =
        8 * sizeof(size_t) - 12; /* bytes of 2^log_n points still count */
    if (!rt || !fn) return cuzk_fail(err, CUZK_ERR_ARG, "api.bench", "a NULL argument");
    if (o->struct_bytes != sizeof *o) {
        return cuzk_fail(
            err, CUZK_ERR_ARG, "api.bench",
            "options of %zu bytes, expected %zu: start from CUZK_BENCH_OPTIONS_INIT",
            o->struct_bytes, sizeof *o);
    }
    if (o->min_log_n > max_log_n || o->max_log_n > max_log_n) {
        return cuzk_fail(err, CUZK_ERR_ARG, "api.bench",
                         "sizes from 2^%u to 2^%u, expected at most 2^%u", o->min_log_n,
                         o->max_log_n, max_log_n);
    }
    if (o->max_log_n && o->min_log_n > o->max_log_n) {
        return cuzk_fail(err, CUZK_ERR_ARG, "api.bench", "sizes from 2^%u down to 2^%u",
                         o->min_log_n, o->max_log_n);
    }
    return CUZK_OK;
}

cuzk_status cuzk_bench_kernels(cuzk_runtime *rt, const cuzk_bench_options *options,
                               cuzk_bench_fn *fn, void *arg, cuzk_err *err) {
    const cuzk_bench_options defaults = CUZK_BENCH_OPTIONS_INIT;
    if (!options) options = &defaults;
    CUZK_TRY(check_arguments(rt, options, fn, err));
    bench b;
    CUZK_TRY(bench_open(&b, rt, options->n_runs, fn, arg, err));
    b.filter = options->filter;
    const bench_sizes ntt = choose_sizes(options, (bench_sizes){16, 20});
    const bench_sizes msm = choose_sizes(options, (bench_sizes){16, 16});
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < CURVE_COUNT && status == CUZK_OK; i++) {
        status = bench_curve(&b, &rt->curves[i], ntt, msm);
    }
    bench_close(&b);
    return status;
}
