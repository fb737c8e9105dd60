/* SPDX-License-Identifier: Apache-2.0 */
/* Every entry of every limb table against slow natural numbers: both widths, the four
 * moduli, every level this processor has, edge and random values, all aliasings. */
#include "support/bigref.h"
#include "support/testrand.h"

#include "math/limb/limb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { E_MAX = 2 * LIMBS_MAX, EDGES_MAX = 48 };

/* One modulus at one level. */
typedef struct unit {
    const char *name;
    unsigned w; /* limbs */
    limb_mod m;
    const limb_ops *ops;
    big p, r;     /* p and R */
    bool has_fq2; /* 4 p < R: the entries for curves work */
    uint64_t edge[EDGES_MAX][LIMBS_MAX];
    unsigned n_edges;
    testrand rnd;
} unit;

static const struct {
    const char *name;
    unsigned w;
    uint64_t p[LIMBS_MAX];
} moduli[] = {
    {"bn254 q",
     4,
     {0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029}},
    {"bn254 r",
     4,
     {0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029}},
    {"bls12-381 r",
     4,
     {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48}},
    {"bls12-381 q",
     6,
     {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624, 0x64774b84f38512bf,
      0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a}},
};
enum { N_MODULI = sizeof moduli / sizeof moduli[0] };

/* ---- values ---- */

static void put(const unit *u, uint64_t *r, big v) {
    assert_true(big_compare(v, u->p) < 0);
    memcpy(r, v.w, u->w * sizeof *r);
}

static big get(const unit *u, const uint64_t *a) {
    const big v = big_from(a, u->w);
    assert_true(big_compare(v, u->p) < 0); /* every result is fully reduced */
    return v;
}

static void random_element(unit *u, uint64_t *r) {
    big v = {{0}};
    for (unsigned i = 0; i < u->w; i++) v.w[i] = testrand_u64(&u->rnd);
    put(u, r, big_mod(v, u->p));
}

static void add_edge(unit *u, big v) {
    assert_true(u->n_edges < EDGES_MAX);
    put(u, u->edge[u->n_edges++], big_mod(v, u->p));
}

static void make_edges(unit *u) {
    const big one = big_u64(1);
    u->n_edges = 0;
    add_edge(u, big_u64(0));
    add_edge(u, one);
    add_edge(u, big_u64(2));
    add_edge(u, big_sub(u->p, one));
    add_edge(u, big_sub(u->p, big_u64(2)));
    add_edge(u, u->r);
    add_edge(u, big_sub(u->r, one)); /* all limbs ones, reduced */
    add_edge(u, big_mul(u->r, u->r));
    big half = u->p; /* (p - 1)/2, (p + 1)/2: sums next to p */
    for (unsigned i = 0; i < u->w; i++) {
        half.w[i] = half.w[i] >> 1 | half.w[i + 1] << 63;
    }
    add_edge(u, half);
    add_edge(u, big_add(half, one));
    for (unsigned i = 0; i < u->w; i++) {
        const big lowest = big_power_of_two(64 * i);
        add_edge(u, lowest); /* one bit, and everything below it: carries across limbs */
        add_edge(u, big_sub(big_add(lowest, lowest), one));
        if (i > 0) add_edge(u, big_sub(lowest, one));
        if (i + 1 < u->w) {
            big limb = {{0}}; /* one limb of ones, and all other limbs ones */
            limb.w[i] = UINT64_MAX;
            add_edge(u, limb);
            big others = u->p;
            for (unsigned j = 0; j + 1 < u->w; j++) others.w[j] = j == i ? 0 : UINT64_MAX;
            others.w[u->w - 1] -= 1;
            add_edge(u, others);
        }
    }
    big ones = u->p; /* all ones below a top limb that keeps it under p */
    for (unsigned j = 0; j + 1 < u->w; j++) ones.w[j] = UINT64_MAX;
    ones.w[u->w - 1] -= 1;
    add_edge(u, ones);
}

/* Edge values more often than not, so that pairs of them meet. */
static void any_element(unit *u, uint64_t *r) {
    if (testrand_below(&u->rnd, 3) != 0) {
        memcpy(r, u->edge[testrand_below(&u->rnd, u->n_edges)], u->w * sizeof *r);
    } else {
        random_element(u, r);
    }
}

/* Runs `check` on every modulus and level; names the one that fails. */
typedef void unit_check(unit *u);
static void each_unit(unit_check *check) {
    static const char *const levels[] = {"portable", "adx", "ifma"};
    unit u;
    memset(&u, 0, sizeof u);
    testrand_init(&u.rnd);
    for (unsigned k = 0; k < N_MODULI; k++) {
        for (unsigned l = 0; l < sizeof levels / sizeof levels[0]; l++) {
            cuzk_cpu_level level;
            if (cuzk_cpu_select(&level, levels[l], NULL) != CUZK_OK) continue;
            u.name = moduli[k].name;
            u.w = moduli[k].w;
            limb_mod_init(&u.m, moduli[k].p, u.w);
            u.ops = limb_ops_for(u.w, level);
            u.p = big_from(moduli[k].p, u.w);
            u.r = big_power_of_two(64 * u.w);
            u.has_fq2 = moduli[k].p[u.w - 1] >> 62 == 0;
            if (level == CUZK_CPU_IFMA && u.w == 4) { /* has no table of its own */
                assert_string_equal(u.ops->name, "adx");
                continue;
            }
            assert_string_equal(u.ops->name, levels[l]);
            assert_int_equal(u.ops->n_limbs, u.w);
            make_edges(&u);
            print_message("%s, %s\n", u.name, u.ops->name);
            check(&u);
        }
    }
}

/* ---- twins: what an entry must give, from naturals. Montgomery form a stands for a/R. ---- */

static big mod(const unit *u, big v) { return big_mod(v, u->p); }

static void expect_sum(const unit *u, const uint64_t *r, big a, big b) {
    assert_int_equal(big_compare(get(u, r), mod(u, big_add(a, b))), 0);
}

static void expect_difference(const unit *u, const uint64_t *r, big a, big b) {
    assert_int_equal(big_compare(get(u, r), mod(u, big_sub(big_add(a, u->p), b))), 0);
}

/* r = v/R: compared without a division. */
static void expect_over_r(const unit *u, const uint64_t *r, big v) {
    assert_int_equal(big_compare(mod(u, big_mul(get(u, r), u->r)), mod(u, v)), 0);
}

static void check_two_operands(unit *u, const uint64_t *a, const uint64_t *b) {
    const big x = get(u, a), y = get(u, b);
    uint64_t r[LIMBS_MAX];
    u->ops->add(r, a, b, &u->m);
    expect_sum(u, r, x, y);
    u->ops->sub(r, a, b, &u->m);
    expect_difference(u, r, x, y);
    u->ops->mul(r, a, b, &u->m);
    expect_over_r(u, r, big_mul(x, y));
}

static void check_one_operand(unit *u, const uint64_t *a) {
    const big x = get(u, a);
    uint64_t r[LIMBS_MAX];
    u->ops->sqr(r, a, &u->m);
    expect_over_r(u, r, big_mul(x, x));
    u->ops->neg(r, a, &u->m);
    expect_difference(u, r, big_u64(0), x);
    u->ops->to_mont(r, a, &u->m);
    assert_int_equal(big_compare(get(u, r), mod(u, big_mul(x, u->r))), 0);
    u->ops->from_mont(r, a, &u->m);
    expect_over_r(u, r, x);
}

static void check_edges(unit *u) {
    for (unsigned i = 0; i < u->n_edges; i++) {
        check_one_operand(u, u->edge[i]);
        for (unsigned j = 0; j < u->n_edges; j++)
            check_two_operands(u, u->edge[i], u->edge[j]);
    }
}

static void check_random(unit *u) {
    uint64_t a[LIMBS_MAX], b[LIMBS_MAX];
    for (int i = 0; i < 300; i++) {
        any_element(u, a);
        random_element(u, b);
        check_one_operand(u, b);
        check_two_operands(u, a, b);
        check_two_operands(u, b, a);
    }
}

static void test_limb__matches_naturals_on_edge_values(void **state) {
    (void)state;
    each_unit(check_edges);
}

static void test_limb__matches_naturals_on_random_values(void **state) {
    (void)state;
    each_unit(check_random);
}

static void check_mod_init(unit *u) {
    const big one = big_u64(1);
    assert_int_equal(u->m.n_limbs, u->w);
    assert_int_equal(big_compare(big_from(u->m.p, u->w), u->p), 0);
    assert_int_equal(big_compare(big_from(u->m.r, u->w), mod(u, u->r)), 0);
    assert_int_equal(big_compare(big_from(u->m.r2, u->w), mod(u, big_mul(u->r, u->r))), 0);
    assert_true(u->m.inv * u->m.p[0] == UINT64_MAX);
    assert_true(big_compare(u->p, big_power_of_two(u->m.n_bits)) < 0);
    assert_true(big_compare(u->p, big_power_of_two(u->m.n_bits - 1)) >= 0);
    assert_int_equal(big_compare(mod(u, one), one), 0);
}

static void test_limb_mod_init__derives_the_constants(void **state) {
    (void)state;
    each_unit(check_mod_init);
}

/* ---- aliasing ---- */

/* fn(r, a, b) with every way of sharing storage gives what separate storage gives. */
static void check_aliases2(const unit *u, limb_fn2 *fn, const uint64_t *a, const uint64_t *b,
                           unsigned n_words) {
    const size_t n_bytes = n_words * sizeof *a;
    uint64_t expected[E_MAX], same[E_MAX], x[E_MAX], y[E_MAX];
    fn(expected, a, b, &u->m);
    memcpy(x, a, n_bytes);
    fn(x, x, b, &u->m); /* r = a */
    assert_memory_equal(x, expected, n_bytes);
    memcpy(y, b, n_bytes);
    fn(y, a, y, &u->m); /* r = b */
    assert_memory_equal(y, expected, n_bytes);
    memcpy(x, a, n_bytes);
    memcpy(y, a, n_bytes);
    fn(expected, x, y, &u->m);
    fn(same, a, a, &u->m); /* a = b */
    assert_memory_equal(same, expected, n_bytes);
    fn(x, x, x, &u->m); /* r = a = b */
    assert_memory_equal(x, expected, n_bytes);
}

static void check_alias1(const unit *u, limb_fn1 *fn, const uint64_t *a, unsigned n_words) {
    uint64_t expected[E_MAX], x[E_MAX];
    fn(expected, a, &u->m);
    memcpy(x, a, n_words * sizeof *a);
    fn(x, x, &u->m);
    assert_memory_equal(x, expected, n_words * sizeof *a);
}

static void check_aliases(unit *u) {
    const limb_ops *o = u->ops;
    for (int i = 0; i < 300; i++) {
        uint64_t a[E_MAX], b[E_MAX];
        any_element(u, a);
        any_element(u, b);
        any_element(u, a + u->w);
        any_element(u, b + u->w);
        check_aliases2(u, o->add, a, b, u->w);
        check_aliases2(u, o->sub, a, b, u->w);
        check_aliases2(u, o->mul, a, b, u->w);
        check_alias1(u, o->sqr, a, u->w);
        check_alias1(u, o->neg, a, u->w);
        check_alias1(u, o->to_mont, a, u->w);
        check_alias1(u, o->from_mont, a, u->w);
        check_alias1(u, o->inv, a, u->w);
        if (u->has_fq2) {
            check_aliases2(u, o->mul2, a, b, 2 * u->w);
            check_alias1(u, o->sqr2, a, 2 * u->w);
            check_alias1(u, o->inv2, a, 2 * u->w);
        }
    }
}

static void test_limb__gives_the_same_when_operands_are_shared(void **state) {
    (void)state;
    each_unit(check_aliases);
}

/* ---- inversion ---- */

static void check_inverse(unit *u, const uint64_t *a) {
    const big x = get(u, a);
    uint64_t r[LIMBS_MAX];
    u->ops->inv(r, a, &u->m);
    /* a = x R gives R/x: the product is R^2, or 0. */
    const bool zero = big_compare(x, big_u64(0)) == 0;
    const big expected = zero ? big_u64(0) : mod(u, big_mul(u->r, u->r));
    assert_int_equal(big_compare(mod(u, big_mul(x, get(u, r))), expected), 0);
    if (zero) assert_int_equal(big_compare(get(u, r), big_u64(0)), 0);
}

static void check_inversion(unit *u) {
    uint64_t a[LIMBS_MAX], r[LIMBS_MAX];
    for (unsigned i = 0; i < u->n_edges; i++) check_inverse(u, u->edge[i]);
    for (int i = 0; i < 1000; i++) {
        random_element(u, a);
        check_inverse(u, a);
    }
    for (unsigned bits = 1; bits < u->m.n_bits; bits++) { /* every length of operand */
        const big v = big_sub(big_power_of_two(bits), big_u64(1));
        put(u, a, v);
        check_inverse(u, a);
        put(u, a, big_sub(u->p, v));
        check_inverse(u, a);
    }
    /* Fermat, from the other end: 1/x = x^(p - 2). */
    random_element(u, a);
    u->ops->inv(r, a, &u->m);
    const big power = big_pow_mod(get(u, a), big_sub(u->p, big_u64(2)), u->p);
    assert_int_equal(
        big_compare(get(u, r), mod(u, big_mul(power, mod(u, big_mul(u->r, u->r))))), 0);
}

static void test_limb_inv__matches_naturals_and_gives_0_for_0(void **state) {
    (void)state;
    each_unit(check_inversion);
}

/* ---- Fq2 ---- */

static void check_fq2_pair(unit *u, const uint64_t *a, const uint64_t *b) {
    const big a0 = get(u, a), a1 = get(u, a + u->w), b0 = get(u, b), b1 = get(u, b + u->w);
    uint64_t r[E_MAX], s[E_MAX];
    u->ops->mul2(r, a, b, &u->m);
    expect_over_r(u, r, big_add(big_mul(a0, b0), big_mul(a1, big_sub(u->p, b1))));
    expect_over_r(u, r + u->w, big_add(big_mul(a0, b1), big_mul(a1, b0)));
    u->ops->mul2(r, a, a, &u->m);
    u->ops->sqr2(s, a, &u->m);
    assert_memory_equal(s, r, 2 * u->w * sizeof *r);
}

static void check_fq2_inverse(unit *u, const uint64_t *a) {
    uint64_t r[E_MAX], zero[E_MAX] = {0}, one[E_MAX] = {0};
    memcpy(one, u->m.r, u->w * sizeof *one);
    u->ops->inv2(r, a, &u->m);
    const bool is_zero = memcmp(a, zero, 2 * u->w * sizeof *a) == 0;
    u->ops->mul2(r, r, a, &u->m);
    assert_memory_equal(r, is_zero ? zero : one, 2 * u->w * sizeof *r);
}

static void check_fq2(unit *u) {
    if (!u->has_fq2) return;
    for (unsigned i = 0; i < u->n_edges; i++) {
        for (unsigned j = 0; j < u->n_edges; j++) {
            uint64_t a[E_MAX], b[E_MAX];
            memcpy(a, u->edge[i], u->w * sizeof *a);
            memcpy(a + u->w, u->edge[j], u->w * sizeof *a);
            any_element(u, b);
            any_element(u, b + u->w);
            check_fq2_pair(u, a, b);
            check_fq2_pair(u, b, a);
            check_fq2_inverse(u, a);
        }
    }
}

static void test_limb_fq2__matches_naturals(void **state) {
    (void)state;
    each_unit(check_fq2);
}

/* ---- vectors ---- */

enum { VEC_MAX = 19 };

static void check_vectors(unit *u) {
    static const size_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 16, VEC_MAX};
    const unsigned w = u->w;
    for (unsigned k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const size_t n = lengths[k], n_bytes = n * w * sizeof(uint64_t);
        uint64_t a[VEC_MAX * LIMBS_MAX + 1], b[VEC_MAX * LIMBS_MAX],
            r[VEC_MAX * LIMBS_MAX + 1];
        for (size_t i = 0; i < n; i++) {
            any_element(u, a + i * w);
            any_element(u, b + i * w);
        }
        r[n * w] = a[n * w] = 0xfeed;
        u->ops->vec_mul(r, a, b, n, &u->m);
        for (size_t i = 0; i < n; i++) {
            expect_over_r(u, r + i * w, big_mul(get(u, a + i * w), get(u, b + i * w)));
        }
        assert_true(r[n * w] == 0xfeed);
        u->ops->vec_sub(r, a, b, n, &u->m);
        for (size_t i = 0; i < n; i++) {
            expect_difference(u, r + i * w, get(u, a + i * w), get(u, b + i * w));
        }
        assert_true(r[n * w] == 0xfeed);
        u->ops->vec_sub(a, a, b, n, &u->m);
        assert_memory_equal(a, r, n_bytes);
        u->ops->vec_mul(r, a, b, n, &u->m);
        u->ops->vec_mul(b, a, b, n, &u->m);
        assert_memory_equal(b, r, n_bytes);
        assert_true(a[n * w] == 0xfeed);
    }
}

static void test_limb_vec__matches_naturals_at_any_length(void **state) {
    (void)state;
    each_unit(check_vectors);
}

static void check_butterflies(unit *u) {
    if (u->w != 4) {
        assert_null(u->ops->vec_dif);
        assert_null(u->ops->vec_dit);
        return;
    }
    enum { W = 4, STRIDE_MAX = 3 };
    for (size_t stride = 0; stride <= STRIDE_MAX; stride++) {
        for (size_t n = 0; n <= VEC_MAX; n++) {
            uint64_t a[VEC_MAX * W], b[VEC_MAX * W], w[VEC_MAX * STRIDE_MAX * W];
            uint64_t x[VEC_MAX * W + 1], y[VEC_MAX * W + 1];
            for (size_t i = 0; i < VEC_MAX; i++) {
                any_element(u, a + i * W);
                any_element(u, b + i * W);
            }
            for (size_t i = 0; i < VEC_MAX * STRIDE_MAX; i++) any_element(u, w + i * W);
            memcpy(x, a, sizeof a);
            memcpy(y, b, sizeof b);
            x[VEC_MAX * W] = y[VEC_MAX * W] = 0xfeed;
            u->ops->vec_dif(x, y, w, stride, n, &u->m);
            for (size_t i = 0; i < n; i++) {
                const big p = get(u, a + i * W), q = get(u, b + i * W);
                const big t = get(u, w + i * stride * W);
                expect_sum(u, x + i * W, p, q);
                expect_over_r(u, y + i * W, big_mul(mod(u, big_sub(big_add(p, u->p), q)), t));
            }
            assert_memory_equal(x + n * W, a + n * W, (VEC_MAX - n) * W * sizeof *x);
            assert_memory_equal(y + n * W, b + n * W, (VEC_MAX - n) * W * sizeof *y);

            memcpy(x, a, sizeof a);
            memcpy(y, b, sizeof b);
            u->ops->vec_dit(x, y, w, stride, n, &u->m);
            for (size_t i = 0; i < n; i++) {
                uint64_t t[W];
                u->ops->mul(t, b + i * W, w + i * stride * W, &u->m);
                expect_sum(u, x + i * W, get(u, a + i * W), get(u, t));
                expect_difference(u, y + i * W, get(u, a + i * W), get(u, t));
            }
            assert_memory_equal(x + n * W, a + n * W, (VEC_MAX - n) * W * sizeof *x);
            assert_memory_equal(y + n * W, b + n * W, (VEC_MAX - n) * W * sizeof *y);
            assert_true(x[VEC_MAX * W] == 0xfeed && y[VEC_MAX * W] == 0xfeed);
        }
    }
}

static void test_limb_ntt__butterflies_match_naturals_at_any_stride(void **state) {
    (void)state;
    each_unit(check_butterflies);
}

/* ---- levels against each other, far more values than the naturals have time for ---- */

static void check_against_portable(unit *u) {
    const limb_ops *slow = limb_ops_for(u->w, CUZK_CPU_PORTABLE), *fast = u->ops;
    const size_t n_bytes = u->w * sizeof(uint64_t);
    if (slow == fast) return;
    for (int i = 0; i < 20000; i++) {
        uint64_t a[E_MAX], b[E_MAX], x[E_MAX], y[E_MAX];
        any_element(u, a);
        any_element(u, b);
        slow->mul(x, a, b, &u->m);
        fast->mul(y, a, b, &u->m);
        assert_memory_equal(x, y, n_bytes);
        slow->add(x, a, b, &u->m);
        fast->add(y, a, b, &u->m);
        assert_memory_equal(x, y, n_bytes);
        slow->sub(x, a, b, &u->m);
        fast->sub(y, a, b, &u->m);
        assert_memory_equal(x, y, n_bytes);
        slow->sqr(x, a, &u->m);
        fast->sqr(y, a, &u->m);
        assert_memory_equal(x, y, n_bytes);
        if (!u->has_fq2) continue;
        any_element(u, a + u->w);
        any_element(u, b + u->w);
        slow->mul2(x, a, b, &u->m);
        fast->mul2(y, a, b, &u->m);
        assert_memory_equal(x, y, 2 * n_bytes);
        slow->sqr2(x, a, &u->m);
        fast->sqr2(y, a, &u->m);
        assert_memory_equal(x, y, 2 * n_bytes);
    }
}

static void test_limb__levels_agree(void **state) {
    (void)state;
    each_unit(check_against_portable);
}

/* ---- batched addition ----
 * The law does not see the curve's constant: any point lies on a curve y^2 = x^3 + c, and its
 * multiples lie on the same one. */

typedef struct law { /* affine additions over Fq (degree 1) or Fq2, one at a time */
    unit *u;
    unsigned degree, e; /* e: words of a coordinate */
} law;

static void law_mul(const law *l, uint64_t *r, const uint64_t *a, const uint64_t *b) {
    (l->degree == 1 ? l->u->ops->mul : l->u->ops->mul2)(r, a, b, &l->u->m);
}
static void law_inv(const law *l, uint64_t *r, const uint64_t *a) {
    (l->degree == 1 ? l->u->ops->inv : l->u->ops->inv2)(r, a, &l->u->m);
}
static void law_add(const law *l, uint64_t *r, const uint64_t *a, const uint64_t *b) {
    for (unsigned k = 0; k < l->e; k += l->u->w) l->u->ops->add(r + k, a + k, b + k, &l->u->m);
}
static void law_sub(const law *l, uint64_t *r, const uint64_t *a, const uint64_t *b) {
    for (unsigned k = 0; k < l->e; k += l->u->w) l->u->ops->sub(r + k, a + k, b + k, &l->u->m);
}
static bool law_is_zero(const uint64_t *a, unsigned n_words) {
    for (unsigned i = 0; i < n_words; i++) {
        if (a[i] != 0) return false;
    }
    return true;
}

static void law_sum(const law *l, uint64_t *out, const uint64_t *a, const uint64_t *b) {
    const unsigned e = l->e;
    const size_t e_bytes = e * sizeof *a;
    uint64_t num[E_MAX], den[E_MAX], slope[E_MAX], x[E_MAX], y[E_MAX];
    if (law_is_zero(a, 2 * e) || law_is_zero(b, 2 * e)) {
        memcpy(out, law_is_zero(a, 2 * e) ? b : a, 2 * e_bytes);
        return;
    }
    if (memcmp(a, b, e_bytes) == 0) {
        law_add(l, den, a + e, b + e);
        if (law_is_zero(den, e)) { /* opposite, or of order two */
            memset(out, 0, 2 * e_bytes);
            return;
        }
        law_mul(l, x, a, a);
        law_add(l, num, x, x);
        law_add(l, num, num, x);
    } else {
        law_sub(l, num, b + e, a + e);
        law_sub(l, den, b, a);
    }
    law_inv(l, den, den);
    law_mul(l, slope, num, den);
    law_mul(l, x, slope, slope);
    law_sub(l, x, x, a);
    law_sub(l, x, x, b);
    law_sub(l, y, a, x);
    law_mul(l, y, y, slope);
    law_sub(l, y, y, a + e);
    memcpy(out, x, e_bytes);
    memcpy(out + e, y, e_bytes);
}

static void law_neg(const law *l, uint64_t *r, const uint64_t *a) {
    static const uint64_t zero[E_MAX] = {0};
    memcpy(r, a, l->e * sizeof *r);
    law_sub(l, r + l->e, zero, a + l->e);
}

enum { POOL = 64, PAIRS_MAX = 513, POINT_MAX = 2 * E_MAX };
static const uint64_t guard = 0x9e3779b97f4a7c15;

typedef struct pairs {
    uint64_t pool[POOL][POINT_MAX];
    uint64_t a[PAIRS_MAX * POINT_MAX], b[PAIRS_MAX * POINT_MAX];
    uint64_t expected[PAIRS_MAX * POINT_MAX], out[PAIRS_MAX * POINT_MAX + 1];
} pairs;

/* Fills pair i: mostly generic; with specials, about every second one is not. */
static void make_pair(const law *l, pairs *t, size_t i, bool specials) {
    testrand *rnd = &l->u->rnd;
    const size_t words = 2 * l->e, n_bytes = words * sizeof(uint64_t);
    uint64_t *a = t->a + i * words, *b = t->b + i * words;
    memcpy(a, t->pool[testrand_below(rnd, POOL)], n_bytes);
    memcpy(b, t->pool[testrand_below(rnd, POOL)], n_bytes);
    if (!specials) return;
    switch (testrand_below(rnd, 12)) {
    case 0:
        memcpy(b, a, n_bytes);
        break; /* P + P */
    case 1:
        law_neg(l, b, a);
        break; /* P + (-P) */
    case 2:
        memset(a, 0, n_bytes);
        break; /* O + P */
    case 3:
        memset(b, 0, n_bytes);
        break; /* P + O */
    case 4:
        memset(a, 0, n_bytes), memset(b, 0, n_bytes); /* O + O */
        break;
    case 5: /* order two: y = 0 */
        memset(a + l->e, 0, n_bytes / 2);
        memcpy(b, a, n_bytes);
        break;
    case 6:
        memset(a, 0, n_bytes / 2);
        break; /* x = 0, on a curve of its own */
    case 7:
        a[0] = b[0] = 1;
        break; /* low words equal, x different */
    default:
        break;
    }
}

static void check_batch_once(const law *l, pairs *t, size_t n, bool specials) {
    const size_t words = 2 * l->e, n_bytes = n * words * sizeof(uint64_t);
    for (size_t i = 0; i < n; i++) {
        make_pair(l, t, i, specials);
        law_sum(l, t->expected + i * words, t->a + i * words, t->b + i * words);
    }
    /* Exactly as much scratch as asked for, so that a sanitizer sees one word more. */
    const size_t scratch_bytes = limb_batch_add_scratch(l->u->w, l->degree, n);
    uint64_t *scratch = malloc(scratch_bytes + sizeof guard);
    assert_non_null(scratch);
    memset(scratch, 0xa5, scratch_bytes);
    memcpy((char *)scratch + scratch_bytes, &guard, sizeof guard);
    limb_batch_add *fn = l->degree == 1 ? l->u->ops->batch_add1 : l->u->ops->batch_add2;

    t->out[n * words] = guard;
    fn(t->out, t->a, t->b, n, scratch, &l->u->m);
    if (n > 0) assert_memory_equal(t->out, t->expected, n_bytes);
    assert_true(t->out[n * words] == guard);
    if (n > 0) { /* in place; what the first call left in scratch must not matter */
        memcpy(t->out, t->a, n_bytes);
        fn(t->out, t->out, t->b, n, scratch, &l->u->m);
        assert_memory_equal(t->out, t->expected, n_bytes);
    }
    assert_memory_equal((char *)scratch + scratch_bytes, &guard, sizeof guard);
    free(scratch);
}

static void check_batch(unit *u) {
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 33, 511, 512, 513};
    if (!u->has_fq2) return;
    pairs *t = malloc(sizeof *t);
    assert_non_null(t);
    for (unsigned degree = 1; degree <= 2; degree++) {
        const law l = {u, degree, degree * u->w};
        for (unsigned k = 0; k < 2 * l.e; k += u->w) random_element(u, t->pool[0] + k);
        for (unsigned i = 1; i < POOL; i++)
            law_sum(&l, t->pool[i], t->pool[i - 1], t->pool[0]);
        for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            for (int round = 0; round < (sizes[k] < 100 ? 20 : 2); round++) {
                check_batch_once(&l, t, sizes[k], false);
                check_batch_once(&l, t, sizes[k], true);
            }
        }
    }
    free(t);
}

static void test_limb_batch_add__matches_the_affine_law_with_special_pairs(void **state) {
    (void)state;
    each_unit(check_batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limb_mod_init__derives_the_constants),
        cmocka_unit_test(test_limb__matches_naturals_on_edge_values),
        cmocka_unit_test(test_limb__matches_naturals_on_random_values),
        cmocka_unit_test(test_limb__gives_the_same_when_operands_are_shared),
        cmocka_unit_test(test_limb_inv__matches_naturals_and_gives_0_for_0),
        cmocka_unit_test(test_limb_fq2__matches_naturals),
        cmocka_unit_test(test_limb_vec__matches_naturals_at_any_length),
        cmocka_unit_test(test_limb_ntt__butterflies_match_naturals_at_any_stride),
        cmocka_unit_test(test_limb__levels_agree),
        cmocka_unit_test(test_limb_batch_add__matches_the_affine_law_with_special_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
