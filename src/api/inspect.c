/* SPDX-License-Identifier: Apache-2.0 */
#include "api/check_points.h"
#include "api/runtime.h"
#include "base/alloc.h"
#include "circuit/constraints.h"
#include "cuzk/tools.h"
#include "format/circom/snarkjs_json.h"
#include "format/circom/wtns.h"
#include "format/circom/zkey.h"
#include <jansson.h>

/* What every inspection gets and fills. */
typedef struct inspection {
    cuzk_runtime *rt;
    cuzk_span file;
    bool check;
    const char *r1cs_path;
    json_t *out;
    bool incomplete; /* something could not be put into `out` */
} inspection;

static void attach(inspection *in, json_t *o, const char *key, json_t *v) {
    if (json_object_set_new(o, key, v) != 0) in->incomplete = true;
}
static void put(inspection *in, json_t *o, const char *key, json_int_t v) {
    attach(in, o, key, json_integer(v));
}
static void put_text(inspection *in, json_t *o, const char *key, const char *v) {
    attach(in, o, key, json_string(v));
}

/* ---- binary files ---- */

static const char *const r1cs_sections[] = {"header", "constraints", "wire labels",
                                            "custom gates", "custom gate uses"};
static const char *const wtns_sections[] = {"header", "values"};
static const char *const zkey_sections[] = {
    "protocol", "groth16 header", "IC", "coefficients", "A", "B1", "B2", "L",
    "H",        "contributions"};

static void put_sections(inspection *in, const binfile *f, const char *const *names,
                         size_t n_names) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < f->n_sections; i++) {
        const binfile_section *s = &f->sections[i];
        json_t *e = json_object();
        put(in, e, "id", s->id);
        put_text(in, e, "name", s->id >= 1 && s->id <= n_names ? names[s->id - 1] : "unknown");
        put(in, e, "offset", (json_int_t)s->offset);
        put(in, e, "bytes", (json_int_t)s->bytes.n_bytes);
        if (json_array_append_new(list, e) != 0) in->incomplete = true;
    }
    attach(in, in->out, "sections", list);
}
#define PUT_SECTIONS(in, f, names) put_sections(in, f, names, sizeof names / sizeof names[0])

static void put_format(inspection *in, const char *format, curve_id id) {
    put_text(in, in->out, "format", format);
    put_text(in, in->out, "curve", curve_params_of(id)->name);
}

static cuzk_status count_terms(uint64_t *n_terms, const r1cs_view *v, const field *fr,
                               cuzk_err *err) {
    r1cs_cursor cur;
    r1cs_constraint k;
    bool done;
    *n_terms = 0;
    for (r1cs_cursor_init(&cur, v);;) {
        CUZK_TRY(r1cs_next(&cur, &k, &done, fr, err));
        if (done) return CUZK_OK;
        *n_terms += (uint64_t)k.a.n_terms + k.b.n_terms + k.c.n_terms;
    }
}

static cuzk_status inspect_r1cs(inspection *in, cuzk_err *err) {
    r1cs_view v;
    CUZK_TRY(r1cs_parse(&v, in->file, err));
    put_format(in, "r1cs", v.curve);
    put(in, in->out, "version", v.file.version);
    put(in, in->out, "wires", v.n_wires);
    put(in, in->out, "public_outputs", v.n_pub_out);
    put(in, in->out, "public_inputs", v.n_pub_in);
    put(in, in->out, "private_inputs", v.n_prv_in);
    put(in, in->out, "constraints", v.n_constraints);
    put(in, in->out, "labels", (json_int_t)v.n_labels);
    PUT_SECTIONS(in, &v.file, r1cs_sections);
    put_text(in, in->out, "good_for", "checking witnesses, setup of a key");
    if (!in->check) return CUZK_OK;
    uint64_t n_terms;
    CUZK_TRY(count_terms(&n_terms, &v, &in->rt->curves[v.curve].fr, err));
    json_t *checked = json_object();
    put(in, checked, "constraints", v.n_constraints);
    put(in, checked, "terms", (json_int_t)n_terms);
    attach(in, in->out, "checked", checked);
    return CUZK_OK;
}

static cuzk_status inspect_wtns(inspection *in, cuzk_err *err) {
    wtns_view v;
    CUZK_TRY(wtns_parse(&v, in->file, err));
    put_format(in, "wtns", v.curve);
    put(in, in->out, "version", v.file.version);
    put(in, in->out, "values", v.n_values);
    PUT_SECTIONS(in, &v.file, wtns_sections);
    put_text(in, in->out, "good_for", "proving with the key of its circuit");
    if (!in->check) return CUZK_OK;
    CUZK_TRY(wtns_check_values(&v, &in->rt->curves[v.curve].fr, err));
    json_t *checked = json_object();
    put(in, checked, "values", v.n_values);
    attach(in, in->out, "checked", checked);
    return CUZK_OK;
}

static cuzk_status check_triplets(const zkey_view *v, const field *fr, cuzk_err *err) {
    for (uint32_t i = 0; i < v->n_coefficients; i++) {
        const uint8_t *t = v->coefficients.p + (size_t)i * MATRIX_TRIPLET_BYTES;
        fe value;
        if (load_le32(t) > 1 || load_le32(t + 4) >= v->domain_size ||
            load_le32(t + 8) >= v->n_vars || !field_load_mont(fr, value.l, t + 12))
            return cuzk_fail(
                err, CUZK_ERR_FORMAT, "api.inspect",
                "coefficient %u: matrix %u row %u signal %u: expected matrix 0 or 1, row "
                "below %u, signal below %u, value below r",
                i, load_le32(t), load_le32(t + 4), load_le32(t + 8), v->domain_size,
                v->n_vars);
    }
    return CUZK_OK;
}

static cuzk_status check_against_r1cs(const inspection *in, const zkey_view *key,
                                      cuzk_err *err) {
    file_in file;
    r1cs_view r1cs;
    CUZK_TRY(api_open(&file, in->r1cs_path, err));
    cuzk_status st = r1cs_parse(&r1cs, file.bytes, err);
    if (st != CUZK_OK) cuzk_err_prefix(err, in->r1cs_path);
    if (st == CUZK_OK)
        st = constraints_match_key(&r1cs, key, &in->rt->curves[key->curve].fr, err);
    file_in_close(&file);
    return st;
}

static cuzk_status check_zkey(inspection *in, const zkey_view *v, cuzk_err *err) {
    const curve *c = &in->rt->curves[v->curve];
    const size_t g1 = curve_g1_bytes(c), g2 = curve_g2_bytes(c);
    const check_points_job job[] = {
        {"alpha1", GROUP_G1, {v->alpha1, g1}, true},
        {"beta1", GROUP_G1, {v->beta1, g1}, true},
        {"delta1", GROUP_G1, {v->delta1, g1}, true},
        {"beta2", GROUP_G2, {v->beta2, g2}, true},
        {"gamma2", GROUP_G2, {v->gamma2, g2}, true},
        {"delta2", GROUP_G2, {v->delta2, g2}, true},
        {"IC", GROUP_G1, v->ic, false},
        {"A", GROUP_G1, v->a, false},
        {"B1", GROUP_G1, v->b1, false},
        {"B2", GROUP_G2, v->b2, false},
        {"L", GROUP_G1, v->l, false},
        {"H", GROUP_G1, v->h, false},
    };
    uint64_t n_points = 0;
    CUZK_TRY(check_triplets(v, &c->fr, err));
    for (size_t i = 0; i < sizeof job / sizeof job[0]; i++) {
        CUZK_TRY(check_points(c, &job[i], in->rt->exec, err));
        n_points += job[i].points.n_bytes / point_packed_bytes(c, job[i].group);
    }
    if (in->r1cs_path) CUZK_TRY(check_against_r1cs(in, v, err));
    json_t *checked = json_object();
    put(in, checked, "points", (json_int_t)n_points);
    put(in, checked, "coefficients", v->n_coefficients);
    attach(in, checked, "matches_r1cs", in->r1cs_path ? json_true() : json_null());
    attach(in, in->out, "checked", checked);
    return CUZK_OK;
}

static cuzk_status inspect_zkey(inspection *in, cuzk_err *err) {
    zkey_view v;
    CUZK_TRY(zkey_parse(&v, in->file, err));
    put_format(in, "zkey", v.curve);
    put(in, in->out, "version", v.file.version);
    put_text(in, in->out, "protocol", "groth16");
    put(in, in->out, "values", v.n_vars);
    put(in, in->out, "public_signals", v.n_public);
    put(in, in->out, "domain", v.domain_size);
    put(in, in->out, "log_domain", v.log_domain);
    put(in, in->out, "coefficients", v.n_coefficients);
    PUT_SECTIONS(in, &v.file, zkey_sections);
    put_text(in, in->out, "good_for", "proving, exporting its verification key");
    return in->check ? check_zkey(in, &v, err) : CUZK_OK;
}

/* ---- JSON files ---- */

static void put_checked(inspection *in, const char *what, size_t n) {
    json_t *checked = json_object();
    put(in, checked, what, (json_int_t)n);
    attach(in, in->out, "checked", checked);
}

static cuzk_status inspect_vkey(inspection *in, cuzk_err *err) {
    enum { N_CONSTANTS = 4 }; /* alpha, beta, gamma, delta */
    groth16_vkey vk = {0};
    CUZK_TRY(snarkjs_read_vkey(&vk, in->file, in->rt->curve_of, err));
    put_format(in, "verification key", vk.curve);
    put(in, in->out, "public_signals", vk.n_public);
    put_text(in, in->out, "good_for", "verifying proofs of its circuit");
    cuzk_status st = CUZK_OK;
    if (in->check) {
        st = check_vkey_points(in->rt->curve_of[vk.curve], &vk, err);
        put_checked(in, "points", N_CONSTANTS + (size_t)vk.n_public + 1);
    }
    groth16_vkey_fini(&vk);
    return st;
}

/* These two don't say (publics) or needn't say (proof) which curve they are of. */
static cuzk_status inspect_proof(inspection *in, cuzk_err *err) {
    groth16_proof p;
    curve_id id;
    CUZK_TRY(snarkjs_read_any_proof(&p, &id, in->file, in->rt->curve_of, err));
    put_format(in, "proof", id);
    put_text(in, in->out, "good_for",
             "verifying, with its public signals and verification key");
    if (!in->check) return CUZK_OK;
    put_checked(in, "points", 3);
    return check_proof_points(in->rt->curve_of[id], &p, err);
}

static cuzk_status inspect_public(inspection *in, cuzk_err *err) {
    bool fits[CURVE_COUNT];
    size_t n;
    CUZK_TRY(snarkjs_fit_public(fits, &n, in->file, in->rt->curve_of, err));
    json_t *curves = json_array();
    for (unsigned i = 0; i < CURVE_COUNT; i++)
        if (fits[i])
            if (json_array_append_new(curves,
                                      json_string(curve_params_of((curve_id)i)->name)) != 0)
                in->incomplete = true;
    put(in, in->out, "public_signals", (json_int_t)n);
    put_text(in, in->out, "format", "public signals");
    attach(in, in->out, "fits_curves", curves);
    put_text(in, in->out, "good_for", "verifying, with its proof and verification key");
    if (in->check) put_checked(in, "values", n);
    return CUZK_OK;
}

/* ---- which one ---- */

typedef cuzk_status inspect_fn(inspection *in, cuzk_err *err);

static inspect_fn *reader_for(cuzk_span file) {
    static const struct {
        char magic[5];
        inspect_fn *fn;
    } binary[] = {{"r1cs", inspect_r1cs}, {"wtns", inspect_wtns}, {"zkey", inspect_zkey}};
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++)
        if (file.n_bytes >= 4 && !memcmp(file.p, binary[i].magic, 4)) return binary[i].fn;
    switch (snarkjs_json_kind(file)) {
    case 'v':
        return inspect_vkey;
    case 'p':
        return inspect_proof;
    case 's':
        return inspect_public;
    default:
        return NULL;
    }
}

/* The text leaves through cuzk_string_free, so it must be of our allocator. */
static cuzk_status write_text(char **out, const json_t *o, cuzk_err *err) {
    char *text = NULL;
    const size_t n = json_dumpb(o, NULL, 0, JSON_COMPACT);
    if (n) CUZK_TRY(cuzk_alloc(&text, n + 1, 1, err));
    if (n == 0 || json_dumpb(o, text, n, JSON_COMPACT) != n) {
        cuzk_free(text);
        return cuzk_fail(err, CUZK_ERR_NOMEM, "api.inspect", "no memory for the description");
    }
    text[n] = '\0';
    *out = text;
    return CUZK_OK;
}

/* jansson takes UTF-8 only, and a file may have any name. */
static bool is_ascii(const char *s) {
    while (*s && (uint8_t)*s < 0x80) s++;
    return *s == '\0';
}

cuzk_status cuzk_inspect(char **out_json, cuzk_runtime *rt, const char *path,
                         const cuzk_inspect_options *options, cuzk_err *err) {
    const cuzk_inspect_options defaults = CUZK_INSPECT_OPTIONS_INIT;
    if (!out_json || !rt)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.inspect", "a NULL argument");
    if (!options) options = &defaults;
    if (options->struct_bytes != sizeof *options)
        return cuzk_fail(
            err, CUZK_ERR_ARG, "api.inspect",
            "options of %zu bytes, expected %zu: start from CUZK_INSPECT_OPTIONS_INIT",
            options->struct_bytes, sizeof *options);
    file_in file;
    CUZK_TRY(api_open(&file, path, err));
    inspection in = {rt,   file.bytes, options->check != 0, options->r1cs_path, json_object(),
                     false};
    json_t *name = json_string(path);
    if (!name && !is_ascii(path)) name = json_string("(a name that is not UTF-8)");
    attach(&in, in.out, "file", name);
    put(&in, in.out, "bytes", (json_int_t)file.bytes.n_bytes);
    inspect_fn *reader = reader_for(file.bytes);
    cuzk_status st =
        reader
            ? reader(&in, err)
            : cuzk_fail(err, CUZK_ERR_FORMAT, "api.inspect",
                        "not a file this program knows (r1cs, wtns, zkey, or snarkjs JSON)");
    if (st == CUZK_OK) {
        st = write_text(out_json, in.incomplete ? NULL : in.out, err);
    } else {
        cuzk_err_prefix(err, path);
    }
    json_decref(in.out);
    file_in_close(&file);
    return st;
}
