/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/snarkjs_read: see snarkjs_json.h. */
#include "base/alloc.h"
#include "format/circom/json_scan.h"
#include "format/circom/snarkjs_json.h"
#include <jansson.h>
#include <stdio.h>

#define WHERE "format.snarkjs_json"

/* jansson takes up to 130 bytes for each value (an empty array), however short its text, so texts
 * with more values than such a file can need are refused before they are parsed. */
typedef struct text_limits {
    bool is_array; /* else an object */
    size_t n_bytes, n_values;
    cuzk_status too_many; /* the status of a text with more values */
} text_limits;

enum {
    MAX_DEPTH = 4,    /* vk_alphabeta_12: object, halves, parts, pairs */
    MAX_OBJECTS = 16, /* one is right, a few more get an error that names their place */
};
static const text_limits proof_limits = {false, (size_t)64 << 10, 1024, CUZK_ERR_FORMAT};
/* A point of IC has 4 values in some 190 bytes; 16 bytes a value leave room for other layouts. */
static text_limits vkey_limits(size_t n_bytes) {
    return (text_limits){false, (size_t)64 << 20, 1024 + n_bytes / 16, CUZK_ERR_FORMAT};
}
/* A signal has up to 78 digits. A few too many are for the caller to count, and nested ones for
 * the reader to name. */
static text_limits public_limits(size_t n_max, cuzk_status too_many) {
    return (text_limits){true, 4096 + 96 * n_max, 16 + n_max, too_many};
}

#define MAX_SAFE_INTEGER 9007199254740991LL /* JavaScript's: beyond it a number is not exact */

/* What a text is read for. Wrong shape is always FORMAT; `range` is the status of a number that
 * is too large and of a point off the curve. */
typedef struct reader {
    const curve *c;
    const char *what;
    cuzk_status range;
    cuzk_err *err;
} reader;

/* The name of a value for messages, such as "pi_b[1][0]". */
typedef struct path {
    char text[48];
} path;

static path path_index(const path *parent, size_t i) {
    path p;
    snprintf(p.text, sizeof p.text, "%.24s[%zu]", parent->text, i);
    return p;
}

static path path_field(const char *name) {
    path p;
    snprintf(p.text, sizeof p.text, "%s", name);
    return p;
}

static cuzk_status check_limits(json_outline *outline, cuzk_span text, const text_limits *max,
                                const char *what, cuzk_err *err) {
    CUZK_TRY(json_scan(outline, text, what, err));
    const json_outline o = *outline;
    if (o.is_array != max->is_array)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE, "%s: the text is %s, expected %s", what,
                         o.is_array ? "an array" : "an object",
                         max->is_array ? "an array" : "an object");
    if (o.depth > MAX_DEPTH)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%s: nested %zu deep, expected at most %d", what, o.depth, MAX_DEPTH);
    if (o.n_objects > MAX_OBJECTS)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE, "%s: %zu objects, expected 1 at most",
                         what, o.n_objects);
    if (o.n_values > max->n_values)
        return cuzk_fail(err, max->too_many, WHERE, "%s: %zu values, expected at most %zu",
                         what, o.n_values, max->n_values);
    if (text.n_bytes > max->n_bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE, "%s has %zu bytes, expected at most %zu",
                         what, text.n_bytes, max->n_bytes);
    return CUZK_OK;
}

/* All names and strings of a tree. The depth was bounded. */
static size_t string_bytes(json_t *v) {
    size_t n = json_is_string(v) ? json_string_length(v) : 0, i;
    const char *name;
    json_t *item;
    json_object_foreach(v, name, item) n += strlen(name) + string_bytes(item);
    json_array_foreach(v, i, item) n += string_bytes(item);
    return n;
}

static bool memory_is_gone(void) {
    void *probe = NULL;
    if (cuzk_alloc(&probe, 1, 4096, NULL) != CUZK_OK) return true;
    cuzk_free(probe);
    return false;
}

/* When memory runs out jansson may drop characters, or call a token invalid. So a tree is
 * compared with the outline, and what failed is read once more before the text is blamed. */
static cuzk_status load(json_t **out, cuzk_span text, text_limits max, const char *what,
                        cuzk_err *err) {
    json_error_t e = {.text = ""};
    json_outline o;
    bool dropped = false;
    CUZK_TRY(check_limits(&o, text, &max, what, err));
    for (int attempt = 0; attempt < 2; attempt++) {
        json_t *root =
            json_loadb((const char *)text.p, text.n_bytes, JSON_REJECT_DUPLICATES, &e);
        dropped = root != NULL && !o.has_escapes && string_bytes(root) != o.n_string_bytes;
        if (root != NULL && !dropped) {
            *out = root;
            return CUZK_OK;
        }
        json_decref(root);
    }
    if (dropped || e.text[0] == '\0' || memory_is_gone())
        return cuzk_fail(err, CUZK_ERR_NOMEM, WHERE, "no memory to read %s of %zu bytes", what,
                         text.n_bytes);
    return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE, "%s is not JSON: line %d, column %d: %.120s",
                     what, e.line, e.column, e.text);
}

static const char *type_name(const json_t *v) {
    if (v == NULL) return "missing";
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a fraction";
    default:
        return "a literal";
    }
}

/* An array of exactly n items. */
static cuzk_status expect_array(const reader *r, const json_t *v, const path *at, size_t n) {
    if (!json_is_array(v))
        return cuzk_fail(r->err, CUZK_ERR_FORMAT, WHERE,
                         "%s: %s is %s, expected an array of %zu", r->what, at->text,
                         type_name(v), n);
    if (json_array_size(v) != n)
        return cuzk_fail(r->err, CUZK_ERR_FORMAT, WHERE,
                         "%s: %s is an array of %zu items, expected %zu", r->what, at->text,
                         json_array_size(v), n);
    return CUZK_OK;
}

/* ---- numbers ---- */
typedef enum digits_result { DIGITS_OK, DIGITS_MALFORMED, DIGITS_TOO_LARGE } digits_result;

static int hex_digit(char ch) {
    if (ch >= '0' && ch <= '9') return ch - '0';
    if (ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
    if (ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
    return -1;
}

static digits_result load_hex(const field *f, fe *out, const char *digits, size_t n) {
    uint8_t be[8 * LIMBS_MAX] = {0};
    for (size_t i = 0; i < n; i++)
        if (hex_digit(digits[i]) < 0) return DIGITS_MALFORMED;
    if (n > 2u * (size_t)f->n_bytes) return DIGITS_TOO_LARGE;
    for (size_t i = 0; i < n; i++) { /* from the last digit */
        const unsigned d = (unsigned)hex_digit(digits[n - 1 - i]);
        uint8_t *byte = &be[f->n_bytes - 1 - i / 2];
        *byte = (uint8_t)(*byte | d << (4 * (i % 2)));
    }
    return field_load_be(f, out->l, be) ? DIGITS_OK : DIGITS_TOO_LARGE;
}

/* Digits as snarkjs takes them: decimal, or hexadecimal after "0x"; leading zeros are fine. */
static digits_result load_digits(const field *f, fe *out, const char *text, size_t n) {
    const bool is_hex = n > 2 && text[0] == '0' && text[1] == 'x';
    if (is_hex) {
        text += 2;
        n -= 2;
    }
    for (; n > 1 && text[0] == '0'; n--) text++;
    if (is_hex) return load_hex(f, out, text, n);
    if (n == 0) return DIGITS_MALFORMED;
    for (size_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9') return DIGITS_MALFORMED;
    if (n >= FIELD_DEC_MAX) return DIGITS_TOO_LARGE;
    return field_load_dec(f, out->l, text, n) ? DIGITS_OK : DIGITS_TOO_LARGE;
}

static cuzk_status read_number(const reader *r, fe *out, const field *f, const json_t *v,
                               const path *at) {
    if (json_is_integer(v)) {
        const json_int_t i = json_integer_value(v);
        if (i < 0 || i > MAX_SAFE_INTEGER)
            return cuzk_fail(
                r->err, CUZK_ERR_FORMAT, WHERE,
                "%s: %s is the number %lld, expected 0 to 2^53 - 1 (write larger ones "
                "as strings)",
                r->what, at->text, (long long)i);
        field_set_u64(f, out->l, (uint64_t)i);
        return CUZK_OK;
    }
    if (!json_is_string(v))
        return cuzk_fail(r->err, CUZK_ERR_FORMAT, WHERE,
                         "%s: %s is %s, expected a number as a string", r->what, at->text,
                         type_name(v));
    const char *text = json_string_value(v);
    *out = (fe){{0}};
    switch (load_digits(f, out, text, json_string_length(v))) {
    case DIGITS_OK:
        return CUZK_OK;
    case DIGITS_MALFORMED:
        return cuzk_fail(
            r->err, CUZK_ERR_FORMAT, WHERE,
            "%s: %s is \"%.40s\", expected decimal digits or 0x and hexadecimal ones", r->what,
            at->text, text);
    default:
        return cuzk_fail(r->err, r->range, WHERE, "%s: %s is not below the field's prime %s",
                         r->what, at->text, f == &r->c->fr ? "r" : "q");
    }
}

/* ---- points ---- */
/* Coordinates of degree 1 are numbers, of degree 2 pairs of them. */
static cuzk_status read_coordinate(const reader *r, fe2 *out, unsigned degree, const json_t *v,
                                   const path *at) {
    *out = (fe2){{{0}}, {{0}}};
    if (degree == 1) return read_number(r, &out->c0, &r->c->fq, v, at);
    CUZK_TRY(expect_array(r, v, at, 2));
    const path at0 = path_index(at, 0), at1 = path_index(at, 1);
    CUZK_TRY(read_number(r, &out->c0, &r->c->fq, json_array_get(v, 0), &at0));
    return read_number(r, &out->c1, &r->c->fq, json_array_get(v, 1), &at1);
}

/* (x, y, 1) or (0, 1, 0): other representatives are refused, though a point may have them, since
 * nobody writes them and two texts of one point invite confusion. */
static cuzk_status read_point(const reader *r, point *out, group_id g, const json_t *v,
                              const path *at) {
    const curve *c = r->c;
    fe2 xyz[3], zero, one;
    CUZK_TRY(expect_array(r, v, at, 3));
    for (size_t i = 0; i < 3; i++) {
        const path at_i = path_index(at, i);
        CUZK_TRY(read_coordinate(r, &xyz[i], (unsigned)g, json_array_get(v, i), &at_i));
    }
    fe2_set_zero(c, &zero);
    fe2_set_one(c, &one);
    if (fe2_equal(c, &xyz[2], &zero) && fe2_equal(c, &xyz[0], &zero) &&
        fe2_equal(c, &xyz[1], &one)) {
        point_set_infinity(c, g, out);
        return CUZK_OK;
    }
    if (!fe2_equal(c, &xyz[2], &one))
        return cuzk_fail(r->err, CUZK_ERR_FORMAT, WHERE,
                         "%s: %s is not an affine point: expected [x, y, 1], or [0, 1, 0] for "
                         "infinity",
                         r->what, at->text);
    *out = (point){.x = xyz[0], .y = xyz[1], .z = one};
    if (!point_is_on_curve(c, g, out))
        return cuzk_fail(r->err, r->range, WHERE, "%s: point %s is not on the curve %s (G%d)",
                         r->what, at->text, c->params->name, (int)g);
    return CUZK_OK;
}

static cuzk_status read_g1(const reader *r, g1_affine *out, const json_t *v, const path *at) {
    point p;
    CUZK_TRY(read_point(r, &p, GROUP_G1, v, at));
    point_to_g1(r->c, out, &p);
    return CUZK_OK;
}

static cuzk_status read_g1_field(const reader *r, g1_affine *out, const json_t *object,
                                 const char *name) {
    const path at = path_field(name);
    return read_g1(r, out, json_object_get(object, name), &at);
}

static cuzk_status read_g2_field(const reader *r, g2_affine *out, const json_t *object,
                                 const char *name) {
    const path at = path_field(name);
    point p;
    CUZK_TRY(read_point(r, &p, GROUP_G2, json_object_get(object, name), &at));
    point_to_g2(r->c, out, &p);
    return CUZK_OK;
}

/* ---- the three files ---- */
/* A member that says "groth16"; absent is fine unless required. */
static cuzk_status check_protocol(const json_t *object, bool is_required, const char *what,
                                  cuzk_err *err) {
    const json_t *v = json_object_get(object, "protocol");
    if (v == NULL && !is_required) return CUZK_OK;
    if (!json_is_string(v) || strcmp(json_string_value(v), "groth16") != 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%s: protocol is %.40s, expected \"groth16\"", what,
                         json_is_string(v) ? json_string_value(v) : type_name(v));
    return CUZK_OK;
}

static cuzk_status read_curve(curve_id *out, const json_t *object, const char *what,
                              cuzk_err *err) {
    const json_t *v = json_object_get(object, "curve");
    if (!json_is_string(v) || !curve_find_by_name(out, json_string_value(v)))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%s: curve is %.40s, expected \"bn128\" or \"bls12381\"", what,
                         json_is_string(v) ? json_string_value(v) : type_name(v));
    return CUZK_OK;
}

/* Protocol and curve may be missing from a proof, so a misspelt name must not pass for that. */
static cuzk_status refuse_other_members(const reader *r, json_t *root) {
    static const char *const known[] = {"pi_a", "pi_b", "pi_c", "protocol", "curve"};
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= strcmp(name, known[i]) == 0;
        if (!is_known)
            return cuzk_fail(r->err, CUZK_ERR_FORMAT, WHERE,
                             "%s: unknown member \"%.40s\", expected only pi_a, pi_b, pi_c, "
                             "protocol, curve",
                             r->what, name);
    }
    return CUZK_OK;
}

static cuzk_status read_proof(groth16_proof *out, const reader *r, json_t *root) {
    CUZK_TRY(refuse_other_members(r, root));
    CUZK_TRY(check_protocol(root, false, r->what, r->err));
    if (json_object_get(root, "curve") != NULL) { /* rapidsnark leaves it out */
        curve_id id = CURVE_COUNT;
        CUZK_TRY(read_curve(&id, root, r->what, r->err));
        if (id != r->c->params->id)
            return cuzk_fail(r->err, CUZK_ERR_FORMAT, WHERE,
                             "%s: curve is %s, expected %s as in the verification key",
                             r->what, curve_params_of(id)->name, r->c->params->name);
    }
    CUZK_TRY(read_g1_field(r, &out->a, root, "pi_a"));
    CUZK_TRY(read_g2_field(r, &out->b, root, "pi_b"));
    return read_g1_field(r, &out->c, root, "pi_c");
}

cuzk_status snarkjs_read_proof(groth16_proof *out, const curve *c, cuzk_span text,
                               cuzk_err *err) {
    const reader r = {c, "proof", CUZK_ERR_INVALID, err};
    groth16_proof proof;
    json_t *root = NULL;
    CUZK_TRY(load(&root, text, proof_limits, r.what, err));
    const cuzk_status status = read_proof(&proof, &r, root);
    json_decref(root);
    if (status == CUZK_OK) *out = proof;
    return status;
}

cuzk_status snarkjs_read_any_proof(groth16_proof *out, curve_id *id, cuzk_span text,
                                   const curve *const curves[CURVE_COUNT], cuzk_err *err) {
    groth16_proof proof;
    curve_id named = CURVE_COUNT;
    json_t *root = NULL;
    CUZK_TRY(load(&root, text, proof_limits, "proof", err));
    cuzk_status status = CUZK_OK;
    if (json_object_get(root, "curve") != NULL)
        status = read_curve(&named, root, "proof", err);
    if (status == CUZK_OK) {
        status = CUZK_ERR_FORMAT;
        for (unsigned i = 0; i < CURVE_COUNT && status != CUZK_OK; i++) {
            if (named != CURVE_COUNT && named != (curve_id)i) continue;
            const reader r = {curves[i], "proof", CUZK_ERR_FORMAT, err};
            status = read_proof(&proof, &r, root);
            *id = (curve_id)i;
        }
    }
    json_decref(root);
    if (status == CUZK_OK) *out = proof;
    return status;
}

static cuzk_status read_public(fe *values, const reader *r, const json_t *root) {
    for (size_t i = 0; i < json_array_size(root); i++) {
        const path top = path_field("signal"), at = path_index(&top, i);
        CUZK_TRY(read_number(r, &values[i], &r->c->fr, json_array_get(root, i), &at));
    }
    return CUZK_OK;
}

cuzk_status snarkjs_read_public(fe **out, size_t *n, const curve *c, cuzk_span text,
                                size_t n_max, cuzk_err *err) {
    const reader r = {c, "public signals", CUZK_ERR_INVALID, err};
    fe *values = NULL;
    json_t *root = NULL;
    CUZK_TRY(load(&root, text, public_limits(n_max, CUZK_ERR_INVALID), r.what, err));
    cuzk_status status = cuzk_zalloc(&values, json_array_size(root), sizeof *values, err);
    if (status != CUZK_OK) goto out;
    status = read_public(values, &r, root);
    if (status != CUZK_OK) goto out;
    *out = values;
    *n = json_array_size(root);
    values = NULL;
out:
    cuzk_free(values);
    json_decref(root);
    return status;
}

cuzk_status snarkjs_fit_public(bool fits[CURVE_COUNT], size_t *n, cuzk_span text,
                               const curve *const curves[CURVE_COUNT], cuzk_err *err) {
    fe *values = NULL;
    json_t *root = NULL;
    CUZK_TRY(load(&root, text, public_limits(SNARKJS_MAX_PUBLIC, CUZK_ERR_FORMAT),
                  "public signals", err));
    const size_t n_values = json_array_size(root);
    cuzk_status status = cuzk_zalloc(&values, n_values, sizeof *values, err);
    if (status == CUZK_OK) {
        status = CUZK_ERR_FORMAT;
        for (unsigned i = 0; i < CURVE_COUNT; i++) {
            const reader r = {curves[i], "public signals", CUZK_ERR_FORMAT,
                              status == CUZK_OK ? NULL : err};
            fits[i] = read_public(values, &r, root) == CUZK_OK;
            if (fits[i]) status = CUZK_OK;
        }
        *n = n_values;
    }
    cuzk_free(values);
    json_decref(root);
    return status;
}

static cuzk_status read_n_public(const reader *r, uint32_t *out, const json_t *root) {
    const json_t *v = json_object_get(root, "nPublic");
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        json_integer_value(v) >= (json_int_t)UINT32_MAX)
        return cuzk_fail(r->err, CUZK_ERR_FORMAT, WHERE,
                         "%s: nPublic is %s, expected an integer from 0 to 2^32 - 2", r->what,
                         json_is_integer(v) ? "out of range" : type_name(v));
    *out = (uint32_t)json_integer_value(v);
    return CUZK_OK;
}

static cuzk_status read_vkey(groth16_vkey *vk, const reader *r, const json_t *root) {
    CUZK_TRY(read_n_public(r, &vk->n_public, root));
    CUZK_TRY(read_g1_field(r, &vk->alpha1, root, "vk_alpha_1"));
    CUZK_TRY(read_g2_field(r, &vk->beta2, root, "vk_beta_2"));
    CUZK_TRY(read_g2_field(r, &vk->gamma2, root, "vk_gamma_2"));
    CUZK_TRY(read_g2_field(r, &vk->delta2, root, "vk_delta_2"));
    const path ic = path_field("IC");
    const json_t *points = json_object_get(root, "IC");
    const size_t n_ic = (size_t)vk->n_public + 1;
    CUZK_TRY(expect_array(r, points, &ic, n_ic));
    CUZK_TRY(cuzk_alloc(&vk->ic, n_ic, sizeof *vk->ic, r->err));
    for (size_t i = 0; i < n_ic; i++) {
        const path at = path_index(&ic, i);
        CUZK_TRY(read_g1(r, &vk->ic[i], json_array_get(points, i), &at));
    }
    return CUZK_OK;
}

cuzk_status snarkjs_read_vkey(groth16_vkey *out, cuzk_span text,
                              const curve *const curves[CURVE_COUNT], cuzk_err *err) {
    reader r = {NULL, "verification key", CUZK_ERR_FORMAT, err};
    groth16_vkey vk = {.ic = NULL};
    json_t *root = NULL;
    CUZK_TRY(load(&root, text, vkey_limits(text.n_bytes), r.what, err));
    cuzk_status status = check_protocol(root, true, r.what, err);
    if (status == CUZK_OK) status = read_curve(&vk.curve, root, r.what, err);
    if (status == CUZK_OK) {
        r.c = curves[vk.curve];
        status = read_vkey(&vk, &r, root);
    }
    json_decref(root);
    if (status == CUZK_OK)
        *out = vk;
    else
        groth16_vkey_fini(&vk);
    return status;
}

void groth16_vkey_fini(groth16_vkey *vk) {
    cuzk_free(vk->ic);
    vk->ic = NULL;
}

char snarkjs_json_kind(cuzk_span text) {
    json_outline o;
    if (json_scan(&o, text, "text", NULL) != CUZK_OK) return 0;
    if (o.is_array) return 's';
    if (json_scan_has_member(text, "vk_alpha_1")) return 'v';
    return json_scan_has_member(text, "pi_a") ? 'p' : 0;
}
