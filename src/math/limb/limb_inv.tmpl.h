/* SPDX-License-Identifier: Apache-2.0 */
/* Template: modular inversion on W limbs by Bernstein and Yang's "safegcd" division steps
 * (https://gcd.cr.yp.to/safegcd-20190413.pdf, section 11), variable time, 62 steps a batch.
 *
 * f = p and g = a shrink to f = +-1, g = 0 by steps that only look at low bits; each batch
 * of steps is one 2x2 matrix, gathered from the low words and then applied to all of f and g,
 * and, modulo p, to d and e, which keep d a = f and e a = g (times a power of two that the
 * exact division by 2^62 takes back). Numbers are signed: 62 bits a limb, the top one signed.
 *
 * Uses: fq_mul. Gives: fq_inv. */

#define N62    ((64 * W + 61) / 62)
#define MASK62 (UINT64_MAX >> 2)

typedef struct num62 {
    int64_t l[N62];
} num62;

typedef struct steps62 {
    int64_t u, v, q, r; /* 2^62 (f, g) after = (u f + v g, q f + r g) before */
} steps62;

__extension__ typedef __int128 wide62;

static void num62_load(num62 *r, const uint64_t *a) {
    for (unsigned i = 0; i < N62; i++) {
        const unsigned bit = 62 * i, word = bit / 64, shift = bit % 64;
        uint64_t v = a[word] >> shift;
        if (shift > 2 && word + 1 < W) v |= a[word + 1] << (64 - shift);
        r->l[i] = (int64_t)(v & MASK62);
    }
}

/* For values in [0, 2^(64 W)) with all limbs in [0, 2^62). */
static void num62_store(uint64_t *r, const num62 *a) {
    for (unsigned i = 0; i < W; i++) {
        const unsigned bit = 64 * i, limb = bit / 62, shift = bit % 62;
        r[i] = (uint64_t)a->l[limb] >> shift;
        if (limb + 1 < N62) r[i] |= (uint64_t)a->l[limb + 1] << (62 - shift);
    }
}

static bool num62_is_zero(const num62 *a) {
    int64_t any = 0;
    for (unsigned i = 0; i < N62; i++) any |= a->l[i];
    return any == 0;
}

/* 62 division steps on the low words of f (odd) and g. eta is minus the paper's delta. */
static int64_t divide_62(steps62 *s, int64_t eta, uint64_t f, uint64_t g) {
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int left = 62;
    for (;;) {
        /* g even: halve it, that is, double f's row. A set bit at `left` stops the count. */
        const int zeros = __builtin_ctzll(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0) break;
        if (eta < 0) {
            const uint64_t old_f = f, old_u = u, old_v = v;
            eta = -eta;
            f = g;
            g = 0 - old_f;
            u = q;
            q = 0 - old_u;
            v = r;
            r = 0 - old_v;
        }
        /* The next min(eta + 1, left) steps only add f to g where g is odd: all at once, with
         * the multiple w of f that clears up to six low bits. f (f^2 - 2) = -1/f mod 64. */
        const int run = eta + 1 < left ? (int)eta + 1 : left;
        const uint64_t w = f * g * (f * f - 2) & UINT64_MAX >> (64 - run) & 63;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    *s = (steps62){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

/* (f, g) = matrix (f, g) / 2^62, exactly. */
static void apply_steps(num62 *f, num62 *g, const steps62 *s) {
    wide62 cf = 0, cg = 0;
    for (unsigned i = 0; i < N62; i++) {
        cf += (wide62)s->u * f->l[i] + (wide62)s->v * g->l[i];
        cg += (wide62)s->q * f->l[i] + (wide62)s->r * g->l[i];
        if (i > 0) {
            f->l[i - 1] = (int64_t)((uint64_t)cf & MASK62);
            g->l[i - 1] = (int64_t)((uint64_t)cg & MASK62);
        }
        cf >>= 62;
        cg >>= 62;
    }
    f->l[N62 - 1] = (int64_t)cf;
    g->l[N62 - 1] = (int64_t)cg;
}

/* (d, e) = matrix (d, e) / 2^62 mod p. Both stay in (-2 p, p). */
static void apply_steps_mod(num62 *d, num62 *e, const steps62 *s, const num62 *p,
                            uint64_t p_inv) {
    /* Negative d, e count as p more, which keeps the range; then the multiple of p that
     * makes the low 62 bits zero. p_inv = 1/p mod 2^62. */
    const int64_t sign_d = d->l[N62 - 1] >> 63, sign_e = e->l[N62 - 1] >> 63;
    int64_t kd = (s->u & sign_d) + (s->v & sign_e);
    int64_t ke = (s->q & sign_d) + (s->r & sign_e);
    wide62 cd = (wide62)s->u * d->l[0] + (wide62)s->v * e->l[0];
    wide62 ce = (wide62)s->q * d->l[0] + (wide62)s->r * e->l[0];
    kd -= (int64_t)((p_inv * (uint64_t)cd + (uint64_t)kd) & MASK62);
    ke -= (int64_t)((p_inv * (uint64_t)ce + (uint64_t)ke) & MASK62);
    cd = (cd + (wide62)p->l[0] * kd) >> 62;
    ce = (ce + (wide62)p->l[0] * ke) >> 62;
    for (unsigned i = 1; i < N62; i++) {
        cd += (wide62)s->u * d->l[i] + (wide62)s->v * e->l[i] + (wide62)p->l[i] * kd;
        ce += (wide62)s->q * d->l[i] + (wide62)s->r * e->l[i] + (wide62)p->l[i] * ke;
        d->l[i - 1] = (int64_t)((uint64_t)cd & MASK62);
        e->l[i - 1] = (int64_t)((uint64_t)ce & MASK62);
        cd >>= 62;
        ce >>= 62;
    }
    d->l[N62 - 1] = (int64_t)cd;
    e->l[N62 - 1] = (int64_t)ce;
}

/* Adds k p (k = -1, 0, 1) to sign * a, and carries. */
static void num62_fix(num62 *a, int64_t sign, int64_t k, const num62 *p) {
    int64_t carry = 0;
    for (unsigned i = 0; i < N62; i++) {
        carry += sign * a->l[i] + k * p->l[i];
        a->l[i] = i + 1 < N62 ? (int64_t)((uint64_t)carry & MASK62) : carry;
        carry >>= 62;
    }
}

static void fq_inv(uint64_t *r, const uint64_t *a, const limb_mod *m) {
    num62 d = {{0}}, e = {{1}}, f, g, p;
    num62_load(&p, m->p);
    num62_load(&g, a);
    f = p;
    const uint64_t p_inv = 0 - m->inv;
    int64_t eta = -1;
    while (!num62_is_zero(&g)) {
        steps62 s;
        eta = divide_62(&s, eta, (uint64_t)f.l[0] | (uint64_t)f.l[1] << 62,
                        (uint64_t)g.l[0] | (uint64_t)g.l[1] << 62);
        apply_steps_mod(&d, &e, &s, &p, p_inv);
        apply_steps(&f, &g, &s);
    }
    /* d a = f = +-1 (or d = 0 when a = 0): give d the sign of f, and bring it to [0, p). */
    const int64_t sign = f.l[N62 - 1] < 0 ? -1 : 1;
    num62_fix(&d, 1, d.l[N62 - 1] < 0, &p);
    num62_fix(&d, sign, 0, &p);
    num62_fix(&d, 1, d.l[N62 - 1] < 0, &p);

    /* a was x R, so d is 1/(x R): twice times R^2, each time over R, gives R/x. */
    uint64_t t[W];
    num62_store(t, &d);
    fq_mul(t, t, m->r2, m);
    fq_mul(r, t, m->r2, m);
}

#undef N62
#undef MASK62
