/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_ENGINE_SPOOL_H
#define CUZK_ENGINE_SPOOL_H
/* engine/spool: payloads on disk, one file each, in one private folder. In: bytes, piece by
 * piece. Out: a file that survives a power cut, its length and SHA-256; later the same bytes,
 * mapped, or a reason why not. Knows nothing of jobs: who has no more use for a file says so.
 *
 * Payloads hold witnesses. Files are readable by the owner alone and are unlinked when they are
 * removed; they are not overwritten first, since neither flash nor a journaling file system
 * would put the new bytes where the old ones are.
 *
 * Status: BUDGET = the disk is full or a quota is used up; IO = the system's other reasons;
 * FORMAT = a file is missing or isn't what was stored; NOMEM. */
#include "base/file.h"

enum { SPOOL_NAME_CHARS = 32, SPOOL_SHA256_BYTES = 32 };

typedef struct spool spool;               /* Thread: shared */
typedef struct spool_writer spool_writer; /* Thread: owned */

typedef struct spool_sum {
    uint64_t n_bytes;
    uint8_t sha256[SPOOL_SHA256_BYTES];
} spool_sum;

/* Makes the folder (mode 0700) if there is none. */
CUZK_MUST_CHECK cuzk_status spool_open(spool **out, const char *folder, cuzk_err *err);
void spool_close(spool *s); /* NULL is fine; writers ended before */

/* ---- writing ---- */
/* name: SPOOL_NAME_CHARS lower-case hexadecimal digits, not in use. */
CUZK_MUST_CHECK cuzk_status spool_begin(spool_writer **out, spool *s, const char *name,
                                        cuzk_err *err);
/* After an error only abort makes sense. */
CUZK_MUST_CHECK cuzk_status spool_append(spool_writer *w, const void *bytes, size_t n_bytes,
                                         cuzk_err *err);
/* What was appended; nothing may be appended any more. */
CUZK_MUST_CHECK cuzk_status spool_finish(spool_sum *out, spool_writer *w, cuzk_err *err);
/* Returns when bytes and name are on the disk. Always ends w; on error no file is left. */
CUZK_MUST_CHECK cuzk_status spool_commit(spool_writer *w, cuzk_err *err);
void spool_abort(spool_writer *w); /* ends w, no file is left; NULL is fine */

/* ---- reading ---- */
/* Whether a file of that name and length is there: cheap, whatever the length. */
CUZK_MUST_CHECK cuzk_status spool_check(spool *s, const char *name, uint64_t n_bytes,
                                        cuzk_err *err);
/* Maps it, and reads it once to check all of it against `expected`. Owner: caller,
 * file_in_close(); stays valid when the file is removed. */
CUZK_MUST_CHECK cuzk_status spool_map(file_in *out, spool *s, const char *name,
                                      const spool_sum *expected, cuzk_err *err);

/* ---- removing ---- */
/* What can't be removed stays for the next sweep. */
void spool_remove(spool *s, const char *name);
/* Removes every file that has such a name and that `keep` disowns; *n_removed counts them. An
 * error of keep ends it. No writer may be open. */
typedef cuzk_status spool_keep_fn(bool *out_keep, void *arg, const char *name, cuzk_err *err);
CUZK_MUST_CHECK cuzk_status spool_sweep(uint64_t *n_removed, spool *s, spool_keep_fn *keep,
                                        void *arg, cuzk_err *err);

/* ---- for the folder above, too ---- */
/* Makes a folder of mode 0700 unless it is there, durably. */
CUZK_MUST_CHECK cuzk_status spool_make_folder(const char *path, cuzk_err *err);

#endif
