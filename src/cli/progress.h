/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CLI_PROGRESS_H
#define CUZK_CLI_PROGRESS_H
/* cli/progress: a bar with the name of the current stage on standard error; nothing when that
 * is not a terminal, when TERM is "dumb" or missing, or under --quiet. Respects NO_COLOR. */
#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool is_on;
    bool has_color;
    bool stops_on_signal; /* cancel the call when an interrupt waits, see interrupts.h */
    unsigned n_columns;
    uint64_t start_ns;
} progress;

progress progress_bar_begin(bool is_quiet);
/* A cuzk_progress_fn; arg is a progress *. */
int progress_bar_step(void *arg, const char *stage, unsigned done, unsigned total);
/* Takes the bar away; what is printed next starts on a clean line. */
void progress_bar_end(const progress *p);

#endif
