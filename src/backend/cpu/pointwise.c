/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/pointwise: products of whole vectors, in chunks that stay in L1. */
#include "backend/cpu/cpu.h"

#define W               CPU_FR_LIMBS
#define CHUNK           ((size_t)128) /* elements */
#define CHUNKS_PER_ITEM ((size_t)8)

typedef struct work {
    const field *fr;
    cuzk_pointwise_kind kind;
    size_t n;
    uint64_t *out;
    const uint64_t *a, *b, *c;
    const uint64_t *k; /* NULL = one */
} work;

static void quotient_chunk(const work *w, size_t first, size_t n) {
    const limb_ops *ops = w->fr->ops;
    const limb_mod *m = &w->fr->m;
    uint64_t *out = w->out + first * W;
    uint64_t t[CHUNK * W];
    ops->vec_mul(t, w->a + first * W, w->b + first * W, n, m);
    ops->vec_sub(out, t, w->c + first * W, n, m);
    if (!w->k) return;
    for (size_t i = 0; i < n; i++) ops->mul(out + i * W, out + i * W, w->k, m);
}

static void run_item(void *arg, size_t item, unsigned slot) {
    const work *w = arg;
    (void)slot;
    size_t end = (item + 1) * CHUNKS_PER_ITEM * CHUNK;
    if (end > w->n) end = w->n;
    for (size_t i = item * CHUNKS_PER_ITEM * CHUNK; i < end; i += CHUNK) {
        const size_t n = end - i < CHUNK ? end - i : CHUNK;
        if (w->kind == CUZK_POINTWISE_QUOTIENT) {
            quotient_chunk(w, i, n);
        } else {
            w->fr->ops->vec_mul(w->out + i * W, w->a + i * W, w->b + i * W, n, &w->fr->m);
        }
    }
}

cuzk_status cpu_pointwise(cuzk_queue *queue, const cuzk_pointwise_job *job, cuzk_err *err) {
    work w = {.fr = job->fr, .kind = job->kind, .n = job->n};
    uint64_t *a, *b, *c;
    fe one;
    CUZK_TRY(cpu_check_fr(job->fr, err));
    CUZK_TRY(cpu_slice_fr(&w.out, job->out, job->n, CPU_WRITE, "out", err));
    CUZK_TRY(cpu_slice_fr(&a, job->a, job->n, CPU_READ, "a", err));
    CUZK_TRY(cpu_slice_fr(&b, job->b, job->n, CPU_READ, "b", err));
    w.a = a;
    w.b = b;
    if (job->kind == CUZK_POINTWISE_QUOTIENT) {
        CUZK_TRY(cpu_slice_fr(&c, job->c, job->n, CPU_READ, "c", err));
        w.c = c;
        field_set_one(job->fr, one.l);
        if (!field_equal(job->fr, job->k.l, one.l)) w.k = job->k.l;
    }
    const size_t n_per_item = CHUNKS_PER_ITEM * CHUNK;
    cuzk_exec_for(queue->dev->exec, job->n / n_per_item + (job->n % n_per_item != 0), run_item,
                  &w);
    return CUZK_OK;
}
