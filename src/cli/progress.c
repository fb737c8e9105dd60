/* SPDX-License-Identifier: Apache-2.0 */
/* cli/progress: see progress.h. */
#define _GNU_SOURCE /* isatty, winsize */
#include "progress.h"

#include "interrupts.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_CELLS 24u

static unsigned terminal_columns(void) {
    struct winsize size;
    bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : 80;
}

progress progress_bar_begin(bool is_quiet) {
    progress p = {0};
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    p.is_on = !is_quiet && term && *term && strcmp(term, "dumb") != 0 && isatty(STDERR_FILENO);
    if (!p.is_on) return p;
    p.has_color = !no_color || !*no_color;
    p.n_columns = terminal_columns();
    p.start_ns = report_clock_ns();
    return p;
}

static void draw(const progress *p, const char *stage, unsigned done, unsigned total) {
    unsigned n_full = total ? (unsigned)((uint64_t)done * BAR_CELLS / total) : 0;
    char bar[BAR_CELLS + 1], line[256];
    for (unsigned i = 0; i < BAR_CELLS; i++) bar[i] = i < n_full ? '#' : '.';
    bar[BAR_CELLS] = 0;
    report_text elapsed = report_duration(report_clock_ns() - p->start_ns);
    int n = snprintf(line, sizeof line, "[%s] %u/%u %s, %s", bar, done, total, stage,
                     elapsed.text);
    if (n < 0) return;
    unsigned n_shown = (unsigned)n < sizeof line ? (unsigned)n : (unsigned)sizeof line - 1;
    if (n_shown >= p->n_columns)
        n_shown = p->n_columns - 1; /* a wrapped line can't be redrawn */
    (void)fprintf(stderr, "\r%s%.*s%s\033[K", p->has_color ? "\033[36m" : "", (int)n_shown,
                  line, p->has_color ? "\033[0m" : "");
    (void)fflush(stderr);
}

int progress_bar_step(void *arg, const char *stage, unsigned done, unsigned total) {
    const progress *p = arg;
    if (p->is_on) draw(p, stage, done, total);
    return p->stops_on_signal && interrupts_are_waiting();
}

void progress_bar_end(const progress *p) {
    if (!p->is_on) return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
}
