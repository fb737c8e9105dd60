/* SPDX-License-Identifier: Apache-2.0 */
/* embed: prove and verify from C.
 *
 *   cc embed.c $(pkg-config --cflags --libs cuzk) -o embed
 *   ./embed circuit/circuit.zkey circuit/witness.wtns
 */
#include <cuzk/cuzk.h>

#include <stdio.h>
#include <string.h>

/* On failure err says which file, what was wrong and what was expected. */
static cuzk_status prove_and_verify(cuzk_runtime *rt, const char *zkey, const char *wtns,
                                    cuzk_err *err) {
    cuzk_key *key = NULL;
    cuzk_proof *proof = NULL;
    char *vkey = NULL;

    cuzk_status status = cuzk_key_open(&key, rt, zkey, err);
    if (status != CUZK_OK) goto out;
    status = cuzk_prove_file(&proof, key, wtns, NULL, err);
    if (status != CUZK_OK) goto out;

    /* A verifier has its own copy of the verification key; here it comes out of the proving key. */
    status = cuzk_key_export_vkey(&vkey, key, err);
    if (status != CUZK_OK) goto out;
    const char *proof_json = cuzk_proof_json(proof);
    const char *public_json = cuzk_proof_public_json(proof);
    status = cuzk_verify(rt, vkey, strlen(vkey), public_json, strlen(public_json), proof_json,
                         strlen(proof_json), err);
    if (status != CUZK_OK) goto out;
    printf("%s\npublic signals: %s\n", proof_json, public_json);

out: /* in reverse order; all of these take NULL */
    cuzk_string_free(vkey);
    cuzk_proof_free(proof);
    cuzk_key_close(key);
    return status;
}

int main(int argc, char **argv) {
    cuzk_runtime *rt = NULL;
    cuzk_err err;
    if (argc != 3) {
        fprintf(stderr, "usage: %s KEY.zkey WITNESS.wtns\n", argv[0]);
        return 2;
    }
    cuzk_status status = cuzk_runtime_create(&rt, NULL, &err);
    if (status == CUZK_OK) status = prove_and_verify(rt, argv[1], argv[2], &err);
    cuzk_runtime_destroy(rt);
    if (status == CUZK_OK) {
        puts("the proof is valid");
    } else {
        fprintf(stderr, "%s: %s\n", err.where, err.text);
    }
    return cuzk_status_exit_code(status);
}
