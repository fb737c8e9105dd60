/* SPDX-License-Identifier: Apache-2.0 */
#include "prover/plan.h"
#include "keys/residency.h"
#include <inttypes.h>
#include <stdio.h>

#define PIECE_MAX ((size_t)128 << 20)
#define PIECE_MIN ((size_t)64 << 10)

/* From the fastest to the smallest. Every way that goes by pieces is tried with pieces from
 * PIECE_MAX down to PIECE_MIN before the next. Streaming the key comes last: it crosses the
 * bus in each proof, and is larger than everything else together. */
typedef struct way {
    bool evaluates_on_host, streams_key, one_vector, overlaps;
} way;
static const way ladder[] = {
    {false, false, false, true}, {false, false, false, false}, {true, false, false, true},
    {true, false, false, false}, {true, false, true, false},   {false, true, false, false},
    {true, true, false, false},  {true, true, true, false},
};
enum { N_WAYS = sizeof ladder / sizeof ladder[0] };

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* What the steps of a proof take, one beside the other. */
typedef struct sizes {
    const cuzk_backend *be;
    const curve *c;
    unsigned log_n;
    uint64_t vector, witness, packed;
    size_t n_vars, n_h;
} sizes;

static sizes sizes_of(const proving_key *key) {
    const uint64_t fr_bytes = key->curve->fr.n_bytes;
    return (sizes){.be = key->backend,
                   .c = key->curve,
                   .log_n = key->log_domain,
                   .vector = fr_bytes << key->log_domain,
                   .witness = fr_bytes * key->n_vars,
                   .packed = (fr_bytes + 1) * key->n_vars + ((uint64_t)1 << 12),
                   .n_vars = key->n_vars,
                   .n_h = key->h.n};
}

static uint64_t transform_bytes(const sizes *s) {
    const uint64_t there = s->be->ntt_bytes(s->log_n, CUZK_NTT_INVERSE, true),
                   on = s->be->ntt_bytes(s->log_n, CUZK_NTT_COSET_FORWARD, true),
                   back = s->be->ntt_bytes(s->log_n, CUZK_NTT_COSET_INVERSE, false);
    return larger(there, larger(on, back));
}

/* The sums of n points of the largest query, scalars included. Streamed: two pieces and two
 * sums at work. */
static uint64_t sums_bytes(const sizes *s, const proof_plan *p, group_id g, size_t n) {
    const size_t n_piece = p->piece_bytes / point_packed_bytes(s->c, g);
    const uint64_t work = p->streams_key
                              ? 2 * (p->piece_bytes + s->be->msm_bytes(s->c, g, n_piece))
                              : s->be->msm_bytes(s->c, g, n);
    return s->be->scalars_bytes(n) + work;
}

static uint64_t quotient_bytes(const sizes *s, const proof_plan *p) {
    const uint64_t vectors = p->one_vector ? s->vector + 2 * p->piece_bytes : 3 * s->vector;
    return vectors + transform_bytes(s);
}

static uint64_t proof_bytes(const proving_key *key, const proof_plan *p) {
    const sizes s = sizes_of(key);
    const uint64_t arrival = s.witness + s.packed,
                   witness_sums = s.witness + larger(sums_bytes(&s, p, GROUP_G2, s.n_vars),
                                                     sums_bytes(&s, p, GROUP_G1, s.n_vars)),
                   h_sum = s.vector + sums_bytes(&s, p, GROUP_G1, s.n_h),
                   quotient = quotient_bytes(&s, p),
                   held = p->evaluates_on_host ? 0 : s.witness,
                   loading = p->evaluates_on_host ? 0 : s.be->matrix_work_bytes(&key->matrix);
    uint64_t most = larger(arrival, loading);
    if (p->overlaps) /* a, b and c stay until the sum of h is done */
        return larger(most, witness_sums + quotient + h_sum - s.vector);
    most = larger(most, larger(held + quotient, held + h_sum));
    return larger(most, witness_sums);
}

unsigned plan_key_parts(const proof_plan *p) {
    unsigned parts = KEY_ROOTS_BIT;
    if (!p->streams_key && !p->in_place) parts |= KEY_POINTS_BIT;
    if (!p->evaluates_on_host) parts |= KEY_MATRIX_BIT;
    return parts;
}

static void measure(proof_plan *p, const proving_key *key) {
    p->key_bytes = key_parts_bytes(key, plan_key_parts(p));
    p->proof_bytes = proof_bytes(key, p);
}

static bool goes_by_pieces(const way *w) { return w->streams_key || w->one_vector; }

/* Points that were made on the device can't be streamed: they are there already. */
static bool is_possible(const way *w, const proving_key *key) {
    return !w->streams_key || key->image.n_bytes;
}

/* Nothing that goes by pieces is larger. */
static size_t largest_piece(const proving_key *key) {
    const uint64_t whole = larger((uint64_t)key->curve->fr.n_bytes << key->log_domain,
                                  larger(key->n_vars * (uint64_t)curve_g2_bytes(key->curve),
                                         key->h.n * (uint64_t)curve_g1_bytes(key->curve)));
    size_t piece = PIECE_MAX;
    while (piece / 2 >= PIECE_MIN && piece / 2 >= whole) piece /= 2;
    return piece;
}

bool plan_step(proof_plan *out, const proving_key *key, uint64_t limit_bytes, unsigned step) {
    for (unsigned i = 0; i < N_WAYS; i++) {
        const way *w = &ladder[i];
        if (!is_possible(w, key)) continue;
        for (size_t piece = largest_piece(key); piece >= PIECE_MIN; piece /= 2) {
            if (step-- == 0) {
                *out = (proof_plan){.evaluates_on_host = w->evaluates_on_host,
                                    .streams_key = w->streams_key,
                                    .one_vector = w->one_vector,
                                    .overlaps = w->overlaps,
                                    .piece_bytes = goes_by_pieces(w) ? piece : 0,
                                    .limit_bytes = limit_bytes};
                measure(out, key);
                return true;
            }
            if (!goes_by_pieces(w)) break;
        }
    }
    return false;
}

cuzk_status plan_choose(proof_plan *out, unsigned *step, const proving_key *key,
                        uint64_t limit_bytes, cuzk_err *err) {
    proof_plan p = {0};
    uint64_t least = UINT64_MAX;
    if (!limit_bytes) {
        *out = (proof_plan){.in_place = true};
        return CUZK_OK;
    }
    for (unsigned i = *step; plan_step(&p, key, limit_bytes, i); i++) {
        const uint64_t all = p.key_bytes + p.proof_bytes;
        if (all <= limit_bytes) {
            *step = i;
            *out = p;
            return CUZK_OK;
        }
        if (all < least) least = all;
    }
    return cuzk_fail(err, CUZK_ERR_BUDGET, "prover.plan",
                     "a proof of this circuit takes at least %" PRIu64
                     " bytes of the device's memory, of which %" PRIu64 " may be used",
                     least, limit_bytes);
}

void plan_describe(char text[PLAN_TEXT_BYTES], const proof_plan *p) {
    const double gib = 1024.0 * 1024.0 * 1024.0;
    if (p->in_place)
        (void)snprintf(text, PLAN_TEXT_BYTES, "in place");
    else
        (void)snprintf(
            text, PLAN_TEXT_BYTES, "%s evaluation, key %s, %s%s, %.1f of %.1f GiB",
            p->evaluates_on_host ? "host" : "device", p->streams_key ? "streamed" : "resident",
            p->one_vector ? "one vector at a time" : "three vectors",
            p->overlaps ? "" : ", one queue", (double)(p->key_bytes + p->proof_bytes) / gib,
            (double)p->limit_bytes / gib);
}
