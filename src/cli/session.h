/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CLI_SESSION_H
#define CUZK_CLI_SESSION_H
/* cli/session: a runtime made from the options that commands share, and what a run has cost so
 * far. */
#include "command.h"
#include "cuzk/cuzk.h"

#include <stdio.h>

typedef struct session {
    cuzk_runtime *rt;
    uint64_t start_ns;
    bool shows_timing; /* CUZK_TIMING asks for it */
} session;

/* From --threads, --cpu, --backend, --device, --vram-budget and --trace, those that the command
 * has: without --threads one thread is used, without --backend the GPU if there is --device and
 * else the CPU. When a GPU was wanted but
 * not asked for, a line says why there is none, unless --quiet is given. Prints what is wrong
 * and returns the exit code; on success end *out. */
int session_begin(session *out, const cli_command *command, const char *const *values);
void session_end(session *s);

/* "total 12.3 ms wall, ..." for people; members of a JSON object, the last without a comma. */
void session_print_costs(FILE *out, const session *s);
void session_print_costs_json(FILE *out, const session *s);
/* With CUZK_TIMING: a line on standard error for each timing of the proof. */
void session_print_timing(const session *s, const cuzk_proof *proof);

#endif
