/* SPDX-License-Identifier: Apache-2.0 */
/* cli/session: see session.h. */
#include "session.h"

#include "report.h"

#include <inttypes.h>

#define MAX_THREADS 1024u

int session_begin(session *out, const cli_command *command, const char *const *values,
                  size_t threads, size_t cpu) {
    cuzk_runtime_options options = CUZK_RUNTIME_OPTIONS_INIT;
    cuzk_err err;
    out->start_ns = report_clock_ns();
    if (threads == command->n_options) options.n_threads = 1; /* too little work to share */
    if (threads < command->n_options && values[threads] &&
        !cli_parse_number(&options.n_threads, command, threads, values[threads], 1,
                          MAX_THREADS)) {
        return EXIT_USAGE;
    }
    if (cpu < command->n_options) options.cpu = values[cpu];
    if (cuzk_runtime_create(&out->rt, &options, &err) != CUZK_OK) {
        return report_failure(&err, NULL);
    }
    return EXIT_OK;
}

void session_end(session *s) {
    cuzk_runtime_destroy(s->rt);
    s->rt = NULL;
}

void session_print_costs(FILE *out, const session *s) {
    unsigned n_threads = cuzk_runtime_n_threads(s->rt);
    (void)fprintf(out, "total   %s, %s of CPU, %u thread%s, arithmetic %s, peak memory %s\n",
                  report_duration(report_clock_ns() - s->start_ns).text,
                  report_duration(report_cpu_ns()).text, n_threads, n_threads == 1 ? "" : "s",
                  cuzk_runtime_cpu(s->rt), report_size(report_peak_bytes()).text);
}

void session_print_costs_json(FILE *out, const session *s) {
    (void)fprintf(out, "\"threads\":%u,\"cpu\":", cuzk_runtime_n_threads(s->rt));
    report_json_string(out, cuzk_runtime_cpu(s->rt));
    (void)fprintf(out, ",\"wall_s\":%.6f,\"cpu_s\":%.6f,\"peak_bytes\":%" PRIu64,
                  (double)(report_clock_ns() - s->start_ns) / 1e9,
                  (double)report_cpu_ns() / 1e9, report_peak_bytes());
}
