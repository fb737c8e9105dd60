/* SPDX-License-Identifier: Apache-2.0 */
/* format/circom/json_text: see json_text.h. */
#include "format/circom/json_text.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAPACITY 2048u /* holds a proof */

void json_text_init(json_text *t, cuzk_err *err) {
    *t = (json_text){.text = NULL, .status = CUZK_OK, .err = err};
}

/* Room for n_chars more and a terminator. */
static bool reserve(json_text *t, size_t n_chars) {
    if (t->status != CUZK_OK) return false;
    if (t->capacity - t->n_chars > n_chars) return true;
    size_t capacity = t->capacity ? t->capacity : FIRST_CAPACITY;
    while (capacity - t->n_chars <= n_chars) capacity *= 2;
    char *grown;
    t->status = cuzk_alloc(&grown, capacity, 1, t->err);
    if (t->status != CUZK_OK) return false;
    if (t->n_chars) memcpy(grown, t->text, t->n_chars);
    cuzk_free(t->text);
    t->text = grown;
    t->capacity = capacity;
    return true;
}

static void put(json_text *t, const char *chars, size_t n_chars) {
    if (!reserve(t, n_chars)) return;
    memcpy(t->text + t->n_chars, chars, n_chars);
    t->n_chars += n_chars;
}

static void put_line(json_text *t) {
    put(t, "\n", 1);
    for (unsigned i = 0; i < t->depth; i++) put(t, " ", 1);
}

static void begin_item(json_text *t, const char *key) {
    if (t->depth) {
        const char last = t->n_chars ? t->text[t->n_chars - 1] : '\0';
        if (last != '[' && last != '{') put(t, ",", 1);
        put_line(t);
    }
    if (key == NULL) return;
    put(t, "\"", 1);
    put(t, key, strlen(key));
    put(t, "\": ", 3);
}

void json_text_open(json_text *t, const char *key, char bracket) {
    begin_item(t, key);
    put(t, &bracket, 1);
    t->depth++;
}

void json_text_close(json_text *t, char bracket) {
    t->depth--;
    put_line(t);
    put(t, &bracket, 1);
}

void json_text_string(json_text *t, const char *key, const char *value) {
    begin_item(t, key);
    put(t, "\"", 1);
    put(t, value, strlen(value));
    put(t, "\"", 1);
}

void json_text_u32(json_text *t, const char *key, uint32_t value) {
    char digits[16];
    const int n = snprintf(digits, sizeof digits, "%" PRIu32, value);
    begin_item(t, key);
    put(t, digits, (size_t)n);
}

cuzk_status json_text_finish(char **out, json_text *t) {
    if (!reserve(t, 0)) return json_text_abandon(t, t->status);
    CUZK_ASSERT(t->depth == 0);
    t->text[t->n_chars] = '\0';
    *out = t->text;
    t->text = NULL;
    return CUZK_OK;
}

cuzk_status json_text_abandon(json_text *t, cuzk_status why) {
    cuzk_free(t->text);
    t->text = NULL;
    return why;
}
