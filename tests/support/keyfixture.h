/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TESTS_SUPPORT_KEYFIXTURE_H
#define CUZK_TESTS_SUPPORT_KEYFIXTURE_H
/* tests/support/keyfixture: a key made in memory from a golden circuit, its witness, and the
 * memory of its device. Failures to make one fail the test. */
#include "keys/residency.h"
#include "prover/groth16.h"
#include "prover/setup.h"

typedef struct keyfixture {
    cuzk_exec *exec;
    curve curve;
    const cuzk_backend *backend;
    cuzk_device *device;
    device_memory *memory; /* NULL until keyfixture_attach */
    uint8_t *witness;
    size_t n_witness_bytes;
    setup_key made;
    proving_key key;
} keyfixture;

/* circuit: a folder of tests/golden. backend NULL: the CPU. cpu: a level, NULL = the best. */
void keyfixture_begin(keyfixture *f, curve_id id, const char *circuit, quotient_kind kind,
                      unsigned n_threads, const char *cpu, const cuzk_backend *backend);
/* From now on the key keeps a copy on its device, of whose memory `limit_bytes` may be used;
 * pinned_bytes 0: copies start from the heap. */
void keyfixture_attach(keyfixture *f, uint64_t limit_bytes, uint64_t pinned_bytes);
void keyfixture_end(keyfixture *f);

/* r and s, always the same. */
blinders keyfixture_blinders(const curve *c);
bool keyfixture_same_proof(const curve *c, const groth16_proof *a, const groth16_proof *b);

#endif
