/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/json_scan: see json_scan.h. */
#include "format/circom/json_scan.h"
#include <string.h>

#define WHERE "format.json_scan"

static bool is_space(uint8_t ch) {
    return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

static size_t skip_space(cuzk_span text, size_t i) {
    while (i < text.n_bytes && is_space(text.p[i])) i++;
    return i;
}

/* The index of the quote that closes the string opened at i; n_bytes if none does. */
static size_t skip_string(cuzk_span text, size_t i) {
    for (i++; i < text.n_bytes && text.p[i] != '"'; i++)
        if (text.p[i] == '\\') i++;
    return i < text.n_bytes ? i : text.n_bytes;
}

cuzk_status json_scan(json_outline *out, cuzk_span text, const char *what, cuzk_err *err) {
    const size_t first = skip_space(text, 0);
    if (first == text.n_bytes || (text.p[first] != '[' && text.p[first] != '{'))
        return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                         "%s is not JSON: expected '[' or '{' at byte %zu", what, first);
    json_outline o = {.is_array = text.p[first] == '['};
    size_t depth = 0;
    for (size_t i = first; i < text.n_bytes; i++) {
        switch (text.p[i]) {
        case '{':
        case '[':
            o.n_objects += text.p[i] == '{';
            o.n_values++; /* its first item */
            if (++depth > o.depth) o.depth = depth;
            continue;
        case ',':
            o.n_values++;
            continue;
        case '"': {
            const size_t start = i + 1;
            i = skip_string(text, i);
            o.n_string_bytes += i - start;
            o.has_escapes |= memchr(text.p + start, '\\', i - start) != NULL;
            continue;
        }
        case ']':
        case '}':
            if (--depth > 0) continue;
            i = skip_space(text, i + 1);
            if (i < text.n_bytes)
                return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                                 "%s is not JSON: expected its end at byte %zu", what, i);
            *out = o;
            return CUZK_OK;
        default:
            continue;
        }
    }
    return cuzk_fail(err, CUZK_ERR_FORMAT, WHERE,
                     "%s is not JSON: it ends at byte %zu within a string, array or object",
                     what, text.n_bytes);
}

bool json_scan_has_member(cuzk_span text, const char *name) {
    const size_t n = strlen(name);
    size_t depth = 0;
    for (size_t i = 0; i < text.n_bytes; i++) {
        const uint8_t ch = text.p[i];
        if (ch == '[' || ch == '{') {
            depth++;
        } else if (ch == ']' || ch == '}') {
            depth--;
        } else if (ch == '"') {
            const size_t start = i + 1;
            i = skip_string(text, i);
            if (depth != 1 || i - start != n || memcmp(text.p + start, name, n) != 0) continue;
            const size_t next = skip_space(text, i + 1);
            if (next < text.n_bytes && text.p[next] == ':') return true;
        }
    }
    return false;
}
