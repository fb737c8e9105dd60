/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_CLI_OUTFILE_H
#define CUZK_CLI_OUTFILE_H
/* cli/outfile: small output files that appear complete or not at all, and never in place of an
 * input. "-" is standard output; a pipe or a device is written directly. Thread: main thread
 * only (it changes the signal mask while files are put in place). */
#include <stdbool.h>
#include <stddef.h>

typedef struct outfile {
    const char *path;
    const char *text;
    char *target;    /* the name behind symbolic links, or NULL; used by outfile_write_all */
    char *temporary; /* exists on disk, or NULL */
    char *old;       /* hidden name of what is being replaced, or NULL */
    bool is_new;     /* target holds the text */
} outfile;

/* Before the work starts: each output differs from every input and every other output, and
 * can be created. Inputs may be NULL or "-". Prints what is wrong; returns the exit code. */
int outfile_check_all(const outfile *files, size_t n_files, const char *const *inputs,
                      size_t n_inputs);

/* Writes all texts, then gives all files their names. On failure prints why, leaves what
 * was there before, nothing new, and returns the exit code. Interrupting signals wait until it is over. */
int outfile_write_all(outfile *files, size_t n_files);

/* True when both paths lead to one regular file, or would if it existed. "-" is looked through
 * when the stream is a file. */
bool outfile_is_same(const char *output, const char *other, bool other_is_input);

#endif
