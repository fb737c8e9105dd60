/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_CLOCK_H
#define CUZK_BASE_CLOCK_H
/* base/clock: what the process has used so far. Thread: all functions are safe anywhere. */
#include <stdint.h>

/* Monotonic wall time; only differences mean something. */
uint64_t cuzk_clock_ns(void);
/* Processor time, user and system, of all threads of this process. */
uint64_t cuzk_clock_cpu_ns(void);
/* Largest resident size so far; 0 when the system does not say. */
uint64_t cuzk_peak_rss_bytes(void);

#endif
