/* SPDX-License-Identifier: Apache-2.0 */
/* cli/main: finds the command and runs it. */
#define _GNU_SOURCE /* sigaction, O_CLOEXEC */
#include "command.h"
#include "cuzk/cuzk.h"
#include "report.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const cli_command *const commands[] = {
    &cmd_prove, &cmd_verify,        &cmd_inspect,   &cmd_export_vkey, &cmd_witness_check,
    &cmd_setup, &cmd_bench_kernels, &cmd_bench_h2d, &cmd_bench_prove, NULL,
};
#define N_COMMANDS (sizeof commands / sizeof *commands - 1)

/* ---- help ---- */

static void print_program_help(FILE *out) {
    (void)fputs("Usage: cuzk COMMAND [OPTION]... [FILE]...\n"
                "       cuzk help [COMMAND]\n"
                "       cuzk --version\n"
                "\n"
                "Groth16 proofs of circom circuits, on BN254 and BLS12-381.\n"
                "\n"
                "Commands:\n",
                out);
    for (const cli_command *const *c = commands; *c; c++) {
        (void)fprintf(out, "  %-14s  %s\n", (*c)->name, (*c)->summary);
    }
    (void)fputs(
        "  help            Print the help of a command\n"
        "\n"
        "Options:\n"
        "  -h, --help      print this help and exit\n"
        "  -V, --version   print the version and exit\n"
        "\n"
        "Exit codes:\n"
        "  0  ok\n"
        "  1  not valid (verify, witness check)\n"
        "  2  the command line is wrong\n"
        "  3  an input file is missing, damaged or of the wrong kind\n"
        "  4  the witness does not fit the key or does not satisfy the circuit\n"
        "  5  resources: memory, disk, a GPU, an output that can't be written\n"
        "  6  internal error: please report it\n"
        "\n"
        "Environment: CUZK_CPU (see --cpu), CUZK_TIMING=1 (where a proof's time went, on\n"
        "standard error), NO_COLOR, TERM.\n"
        "\n"
        "Examples:\n"
        "  cuzk prove circuit.zkey witness.wtns proof.json public.json\n"
        "  cuzk export vkey --zkey circuit.zkey --out verification_key.json\n"
        "  cuzk verify verification_key.json public.json proof.json\n",
        out);
}

/* Number of words of `name` that the arguments spell, if they spell all; else 0. */
static int words_matched(const char *name, int argc, char **argv) {
    int n_words = 0;
    while (*name) {
        size_t n = strcspn(name, " ");
        if (n_words >= argc || strlen(argv[n_words]) != n ||
            strncmp(argv[n_words], name, n) != 0) {
            return 0;
        }
        n_words++;
        name += n + (name[n] == ' ');
    }
    return n_words;
}

static bool is_group(const char *name, const char *word) {
    size_t n = strlen(word);
    return strncmp(name, word, n) == 0 && name[n] == ' ';
}

/* The first word of a command of two words: its help is that of all of them. */
static bool print_group_help(const char *word) {
    size_t n_printed = 0;
    for (const cli_command *const *c = commands; *c; c++) {
        if (!is_group((*c)->name, word)) continue;
        if (n_printed++) (void)putchar('\n');
        cli_command_print_help(*c);
    }
    return n_printed > 0;
}

static const cli_command *find_command(int argc, char **argv, int *n_words) {
    for (const cli_command *const *c = commands; *c; c++) {
        *n_words = words_matched((*c)->name, argc, argv);
        if (*n_words) return *c;
    }
    return NULL;
}

static const char *command_name(const void *candidates, size_t i) {
    (void)candidates;
    return commands[i]->name;
}

/* Names one thing it could have been, or all that begin with that word. */
static int unknown_command(int argc, char **argv) {
    char typed[64], list[256] = "";
    (void)snprintf(typed, sizeof typed, "%s", argv[0]);
    size_t n_listed = 0;
    for (const cli_command *const *c = commands; *c; c++) {
        if (!is_group((*c)->name, argv[0])) continue;
        size_t at = strlen(list);
        (void)snprintf(list + at, sizeof list - at, "%scuzk %s", n_listed++ ? " or " : "",
                       (*c)->name);
    }
    if (n_listed) {
        if (argc > 1) (void)snprintf(typed, sizeof typed, "%s %s", argv[0], argv[1]);
        return cli_usage_error(NULL, "%s: not a command; expected %s", typed, list);
    }
    const char *meant = NULL;
    if (argc > 1 && argv[1][0] != '-') { /* "witnes check" */
        (void)snprintf(typed, sizeof typed, "%s %s", argv[0], argv[1]);
        meant = cli_nearest(typed, commands, N_COMMANDS, command_name);
        (void)snprintf(typed, sizeof typed, "%s", argv[0]);
    }
    if (!meant || !strchr(meant, ' ')) {
        meant = cli_nearest(typed, commands, N_COMMANDS, command_name);
    }
    if (!meant) return cli_usage_error(NULL, "%s: unknown command", typed);
    return cli_usage_error(NULL, "%s: unknown command, did you mean cuzk %s?", typed, meant);
}

static int run_help(int argc, char **argv) {
    int n_words;
    if (argc == 0) {
        print_program_help(stdout);
        return report_finish(EXIT_OK);
    }
    const cli_command *command = find_command(argc, argv, &n_words);
    if (command) {
        cli_command_print_help(command);
    } else if (!print_group_help(argv[0])) {
        return unknown_command(argc, argv);
    }
    return report_finish(EXIT_OK);
}

/* ---- start ---- */

static bool is_word(const char *text, const char *word, const char *letter) {
    return !strcmp(text, word) || (letter && !strcmp(text, letter));
}

/* When a standard stream is closed, the next file we open would take its number, and a message
 * would end up inside it. Opened the wrong way round, so that using it still is an error. */
static void hold_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
}

int main(int argc, char **argv) {
    hold_standard_streams();
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore,
                    NULL); /* a write error then, with a message and exit code */

    if (argc < 2) {
        print_program_help(stderr);
        return EXIT_USAGE;
    }
    argc--;
    argv++;
    if (is_word(argv[0], "--help", "-h")) return run_help(0, NULL);
    if (is_word(argv[0], "help", NULL)) return run_help(argc - 1, argv + 1);
    if (is_word(argv[0], "--version", "-V")) {
        (void)printf("cuzk %s\n", cuzk_version());
        return report_finish(EXIT_OK);
    }
    int n_words;
    const cli_command *command = find_command(argc, argv, &n_words);
    if (command) return cli_command_run(command, argc - n_words + 1, argv + n_words - 1);
    if (argc > 1 && is_word(argv[1], "--help", "-h") && print_group_help(argv[0])) {
        return report_finish(EXIT_OK);
    }
    return unknown_command(argc, argv);
}
