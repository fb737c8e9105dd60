/* SPDX-License-Identifier: Apache-2.0 */
/* base/status: see status.h. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only printable ASCII survives: the text may quote a hostile file, and goes to terminals,
 * logs and JSON alike. */
static void make_one_printable_line(char *text) {
    for (; *text; text++) {
        if (*text < 0x20 || *text > 0x7e) *text = '?';
    }
}

/* A message that was cut says so. */
static void finish_text(char *text, size_t capacity, int wanted) {
    if (wanted < 0) {
        (void)snprintf(text, capacity, "(the message could not be formatted)");
    } else if ((size_t)wanted >= capacity) {
        memcpy(text + capacity - 4, "...", 4);
    }
    make_one_printable_line(text);
}

cuzk_status cuzk_fail(cuzk_err *err, cuzk_status code, const char *where, const char *fmt,
                      ...) {
    if (err) {
        va_list args;
        va_start(args, fmt);
        int wanted = vsnprintf(err->text, sizeof err->text, fmt, args);
        va_end(args);
        finish_text(err->text, sizeof err->text, wanted);
        err->code = code;
        err->where = where;
    }
    return code;
}

/* How much of a prefix fits before a text of n_text characters; some of it always does. */
static size_t room_for_prefix(size_t n_text) {
    const size_t least = 24, most = 100, all = sizeof((cuzk_err *)0)->text - sizeof ": ";
    if (n_text + least >= all) return least;
    return all - n_text < most ? all - n_text : most;
}

void cuzk_err_prefix(cuzk_err *err, const char *prefix) {
    if (!err) return;
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    old[sizeof old - 1] = 0;
    const char *cut = "";
    const size_t n_prefix = strlen(prefix), room = room_for_prefix(strlen(old));
    if (n_prefix > room) { /* the end of a path says more than its front */
        cut = "...";
        prefix += n_prefix - (room - strlen(cut));
    }
    int wanted = snprintf(err->text, sizeof err->text, "%s%s: %s", cut, prefix, old);
    finish_text(err->text, sizeof err->text, wanted);
}

void cuzk_assert_failed(const char *what, const char *file, int line) {
    (void)fprintf(stderr, "cuzk: bug: %s:%d: assertion failed: %s\n", file, line, what);
    abort();
}

typedef struct status_row {
    cuzk_status status;
    int exit_code;
    const char *name;
} status_row;

static const status_row status_rows[] = {
    {CUZK_OK, 0, "OK"},
    {CUZK_ERR_ARG, 2, "ARG"},
    {CUZK_ERR_FORMAT, 3, "FORMAT"},
    {CUZK_ERR_WITNESS, 4, "WITNESS"},
    {CUZK_ERR_INVALID, 1, "INVALID"},
    {CUZK_ERR_NOMEM, 5, "NOMEM"},
    {CUZK_ERR_BUDGET, 5, "BUDGET"},
    {CUZK_ERR_BUSY, 5, "BUSY"},
    {CUZK_ERR_CANCELLED, 5, "CANCELLED"},
    {CUZK_ERR_IO, 3, "IO"},
    {CUZK_ERR_DEVICE, 5, "DEVICE"},
    {CUZK_ERR_INTERNAL, 6, "INTERNAL"},
};

/* An unknown status is a bug of ours. */
static const status_row *find_row(cuzk_status status) {
    static const status_row unknown = {CUZK_ERR_INTERNAL, 6, "UNKNOWN"};
    for (size_t i = 0; i < sizeof status_rows / sizeof *status_rows; i++) {
        if (status_rows[i].status == status) return &status_rows[i];
    }
    return &unknown;
}

const char *cuzk_status_name(cuzk_status status) { return find_row(status)->name; }

int cuzk_status_exit_code(cuzk_status status) { return find_row(status)->exit_code; }
