/* SPDX-License-Identifier: Apache-2.0 */
#include "api/timing.h"

typedef struct timing_list {
    timing *items;
    unsigned n;
} timing_list;

static void put(timing_list *t, const char *key, double value) {
    CUZK_ASSERT(t->n < TIMING_MAX);
    t->items[t->n++] = (timing){key, value};
}

static void put_ns(timing_list *t, const char *key, uint64_t ns) {
    put(t, key, (double)ns / 1e6);
}

/* What the device did, operation by operation; those that did not occur are left out. */
static void put_operations(timing_list *t, cuzk_trace *trace) {
    static const struct {
        const char *key, *name;
    } operations[] = {
        {"unpack_ms", "unpack"},     {"evaluate_ms", "evaluate"},
        {"ntt_kernels_ms", "ntt"},   {"pointwise_ms", "pointwise"},
        {"prep_msm_ms", "scalars"},  {"msm_ms", "msm"},
        {"matrix_ms", "matrix"},     {"upload_ms", "upload"},
        {"download_ms", "download"},
    };
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        uint64_t wall_ns, n_spans;
        cuzk_trace_sum(trace, NULL, operations[i].name, &wall_ns, NULL, &n_spans);
        if (n_spans) put_ns(t, operations[i].key, wall_ns);
    }
}

/* From the first transform to the end of the sum that follows in that queue: H's, unless all
 * sums are one (in place), or go by pieces through other queues. */
static void put_h(timing_list *t, cuzk_trace *trace, const groth16_report *r) {
    uint64_t begin_ns, msm_ns, end_ns;
    if (r->chosen.in_place || r->chosen.streams_key) return;
    if (cuzk_trace_first(trace, "main", "ntt", 0, &begin_ns, &end_ns) &&
        cuzk_trace_first(trace, "main", "msm", begin_ns, &msm_ns, &end_ns)) {
        put_ns(t, "ntt_msm_h_ms", end_ns - begin_ns);
    }
}

static cuzk_status put_device(timing_list *t, cuzk_trace *trace, cuzk_err *err) {
    uint64_t begin_ns, end_ns, busy_ns;
    if (!cuzk_trace_extent(trace, NULL, &begin_ns, &end_ns)) return CUZK_OK;
    CUZK_TRY(cuzk_trace_busy_ns(&busy_ns, trace, NULL, begin_ns, end_ns, err));
    put_ns(t, "gpu_total_ms", end_ns - begin_ns);
    put_ns(t, "gpu_busy_ms", busy_ns);
    put(t, "gpu_busy_share",
        end_ns > begin_ns ? (double)busy_ns / (double)(end_ns - begin_ns) : 1);
    return CUZK_OK;
}

cuzk_status timing_compute(timing out[TIMING_MAX], unsigned *n, cuzk_trace *trace,
                           const groth16_report *r, cuzk_err *err) {
    timing_list t = {out, 0};
    put_ns(&t, "load_key_ms", r->key_ns);
    put_ns(&t, "wait_memory_ms", r->wait_ns);
    put_operations(&t, trace);
    put_h(&t, trace, r);
    CUZK_TRY(put_device(&t, trace, err));
    put_ns(&t, "epilogue_ms", r->assemble_ns);
    put_ns(&t, "check_ms", r->check_ns);
    put(&t, "h2d_bytes", (double)r->uploaded_bytes);
    put(&t, "d2h_bytes", (double)r->downloaded_bytes);
    put(&t, "key_h2d_bytes", (double)r->key_uploaded_bytes);
    *n = t.n;
    return CUZK_OK;
}
