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
    FE(PAIR_DOUBLE),  /* a = b, not infinity: the tangent */
    FE(PAIR_LEFT),    /* b is infinity */
    FE(PAIR_RIGHT),   /* a is infinity */
    FE(PAIR_OPPOSITE) /* a = -b */
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
    case FE(PAIR_GENERIC):
        FE(sub)(d, b, a, m);
        break;
    case FE(PAIR_DOUBLE):
        FE(add)(d, a + FE_WORDS, a + FE_WORDS, m);
        break;
    case FE(PAIR_LEFT):
    case FE(PAIR_RIGHT):
    case FE(PAIR_OPPOSITE):
        FE(set_one)(d, m);
        break;
    }
}

/* True when the sum needs no line and is in *out; else *rise is the slope's numerator. */
static bool FE(special_sum)(uint64_t *out, uint64_t *rise, const uint64_t *a,
                            const uint64_t *b, const limb_mod *m) {
    const size_t point_bytes = 2 * FE_WORDS * sizeof *a;
    uint64_t square[FE_WORDS];
    switch (FE(classify)(a, b)) {
    case FE(PAIR_GENERIC):
        FE(sub)(rise, b + FE_WORDS, a + FE_WORDS, m);
        return false;
    case FE(PAIR_DOUBLE):
        FE(sqr)(square, a, m);
        FE(add)(rise, square, square, m);
        FE(add)(rise, rise, square, m);
        return false;
    case FE(PAIR_LEFT):
        memmove(out, a, point_bytes);
        break;
    case FE(PAIR_RIGHT):
        memmove(out, b, point_bytes);
        break;
    case FE(PAIR_OPPOSITE):
        memset(out, 0, point_bytes);
        break;
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

/* The denominator of each slope. */
static void FE(find_denominators)(uint64_t *den, const uint64_t *a, const uint64_t *b,
                                  size_t n, const limb_mod *m) {
    for (; n > 0; n--, den += FE_WORDS, a += 2 * FE_WORDS, b += 2 * FE_WORDS) {
        if (CUZK_UNLIKELY(FE(maybe_special)(a, b))) {
            FE(special_denominator)(den, a, b, m);
        } else {
            FE(sub_lazy)(den, b, a, m);
        }
    }
}

/* The numerator of each slope. Sums that need none are stored, and bit i says so. */
static uint32_t FE(find_rises)(uint64_t *rise, uint64_t *out, const uint64_t *a,
                               const uint64_t *b, size_t n, const limb_mod *m) {
    uint32_t settled = 0;
    for (size_t i = 0; i < n; i++, rise += FE_WORDS) {
        const size_t at = i * 2 * FE_WORDS;
        if (CUZK_UNLIKELY(FE(maybe_special)(a + at, b + at))) {
            const bool done = FE(special_sum)(out + at, rise, a + at, b + at, m);
            settled |= (uint32_t)done << i;
        } else {
            FE(sub_lazy)(rise, b + at + FE_WORDS, a + at + FE_WORDS, m);
        }
    }
    return settled;
}

/* From the squared slopes: out.x, and in their place a.x - out.x. */
static void FE(find_x)(uint64_t *squares, uint64_t *out, const uint64_t *a, const uint64_t *b,
                       size_t n, uint32_t settled, const limb_mod *m) {
    for (size_t i = 0; i < n; i++, squares += FE_WORDS, settled >>= 1) {
        const size_t at = i * 2 * FE_WORDS;
        uint64_t x[FE_WORDS];
        if (CUZK_UNLIKELY(settled & 1)) continue;
        FE(sub)(x, squares, a + at, m);
        FE(sub)(x, x, b + at, m);
        FE(sub_lazy)(squares, a + at, x, m);
        FE(copy)(out + at, x);
    }
}

/* From the slopes times (a.x - out.x): out.y. */
static void FE(find_y)(const uint64_t *products, uint64_t *out, const uint64_t *a, size_t n,
                       uint32_t settled, const limb_mod *m) {
    for (size_t i = 0; i < n; i++, products += FE_WORDS, settled >>= 1) {
        const size_t y = i * 2 * FE_WORDS + FE_WORDS;
        if (CUZK_UNLIKELY(settled & 1)) continue;
        FE(sub)(out + y, products, a + y, m);
    }
}

static void BATCH_ADD(uint64_t *out, const uint64_t *a, const uint64_t *b, size_t n,
                      void *scratch, const limb_mod *m) {
    /* run[i] is the product of the denominators before i in i's chain; the first and last
     * BATCH_CHAINS of them stand for the empty and the whole products. */
    uint64_t *den = scratch, *run = den + n * FE_WORDS, *chains = run + n * FE_WORDS;
    if (n == 0) return;

    for (unsigned j = 0; j < BATCH_CHAINS; j++) FE(set_one)(run + j * FE_WORDS, m);
    for (size_t begin = 0; begin < n; begin += BATCH_BLOCK) {
        const size_t count = n - begin < BATCH_BLOCK ? n - begin : BATCH_BLOCK;
        const size_t at = begin * 2 * FE_WORDS;
        uint64_t *d = den + begin * FE_WORDS, *product = run + begin * FE_WORDS;
        FE(find_denominators)(d, a + at, b + at, count, m);
        FE(vec_mul_lazy)(product + BATCH_CHAINS * FE_WORDS, product, d, count, m);
    }
    FE(invert_chains)(chains, m);

    for (size_t end = n; end > 0;) {
        const size_t count = end < BATCH_BLOCK ? end : BATCH_BLOCK, begin = end - count;
        const size_t at = begin * 2 * FE_WORDS;
        uint64_t *d = den + begin * FE_WORDS, *slope = run + begin * FE_WORDS;
        while (end > begin) { /* slope = 1/d, one from each chain at a time */
            const size_t k = end - begin < BATCH_CHAINS ? end - begin : BATCH_CHAINS;
            uint64_t *inverse = chains + (BATCH_CHAINS - k) * FE_WORDS;
            end -= k;
            FE(vec_mul_lazy)(run + end * FE_WORDS, run + end * FE_WORDS, inverse, k, m);
            FE(vec_mul_lazy)(inverse, inverse, den + end * FE_WORDS, k, m);
        }
        const uint32_t settled = FE(find_rises)(d, out + at, a + at, b + at, count, m);
        FE(vec_mul_lazy)(slope, slope, d, count, m);
        FE(vec_sqr)(d, slope, count, m);
        FE(find_x)(d, out + at, a + at, b + at, count, settled, m);
        FE(vec_mul)(d, slope, d, count, m);
        FE(find_y)(d, out + at, a + at, count, settled, m);
    }
}
