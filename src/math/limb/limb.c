/* SPDX-License-Identifier: Apache-2.0 */
/* math/limb: what does not depend on the processor: descriptors and the choice of table. */
#include "math/limb/limb.h"

#include "base/status.h"
#include "math/limb/limb_batch.h"

#include <string.h>

/* r = 2 r mod p, for r < p with the top bit of p clear. */
static void double_mod(uint64_t *r, const uint64_t *p, unsigned n_limbs) {
    uint64_t twice[LIMBS_MAX], reduced[LIMBS_MAX], carry = 0, borrow = 0;
    for (unsigned i = 0; i < n_limbs; i++) {
        twice[i] = r[i] << 1 | carry;
        carry = r[i] >> 63;
        const cuzk_u128 t = (cuzk_u128)twice[i] - p[i] - borrow;
        reduced[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    memcpy(r, borrow ? twice : reduced, n_limbs * sizeof *r);
}

void limb_mod_init(limb_mod *m, const uint64_t *p, unsigned n_limbs) {
    CUZK_ASSERT(n_limbs == 4 || n_limbs == 6);
    CUZK_ASSERT((p[0] & 1) == 1 && p[n_limbs - 1] != 0 && p[n_limbs - 1] >> 63 == 0);
    memset(m, 0, sizeof *m);
    memcpy(m->p, p, n_limbs * sizeof *p);
    m->n_limbs = n_limbs;
    m->n_bits = 64 * n_limbs - (unsigned)__builtin_clzll(p[n_limbs - 1]);

    /* Newton: an odd p is its own inverse mod 8, and each step doubles the bits. */
    uint64_t inv = p[0];
    for (unsigned bits = 3; bits < 64; bits *= 2) inv *= 2 - p[0] * inv;
    m->inv = 0 - inv;

    uint64_t power[LIMBS_MAX] = {1};
    for (unsigned i = 0; i < 64 * n_limbs; i++) double_mod(power, p, n_limbs);
    memcpy(m->r, power, sizeof power);
    for (unsigned i = 0; i < 64 * n_limbs; i++) double_mod(power, p, n_limbs);
    memcpy(m->r2, power, sizeof power);
}

size_t limb_batch_add_scratch(unsigned n_limbs, unsigned degree, size_t n) {
    /* A denominator and a running product for each pair, and the products' ends. */
    return (2 * n + BATCH_CHAINS) * degree * n_limbs * sizeof(uint64_t);
}

const limb_ops *limb_ops_for(unsigned n_limbs, cuzk_cpu_level level) {
    CUZK_ASSERT(n_limbs == 4 || n_limbs == 6);
#if defined(__x86_64__)
    if (level == CUZK_CPU_IFMA && n_limbs == 6) return &limb_ops6_ifma;
    if (level >= CUZK_CPU_ADX) return n_limbs == 4 ? &limb_ops4_adx : &limb_ops6_adx;
#endif
    CUZK_ASSERT(level == CUZK_CPU_PORTABLE);
    return n_limbs == 4 ? &limb_ops4_portable : &limb_ops6_portable;
}
