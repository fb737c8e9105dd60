/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CLI_COMMAND_H
#define CUZK_CLI_COMMAND_H
/* cli/command: what a command of the program is, and reading its command line. One table a
 * command says what its options are; parsing, --help and suggestions all read that table.
 * Knows only the installed headers. Thread: main thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of the program; cuzk_status_exit_code() gives the same ones. */
enum {
    EXIT_OK = 0,
    EXIT_NOT_VALID = 1, /* verify, witness check: a well-formed no */
    EXIT_USAGE = 2,
    EXIT_INPUT = 3, /* a file that is missing, unreadable or damaged */
    EXIT_WITNESS = 4,
    EXIT_RESOURCES = 5, /* memory, disk, device */
    EXIT_INTERNAL = 6
};

typedef struct cli_option {
    const char *name;     /* long name, without the dashes */
    char letter;          /* short name, or 0 */
    const char *argument; /* what help calls its argument; NULL = a flag */
    const char *help;     /* lines after the first are indented by the printer */
} cli_option;

#define CLI_MAX_OPTIONS 24u
#define CLI_MAX_RUNS    100000u /* of benchmarks */

typedef struct cli_command cli_command;
struct cli_command {
    const char *name;    /* one word, or two: "export vkey" */
    const char *summary; /* one line */
    const char *usage;   /* lines of arguments, each after "cuzk <name> " */
    const char *details; /* paragraphs */
    const cli_option *options;
    size_t n_options;
    const char *examples; /* lines */
    /* values[i] is the argument of options[i]: NULL when absent, "" for a flag. */
    int (*run)(const cli_command *self, const char *const *values, char **operands,
               size_t n_operands);
};

/* Rows that several commands share. session_begin() finds the first six by their names. */
#define CLI_OPTION_THREADS                                                                    \
    { "threads", 't', "N", "threads to use; default: one for each CPU this process may use" }
#define CLI_OPTION_CPU                                                                        \
    {                                                                                         \
        "cpu", 0, "LEVEL",                                                                    \
            "arithmetic to use: portable, adx or ifma; default: $CUZK_CPU, or the\n"          \
            "best this CPU has"                                                               \
    }
#define CLI_OPTION_BACKEND                                                                    \
    {                                                                                         \
        "backend", 0, "NAME",                                                                 \
            "where to compute: cpu or cuda; default: cuda when there is a GPU\n"              \
            "that can be used, else cpu"                                                      \
    }
#define CLI_OPTION_DEVICE                                                                     \
    { "device", 0, "N", "which GPU, counted from 0; default: the first" }
#define CLI_OPTION_VRAM_BUDGET                                                                \
    {                                                                                         \
        "vram-budget", 0, "SIZE",                                                             \
            "memory of the GPU to use at most: 8GiB, 512MiB, or a number of\n"                \
            "bytes; default: what is free. Needs a GPU"                                       \
    }
#define CLI_OPTION_TRACE                                                                      \
    {                                                                                         \
        "trace", 0, "FILE",                                                                   \
            "write what ran when, as Chrome trace JSON; opens in Perfetto\n"                  \
            "(ui.perfetto.dev)"                                                               \
    }
/* What every command that may compute on a GPU takes: for its enum, and for its table. */
#define CLI_COMPUTE_NAMES THREADS, CPU, BACKEND, DEVICE, VRAM_BUDGET
#define CLI_COMPUTE_OPTIONS                                                                   \
    [THREADS] = CLI_OPTION_THREADS, [CPU] = CLI_OPTION_CPU, [BACKEND] = CLI_OPTION_BACKEND,   \
    [DEVICE] = CLI_OPTION_DEVICE, [VRAM_BUDGET] = CLI_OPTION_VRAM_BUDGET
#define CLI_OPTION_RUNS(what)                                                                 \
    { "runs", 0, "N", what }
#define CLI_OPTION_JSON(what)                                                                 \
    { "json", 0, NULL, what }
#define CLI_OPTION_QUIET                                                                      \
    { "quiet", 'q', NULL, "print only errors" }
#define CLI_OPTION_HELP                                                                       \
    { "help", 'h', NULL, "print this help and exit" }

extern const cli_command cmd_prove, cmd_verify, cmd_inspect, cmd_export_vkey,
    cmd_witness_check, cmd_setup, cmd_bench_kernels, cmd_bench_h2d, cmd_bench_prove;

/* Reads the command line of `command` (argv[0] is its name), runs it, returns the exit code. */
int cli_command_run(const cli_command *command, int argc, char **argv);
void cli_command_print_help(const cli_command *command);

/* The candidate that `typed` most likely meant, or NULL. name_of(candidates, i) names one. */
const char *cli_nearest(const char *typed, const void *candidates, size_t n_candidates,
                        const char *(*name_of)(const void *candidates, size_t i));

/* Prints a usage error and points to the help of `command` (NULL = the program). Returns
 * EXIT_USAGE. */
int cli_usage_error(const cli_command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads the argument of a numeric option; usage error unless min <= value <= max. */
bool cli_parse_number(unsigned *out, const cli_command *command, size_t option,
                      const char *text, unsigned min, unsigned max);

/* Bytes: a whole number, alone or with KiB, MiB, GiB or TiB behind it; usage error otherwise, and
 * for 0. */
bool cli_parse_size(uint64_t *out, const cli_command *command, size_t option,
                    const char *text);

/* Index of the option of that name, or command->n_options. */
size_t cli_find_option(const cli_command *command, const char *name);

/* Usage error naming the first of `required` (indexes of options) that has no value. */
bool cli_require(const cli_command *command, const char *const *values, const size_t *required,
                 size_t n_required);

/* Usage error when more than one of the paths is "-" (NULL entries are fine). */
bool cli_one_dash(const cli_command *command, const char *stream, const char *const *paths,
                  size_t n_paths);

bool cli_is_dash(const char *path); /* NULL is not */

#endif
