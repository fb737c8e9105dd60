/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/zkey: see zkey.h. */
#include "format/circom/zkey.h"
#include "format/circom/prime.h"
#include <inttypes.h>

#define WHERE             "format.zkey"
#define VERSION           1u
#define PROTOCOL_GROTH16  1u
#define COEFFICIENT_BYTES 44u /* matrix, row, column, value: circuit/matrix.h */
#define N_VK_G1           3u
#define N_VK_G2           3u

enum {
    SECTION_PROTOCOL = 1,
    SECTION_HEADER = 2,
    SECTION_IC = 3,
    SECTION_COEFFICIENTS = 4,
    SECTION_A = 5,
    SECTION_B1 = 6,
    SECTION_B2 = 7,
    SECTION_L = 8,
    SECTION_H = 9,
    SECTION_CONTRIBUTIONS = 10
};

static cuzk_status parse_protocol(const binfile *file, cuzk_err *err) {
    static const char *const names[] = {"none", "groth16", "plonk"};
    cuzk_span s;
    CUZK_TRY(
        binfile_require_exact(&s, file, SECTION_PROTOCOL, 1, 4, "section 1 (protocol)", err));
    const uint32_t id = load_le32(s.p);
    if (id != PROTOCOL_GROTH16)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section 1 at offset %" PRIu64 ": protocol %" PRIu32
                         " (%s), expected 1 (groth16)",
                         binfile_find(file, SECTION_PROTOCOL)->offset, id,
                         id < 3     ? names[id]
                         : id == 10 ? "fflonk"
                                    : "unknown");
    return CUZK_OK;
}

static cuzk_status parse_curve(zkey_view *v, uint64_t *pos, cuzk_span header, uint64_t offset,
                               uint64_t *r_low, cuzk_err *err) {
    curve_id by_r;
    CUZK_TRY(prime_read(&v->curve, pos, header, offset, PRIME_Q, err));
    *r_low = *pos + 4 + 8 <= header.n_bytes ? load_le64(header.p + *pos + 4) : 0;
    CUZK_TRY(prime_read(&by_r, pos, header, offset, PRIME_R, err));
    if (by_r != v->curve)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section 2 (header) at offset %" PRIu64
                         ": q is that of %s, but r that of %s",
                         offset, curve_params_of(v->curve)->name, curve_params_of(by_r)->name);
    return CUZK_OK;
}

/* r_low: the lowest 64 bits of r, which hold its 2-adicity. H lives on the odd coset of the
 * domain, whose generator is a root of unity of twice its order, hence the limit. */
static cuzk_status check_counts(zkey_view *v, uint64_t offset, uint64_t r_low, cuzk_err *err) {
    const unsigned max_log = (unsigned)__builtin_ctzll(r_low - 1) - 1;
    if (v->n_vars < (uint64_t)v->n_public + 1)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "number of variables at offset %" PRIu64 " is %" PRIu32
                         ", expected at least %" PRIu64 " (%" PRIu32 " public signals and 1)",
                         offset, v->n_vars, (uint64_t)v->n_public + 1, v->n_public);
    if (v->domain_size == 0 || (v->domain_size & (v->domain_size - 1)) != 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "domain size at offset %" PRIu64 " is %" PRIu32
                         ", expected a power of two",
                         offset + 8, v->domain_size);
    v->log_domain = (unsigned)__builtin_ctz(v->domain_size);
    if (v->log_domain > max_log)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "domain size at offset %" PRIu64
                         " is 2^%u, expected at most 2^%u on %s",
                         offset + 8, v->log_domain, max_log, curve_params_of(v->curve)->name);
    if (v->domain_size < (uint64_t)v->n_public + 1)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "domain size at offset %" PRIu64 " is %" PRIu32
                         ", expected at least %" PRIu64 " (%" PRIu32 " public signals and 1)",
                         offset + 8, v->domain_size, (uint64_t)v->n_public + 1, v->n_public);
    return CUZK_OK;
}

static cuzk_status parse_header(zkey_view *v, cuzk_err *err) {
    cuzk_span header;
    uint64_t pos = 0, r_low = 0;
    CUZK_TRY(binfile_require(&header, &v->file, SECTION_HEADER, 0, "section 2 (header)", err));
    const uint64_t offset = binfile_find(&v->file, SECTION_HEADER)->offset;
    CUZK_TRY(parse_curve(v, &pos, header, offset, &r_low, err));

    const size_t g1 = zkey_point_bytes(v->curve, 1), g2 = zkey_point_bytes(v->curve, 2);
    const uint64_t expected = pos + 12 + N_VK_G1 * g1 + N_VK_G2 * g2;
    if (header.n_bytes != expected)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section 2 (header) at offset %" PRIu64 " has %zu bytes, expected "
                         "%" PRIu64 " on %s",
                         offset, header.n_bytes, expected, curve_params_of(v->curve)->name);
    const uint8_t *p = header.p + pos;
    v->n_vars = load_le32(p);
    v->n_public = load_le32(p + 4);
    v->domain_size = load_le32(p + 8);
    CUZK_TRY(check_counts(v, offset + pos, r_low, err));
    v->alpha1 = p + 12;
    v->beta1 = v->alpha1 + g1;
    v->beta2 = v->beta1 + g1;
    v->gamma2 = v->beta2 + g2;
    v->delta1 = v->gamma2 + g2;
    v->delta2 = v->delta1 + g1;
    return CUZK_OK;
}

static cuzk_status parse_coefficients(zkey_view *v, cuzk_err *err) {
    cuzk_span s;
    CUZK_TRY(binfile_require(&s, &v->file, SECTION_COEFFICIENTS, 4, "section 4 (coefficients)",
                             err));
    v->n_coefficients = load_le32(s.p);
    const uint64_t expected = (uint64_t)v->n_coefficients * COEFFICIENT_BYTES;
    if (s.n_bytes - 4 != expected)
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "section 4 (coefficients) at offset %" PRIu64
                         " has %zu bytes, expected "
                         "%" PRIu64 " (4 and %" PRIu32 " of %u)",
                         binfile_find(&v->file, SECTION_COEFFICIENTS)->offset, s.n_bytes,
                         expected + 4, v->n_coefficients, COEFFICIENT_BYTES);
    v->coefficients = (cuzk_span){s.p + 4, s.n_bytes - 4};
    return CUZK_OK;
}

size_t zkey_point_bytes(curve_id id, unsigned degree) {
    return 2u * degree * prime_bytes(id, PRIME_Q);
}

cuzk_status zkey_parse(zkey_view *out, cuzk_span file, cuzk_err *err) {
    zkey_view v = {.n_vars = 0};
    CUZK_TRY(binfile_parse(&v.file, file, "zkey", VERSION, err));
    CUZK_TRY(parse_protocol(&v.file, err));
    CUZK_TRY(parse_header(&v, err));
    CUZK_TRY(parse_coefficients(&v, err));

    const uint64_t n_ic = (uint64_t)v.n_public + 1;
    const size_t g1 = zkey_point_bytes(v.curve, 1), g2 = zkey_point_bytes(v.curve, 2);
    const struct {
        cuzk_span *out;
        uint32_t id;
        uint64_t n_points;
        size_t point_bytes;
        const char *what;
    } sections[] = {
        {&v.ic, SECTION_IC, n_ic, g1, "section 3 (IC points)"},
        {&v.a, SECTION_A, v.n_vars, g1, "section 5 (A points)"},
        {&v.b1, SECTION_B1, v.n_vars, g1, "section 6 (B1 points)"},
        {&v.b2, SECTION_B2, v.n_vars, g2, "section 7 (B2 points)"},
        {&v.l, SECTION_L, v.n_vars - n_ic, g1, "section 8 (C points)"},
        {&v.h, SECTION_H, v.domain_size, g1, "section 9 (H points)"},
    };
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        CUZK_TRY(binfile_require_exact(sections[i].out, &v.file, sections[i].id,
                                       sections[i].n_points, sections[i].point_bytes,
                                       sections[i].what, err));
    *out = v;
    return CUZK_OK;
}

static cuzk_status put_header(const zkey_view *v, const curve *c, const byte_sink *sink,
                              cuzk_err *err) {
    const size_t g1 = curve_g1_bytes(c), g2 = curve_g2_bytes(c);
    uint8_t counts[12];
    store_le32(counts, v->n_vars);
    store_le32(counts + 4, v->n_public);
    store_le32(counts + 8, v->domain_size);
    CUZK_TRY(binfile_put_section(sink, SECTION_HEADER,
                                 4u + c->fq.n_bytes + 4u + c->fr.n_bytes + sizeof counts +
                                     N_VK_G1 * g1 + N_VK_G2 * g2,
                                 err));
    CUZK_TRY(prime_put(sink, &c->fq, err));
    CUZK_TRY(prime_put(sink, &c->fr, err));
    CUZK_TRY(byte_sink_put(sink, counts, sizeof counts, err));
    CUZK_TRY(byte_sink_put(sink, v->alpha1, g1, err));
    CUZK_TRY(byte_sink_put(sink, v->beta1, g1, err));
    CUZK_TRY(byte_sink_put(sink, v->beta2, g2, err));
    CUZK_TRY(byte_sink_put(sink, v->gamma2, g2, err));
    CUZK_TRY(byte_sink_put(sink, v->delta1, g1, err));
    return byte_sink_put(sink, v->delta2, g2, err);
}

cuzk_status zkey_write(const zkey_view *v, const curve *c, const byte_sink *sink,
                       cuzk_err *err) {
    uint8_t protocol[4], n_coefficients[4];
    static const uint8_t no_contributions[64 + 4]; /* circuit hash, number of contributions */
    store_le32(protocol, PROTOCOL_GROTH16);
    store_le32(n_coefficients, v->n_coefficients);
    CUZK_TRY(binfile_put_header(sink, "zkey", VERSION, SECTION_CONTRIBUTIONS, err));
    CUZK_TRY(binfile_put_span(sink, SECTION_PROTOCOL, (cuzk_span){protocol, 4}, err));
    CUZK_TRY(put_header(v, c, sink, err));
    CUZK_TRY(binfile_put_span(sink, SECTION_IC, v->ic, err));
    CUZK_TRY(binfile_put_section(sink, SECTION_COEFFICIENTS,
                                 4 + (uint64_t)v->coefficients.n_bytes, err));
    CUZK_TRY(byte_sink_put(sink, n_coefficients, 4, err));
    CUZK_TRY(byte_sink_put(sink, v->coefficients.p, v->coefficients.n_bytes, err));
    CUZK_TRY(binfile_put_span(sink, SECTION_A, v->a, err));
    CUZK_TRY(binfile_put_span(sink, SECTION_B1, v->b1, err));
    CUZK_TRY(binfile_put_span(sink, SECTION_B2, v->b2, err));
    CUZK_TRY(binfile_put_span(sink, SECTION_L, v->l, err));
    CUZK_TRY(binfile_put_span(sink, SECTION_H, v->h, err));
    return binfile_put_span(sink, SECTION_CONTRIBUTIONS,
                            (cuzk_span){no_contributions, sizeof no_contributions}, err);
}
