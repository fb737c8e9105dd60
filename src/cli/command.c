/* SPDX-License-Identifier: Apache-2.0 */
/* cli/command: see command.h. */
#define _GNU_SOURCE /* getopt_long */
#include "command.h"

#include "report.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN   22
#define NAME_CAPACITY 32u

bool cli_is_dash(const char *path) { return path && path[0] == '-' && path[1] == 0; }

/* ---- suggestions ---- */

static unsigned min3(unsigned a, unsigned b, unsigned c) {
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn one into the other. */
static unsigned edit_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    unsigned rows[3][NAME_CAPACITY + 1]; /* row i - 2, i - 1 and i, in turn */
    if (n > NAME_CAPACITY || m > NAME_CAPACITY) return NAME_CAPACITY;
    for (size_t j = 0; j <= m; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j]) {
                now[j] = before[j - 2] + 1;
            }
        }
    }
    return rows[n % 3][m];
}

const char *cli_nearest(const char *typed, const void *candidates, size_t n_candidates,
                        const char *(*name_of)(const void *candidates, size_t i)) {
    const char *nearest = NULL;
    unsigned best =
        (unsigned)strlen(typed) / 3 + 1; /* more changes than that: no resemblance */
    for (size_t i = 0; i < n_candidates; i++) {
        const char *name = name_of(candidates, i);
        unsigned distance = edit_distance(typed, name);
        if (distance < best || (distance == best && !nearest)) {
            best = distance;
            nearest = name;
        }
    }
    return nearest;
}

static const char *option_name(const void *candidates, size_t i) {
    return ((const cli_option *)candidates)[i].name;
}

/* ---- usage errors ---- */

int cli_usage_error(const cli_command *command, const char *fmt, ...) {
    char text[REPORT_LINE_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    char help[64];
    (void)snprintf(help, sizeof help, "cuzk %s%s--help", command ? command->name : "",
                   command ? " " : "");
    report_error(text, help);
    return EXIT_USAGE;
}

bool cli_parse_number(unsigned *out, const cli_command *command, size_t option,
                      const char *text, unsigned min, unsigned max) {
    char *end;
    bool is_digits = *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10;
    unsigned long value = is_digits ? strtoul(text, &end, 10) : 0;
    if (!is_digits || value < min || value > max) {
        (void)cli_usage_error(command, "--%s %s: expected a whole number from %u to %u",
                              command->options[option].name, text, min, max);
        return false;
    }
    *out = (unsigned)value;
    return true;
}

bool cli_parse_size(uint64_t *out, const cli_command *command, size_t option,
                    const char *text) {
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    const size_t n_digits = strspn(text, "0123456789");
    const uint64_t value = n_digits && n_digits < 20 ? strtoull(text, NULL, 10) : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units && value; i++) {
        if (strcmp(text + n_digits, units[i].name) != 0) continue;
        if (value > UINT64_MAX >> units[i].shift) break;
        *out = value << units[i].shift;
        return true;
    }
    (void)cli_usage_error(command,
                          "--%s %s: expected a size such as 8GiB, 512MiB or 1073741824",
                          command->options[option].name, text);
    return false;
}

size_t cli_find_option(const cli_command *command, const char *name) {
    size_t i = 0;
    while (i < command->n_options && strcmp(command->options[i].name, name) != 0) i++;
    return i;
}

bool cli_require(const cli_command *command, const char *const *values, const size_t *required,
                 size_t n_required) {
    for (size_t i = 0; i < n_required; i++) {
        if (values[required[i]]) continue;
        const cli_option *missing = &command->options[required[i]];
        (void)cli_usage_error(command, "%s: --%s %s is missing", command->name, missing->name,
                              missing->argument);
        return false;
    }
    return true;
}

bool cli_one_dash(const cli_command *command, const char *stream, const char *const *paths,
                  size_t n_paths) {
    size_t n_dashes = 0;
    for (size_t i = 0; i < n_paths; i++) n_dashes += cli_is_dash(paths[i]);
    if (n_dashes <= 1) return true;
    (void)cli_usage_error(command, "%s: only one file can be '-', standard %s", command->name,
                          stream);
    return false;
}

/* ---- parsing ---- */

/* getopt's val of the long option i is FIRST_VAL + i, of a short one its letter. */
enum { FIRST_VAL = 256 };

static size_t option_of_letter(const cli_command *command, int letter) {
    for (size_t i = 0; i < command->n_options; i++) {
        if (command->options[i].letter == letter) return i;
    }
    return command->n_options;
}

static size_t option_of_val(const cli_command *command, int val) {
    return val >= FIRST_VAL ? (size_t)(val - FIRST_VAL) : option_of_letter(command, val);
}

static int unknown_option(const cli_command *command, const char *typed) {
    char name[NAME_CAPACITY + 1];
    (void)snprintf(name, sizeof name, "%s", typed + (typed[1] == '-' ? 2 : 1));
    name[strcspn(name, "=")] = 0;
    size_t n_matches = 0;
    for (size_t i = 0; i < command->n_options && *name; i++) {
        n_matches += !strncmp(command->options[i].name, name, strlen(name));
    }
    if (n_matches > 1) {
        return cli_usage_error(command, "%s: --%s could mean more than one option",
                               command->name, name);
    }
    const char *meant = cli_nearest(name, command->options, command->n_options, option_name);
    if (!meant) return cli_usage_error(command, "%s: unknown option %s", command->name, typed);
    return cli_usage_error(command, "%s: unknown option %s, did you mean --%s?", command->name,
                           typed, meant);
}

/* What getopt refused: `last` is the argument it read last, optopt the option it knows. */
static int bad_option(const cli_command *command, const char *last) {
    if (!optopt) return unknown_option(command, last);
    size_t i = option_of_val(command, optopt);
    if (i >= command->n_options) {
        return unknown_option(command, (const char[]){'-', (char)optopt, 0});
    }
    const cli_option *o = &command->options[i];
    return cli_usage_error(command, "%s: --%s %s", command->name, o->name,
                           o->argument ? "needs an argument" : "takes no argument");
}

static void make_getopt_tables(const cli_command *command, struct option *longs,
                               char *shorts) {
    *shorts++ = ':'; /* tell a missing argument from an unknown option */
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *o = &command->options[i];
        longs[i] = (struct option){o->name, o->argument ? required_argument : no_argument,
                                   NULL, FIRST_VAL + (int)i};
        if (!o->letter) continue;
        *shorts++ = o->letter;
        if (o->argument) *shorts++ = ':';
    }
    longs[command->n_options] = (struct option){0};
    *shorts = 0;
}

int cli_command_run(const cli_command *command, int argc, char **argv) {
    struct option longs[CLI_MAX_OPTIONS + 1];
    char shorts[2 * CLI_MAX_OPTIONS + 2];
    const char *values[CLI_MAX_OPTIONS] = {NULL};
    make_getopt_tables(command, longs, shorts);
    opterr = 0; /* we write the messages */
    for (;;) {
        optopt = 0;
        int val = getopt_long(argc, argv, shorts, longs, NULL);
        if (val == -1) break;
        if (val == '?' || val == ':') return bad_option(command, argv[optind - 1]);
        size_t i = option_of_val(command, val);
        if (!strcmp(command->options[i].name, "help")) {
            cli_command_print_help(command);
            return report_finish(EXIT_OK);
        }
        if (values[i]) {
            return cli_usage_error(command, "%s: --%s is given twice", command->name,
                                   command->options[i].name);
        }
        values[i] = command->options[i].argument ? optarg : "";
    }
    int rc = command->run(command, values, argv + optind, (size_t)(argc - optind));
    return report_finish(rc);
}

/* ---- help ---- */

/* Prints `text`, a line at a time, each after `prefix`. */
static void print_lines(const char *prefix, const char *text) {
    while (*text) {
        int n_bytes = (int)strcspn(text, "\n");
        (void)printf("%s%.*s\n", n_bytes ? prefix : "", n_bytes, text);
        text += n_bytes + (text[n_bytes] == '\n');
    }
}

static void print_option(const cli_option *o) {
    char head[64], letter[8] = "    ";
    if (o->letter) (void)snprintf(letter, sizeof letter, "-%c, ", o->letter);
    int n = snprintf(head, sizeof head, "  %s--%s%s%s", letter, o->name,
                     o->argument ? " " : "", o->argument ? o->argument : "");
    int first_line = (int)strcspn(o->help, "\n");
    if (n > HELP_COLUMN - 2) {
        (void)printf("%s\n%*s", head, HELP_COLUMN, "");
    } else {
        (void)printf("%-*s", HELP_COLUMN, head);
    }
    (void)printf("%.*s\n", first_line, o->help);
    char indent[HELP_COLUMN + 1];
    memset(indent, ' ', HELP_COLUMN);
    indent[HELP_COLUMN] = 0;
    if (o->help[first_line]) print_lines(indent, o->help + first_line + 1);
}

void cli_command_print_help(const cli_command *command) {
    const char *usage = command->usage, *label = "Usage:";
    while (*usage) {
        int n_bytes = (int)strcspn(usage, "\n");
        (void)printf("%s cuzk %s %.*s\n", label, command->name, n_bytes, usage);
        usage += n_bytes + (usage[n_bytes] == '\n');
        label = "      ";
    }
    (void)printf("\n%s.\n\n", command->summary);
    print_lines("", command->details);
    (void)printf("\nOptions:\n");
    for (size_t i = 0; i < command->n_options; i++) print_option(&command->options[i]);
    (void)printf("\nExamples:\n");
    print_lines("  ", command->examples);
}
