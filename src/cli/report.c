/* SPDX-License-Identifier: Apache-2.0 */
/* cli/report: see report.h. */
#define _GNU_SOURCE /* clock_gettime, getrusage */
#include "report.h"

#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- errors ---- */

/* A file name or an argument may hold anything; it must not forge a second line or drive the
 * terminal. Bytes above ASCII stay: they are letters of someone's language. */
static void print_printable(FILE *out, const char *text) {
    for (; *text; text++) {
        bool is_control = (unsigned char)*text < 0x20 || *text == 0x7f;
        (void)fputc(is_control ? '?' : *text, out);
    }
}

static void print_line(const char *label, const char *text) {
    (void)fputs(label, stderr);
    print_printable(stderr, text);
    (void)fputc('\n', stderr);
}

void report_error(const char *text, const char *advice) {
    print_line("cuzk: ", text);
    if (advice) print_line("try: ", advice);
}

int report_failure(const cuzk_err *err, const char *advice) {
    int rc = cuzk_status_exit_code(err->code);
    char text[REPORT_LINE_BYTES];
    if (rc != EXIT_INTERNAL) {
        bool is_stdin =
            !strncmp(err->text, "-: ", 3); /* the library repeats the path it got */
        (void)snprintf(text, sizeof text, "%s%s", is_stdin ? "standard input" : "",
                       err->text + is_stdin);
        report_error(text, advice);
        return rc;
    }
    (void)snprintf(text, sizeof text, "bug in %s: %s", err->where, err->text);
    report_error(text, "report it, with the command and the output of cuzk --version");
    return rc;
}

int report_finish(int rc) {
    int error = ferror(stdout) ? EIO : 0;
    if (fclose(stdout) != 0) error = errno; /* a full disk may show only here */
    if (error == 0) return rc;
    char text[REPORT_LINE_BYTES];
    (void)snprintf(text, sizeof text, "standard output: can't be written: %s",
                   strerror(error));
    report_error(text, NULL);
    return EXIT_RESOURCES;
}

/* ---- JSON out ---- */

/* Length of the valid UTF-8 sequence that starts at s, or 0. */
static size_t utf8_bytes(const unsigned char *s) {
    static const struct {
        unsigned char mask, lead;
        uint32_t smallest; /* anything below has a shorter form */
    } forms[] = {
        {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t n = 0; n < sizeof forms / sizeof *forms; n++) {
        if ((s[0] & forms[n].mask) != forms[n].lead) continue;
        uint32_t point = s[0] & (unsigned char)~forms[n].mask;
        for (size_t i = 1; i <= n; i++) {
            if ((s[i] & 0xc0) != 0x80) return 0; /* the terminator stops it, too */
            point = point << 6 | (s[i] & 0x3fu);
        }
        bool is_surrogate = point >= 0xd800 && point < 0xe000;
        return point < forms[n].smallest || point > 0x10ffff || is_surrogate ? 0 : n + 1;
    }
    return 0;
}

void report_json_string(FILE *out, const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    (void)fputc('"', out);
    while (*s) {
        size_t n = utf8_bytes(s);
        if (n == 0) {
            (void)fputs("\\ufffd", out);
            n = 1;
        } else if (*s < 0x20 || *s == 0x7f) {
            (void)fprintf(out, "\\u%04x", *s);
        } else {
            if (*s == '"' || *s == '\\') (void)fputc('\\', out);
            (void)fwrite(s, 1, n, out);
        }
        s += n;
    }
    (void)fputc('"', out);
}

int report_verdict(bool is_json, const char *yes, const char *reason) {
    if (!is_json) {
        (void)printf("%s: %s\n", reason ? "not valid" : "OK", reason ? reason : yes);
    } else if (!reason) {
        (void)printf("{\"valid\":true}\n");
    } else {
        (void)printf("{\"valid\":false,\"reason\":");
        report_json_string(stdout, reason);
        (void)printf("}\n");
    }
    return reason ? EXIT_NOT_VALID : EXIT_OK;
}

/* ---- JSON from the library, for people ---- */

/* A cursor over JSON that the library wrote; it is well formed, so there is nothing to refuse,
 * only an end to respect. */
typedef struct cursor {
    const char *at;
    FILE *out;
} cursor;

static void skip_space(cursor *c) { c->at += strspn(c->at, " \t\r\n,:"); }

static void print_string(cursor *c) {
    c->at++;
    while (*c->at && *c->at != '"') {
        if (*c->at == '\\' && c->at[1]) c->at++;
        (void)fputc(*c->at++, c->out);
    }
    if (*c->at) c->at++;
}

/* A string without its quotes, a number, or a word. */
static void print_scalar(cursor *c) {
    if (*c->at == '"') {
        print_string(c);
        return;
    }
    size_t n = strcspn(c->at, " \t\r\n,:]}\"[{");
    static const char *const words[][2] = {{"true", "yes"}, {"false", "no"}, {"null", "-"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (n == strlen(words[i][0]) && !strncmp(c->at, words[i][0], n)) {
            (void)fputs(words[i][1], c->out);
            c->at += n;
            return;
        }
    }
    (void)fwrite(c->at, 1, n, c->out);
    c->at += n ? n : *c->at != 0;
}

static bool is_open(const char *at) { return *at == '{' || *at == '['; }

/* Skips the bracket that opens a list or an object; at its end, the one that closes it. */
static void enter(cursor *c) {
    c->at++;
    skip_space(c);
}
static bool leave(cursor *c) {
    skip_space(c);
    if (*c->at == '}' || *c->at == ']') {
        c->at++;
        return true;
    }
    return *c->at == 0;
}

/* "name value, name value" or "value, value"; nested ones in parentheses. */
static void print_inline(cursor *c) {
    bool is_object = *c->at == '{';
    const char *separator = "";
    enter(c);
    if (*c->at == ']' || *c->at == '}') (void)fputs("none", c->out);
    while (!leave(c)) {
        (void)fputs(separator, c->out);
        if (is_object) {
            print_scalar(c);
            (void)fputc(' ', c->out);
            skip_space(c);
        }
        if (is_open(c->at)) {
            (void)fputc('(', c->out);
            print_inline(c);
            (void)fputc(')', c->out);
        } else {
            print_scalar(c);
        }
        separator = ", ";
    }
}

static bool is_list_of_objects(const char *at) {
    return *at == '[' && at[1 + strspn(at + 1, " \t\r\n")] == '{';
}

/* Names are identifiers without escapes; '_' becomes ' '. Returns the printed width. */
static int print_name(cursor *c, int indent) {
    int n = (int)strcspn(++c->at, "\"");
    (void)fprintf(c->out, "%*s", indent, "");
    for (int i = 0; i < n; i++) (void)fputc(c->at[i] == '_' ? ' ' : c->at[i], c->out);
    c->at += n + (c->at[n] == '"');
    skip_space(c);
    return n;
}

/* The objects of a list, a line each. */
static void print_rows(cursor *c, int indent) {
    enter(c);
    while (!leave(c)) {
        (void)fprintf(c->out, "%*s", indent, "");
        print_inline(c);
        (void)fputc('\n', c->out);
    }
}

/* Values line up behind the names. */
static void print_members(cursor *c, int indent) {
    enum { WIDTH = 20 };
    enter(c);
    while (!leave(c)) {
        int width = print_name(c, indent);
        if (*c->at == '{') {
            (void)fputc('\n', c->out);
            print_members(c, indent + 2);
        } else if (is_list_of_objects(c->at)) {
            (void)fputc('\n', c->out);
            print_rows(c, indent + 2);
        } else {
            (void)fprintf(c->out, "%*s", width < WIDTH ? WIDTH - width : 1, "");
            if (*c->at == '[') {
                print_inline(c);
            } else {
                print_scalar(c);
            }
            (void)fputc('\n', c->out);
        }
    }
}

void report_json_as_text(FILE *out, const char *json) {
    cursor c = {json, out};
    skip_space(&c);
    if (*c.at == '{') print_members(&c, 0);
}

void report_json_as_line(FILE *out, const char *json) {
    enum { FIRST_COLUMN = 34 };
    cursor c = {json, out};
    skip_space(&c);
    if (*c.at != '{') return;
    enter(&c);
    c.at += strcspn(c.at, ":");
    for (bool is_first = true; !leave(&c); is_first = false) {
        if (!is_first) {
            (void)fputs("  ", out);
            print_scalar(&c);
            (void)fputc(' ', out);
        }
        skip_space(&c);
        const char *value = c.at;
        if (is_open(c.at)) {
            print_inline(&c);
        } else {
            print_scalar(&c);
        }
        const int width = (int)(c.at - value) - 2; /* without its quotes */
        if (is_first && width < FIRST_COLUMN)
            (void)fprintf(out, "%*s", FIRST_COLUMN - width, "");
    }
    (void)fputc('\n', out);
}

void report_measurement(void *arg, const char *json_line) {
    const bool *is_json = arg;
    if (*is_json) {
        (void)printf("%.*s\n", (int)strcspn(json_line, "\n"), json_line);
    } else {
        report_json_as_line(stdout, json_line);
    }
    (void)fflush(stdout);
}

/* ---- numbers for people ---- */

report_text report_duration(uint64_t ns) {
    report_text t;
    double s = (double)ns / 1e9;
    if (s >= 100) {
        (void)snprintf(t.text, sizeof t.text, "%.0f s", s);
    } else if (s >= 1) {
        (void)snprintf(t.text, sizeof t.text, "%.2f s", s);
    } else {
        (void)snprintf(t.text, sizeof t.text, s < 0.1 ? "%.2f ms" : "%.0f ms", s * 1e3);
    }
    return t;
}

report_text report_size(uint64_t n_bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    double value = (double)n_bytes;
    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    report_text t;
    (void)snprintf(t.text, sizeof t.text, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return t;
}

report_text report_count(uint64_t n) {
    char digits[24];
    int n_digits = snprintf(digits, sizeof digits, "%" PRIu64, n);
    report_text t;
    char *to = t.text;
    for (int i = 0; i < n_digits; i++) {
        if (i > 0 && (n_digits - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return t;
}

/* ---- what this process has used ---- */

uint64_t report_clock_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t report_cpu_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Not ru_maxrss where it can be helped: that one remembers the program that started us. */
uint64_t report_peak_bytes(void) {
    static const char key[] = "VmHWM:";
    unsigned long long kib = 0;
    char line[128];
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, key, sizeof key - 1) != 0) continue;
        kib = strtoull(line + sizeof key - 1, NULL, 10);
        break;
    }
    if (status) (void)fclose(status);
    struct rusage usage;
    if (kib == 0 && getrusage(RUSAGE_SELF, &usage) == 0) {
        kib = (unsigned long long)usage.ru_maxrss;
    }
    return (uint64_t)kib * 1024;
}
