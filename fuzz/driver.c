/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz/driver: gives every file of the named folders and files to a fuzz target, once, with
 * any compiler. Each input lies at the end of its own heap block, so that a sanitizer sees
 * the first byte read past it. Fails when there was no input at all. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *path) {
    (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(1);
}

static unsigned replay_file(const char *path, size_t n_bytes) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(n_bytes ? n_bytes : 1);
    if (!file || !data || fread(data, 1, n_bytes, file) != n_bytes) die(path);
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(data, n_bytes);
    free(data);
    return 1;
}

static unsigned replay(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) die(path);
    if (!S_ISDIR(st.st_mode)) return replay_file(path, (size_t)st.st_size);

    struct dirent **entries;
    int n_entries = scandir(path, &entries, NULL, alphasort);
    if (n_entries < 0) die(path);
    unsigned n_files = 0;
    for (int i = 0; i < n_entries; i++) {
        char inner[4096];
        int n = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && n > 0 && n < (int)sizeof inner)
            n_files += replay(inner);
        free(entries[i]);
    }
    free((void *)entries);
    return n_files;
}

int main(int argc, char **argv) {
    unsigned n_files = 0;
    for (int i = 1; i < argc; i++) n_files += replay(argv[i]);
    printf("%u inputs replayed\n", n_files);
    return n_files > 0 ? 0 : 1;
}
