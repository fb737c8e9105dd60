/* SPDX-License-Identifier: Apache-2.0 */
/* base/cpu: what this processor can do, and what CUZK_CPU asks for. */
#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Both only touch general registers, so the operating system has no say in them. */
static bool has_adx(void) {
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
    const unsigned bmi2 = 1u << 8, adx = 1u << 19;
    return (ebx & (bmi2 | adx)) == (bmi2 | adx);
}

/* The operating system must keep the wide registers: XCR0 says which ones it does. */
static bool has_ifma(void) {
    unsigned eax, ebx, ecx, edx;
    if (!has_adx() || !__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return false;
    const unsigned osxsave = 1u << 27;
    if ((ecx & osxsave) == 0) return false;
    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    const unsigned all_of_zmm = 0xe6; /* xmm, ymm, masks, both halves of zmm */
    if ((eax & all_of_zmm) != all_of_zmm) return false;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
    const unsigned f = 1u << 16, ifma = 1u << 21;
    return (ebx & (f | ifma)) == (f | ifma);
}
#else
static bool has_adx(void) { return false; }
static bool has_ifma(void) { return false; }
#endif

static const char *const level_names[] = {
    [CUZK_CPU_PORTABLE] = "portable",
    [CUZK_CPU_ADX] = "adx",
    [CUZK_CPU_IFMA] = "ifma",
};
enum { N_LEVELS = sizeof level_names / sizeof level_names[0] };

static bool has_level(cuzk_cpu_level level) {
    switch (level) {
    case CUZK_CPU_PORTABLE:
        return true;
    case CUZK_CPU_ADX:
        return has_adx();
    case CUZK_CPU_IFMA:
        return has_ifma();
    }
    return false;
}

const char *cuzk_cpu_level_name(cuzk_cpu_level level) {
    return (unsigned)level < N_LEVELS ? level_names[level] : "unknown";
}

cuzk_status cuzk_cpu_select(cuzk_cpu_level *out, const char *forced, cuzk_err *err) {
    const bool any = forced == NULL || forced[0] == '\0';
    for (unsigned i = N_LEVELS; i-- > 0;) {
        const cuzk_cpu_level level = (cuzk_cpu_level)i;
        if (!any && strcmp(forced, level_names[i]) != 0) continue;
        if (has_level(level)) {
            *out = level;
            return CUZK_OK;
        }
        if (!any) {
            return cuzk_fail(err, CUZK_ERR_DEVICE, "base.cpu",
                             "this processor lacks what CPU level \"%s\" needs", forced);
        }
    }
    return cuzk_fail(err, CUZK_ERR_ARG, "base.cpu",
                     "unknown CPU level \"%s\", expected \"portable\", \"adx\" or \"ifma\"",
                     forced);
}
