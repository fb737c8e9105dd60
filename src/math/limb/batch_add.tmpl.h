/* SPDX-License-Identifier: Apache-2.0 */
/* Template: limb_batch_add over one coordinate field.
 * Parameters: FE(op) names the field's functions, FE_WORDS is the length of an element,
 * BATCH_ADD the function to define.
 *
 * Montgomery's trick: with denominators d_i and running products c_i = d_0 ... d_(i-1), one
 * inversion of the whole product gives, from the last to the first,
 * 1/d_i = c_i * acc, then acc *= d_i. Together with the slope, its square and one more
 * product for y this is 5 multiplications and 1 squaring an addition. */

typedef enum FE(pair_kind) {
    FE(PAIR_GENERIC),
    FE(PAIR_DOUBLE),    /* a = b, not infinity: the tangent */
    FE(PAIR_LEFT),      /* b is infinity */
    FE(PAIR_RIGHT),     /* a is infinity */
    FE(PAIR_OPPOSITE)   /* a = -b */
} FE(pair_kind);

static bool FE(is_zero)(const uint64_t *a, unsigned n_words) {
    uint64_t any = 0;
    for (unsigned i = 0; i < n_words; i++) any |= a[i];
    return any == 0;
}

/* False for all but 2^-62 of random generic pairs; true for every special one. */
CUZK_INLINE bool FE(maybe_special)(const uint64_t *a, const uint64_t *b) {
    return (a[0] == 0) | (b[0] == 0) | (a[0] == b[0]);
}

static FE(pair_kind) FE(classify)(const uint64_t *a, const uint64_t *b) {
    const size_t fe_bytes = FE_WORDS * sizeof *a;
    if (FE(is_zero)(b, 2 * FE_WORDS)) return FE(PAIR_LEFT);
    if (FE(is_zero)(a, 2 * FE_WORDS)) return FE(PAIR_RIGHT);
    if (memcmp(a, b, fe_bytes) != 0) return FE(PAIR_GENERIC);
    /* Equal x: the ordinates are equal or opposite, and both when zero. */
    const bool same = memcmp(a + FE_WORDS, b + FE_WORDS, fe_bytes) == 0;
    return same && !FE(is_zero)(a + FE_WORDS, FE_WORDS) ? FE(PAIR_DOUBLE) : FE(PAIR_OPPOSITE);
}

static void FE(special_denominator)(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                    const limb_mod *m) {
    switch (FE(classify)(a, b)) {
    case FE(PAIR_GENERIC): FE(sub)(d, b, a, m); break;
    case FE(PAIR_DOUBLE): FE(add)(d, a + FE_WORDS, a + FE_WORDS, m); break;
    case FE(PAIR_LEFT):
    case FE(PAIR_RIGHT):
    case FE(PAIR_OPPOSITE): FE(set_one)(d, m); break;
    }
}

/* True when the sum needs no line and is in *out; else *rise is the slope's numerator. */
static bool FE(special_sum)(uint64_t *out, uint64_t *rise, const uint64_t *a,
                            const uint64_t *b, const limb_mod *m) {
    const size_t point_bytes = 2 * FE_WORDS * sizeof *a;
    uint64_t square[FE_WORDS];
    switch (FE(classify)(a, b)) {
    case FE(PAIR_GENERIC): FE(sub)(rise, b + FE_WORDS, a + FE_WORDS, m); return false;
    case FE(PAIR_DOUBLE):
        FE(sqr)(square, a, m);
        FE(add)(rise, square, square, m);
        FE(add)(rise, rise, square, m);
        return false;
    case FE(PAIR_LEFT): memmove(out, a, point_bytes); break;
    case FE(PAIR_RIGHT): memmove(out, b, point_bytes); break;
    case FE(PAIR_OPPOSITE): memset(out, 0, point_bytes); break;
    }
    return true;
}

/* v[j] = 1 / v[j] for j < BATCH_CHAINS by one inversion. None is zero. */
static void FE(invert_chains)(uint64_t *v, const limb_mod *m) {
    uint64_t before[BATCH_CHAINS][FE_WORDS], acc[FE_WORDS];
    FE(set_one)(acc, m);
    for (unsigned j = 0; j < BATCH_CHAINS; j++) {
        memcpy(before[j], acc, sizeof acc);
        FE(mul)(acc, acc, v + j * FE_WORDS, m);
    }
    FE(inv)(acc, acc, m);
    for (unsigned j = BATCH_CHAINS; j-- > 0;) {
        FE(mul)(before[j], before[j], acc, m);
        FE(mul)(acc, acc, v + j * FE_WORDS, m);
        memcpy(v + j * FE_WORDS, before[j], sizeof acc);
    }
}

static void BATCH_ADD(uint64_t *out, const uint64_t *a, const uint64_t *b, size_t n,
                      void *scratch, const limb_mod *m) {
    enum { POINT = 2 * FE_WORDS };
    /* run[i] is the product of the denominators before i in i's chain; the first and last
     * BATCH_CHAINS of them stand for the empty and the whole products. */
    uint64_t *den = scratch, *run = den + n * FE_WORDS;
    uint64_t *acc = run + n * FE_WORDS;

    if (n == 0) return;
    for (unsigned j = 0; j < BATCH_CHAINS; j++) FE(set_one)(run + j * FE_WORDS, m);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *pa = a + i * POINT, *pb = b + i * POINT;
        uint64_t *d = den + i * FE_WORDS, *product = run + i * FE_WORDS;
        if (CUZK_UNLIKELY(FE(maybe_special)(pa, pb))) {
            FE(special_denominator)(d, pa, pb, m);
        } else {
            FE(sub_lazy)(d, pb, pa, m);
        }
        FE(mul_lazy)(product + BATCH_CHAINS * FE_WORDS, product, d, m);
    }
    FE(invert_chains)(acc, m);

    for (size_t end = n; end > 0;) {
        const size_t begin = end > BATCH_BLOCK ? end - BATCH_BLOCK : 0;
        uint32_t settled = 0; /* bit i - begin: out[i] is there */
        for (size_t i = end; i-- > begin;) { /* run = 1/den */
            uint64_t *s = run + i * FE_WORDS, *c = acc + (i - n) % BATCH_CHAINS * FE_WORDS;
            FE(mul_lazy)(s, s, c, m);
            FE(mul_lazy)(c, c, den + i * FE_WORDS, m);
        }
        for (size_t i = begin; i < end; i++) { /* run = slope */
            const uint64_t *pa = a + i * POINT, *pb = b + i * POINT;
            uint64_t *s = run + i * FE_WORDS, rise[FE_WORDS];
            if (CUZK_UNLIKELY(FE(maybe_special)(pa, pb))) {
                if (FE(special_sum)(out + i * POINT, rise, pa, pb, m)) {
                    settled |= UINT32_C(1) << (i - begin);
                    continue;
                }
            } else {
                FE(sub_lazy)(rise, pb + FE_WORDS, pa + FE_WORDS, m);
            }
            FE(mul_lazy)(s, s, rise, m);
        }
        for (size_t i = begin; i < end; i++) { /* out.x, and den = a.x - out.x */
            const uint64_t *pa = a + i * POINT, *pb = b + i * POINT;
            uint64_t x[FE_WORDS];
            if (CUZK_UNLIKELY(settled >> (i - begin) & 1)) continue;
            FE(sqr)(x, run + i * FE_WORDS, m);
            FE(sub)(x, x, pa, m);
            FE(sub)(x, x, pb, m);
            FE(sub_lazy)(den + i * FE_WORDS, pa, x, m);
            FE(copy)(out + i * POINT, x);
        }
        for (size_t i = begin; i < end; i++) { /* out.y */
            uint64_t y[FE_WORDS];
            if (CUZK_UNLIKELY(settled >> (i - begin) & 1)) continue;
            FE(mul)(y, run + i * FE_WORDS, den + i * FE_WORDS, m);
            FE(sub)(out + i * POINT + FE_WORDS, y, a + i * POINT + FE_WORDS, m);
        }
        end = begin;
    }
}
