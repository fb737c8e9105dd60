/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_FORMAT_CIRCOM_JSON_TEXT_H
#define CUZK_FORMAT_CIRCOM_JSON_TEXT_H
/* format/circom/json_text: JSON in the layout of snarkjs: every item on its own line, one space a
 * level, no newline at the end, and an empty array as "[", newline, "]". An error sticks, so that
 * a writer is a straight list of calls and only the end is checked. */
#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct json_text { /* Thread: owned */
    char *text;
    size_t n_chars, capacity;
    unsigned depth;
    cuzk_status status;
    cuzk_err *err;
} json_text;

void json_text_init(json_text *t, cuzk_err *err);
/* key NULL inside arrays and at the top. Keys and strings need no escapes. */
void json_text_open(json_text *t, const char *key, char bracket);
void json_text_close(json_text *t, char bracket);
void json_text_string(json_text *t, const char *key, const char *value);
void json_text_u32(json_text *t, const char *key, uint32_t value);
/* NUL-terminated, owner caller (cuzk_free); or the first error, which was NOMEM. */
CUZK_MUST_CHECK cuzk_status json_text_finish(char **out, json_text *t);
/* Gives up instead, with an error of the writer's own. */
CUZK_MUST_CHECK cuzk_status json_text_abandon(json_text *t, cuzk_status why);

#endif
