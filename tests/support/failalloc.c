/* SPDX-License-Identifier: Apache-2.0 */
/* failalloc: an LD_PRELOAD library that makes one memory request of a program fail.
 *
 *   FAILALLOC_N=k           the k-th request after start-up fails (1 = the first)
 *   FAILALLOC_FROM=k        the k-th and all later ones fail, as when memory is really gone
 *   FAILALLOC_COUNT_FILE=f  at exit, the number of requests is written to f
 *
 * Requests: malloc, calloc, realloc, aligned_alloc, posix_memalign, anonymous mmap; also those
 * that the C library makes for itself. It calls glibc's own names behind these functions, so it
 * needs no dlsym, which might allocate. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n_items, size_t item_bytes);
extern void *__libc_realloc(void *old, size_t n_bytes);
extern void *__libc_memalign(size_t alignment, size_t n_bytes);

static atomic_bool active;
static atomic_ulong n_requests;
static unsigned long first_failing, last_failing;
static const char *count_file;

__attribute__((constructor)) static void start(void) {
    const char *n = getenv("FAILALLOC_N"), *from = getenv("FAILALLOC_FROM");
    const char *first = n ? n : from;
    first_failing = first ? strtoul(first, NULL, 10) : 0;
    last_failing = n ? first_failing : ULONG_MAX;
    count_file = getenv("FAILALLOC_COUNT_FILE");
    active = true;
}

__attribute__((destructor)) static void finish(void) {
    active = false;
    if (!count_file) return;
    char text[32];
    int n_chars = snprintf(text, sizeof text, "%lu\n", (unsigned long)n_requests);
    int fd = open(count_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, text, (size_t)n_chars) != n_chars) abort();
    (void)close(fd);
}

static bool refuse(void) {
    if (!active) return false;
    unsigned long request = atomic_fetch_add(&n_requests, 1) + 1;
    bool is_refused = first_failing && request >= first_failing && request <= last_failing;
    if (is_refused) errno = ENOMEM;
    return is_refused;
}

void *malloc(size_t n_bytes) { return refuse() ? NULL : __libc_malloc(n_bytes); }

void *calloc(size_t n_items, size_t item_bytes) {
    return refuse() ? NULL : __libc_calloc(n_items, item_bytes);
}

void *realloc(void *old, size_t n_bytes) {
    return refuse() ? NULL : __libc_realloc(old, n_bytes);
}

void *aligned_alloc(size_t alignment, size_t n_bytes) {
    return refuse() ? NULL : __libc_memalign(alignment, n_bytes);
}

int posix_memalign(void **out, size_t alignment, size_t n_bytes) {
    void *block = refuse() ? NULL : __libc_memalign(alignment, n_bytes);
    if (!block) return ENOMEM;
    *out = block;
    return 0;
}

void *mmap(void *address, size_t n_bytes, int protection, int flags, int fd, off_t offset) {
    if ((flags & MAP_ANONYMOUS) && refuse()) return MAP_FAILED;
    long p = syscall(SYS_mmap, address, n_bytes, protection, flags, fd, offset);
    return (void *)p; /* syscall() has set errno; -1 is MAP_FAILED */
}
