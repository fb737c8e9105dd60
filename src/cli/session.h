/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CLI_SESSION_H
#define CUZK_CLI_SESSION_H
/* cli/session: a runtime made from --threads and --cpu, and what a run has cost so far. */
#include "command.h"
#include "cuzk/cuzk.h"

#include <stdio.h>

typedef struct session {
    cuzk_runtime *rt;
    uint64_t start_ns;
} session;

/* `threads` and `cpu` are indexes of options, or command->n_options for none (one thread, the
 * best arithmetic). Prints what is wrong and returns the exit code; on success end *out. */
int session_begin(session *out, const cli_command *command, const char *const *values,
                  size_t threads, size_t cpu);
void session_end(session *s);

/* "total 12.3 ms wall, ..." for people; members of a JSON object, the last without a comma. */
void session_print_costs(FILE *out, const session *s);
void session_print_costs_json(FILE *out, const session *s);

#endif
