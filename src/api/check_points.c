/* SPDX-License-Identifier: Apache-2.0 */
#include "api/check_points.h"
#include <stdatomic.h>

enum { BLOCK = 256 };

typedef struct search {
    const curve *c;
    const check_points_job *job;
    size_t n, point_bytes;
    _Atomic size_t first_bad; /* n = none */
} search;

static const char *fault_of(const search *s, size_t i) {
    point p;
    if (!point_load_packed(s->c, s->job->group, &p, s->job->points.p + i * s->point_bytes))
        return "has a coordinate that is not below the field's modulus";
    if (!point_is_on_curve(s->c, s->job->group, &p)) return "is not on the curve";
    if (!point_is_in_subgroup(s->c, s->job->group, &p))
        return "is not in the group of prime order";
    return NULL;
}

static void search_block(void *arg, size_t item, unsigned slot) {
    search *s = arg;
    (void)slot;
    const size_t end = s->n - item * BLOCK < BLOCK ? s->n : (item + 1) * BLOCK;
    for (size_t i = item * BLOCK; i < end && i < atomic_load(&s->first_bad); i++) {
        if (!fault_of(s, i)) continue;
        size_t seen = atomic_load(&s->first_bad);
        while (i < seen && !atomic_compare_exchange_weak(&s->first_bad, &seen, i)) continue;
        return;
    }
}

cuzk_status check_points(const curve *c, const check_points_job *job, cuzk_exec *exec,
                         cuzk_err *err) {
    const size_t point_bytes = point_packed_bytes(c, job->group);
    search s = {c, job, job->points.n_bytes / point_bytes, point_bytes, 0};
    atomic_store(&s.first_bad, s.n);
    cuzk_exec_for(exec, (s.n + BLOCK - 1) / BLOCK, search_block, &s);
    const size_t bad = atomic_load(&s.first_bad);
    if (bad == s.n) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_FORMAT, "api.check_points", "%s[%zu] %s", job->name, bad,
                     fault_of(&s, bad));
}
