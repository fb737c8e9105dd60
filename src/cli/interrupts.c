/* SPDX-License-Identifier: Apache-2.0 */
/* cli/interrupts: see interrupts.h. */
#define _GNU_SOURCE /* sigaction, sigprocmask */
#include "interrupts.h"

#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define N_SIGNALS (sizeof signals / sizeof *signals)

interrupts interrupts_hold(void) {
    interrupts held;
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < N_SIGNALS; i++) (void)sigaddset(&set, signals[i]);
    (void)sigprocmask(SIG_BLOCK, &set, &held.before);
    return held;
}

void interrupts_release(const interrupts *held) {
    (void)sigprocmask(SIG_SETMASK, &held->before, NULL);
}

bool interrupts_are_waiting(void) {
    sigset_t pending;
    if (sigpending(&pending) != 0) return false;
    for (size_t i = 0; i < N_SIGNALS; i++) {
        struct sigaction
            action; /* nohup and shells that run us in the background ignore some */
        if (sigismember(&pending, signals[i]) == 1 &&
            sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            return true;
        }
    }
    return false;
}
