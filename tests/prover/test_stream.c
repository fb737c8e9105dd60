/* SPDX-License-Identifier: Apache-2.0 */
/* prover: every way a proof can go through a device's memory gives the same proof, byte for
 * byte, alone and beside others, and also when the device refuses at any point. */
#include "keyfixture.h"

#include "base/alloc.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define AMPLE  ((uint64_t)1 << 40)
#define PINNED ((uint64_t)16 << 20)

/* ---- a device that fails on request ---- */
/* The CPU, but the k-th operation that may fail answers `fault`, or the k-th sum is wrong. */
static atomic_ulong n_operations, n_sums;
static unsigned long failing_operation, wrong_sum;
static cuzk_backend faulty;

static bool fails(cuzk_status *st, cuzk_err *err) {
    const unsigned long n = atomic_fetch_add(&n_operations, 1) + 1;
    *st = cuzk_fail(err, CUZK_ERR_NOMEM, "test", "operation %lu", n);
    return n == failing_operation;
}

#define FAULTY(name, parameters, arguments)                                                   \
    static cuzk_status faulty_##name parameters {                                             \
        cuzk_status st;                                                                       \
        return fails(&st, err) ? st : cuzk_backend_cpu.name arguments;                        \
    }
FAULTY(buf_alloc,
       (cuzk_buf * *out, cuzk_device *dev, cuzk_space space, size_t bytes, bool secret,
        cuzk_err *err),
       (out, dev, space, bytes, secret, err))
FAULTY(queue_open,
       (cuzk_queue * *out, cuzk_device *dev, const char *name, cuzk_trace *trace,
        cuzk_err *err),
       (out, dev, name, trace, err))
FAULTY(queue_wait, (cuzk_queue * queue, cuzk_err *err), (queue, err))
FAULTY(queue_after, (cuzk_queue * queue, cuzk_queue *other, cuzk_err *err),
       (queue, other, err))
FAULTY(upload,
       (cuzk_queue * queue, cuzk_slice to, const void *from, size_t n_bytes, cuzk_err *err),
       (queue, to, from, n_bytes, err))
FAULTY(download,
       (cuzk_queue * queue, void *to, cuzk_slice from, size_t n_bytes, cuzk_err *err),
       (queue, to, from, n_bytes, err))
FAULTY(unpack, (cuzk_queue * queue, cuzk_slice to, const packed_witness *w, cuzk_err *err),
       (queue, to, w, err))
FAULTY(matrix_open,
       (cuzk_matrix * *out, cuzk_queue *queue, const field *fr, const matrix_view *view,
        cuzk_err *err),
       (out, queue, fr, view, err))
FAULTY(domain_open,
       (cuzk_domain * *out, cuzk_device *dev, const field *fr, unsigned log_n,
        uint64_t nonresidue, const fe *coset, cuzk_err *err),
       (out, dev, fr, log_n, nonresidue, coset, err))
FAULTY(scalars_open,
       (cuzk_scalars * *out, cuzk_queue *queue, const field *fr, cuzk_slice values, size_t n,
        bool montgomery, cuzk_err *err),
       (out, queue, fr, values, n, montgomery, err))
FAULTY(evaluate, (cuzk_queue * queue, const cuzk_evaluate_job *job, cuzk_err *err),
       (queue, job, err))
FAULTY(ntt, (cuzk_queue * queue, const cuzk_ntt_job *job, cuzk_err *err), (queue, job, err))
FAULTY(pointwise, (cuzk_queue * queue, const cuzk_pointwise_job *job, cuzk_err *err),
       (queue, job, err))

static cuzk_status faulty_msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                              cuzk_err *err) {
    cuzk_status st;
    if (fails(&st, err)) return st;
    st = cuzk_backend_cpu.msm(queue, jobs, n_jobs, err);
    if (atomic_fetch_add(&n_sums, 1) + 1 == wrong_sum)
        point_double(jobs->curve, jobs->group, jobs->result, jobs->result);
    return st;
}

static void faulty_reset(unsigned long operation, unsigned long sum) {
    faulty = cuzk_backend_cpu;
    faulty.buf_alloc = faulty_buf_alloc;
    faulty.queue_open = faulty_queue_open;
    faulty.queue_wait = faulty_queue_wait;
    faulty.queue_after = faulty_queue_after;
    faulty.upload = faulty_upload;
    faulty.download = faulty_download;
    faulty.unpack = faulty_unpack;
    faulty.matrix_open = faulty_matrix_open;
    faulty.domain_open = faulty_domain_open;
    faulty.scalars_open = faulty_scalars_open;
    faulty.evaluate = faulty_evaluate;
    faulty.ntt = faulty_ntt;
    faulty.pointwise = faulty_pointwise;
    faulty.msm = faulty_msm;
    atomic_store(&n_operations, 0);
    atomic_store(&n_sums, 0);
    failing_operation = operation;
    wrong_sum = sum;
}

/* ---- every plan ---- */
static groth16_proof prove_in_place(const keyfixture *f) {
    const blinders b = keyfixture_blinders(&f->curve);
    proving_key key = f->key;
    groth16_proof proof;
    key.copy = NULL;
    key.memory = NULL;
    assert_int_equal(
        groth16_prove(&proof, &key, f->witness, &(groth16_options){.fixed = &b}, NULL),
        CUZK_OK);
    return proof;
}

static cuzk_status prove(groth16_proof *out, const keyfixture *f, const proof_plan *plan,
                         groth16_report *report) {
    const blinders b = keyfixture_blinders(&f->curve);
    cuzk_err err;
    return groth16_prove(out, &f->key, f->witness,
                         &(groth16_options){.fixed = &b, .report = report, .plan = plan},
                         &err);
}

static void assert_memory_is_given_back(const keyfixture *f) {
    budget_stats vram;
    pinned_pool_stats pinned = {0};
    (void)device_memory_evict(f->memory, UINT64_MAX);
    budget_get_stats(f->memory->vram, &vram);
    if (f->memory->pool) pinned_pool_get_stats(f->memory->pool, &pinned);
    assert_int_equal(vram.used_bytes, 0);
    assert_int_equal(vram.n_waiters, 0);
    assert_int_equal(pinned.n_leased, 0);
}

static void check_every_plan(curve_id id, const char *circuit, quotient_kind kind,
                             uint64_t pinned_bytes) {
    keyfixture f;
    proof_plan plan;
    keyfixture_begin(&f, id, circuit, kind, 2, NULL, NULL);
    const groth16_proof expected = prove_in_place(&f);
    keyfixture_attach(&f, AMPLE, pinned_bytes);
    unsigned n = 0;
    for (; plan_step(&plan, &f.key, AMPLE, n); n++) {
        groth16_report report;
        groth16_proof proof;
        assert_int_equal(prove(&proof, &f, &plan, &report), CUZK_OK);
        assert_true(keyfixture_same_proof(&f.curve, &proof, &expected));
        assert_int_equal(report.n_replans, 0);
        assert_int_equal(report.n_device_faults, 0);
        assert_true(report.uploaded_bytes > 0);
        if (n % 3 == 0) assert_memory_is_given_back(&f);
    }
    assert_true(n >= 8);
    assert_memory_is_given_back(&f);
    keyfixture_end(&f);
}

static void test_stream__proof_is_the_same_by_every_plan(void **state) {
    (void)state;
    for (unsigned id = 0; id < CURVE_COUNT; id++)
        for (unsigned kind = 0; kind < 2; kind++) {
            check_every_plan((curve_id)id, "two", (quotient_kind)kind, PINNED);
            check_every_plan((curve_id)id, "nopub", (quotient_kind)kind, PINNED);
        }
    check_every_plan(CURVE_BN254, "poseidon_4", QUOTIENT_LAGRANGE_ODD, PINNED);
    check_every_plan(CURVE_BLS12_381, "poseidon_4", QUOTIENT_MONOMIAL, 0);
}

/* Smaller pieces than the planner would ever take: many a vector, and ends that don't fit. */
static void test_stream__proof_is_the_same_with_tiny_pieces(void **state) {
    (void)state;
    static const size_t sizes[] = {192, 1024, 4064};
    for (unsigned id = 0; id < CURVE_COUNT; id++) {
        keyfixture f;
        keyfixture_begin(&f, (curve_id)id, "poseidon_4", QUOTIENT_LAGRANGE_ODD, 2, NULL, NULL);
        const groth16_proof expected = prove_in_place(&f);
        keyfixture_attach(&f, AMPLE, PINNED);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const proof_plan plan = {.evaluates_on_host = true,
                                     .streams_key = true,
                                     .one_vector = true,
                                     .piece_bytes = sizes[i]};
            groth16_proof proof;
            assert_int_equal(prove(&proof, &f, &plan, NULL), CUZK_OK);
            assert_true(keyfixture_same_proof(&f.curve, &proof, &expected));
        }
        keyfixture_end(&f);
    }
}

static void test_stream__smaller_limits_give_smaller_plans(void **state) {
    (void)state;
    keyfixture f;
    keyfixture_begin(&f, CURVE_BN254, "poseidon_4", QUOTIENT_LAGRANGE_ODD, 2, NULL, NULL);
    const groth16_proof expected = prove_in_place(&f);
    proof_plan fastest, last = {0};
    assert_true(plan_step(&fastest, &f.key, AMPLE, 0));
    cuzk_status st = CUZK_OK;
    unsigned n_plans = 0;
    for (uint64_t limit = fastest.key_bytes + fastest.proof_bytes; st == CUZK_OK;
         limit -= limit / 8) {
        device_memory *memory;
        keyfixture g = f;
        groth16_report report;
        groth16_proof proof;
        const device_memory_options options = {limit, PINNED};
        assert_int_equal(
            device_memory_create(&memory, f.backend, f.device, f.exec, &options, NULL),
            CUZK_OK);
        assert_int_equal(proving_key_attach(&g.key, memory, NULL), CUZK_OK);
        st = prove(&proof, &g, NULL, &report);
        if (st == CUZK_OK) {
            budget_stats stats;
            budget_get_stats(memory->vram, &stats);
            assert_true(keyfixture_same_proof(&f.curve, &proof, &expected));
            assert_true(stats.peak_bytes <= limit);
            n_plans +=
                memcmp(&report.chosen.evaluates_on_host, &last.evaluates_on_host, 4) != 0;
            last = report.chosen;
        }
        g.key.buf = NULL; /* it is f's */
        proving_key_close(&g.key);
        device_memory_destroy(memory);
    }
    assert_int_equal(st, CUZK_ERR_BUDGET);
    assert_true(n_plans >= 3);
    assert_true(last.streams_key);
    keyfixture_end(&f);
}

/* ---- side by side ---- */
typedef struct racer {
    const keyfixture *f;
    const groth16_proof *expected;
    unsigned n_proofs;
    bool ok;
} racer;

static void *race(void *arg) {
    racer *r = arg;
    r->ok = true;
    for (unsigned i = 0; i < r->n_proofs; i++) {
        groth16_proof proof;
        r->ok = r->ok && prove(&proof, r->f, NULL, NULL) == CUZK_OK &&
                keyfixture_same_proof(&r->f->curve, &proof, r->expected);
    }
    return NULL;
}

enum { N_RACERS = 8 };

/* Two keys that do not fit together, and threads that want them both: everyone gets through. */
static void test_stream__proofs_at_once_wait_for_each_other(void **state) {
    (void)state;
    keyfixture f, g;
    pthread_t threads[N_RACERS];
    racer racers[N_RACERS];
    proof_plan plan;
    keyfixture_begin(&f, CURVE_BN254, "one", QUOTIENT_LAGRANGE_ODD, 2, NULL, NULL);
    keyfixture_begin(&g, CURVE_BN254, "two", QUOTIENT_LAGRANGE_ODD, 2, NULL, NULL);
    const groth16_proof of_f = prove_in_place(&f), of_g = prove_in_place(&g);
    assert_true(plan_step(&plan, &g.key, AMPLE, 0));
    keyfixture_attach(&f, plan.key_bytes + plan.proof_bytes, PINNED);
    assert_int_equal(proving_key_attach(&g.key, f.memory, NULL), CUZK_OK);
    for (unsigned i = 0; i < N_RACERS; i++) {
        const bool first = i % 2 == 0;
        racers[i] = (racer){first ? &f : &g, first ? &of_f : &of_g, 6, false};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (unsigned i = 0; i < N_RACERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(racers[i].ok);
    }
    assert_memory_is_given_back(&f);
    keyfixture_end(&g);
    keyfixture_end(&f);
}

static void test_stream__one_key_is_loaded_once_for_all(void **state) {
    (void)state;
    keyfixture f;
    pthread_t threads[N_RACERS];
    racer racers[N_RACERS];
    keyfixture_begin(&f, CURVE_BLS12_381, "one", QUOTIENT_LAGRANGE_ODD, 2, NULL, NULL);
    const groth16_proof expected = prove_in_place(&f);
    keyfixture_attach(&f, AMPLE, PINNED);
    for (unsigned i = 0; i < N_RACERS; i++) {
        racers[i] = (racer){&f, &expected, 3, false};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (unsigned i = 0; i < N_RACERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(racers[i].ok);
    }
    groth16_report report;
    groth16_proof proof;
    assert_int_equal(prove(&proof, &f, NULL, &report), CUZK_OK);
    assert_int_equal(report.key_uploaded_bytes, 0);
    assert_true(device_memory_evict(f.memory, 1) > 0);
    assert_int_equal(prove(&proof, &f, NULL, &report), CUZK_OK);
    assert_true(report.key_uploaded_bytes > 0);
    keyfixture_end(&f);
}

/* ---- refusals and faults ---- */
static void begin_faulty(keyfixture *f, curve_id id, const char *circuit) {
    faulty_reset(0, 0);
    keyfixture_begin(f, id, circuit, QUOTIENT_LAGRANGE_ODD, 1, NULL, &faulty);
    keyfixture_attach(f, AMPLE, PINNED);
}

/* One refusal costs another attempt, never the proof. */
static void test_stream__proof_survives_any_one_refusal(void **state) {
    (void)state;
    keyfixture f;
    groth16_proof expected, proof;
    unsigned n_replans = 0;
    begin_faulty(&f, CURVE_BN254, "two");
    assert_int_equal(prove(&expected, &f, NULL, NULL), CUZK_OK);
    for (unsigned long k = 1;; k++) {
        groth16_report report;
        (void)device_memory_evict(f.memory, UINT64_MAX);
        faulty_reset(k, 0);
        assert_int_equal(prove(&proof, &f, NULL, &report), CUZK_OK);
        assert_true(keyfixture_same_proof(&f.curve, &proof, &expected));
        if (atomic_load(&n_operations) < k) break;
        assert_true(report.n_replans <= 1); /* 0: while it was closing */
        n_replans += report.n_replans;
        assert_memory_is_given_back(&f);
    }
    assert_true(n_replans > 30);
    keyfixture_end(&f);
}

/* By every plan alone, where there is nothing smaller to turn to but the same once more. */
static void test_stream__nothing_is_lost_when_a_plan_is_refused(void **state) {
    (void)state;
    keyfixture f;
    proof_plan plan;
    begin_faulty(&f, CURVE_BN254, "one");
    for (unsigned i = 0; plan_step(&plan, &f.key, AMPLE, i); i++) {
        if (plan.piece_bytes > 65536) continue; /* another size is another plan, but no news */
        for (unsigned long k = 1;; k++) {
            groth16_proof proof;
            (void)device_memory_evict(f.memory, UINT64_MAX);
            faulty_reset(k, 0);
            const cuzk_status st = prove(&proof, &f, &plan, NULL);
            const bool was_refused = atomic_load(&n_operations) >= k;
            assert_true(st == CUZK_OK || (was_refused && st == CUZK_ERR_NOMEM));
            assert_memory_is_given_back(&f);
            if (!was_refused) break;
        }
    }
    keyfixture_end(&f);
}

static void test_stream__wrong_sum_of_the_device_is_made_good(void **state) {
    (void)state;
    keyfixture f;
    groth16_proof proof;
    groth16_report report;
    begin_faulty(&f, CURVE_BN254, "two");
    for (unsigned long k = 1; k <= 2; k++) {
        faulty_reset(0, k);
        assert_int_equal(prove(&proof, &f, NULL, &report), CUZK_OK);
        assert_int_equal(report.n_device_faults, 1);
        const verifying_key vk = groth16_verifying_key(&f.key);
        assert_int_equal(groth16_verify(&vk, f.backend, f.device, &proof, f.witness, NULL),
                         CUZK_OK);
    }
    keyfixture_end(&f);
}

static void test_stream__wrong_witness_is_no_fault_of_the_device(void **state) {
    (void)state;
    keyfixture f;
    groth16_proof proof;
    groth16_report report;
    begin_faulty(&f, CURVE_BLS12_381, "poseidon_4");
    f.witness[32 * 500] ^= 1;
    assert_int_equal(prove(&proof, &f, NULL, &report), CUZK_ERR_WITNESS);
    assert_int_equal(report.n_device_faults, 0);
    assert_memory_is_given_back(&f);
    keyfixture_end(&f);
}

static int stop_at(void *arg, const char *stage, unsigned done, unsigned total) {
    unsigned *left = arg;
    (void)stage;
    (void)done;
    (void)total;
    return (*left)-- == 0;
}

static void test_stream__everything_is_given_back_when_cancelled(void **state) {
    (void)state;
    keyfixture f;
    proof_plan plan;
    begin_faulty(&f, CURVE_BN254, "two");
    for (unsigned i = 0; plan_step(&plan, &f.key, AMPLE, i); i++)
        for (unsigned n = 0; n < 5; n++) {
            unsigned left = n;
            groth16_proof proof;
            const groth16_options options = {
                .stage = stop_at, .stage_arg = &left, .plan = &plan};
            assert_int_equal(groth16_prove(&proof, &f.key, f.witness, &options, NULL),
                             CUZK_ERR_CANCELLED);
            assert_memory_is_given_back(&f);
        }
    keyfixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream__proof_is_the_same_by_every_plan),
        cmocka_unit_test(test_stream__proof_is_the_same_with_tiny_pieces),
        cmocka_unit_test(test_stream__smaller_limits_give_smaller_plans),
        cmocka_unit_test(test_stream__proofs_at_once_wait_for_each_other),
        cmocka_unit_test(test_stream__one_key_is_loaded_once_for_all),
        cmocka_unit_test(test_stream__proof_survives_any_one_refusal),
        cmocka_unit_test(test_stream__nothing_is_lost_when_a_plan_is_refused),
        cmocka_unit_test(test_stream__wrong_sum_of_the_device_is_made_good),
        cmocka_unit_test(test_stream__wrong_witness_is_no_fault_of_the_device),
        cmocka_unit_test(test_stream__everything_is_given_back_when_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
