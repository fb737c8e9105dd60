/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FORMAT_CIRCOM_JSON_SCAN_H
#define CUZK_FORMAT_CIRCOM_JSON_SCAN_H
/* format/circom/json_scan: the outline of a JSON text, found in one pass and without memory, so
 * that a text which would take many times its size when parsed is refused before. */
#include "base/bytes.h"
#include "base/status.h"

typedef struct json_outline {
    bool is_array;    /* else an object */
    size_t depth;     /* of nesting: 1 for [] */
    size_t n_objects; /* also inner ones */
    size_t n_values;  /* all values but the root are at most so many; those of a flat array
                       * exactly, except that [] counts as 1 */
    size_t n_string_bytes; /* between the quotes of all names and strings */
    bool has_escapes;      /* then they are fewer once parsed */
} json_outline;

/* FORMAT when brackets or strings don't close, or the text doesn't start with a bracket or goes on
 * behind its last one. `what` names the text in errors. What passes may still not be JSON. */
CUZK_MUST_CHECK cuzk_status json_scan(json_outline *out, cuzk_span text, const char *what,
                                      cuzk_err *err);

/* Has the object that the text is a member of this name? Names with escapes are not found. */
bool json_scan_has_member(cuzk_span text, const char *name);

#endif
