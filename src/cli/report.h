/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CLI_REPORT_H
#define CUZK_CLI_REPORT_H
/* cli/report: what the program says. Results go to standard output, as text for people or as
 * JSON; errors go to standard error, one line each, with at most one line of advice. Knows
 * only the installed headers. Thread: main thread only. */
#include "cuzk/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define REPORT_LINE_BYTES 1024u

/* "cuzk: <text>", and "try: <advice>" unless advice is NULL. Control characters become '?'. */
void report_error(const char *text, const char *advice);
/* The same for a failed call; returns the exit code that goes with it. */
int report_failure(const cuzk_err *err, const char *advice);

/* The answer to a yes-or-no question: "OK: <yes>" when reason is NULL, else "not valid:
 * <reason>"; or {"valid":..} as JSON. Returns EXIT_OK or EXIT_NOT_VALID. */
int report_verdict(bool is_json, const char *yes, const char *reason);

/* Ends standard output. Returns rc, or EXIT_RESOURCES when something could not be written. */
int report_finish(int rc);

/* A string as JSON, quotes included. What is not UTF-8 becomes U+FFFD. */
void report_json_string(FILE *out, const char *text);

/* Prints a JSON value that the library made as indented lines for people. */
void report_json_as_text(FILE *out, const char *json);
/* Prints a flat JSON object on one line: the first value bare, in a column of its own, the rest as
 * "name value". */
void report_json_as_line(FILE *out, const char *json);
/* A cuzk_bench_fn; arg is a bool *: as JSON. Measurements take a while, so each shows at once. */
void report_measurement(void *arg, const char *json_line);

/* ---- numbers for people ---- */
typedef struct report_text {
    char text[32];
} report_text;
report_text report_duration(uint64_t ns);  /* "1.24 ms", "3.1 s" */
report_text report_size(uint64_t n_bytes); /* "5.2 MiB" */
report_text report_count(uint64_t n);      /* "1,048,576" */

/* ---- what this process has used ---- */
uint64_t report_clock_ns(void); /* monotonic; only differences mean something */
uint64_t report_cpu_ns(void);   /* user and system, all threads */
uint64_t report_peak_bytes(void);

#endif
