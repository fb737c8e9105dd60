/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_FILE_H
#define CUZK_BASE_FILE_H
/* base/file: whole files in, whole files out. A regular file is mapped, so opening costs the
 * same whatever its size; anything else (a pipe, "-" for standard input) is read to its end.
 * An output appears complete or not at all. Thread: each object is owned by one thread. */
#include "base/bytes.h"

typedef struct file_in {
    cuzk_span bytes; /* what the file holds; dies at close */
    bool is_mapped;  /* else on the heap, and wiped at close */
    uint64_t device, inode;
} file_in;

/* ARG: path is empty. IO with the system's reason; NOMEM. A mapped file must not shrink until close. */
CUZK_MUST_CHECK cuzk_status file_in_open(file_in *out, const char *path, cuzk_err *err);
void file_in_close(file_in *in); /* a zeroed or closed one is fine */

typedef struct file_out file_out;

/* Starts an output that will be called `path` ("-" is standard output). Bytes go to a hidden
 * temporary file beside it; what is not a regular file (a pipe, a device) is written directly.
 * `inputs`: files that may not be overwritten, entries may be NULL.
 * ARG: path is empty or one of the inputs. BUDGET with the system's reason: it can't be created
 * or, in the calls below, can't be stored (IO is for inputs). NOMEM. */
CUZK_MUST_CHECK cuzk_status file_out_open(file_out **out, const char *path,
                                          const file_in *const *inputs, size_t n_inputs,
                                          cuzk_err *err);
/* Appends. After an error only abort makes sense. BUDGET. */
CUZK_MUST_CHECK cuzk_status file_out_write(file_out *out, const void *bytes, size_t n_bytes,
                                           cuzk_err *err);
/* Overwrites n_bytes that were already written at `offset`; regular files only (ARG else). */
CUZK_MUST_CHECK cuzk_status file_out_patch(file_out *out, uint64_t offset, const void *bytes,
                                           size_t n_bytes, cuzk_err *err);
/* Flushes to the disk and gives the file its name; always ends `out`. On error nothing of the
 * new file is left and an older file of that name is untouched. BUDGET. */
CUZK_MUST_CHECK cuzk_status file_out_commit(file_out *out, cuzk_err *err);
/* Forgets the output and removes its temporary file. NULL is fine. */
void file_out_abort(file_out *out);

#endif
