/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock: see clock.h. */
#define _DEFAULT_SOURCE
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t read_clock_ns(clockid_t id) {
    struct timespec t;
    if (clock_gettime(id, &t) != 0) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t cuzk_clock_ns(void) { return read_clock_ns(CLOCK_MONOTONIC); }

uint64_t cuzk_clock_cpu_ns(void) { return read_clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

/* VmHWM rather than ru_maxrss: the latter also remembers the program that called exec, and
 * would charge a large parent to us. */
static uint64_t vm_high_water_kib(void) {
    FILE *file = fopen("/proc/self/status", "re");
    if (!file) return 0;
    static const char label[] = "VmHWM:";
    uint64_t kib = 0;
    char line[256];
    while (kib == 0 && fgets(line, sizeof line, file)) {
        if (!strncmp(line, label, strlen(label)))
            kib = strtoull(line + strlen(label), NULL, 10);
    }
    (void)fclose(file);
    return kib;
}

uint64_t cuzk_peak_rss_bytes(void) {
    uint64_t kib = vm_high_water_kib();
    struct rusage usage;
    if (kib == 0 && getrusage(RUSAGE_SELF, &usage) == 0) kib = (uint64_t)usage.ru_maxrss;
    return kib * 1024u;
}
