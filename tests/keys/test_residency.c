/* SPDX-License-Identifier: Apache-2.0 */
/* keys: what an attached key keeps on its device, who waits for whom, and that all of it
 * goes. */
#include "keyfixture.h"

#include "keys/staging.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define AMPLE ((uint64_t)1 << 40)
#define ALL   (KEY_POINTS_BIT | KEY_MATRIX_BIT | KEY_ROOTS_BIT)

static uint64_t used_bytes(const device_memory *m) {
    budget_stats s;
    budget_get_stats(m->vram, &s);
    return s.used_bytes;
}

static void begin(keyfixture *f, const char *circuit) {
    keyfixture_begin(f, CURVE_BN254, circuit, QUOTIENT_LAGRANGE_ODD, 2, NULL, NULL);
}

static key_lease acquire(const keyfixture *f, unsigned parts, uint64_t n_bytes) {
    key_lease l;
    assert_int_equal(key_lease_acquire(&l, &f->key, parts, n_bytes, false, NULL, NULL),
                     CUZK_OK);
    return l;
}

static void assert_copied(const keyfixture *f, const key_query *of_key, const key_query *copy,
                          group_id g) {
    const size_t n_bytes = of_key->n * point_packed_bytes(&f->curve, g);
    uint8_t *back = malloc(n_bytes);
    cuzk_queue *queue;
    assert_non_null(back);
    assert_ptr_not_equal(copy->points.buf, f->key.buf);
    assert_int_equal(copy->n, of_key->n);
    assert_int_equal(f->backend->queue_open(&queue, f->device, "test", NULL, NULL), CUZK_OK);
    assert_int_equal(f->backend->download(queue, back, copy->points, n_bytes, NULL), CUZK_OK);
    assert_int_equal(f->backend->queue_wait(queue, NULL), CUZK_OK);
    assert_memory_equal(back, f->key.image.p + of_key->points.offset, n_bytes);
    f->backend->queue_close(queue);
    free(back);
}

static void test_residency__copy_holds_what_the_key_does(void **state) {
    (void)state;
    keyfixture f;
    begin(&f, "poseidon_4");
    keyfixture_attach(&f, AMPLE, 0);
    key_lease l = acquire(&f, ALL, 0);
    assert_copied(&f, &f.key.a, &l.a, GROUP_G1);
    assert_copied(&f, &f.key.b1, &l.b1, GROUP_G1);
    assert_copied(&f, &f.key.b2, &l.b2, GROUP_G2);
    assert_copied(&f, &f.key.l, &l.l, GROUP_G1);
    assert_copied(&f, &f.key.h, &l.h, GROUP_G1);
    assert_non_null(l.matrix);
    assert_non_null(l.domain);
    assert_int_equal(l.uploaded_bytes, key_part_bytes(&f.key, KEY_POINTS));
    key_lease_release(&l);
    keyfixture_end(&f);
}

static void test_residency__brings_only_what_is_asked_for_and_missing(void **state) {
    (void)state;
    keyfixture f;
    begin(&f, "one");
    keyfixture_attach(&f, AMPLE, 0);
    key_lease roots = acquire(&f, KEY_ROOTS_BIT, 100);
    assert_non_null(roots.domain);
    assert_null(roots.matrix);
    assert_ptr_equal(roots.a.points.buf, f.key.buf);
    assert_int_equal(used_bytes(f.memory), 100 + key_part_bytes(&f.key, KEY_ROOTS));
    key_lease all = acquire(&f, ALL, 10);
    assert_ptr_equal(all.domain, roots.domain);
    assert_int_equal(used_bytes(f.memory), 110 + key_parts_bytes(&f.key, ALL));
    key_lease_release(&roots);
    key_lease_release(&all);
    assert_int_equal(used_bytes(f.memory), key_parts_bytes(&f.key, ALL));
    keyfixture_end(&f);
}

static void test_residency__only_what_is_idle_is_evicted(void **state) {
    (void)state;
    keyfixture f;
    begin(&f, "one");
    keyfixture_attach(&f, AMPLE, 0);
    key_lease l = acquire(&f, ALL, 7);
    assert_int_equal(device_memory_evict(f.memory, UINT64_MAX), 0);
    key_lease_release(&l);
    assert_int_equal(device_memory_evict(f.memory, UINT64_MAX), key_parts_bytes(&f.key, ALL));
    assert_int_equal(used_bytes(f.memory), 0);
    assert_int_equal(device_memory_evict(f.memory, UINT64_MAX), 0);
    l = acquire(&f, ALL, 0);
    assert_true(l.uploaded_bytes > 0);
    key_lease_release(&l);
    keyfixture_end(&f);
}

static void test_residency__least_recently_used_goes_first(void **state) {
    (void)state;
    keyfixture f, g;
    begin(&f, "one");
    begin(&g, "two");
    keyfixture_attach(&f, AMPLE, 0);
    assert_int_equal(proving_key_attach(&g.key, f.memory, NULL), CUZK_OK);
    key_lease l = acquire(&f, ALL, 0);
    key_lease_release(&l);
    l = acquire(&g, ALL, 0);
    key_lease_release(&l);
    l = acquire(&f, ALL, 0);
    assert_int_equal(l.uploaded_bytes, 0);
    key_lease_release(&l);
    assert_int_equal(device_memory_evict(f.memory, 1), key_parts_bytes(&g.key, ALL));
    keyfixture_end(&g);
    keyfixture_end(&f);
}

static void test_residency__another_key_makes_room_for_one_that_needs_it(void **state) {
    (void)state;
    keyfixture f, g;
    begin(&f, "one");
    begin(&g, "two");
    keyfixture_attach(&f, key_parts_bytes(&g.key, ALL) + 50, 0);
    assert_int_equal(proving_key_attach(&g.key, f.memory, NULL), CUZK_OK);
    key_lease l = acquire(&f, ALL, 0);
    key_lease_release(&l);
    l = acquire(&g, ALL, 50);
    assert_int_equal(used_bytes(f.memory), key_parts_bytes(&g.key, ALL) + 50);
    key_lease_release(&l);
    l = acquire(&f, ALL, 0);
    assert_true(l.uploaded_bytes > 0);
    key_lease_release(&l);
    keyfixture_end(&g);
    keyfixture_end(&f);
}

static void test_residency__more_than_the_device_is_refused(void **state) {
    (void)state;
    keyfixture f;
    key_lease l;
    begin(&f, "one");
    keyfixture_attach(&f, key_parts_bytes(&f.key, ALL) + 50, 0);
    assert_int_equal(key_lease_acquire(&l, &f.key, ALL, 51, false, NULL, NULL),
                     CUZK_ERR_BUDGET);
    assert_int_equal(used_bytes(f.memory), 0);
    keyfixture_end(&f);
}

/* ---- waiting ---- */
typedef struct waiting {
    const keyfixture *f;
    atomic_bool is_done;
    uint64_t wait_ns, uploaded_bytes;
} waiting;

static void *wait_for_room(void *arg) {
    waiting *w = arg;
    key_lease l = acquire(w->f, ALL, 60);
    w->wait_ns = l.wait_ns;
    w->uploaded_bytes = l.uploaded_bytes;
    key_lease_release(&l);
    atomic_store(&w->is_done, true);
    return NULL;
}

static void wait_for_waiters(const device_memory *m, uint64_t n) {
    for (budget_stats s = {0}; s.n_waiters < n;) budget_get_stats(m->vram, &s);
}

/* Room for one proof beside the key: the second comes when the first goes, and finds the key. */
static void test_residency__waits_for_a_proof_on_the_same_key(void **state) {
    (void)state;
    keyfixture f;
    pthread_t thread;
    begin(&f, "one");
    keyfixture_attach(&f, key_parts_bytes(&f.key, ALL) + 100, 0);
    waiting w = {.f = &f};
    key_lease l = acquire(&f, ALL, 60);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_room, &w), 0);
    wait_for_waiters(f.memory, 1);
    assert_false(atomic_load(&w.is_done));
    key_lease_release(&l);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(w.uploaded_bytes, 0);
    assert_true(w.wait_ns > 0);
    keyfixture_end(&f);
}

static void test_residency__waits_for_a_proof_on_another_key(void **state) {
    (void)state;
    keyfixture f, g;
    pthread_t thread;
    begin(&f, "one");
    begin(&g, "two");
    keyfixture_attach(&f, key_parts_bytes(&g.key, ALL) + 100, 0);
    assert_int_equal(proving_key_attach(&g.key, f.memory, NULL), CUZK_OK);
    waiting w = {.f = &g};
    key_lease l = acquire(&f, ALL, 60);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_room, &w), 0);
    wait_for_waiters(f.memory, 1);
    assert_false(atomic_load(&w.is_done));
    key_lease_release(&l);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(w.uploaded_bytes > 0);
    keyfixture_end(&g);
    keyfixture_end(&f);
}

/* ---- staging ---- */
static void test_staging__takes_the_heap_when_the_pool_is_too_small(void **state) {
    (void)state;
    keyfixture f;
    staging s;
    begin(&f, "one");
    keyfixture_attach(&f, AMPLE, 1 << 20);
    assert_int_equal(staging_acquire(&s, f.memory, 1000, true, NULL), CUZK_OK);
    assert_non_null(s.lease.data);
    memset(s.data, 1, s.n_bytes);
    staging_release(&s);
    assert_int_equal(staging_acquire(&s, f.memory, 2 << 20, true, NULL), CUZK_OK);
    assert_null(s.lease.data);
    assert_false(s.is_pinned);
    memset(s.data, 1, s.n_bytes);
    staging_release(&s);
    staging_release(&s); /* an empty one is fine */
    keyfixture_end(&f);
}

static void test_staging__ring_keeps_what_it_carries_apart(void **state) {
    (void)state;
    enum { HALF = 4096, N = 20 * HALF - 123 };
    static uint8_t from[N], back[N];
    keyfixture f;
    staging_ring ring;
    cuzk_buf *buf;
    begin(&f, "one");
    keyfixture_attach(&f, AMPLE, 1 << 20);
    for (size_t i = 0; i < N; i++) from[i] = (uint8_t)(i * 7 / 5);
    assert_int_equal(f.backend->buf_alloc(&buf, f.device, CUZK_SPACE_DEVICE, N, false, NULL),
                     CUZK_OK);
    assert_int_equal(staging_ring_open(&ring, f.memory, HALF, NULL, NULL), CUZK_OK);
    for (size_t at = 0; at < N; at += HALF) {
        unsigned half;
        assert_int_equal(staging_ring_next(&half, &ring, NULL), CUZK_OK);
        assert_int_equal(staging_ring_put(&ring, half, (cuzk_slice){buf, at}, from + at,
                                          N - at < HALF ? N - at : HALF, NULL),
                         CUZK_OK);
    }
    assert_int_equal(staging_ring_wait(&ring, NULL), CUZK_OK);
    assert_int_equal(f.backend->download(ring.queues[0], back, (cuzk_slice){buf, 0}, N, NULL),
                     CUZK_OK);
    assert_int_equal(staging_ring_wait(&ring, NULL), CUZK_OK);
    assert_memory_equal(back, from, N);
    staging_ring_close(&ring);
    f.backend->buf_free(buf);
    keyfixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residency__copy_holds_what_the_key_does),
        cmocka_unit_test(test_residency__brings_only_what_is_asked_for_and_missing),
        cmocka_unit_test(test_residency__only_what_is_idle_is_evicted),
        cmocka_unit_test(test_residency__least_recently_used_goes_first),
        cmocka_unit_test(test_residency__another_key_makes_room_for_one_that_needs_it),
        cmocka_unit_test(test_residency__more_than_the_device_is_refused),
        cmocka_unit_test(test_residency__waits_for_a_proof_on_the_same_key),
        cmocka_unit_test(test_residency__waits_for_a_proof_on_another_key),
        cmocka_unit_test(test_staging__takes_the_heap_when_the_pool_is_too_small),
        cmocka_unit_test(test_staging__ring_keeps_what_it_carries_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
