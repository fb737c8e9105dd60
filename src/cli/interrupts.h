/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CLI_INTERRUPTS_H
#define CUZK_CLI_INTERRUPTS_H
/* cli/interrupts: lets SIGINT, SIGTERM and SIGHUP wait while there is a half-written file on
 * disk. No handler, so no global: they stay pending in the system, and do what they always do
 * once they are released. Thread: main only; the library's own threads take no signals. */
#include <signal.h>
#include <stdbool.h>

typedef struct interrupts {
    sigset_t before;
} interrupts;

interrupts interrupts_hold(void);
void interrupts_release(const interrupts *held);
/* One is waiting, and will end the process when released. */
bool interrupts_are_waiting(void);

#endif
