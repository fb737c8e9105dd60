/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime.h"
#include "api/timing.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "circuit/constraints.h"
#include "format/circom/wtns.h"
#include "prover/groth16.h"

enum { MAX_STAGES = 8, MAX_SPANS = 1 << 16 };

struct cuzk_proof {
    char *json, *public_json;
    unsigned n_stages;
    struct {
        const char *name;
        uint64_t wall_ns;
    } stage[MAX_STAGES];
    groth16_report report;
    uint64_t peak_device_bytes;
    timing timings[TIMING_MAX];
    unsigned n_timings;
};

/* Times each stage and hands it on to the caller. */
typedef struct stage_clock {
    const cuzk_prove_options *options;
    cuzk_proof *proof;
    uint64_t since_ns;
    unsigned current; /* the stage at work, if there is one yet */
    unsigned total;
} stage_clock;

static void end_stage(stage_clock *clock) {
    const uint64_t now = cuzk_clock_ns();
    if (clock->proof->n_stages)
        clock->proof->stage[clock->current].wall_ns += now - clock->since_ns;
    clock->since_ns = now;
}

/* A stage comes again when the proof is made anew, by a smaller plan or on the CPU. */
static unsigned find_stage(cuzk_proof *proof, const char *name) {
    unsigned i = 0;
    while (i < proof->n_stages && strcmp(proof->stage[i].name, name) != 0) i++;
    CUZK_ASSERT(i < MAX_STAGES);
    if (i == proof->n_stages) proof->stage[proof->n_stages++].name = name;
    return i;
}

static int begin_stage(void *arg, const char *stage, unsigned done, unsigned total) {
    stage_clock *clock = arg;
    end_stage(clock);
    clock->current = find_stage(clock->proof, stage);
    clock->total = total;
    const cuzk_prove_options *o = clock->options;
    return o->progress ? o->progress(o->progress_arg, stage, done, total) : 0;
}

static cuzk_status check_fits(const cuzk_key *key, const wtns_view *w, cuzk_err *err) {
    const proving_key *pk = &key->pk;
    const curve_id want = pk->curve->params->id;
    if (w->curve != want)
        return cuzk_fail(err, CUZK_ERR_WITNESS, "api.prove",
                         "curve mismatch: the witness is over %s, the key over %s",
                         curve_params_of(w->curve)->name, pk->curve->params->name);
    if (w->n_values != pk->n_vars)
        return cuzk_fail(err, CUZK_ERR_WITNESS, "api.prove",
                         "witness length mismatch: %u values, the key's circuit has %u",
                         w->n_values, pk->n_vars);
    return CUZK_OK;
}

/* The circuit that a failing witness is held against. */
typedef struct circuit {
    file_in file;
    r1cs_view r1cs;
} circuit;

/* Before the work, so that a wrong name costs nothing. r1cs_path NULL: an empty one. */
static cuzk_status circuit_open(circuit *out, const cuzk_key *key, const char *r1cs_path,
                                cuzk_err *err) {
    circuit c = {0};
    *out = c;
    if (!r1cs_path) return CUZK_OK;
    CUZK_TRY(api_open(&c.file, r1cs_path, err));
    const curve_params *of_key = key->pk.curve->params;
    cuzk_status st = r1cs_parse(&c.r1cs, c.file.bytes, err);
    if (st == CUZK_OK && (c.r1cs.curve != of_key->id || c.r1cs.n_wires != key->pk.n_vars))
        st = cuzk_fail(err, CUZK_ERR_FORMAT, "api.prove",
                       "%u wires over %s, of another circuit than the key: it has %u over %s",
                       c.r1cs.n_wires, curve_params_of(c.r1cs.curve)->name, key->pk.n_vars,
                       of_key->name);
    if (st == CUZK_ERR_FORMAT) cuzk_err_prefix(err, r1cs_path);
    if (st == CUZK_OK)
        *out = c;
    else
        file_in_close(&c.file);
    return st;
}

static void circuit_close(circuit *c) { file_in_close(&c->file); }

/* The proof did not verify: says which constraint is to blame. */
static cuzk_status explain(const cuzk_key *key, const uint8_t *values, const circuit *c,
                           cuzk_err *err) {
    cuzk_err why;
    const cuzk_status st = constraints_check(&c->r1cs, values, key->pk.n_vars,
                                             &key->pk.curve->fr, key->rt->exec, &why);
    if (st == CUZK_OK) {
        (void)cuzk_fail(
            err, CUZK_ERR_FORMAT, "api.prove",
            "the witness satisfies the circuit but the proof does not verify: the key is "
            "damaged or of another circuit");
        if (key->path) cuzk_err_prefix(err, key->path);
        return CUZK_ERR_FORMAT;
    }
    if (st == CUZK_ERR_WITNESS) return cuzk_fail(err, st, why.where, "%s", why.text);
    return cuzk_fail(err, CUZK_ERR_WITNESS, "api.prove",
                     "the witness does not satisfy the circuit; no constraint is named, "
                     "because of the r1cs: %s",
                     why.text);
}

static cuzk_status write_texts(cuzk_proof *proof, const curve *c, const groth16_proof *g,
                               const uint8_t *publics, size_t n_public, cuzk_err *err) {
    CUZK_TRY(snarkjs_write_proof(&proof->json, c, g, err));
    return snarkjs_write_public(&proof->public_json, c, publics, n_public, err);
}

/* The proof itself, with what there is to tell about how it went. */
static cuzk_status prove_traced(groth16_proof *out, cuzk_proof *proof, const cuzk_key *key,
                                const uint8_t *values, const cuzk_prove_options *o,
                                cuzk_err *err) {
    const cuzk_runtime *rt = key->rt;
    cuzk_trace *trace = NULL; /* of this proof alone: others may run at the same time */
    if (rt->trace) CUZK_TRY(cuzk_trace_create(&trace, MAX_SPANS, err));
    stage_clock clock = {o, proof, cuzk_clock_ns(), 0, 0};
    const groth16_options options = {.skip_check = o->skip_check != 0,
                                     .stage = begin_stage,
                                     .stage_arg = &clock,
                                     .trace = trace,
                                     .report = &proof->report};
    cuzk_status st = groth16_prove(out, &key->pk, values, &options, err);
    end_stage(&clock);
    cuzk_device_info device;
    rt->backend->device_info(rt->device, &device);
    proof->peak_device_bytes = device.peak_bytes;
    if (st == CUZK_OK && trace)
        st = timing_compute(proof->timings, &proof->n_timings, trace, &proof->report, err);
    if (st == CUZK_OK && o->progress)
        (void)o->progress(o->progress_arg, "done", clock.total, clock.total);
    cuzk_trace_append(rt->trace, trace);
    cuzk_trace_destroy(trace);
    return st;
}

/* values: aligned, stable, checked for length only. */
static cuzk_status prove_values(cuzk_proof **out, cuzk_key *key, const uint8_t *values,
                                const circuit *against, const cuzk_prove_options *o,
                                cuzk_err *err) {
    const curve *c = key->pk.curve;
    cuzk_proof *proof = NULL;
    groth16_proof g;
    CUZK_TRY(cuzk_zalloc(&proof, 1, sizeof *proof, err));
    cuzk_status st = prove_traced(&g, proof, key, values, o, err);
    if (st == CUZK_ERR_FORMAT && key->path) cuzk_err_prefix(err, key->path);
    if (st == CUZK_ERR_WITNESS && o->r1cs_path) st = explain(key, values, against, err);
    if (st == CUZK_OK)
        st = write_texts(proof, c, &g, values + c->fr.n_bytes, key->pk.n_public, err);
    if (st == CUZK_OK)
        *out = proof;
    else
        cuzk_proof_free(proof);
    return st;
}

/* A private copy of a witness: aligned, and out of reach of whoever may still write to a mapped
 * file between the check of its values and their use. */
typedef struct witness_copy {
    uint8_t *values;
    size_t n_bytes;
} witness_copy;

static cuzk_status load_witness(witness_copy *out, const cuzk_key *key, cuzk_span wtns,
                                cuzk_err *err) {
    wtns_view view;
    CUZK_TRY(wtns_parse(&view, wtns, err));
    CUZK_TRY(check_fits(key, &view, err));
    witness_copy w = {NULL, view.values.n_bytes};
    CUZK_TRY(cuzk_alloc(&w.values, w.n_bytes, 1, err));
    memcpy(w.values, view.values.p, w.n_bytes);
    view.values.p = w.values;
    cuzk_status st = wtns_check_values(&view, &key->pk.curve->fr, err);
    if (st == CUZK_OK)
        *out = w;
    else
        cuzk_free_secret(w.values, w.n_bytes);
    return st;
}

static cuzk_status check_arguments(cuzk_proof **out, const cuzk_key *key,
                                   const cuzk_prove_options *options, cuzk_err *err) {
    if (!out || !key) return cuzk_fail(err, CUZK_ERR_ARG, "api.prove", "a NULL argument");
    if (options && options->struct_bytes != sizeof *options)
        return cuzk_fail(
            err, CUZK_ERR_ARG, "api.prove",
            "options of %zu bytes, expected %zu: start from CUZK_PROVE_OPTIONS_INIT",
            options->struct_bytes, sizeof *options);
    return CUZK_OK;
}

/* wtns_path NULL: `wtns` holds the witness. */
static cuzk_status prove_with(cuzk_proof **out, cuzk_key *key, const circuit *against,
                              const char *wtns_path, cuzk_span wtns,
                              const cuzk_prove_options *o, cuzk_err *err) {
    file_in file = {.bytes = wtns};
    witness_copy w = {NULL, 0};
    if (wtns_path) CUZK_TRY(api_open(&file, wtns_path, err));
    cuzk_status st = load_witness(&w, key, file.bytes, err);
    if (wtns_path) file_in_close(&file);
    if (st == CUZK_ERR_FORMAT && wtns_path) cuzk_err_prefix(err, wtns_path);
    if (st == CUZK_OK) {
        st = prove_values(out, key, w.values, against, o, err);
        cuzk_free_secret(w.values, w.n_bytes);
    }
    if (st == CUZK_ERR_WITNESS && wtns_path) cuzk_err_prefix(err, wtns_path);
    return st;
}

static cuzk_status prove_any(cuzk_proof **out, cuzk_key *key, const char *wtns_path,
                             cuzk_span wtns, const cuzk_prove_options *options,
                             cuzk_err *err) {
    const cuzk_prove_options defaults = CUZK_PROVE_OPTIONS_INIT;
    const cuzk_prove_options *o = options ? options : &defaults;
    circuit against;
    CUZK_TRY(circuit_open(&against, key, o->r1cs_path, err));
    cuzk_status st = prove_with(out, key, &against, wtns_path, wtns, o, err);
    circuit_close(&against);
    return st;
}

cuzk_status cuzk_prove(cuzk_proof **out, cuzk_key *key, const void *wtns, size_t n_bytes,
                       const cuzk_prove_options *options, cuzk_err *err) {
    CUZK_TRY(check_arguments(out, key, options, err));
    if (!wtns) return cuzk_fail(err, CUZK_ERR_ARG, "api.prove", "no witness (wtns is NULL)");
    return prove_any(out, key, NULL, (cuzk_span){wtns, n_bytes}, options, err);
}

cuzk_status cuzk_prove_file(cuzk_proof **out, cuzk_key *key, const char *wtns_path,
                            const cuzk_prove_options *options, cuzk_err *err) {
    CUZK_TRY(check_arguments(out, key, options, err));
    if (!wtns_path)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.prove", "no witness (wtns_path is NULL)");
    return prove_any(out, key, wtns_path, (cuzk_span){0}, options, err);
}

const char *cuzk_proof_json(const cuzk_proof *proof) { return proof->json; }
const char *cuzk_proof_public_json(const cuzk_proof *proof) { return proof->public_json; }
unsigned cuzk_proof_n_stages(const cuzk_proof *proof) { return proof->n_stages; }

void cuzk_proof_stage(const cuzk_proof *proof, unsigned i, const char **name,
                      uint64_t *wall_ns) {
    if (i >= proof->n_stages) return;
    *name = proof->stage[i].name;
    *wall_ns = proof->stage[i].wall_ns;
}

void cuzk_proof_get_info(const cuzk_proof *proof, cuzk_proof_info *out) {
    const groth16_report *r = &proof->report;
    *out = (cuzk_proof_info){.plan = r->plan,
                             .uploaded_bytes = r->uploaded_bytes,
                             .downloaded_bytes = r->downloaded_bytes,
                             .key_uploaded_bytes = r->key_uploaded_bytes,
                             .key_ns = r->key_ns,
                             .wait_ns = r->wait_ns,
                             .peak_device_bytes = proof->peak_device_bytes,
                             .n_replans = r->n_replans,
                             .n_heap_fallbacks = r->n_heap_fallbacks,
                             .n_device_faults = r->n_device_faults};
}

unsigned cuzk_proof_n_timings(const cuzk_proof *proof) { return proof->n_timings; }

void cuzk_proof_timing(const cuzk_proof *proof, unsigned i, const char **key, double *value) {
    if (i >= proof->n_timings) return;
    *key = proof->timings[i].key;
    *value = proof->timings[i].value;
}

void cuzk_proof_free(cuzk_proof *proof) {
    if (!proof) return;
    cuzk_free(proof->json);
    cuzk_free(proof->public_json);
    cuzk_free(proof);
}
