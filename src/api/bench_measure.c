/* SPDX-License-Identifier: Apache-2.0 */
#include "api/bench.h"
#include "base/alloc.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RUNS 5u
#define VECTOR       1024u /* elements in the multiplications of the floor */
#define MUL_ROUNDS   16u

cuzk_status bench_open(bench *out, cuzk_runtime *rt, unsigned n_runs, cuzk_bench_fn *fn,
                       void *arg, cuzk_err *err) {
    bench b = {.rt = rt,
               .ceilings = ceilings_of(rt->device_info.name),
               .n_runs = n_runs ? n_runs : DEFAULT_RUNS,
               .fn = fn,
               .fn_arg = arg,
               .err = err};
    CUZK_TRY(rt->backend->queue_open(&b.queue, rt->device, "bench", NULL, err));
    *out = b;
    return CUZK_OK;
}

void bench_close(bench *b) { b->rt->backend->queue_close(b->queue); }

cuzk_status bench_wait(const bench *b, cuzk_status st, cuzk_err *err) {
    const cuzk_status waited =
        b->rt->backend->queue_wait(b->queue, st == CUZK_OK ? err : NULL);
    return st == CUZK_OK ? waited : st;
}

bool bench_wants(const bench *b, const char *id) {
    return !b->filter || strstr(id, b->filter);
}

/* ---- random values ---- */
/* splitmix64 */
uint64_t bench_next_u64(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

void bench_fill_random(const field *f, uint64_t *out, size_t n) {
    const unsigned n_limbs = f->m.n_limbs, n_top_bits = f->m.n_bits - 64 * (n_limbs - 1);
    uint64_t state = f->m.p[0];
    for (size_t i = 0; i < n;) {
        uint64_t *e = out + i * n_limbs;
        for (unsigned k = 0; k < n_limbs; k++) e[k] = bench_next_u64(&state);
        e[n_limbs - 1] &= UINT64_MAX >> (64 - n_top_bits);
        unsigned k = n_limbs - 1;
        while (k > 0 && e[k] == f->m.p[k]) k--;
        if (e[k] < f->m.p[k]) i++;
    }
}

/* ---- the speed of multiplication, meanwhile ---- */
typedef struct multiplier {
    const field *f; /* NULL: there is none */
    uint64_t *a, *b, *out;
} multiplier;

static cuzk_status multiplier_init(multiplier *v, const field *f, cuzk_err *err) {
    *v = (multiplier){.f = f};
    if (!f) return CUZK_OK;
    const size_t n_words = (size_t)VECTOR * f->m.n_limbs;
    CUZK_TRY(cuzk_alloc(&v->a, 3 * n_words, sizeof *v->a, err));
    v->b = v->a + n_words;
    v->out = v->b + n_words;
    bench_fill_random(f, v->a, 2 * (size_t)VECTOR);
    return CUZK_OK;
}

static double seconds_since(uint64_t now_ns, uint64_t then_ns) {
    return (double)(now_ns - then_ns) * 1e-9;
}

/* Processor seconds of one. */
static double time_mul(const multiplier *v) {
    if (!v->f) return 0;
    const uint64_t cpu_ns = cuzk_clock_cpu_ns();
    for (unsigned i = 0; i < MUL_ROUNDS; i++) {
        v->f->ops->vec_mul(v->out, v->a, v->b, VECTOR, &v->f->m);
    }
    return seconds_since(cuzk_clock_cpu_ns(), cpu_ns) / (VECTOR * MUL_ROUNDS);
}

/* ---- runs ---- */
static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned n) {
    qsort(values, n, sizeof *values, compare_doubles);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* One run before the first that counts fills caches and page tables. Multiplications are timed
 * between the runs, so that a machine that slows down does it to both. */
static cuzk_status time_runs(run_times *out, double *mul_s, unsigned n_runs, bench_run_fn *run,
                             void *arg, const multiplier *v, cuzk_err *err) {
    double *samples;
    CUZK_TRY(cuzk_alloc(&samples, 3 * (size_t)n_runs, sizeof *samples, err));
    double *cpu_s = samples, *wall_s = cpu_s + n_runs, *muls = wall_s + n_runs;
    cuzk_status status = run(arg, err);
    for (unsigned i = 0; i < n_runs && status == CUZK_OK; i++) {
        muls[i] = time_mul(v);
        const uint64_t cpu_ns = cuzk_clock_cpu_ns(), wall_ns = cuzk_clock_ns();
        status = run(arg, err);
        cpu_s[i] = seconds_since(cuzk_clock_cpu_ns(), cpu_ns);
        wall_s[i] = seconds_since(cuzk_clock_ns(), wall_ns);
    }
    if (status == CUZK_OK) {
        *out = (run_times){median(cpu_s, n_runs), median(wall_s, n_runs)};
        *mul_s = median(muls, n_runs);
    }
    cuzk_free(samples);
    return status;
}

cuzk_status bench_time(run_times *out, unsigned n_runs, bench_run_fn *run, void *arg,
                       cuzk_err *err) {
    double mul_s;
    return time_runs(out, &mul_s, n_runs, run, arg, &(multiplier){0}, err);
}

/* ---- lines ---- */
static void report_host(const bench *b, const measurement *m, const run_times *t,
                        double mul_s) {
    const double cpu_s = t->cpu_s / m->n_times, floor_s = m->n_muls * mul_s;
    char line[400], floor[80] = "";
    if (m->floor_field) {
        (void)snprintf(floor, sizeof floor, ",\"floor_s\":%.6g,\"ratio_to_floor\":%.3f",
                       floor_s, cpu_s / floor_s);
    }
    (void)snprintf(line, sizeof line,
                   "{\"id\":\"%s\",\"cpu_s\":%.6g,\"wall_s\":%.6g,\"ns_per_op\":%.5g,"
                   "\"n_runs\":%u,\"n_threads\":%u,\"cpu\":\"%s\"%s}",
                   m->id, cpu_s, t->wall_s / m->n_times, cpu_s / m->n_ops * 1e9, b->n_runs,
                   m->n_threads, cuzk_cpu_level_name(b->rt->cpu), floor);
    b->fn(b->fn_arg, line);
}

/* Multiplying and moving overlap, so the floor is the longest of them. */
static double device_floor_s(const bench *b, const measurement *m) {
    if (!b->ceilings) return 0;
    const double rate = m->floor_field ? ceilings_mul_rate(b->ceilings, m->floor_field) : 0;
    const double mul_s = rate > 0 ? m->n_muls / rate : 0;
    const double memory_s = m->n_bytes / b->ceilings->memory_bytes;
    const double bus_s = m->n_bus_bytes / b->ceilings->bus_bytes;
    const double longer_s = mul_s > memory_s ? mul_s : memory_s;
    return longer_s > bus_s ? longer_s : bus_s;
}

static void report_device(const bench *b, const measurement *m, const run_times *t) {
    const double wall_s = t->wall_s / m->n_times, floor_s = device_floor_s(b, m);
    char line[400], floor[80] = "", moved[40] = "";
    if (floor_s > 0) {
        (void)snprintf(floor, sizeof floor, ",\"floor_ms\":%.4g,\"share\":%.3f", floor_s * 1e3,
                       floor_s / wall_s);
    }
    if (m->n_bytes > 0) (void)snprintf(moved, sizeof moved, ",\"bytes\":%.0f", m->n_bytes);
    (void)snprintf(line, sizeof line,
                   "{\"id\":\"%s\",\"ms\":%.5g%s,\"ns_per_op\":%.4g%s,\"n_runs\":%u,"
                   "\"device\":\"%s\"}",
                   m->id, wall_s * 1e3, floor, wall_s / m->n_ops * 1e9, moved, b->n_runs,
                   b->rt->device_info.name);
    b->fn(b->fn_arg, line);
}

cuzk_status bench_measure_host(const bench *b, const measurement *m, bench_run_fn *run,
                               void *arg) {
    run_times t;
    double mul_s;
    multiplier v;
    CUZK_TRY(multiplier_init(&v, m->floor_field, b->err));
    const cuzk_status status = time_runs(&t, &mul_s, b->n_runs, run, arg, &v, b->err);
    cuzk_free(v.a);
    if (status == CUZK_OK) report_host(b, m, &t, mul_s);
    return status;
}

cuzk_status bench_measure(const bench *b, const measurement *m, bench_run_fn *run, void *arg) {
    if (!b->rt->device_info.can_copy_async) return bench_measure_host(b, m, run, arg);
    run_times t;
    CUZK_TRY(bench_time(&t, b->n_runs, run, arg, b->err));
    report_device(b, m, &t);
    return CUZK_OK;
}
