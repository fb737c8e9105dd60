/* SPDX-License-Identifier: Apache-2.0 */
/* engine/spool: see spool.h.
 *
 * A file has its final name from its first byte: whether it is wanted is decided elsewhere (by
 * the journal's row), so a rename would decide nothing and cost one more flush of the disk. */
#define _GNU_SOURCE /* O_NOFOLLOW, O_DIRECTORY, openat */
#include "engine/spool.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct spool {
    int fd; /* of the folder */
    size_t n_path;
    char path[];
};

struct spool_writer {
    spool *owner;
    EVP_MD_CTX *hash;
    uint64_t n_bytes;
    int fd;
    char name[SPOOL_NAME_CHARS + 1];
};

/* ---- common ------------------------------------------------------------------------------- */

static cuzk_status fail_system(cuzk_err *err, const char *path, const char *what, int error) {
    cuzk_status code = CUZK_ERR_IO;
    const char *advice = "";
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        code = CUZK_ERR_BUDGET;
        advice = ": make room there and try again";
    } else if (error == EROFS || error == EACCES || error == EPERM) {
        advice = ": let the daemon's user write there";
    } else if (error == ENOMEM) {
        code = CUZK_ERR_NOMEM;
    }
    (void)cuzk_fail(err, code, "engine.spool", "%s: %s%s", what, strerror(error), advice);
    cuzk_err_prefix(err, path);
    return code;
}

static cuzk_status fail_hash(cuzk_err *err) { /* libcrypto has no other reason */
    return cuzk_fail(err, CUZK_ERR_NOMEM, "engine.spool", "no memory to hash a payload");
}

/* "folder/name"; owner: caller, cuzk_free(). */
static cuzk_status path_of(char **out, const spool *s, const char *name, cuzk_err *err) {
    const size_t capacity = s->n_path + sizeof "/" + strlen(name);
    CUZK_TRY(cuzk_alloc(out, 1, capacity, err));
    (void)snprintf(*out, capacity, "%s/%s", s->path, name);
    return CUZK_OK;
}

static cuzk_status sync_folder(int fd, const char *path, cuzk_err *err) {
    if (fsync(fd) == 0) return CUZK_OK;
    return fail_system(err, path, "can't be written to the disk", errno);
}

/* The new name must survive a power cut, and it stands in the folder above. */
static cuzk_status sync_parent(const char *path, cuzk_err *err) {
    char *parent;
    const size_t capacity = strlen(path) + sizeof "/..";
    CUZK_TRY(cuzk_alloc(&parent, 1, capacity, err));
    (void)snprintf(parent, capacity, "%s/..", path);
    cuzk_status status;
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        status = fail_system(err, parent, "can't be opened", errno);
    } else {
        status = sync_folder(fd, parent, err);
        (void)close(fd);
    }
    cuzk_free(parent);
    return status;
}

cuzk_status spool_make_folder(const char *path, cuzk_err *err) {
    if (mkdir(path, 0700) == 0) return sync_parent(path, err);
    if (errno == EEXIST) return CUZK_OK;
    return fail_system(err, path, "can't be made", errno);
}

/* ---- open and close ----------------------------------------------------------------------- */

cuzk_status spool_open(spool **out, const char *folder, cuzk_err *err) {
    CUZK_TRY(spool_make_folder(folder, err));
    spool *s;
    const size_t n_path = strlen(folder);
    CUZK_TRY(cuzk_zalloc(&s, 1, sizeof *s + n_path + 1, err));
    s->n_path = n_path;
    memcpy(s->path, folder, n_path + 1);
    s->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->fd < 0) {
        cuzk_status status = fail_system(err, folder, "can't be opened", errno);
        cuzk_free(s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

void spool_close(spool *s) {
    if (!s) return;
    (void)close(s->fd);
    cuzk_free(s);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void free_writer(spool_writer *w) {
    if (w->fd >= 0) (void)close(w->fd);
    EVP_MD_CTX_free(w->hash);
    cuzk_free(w);
}

static cuzk_status start_hash(EVP_MD_CTX **out, cuzk_err *err) {
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    if (!hash || EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(hash);
        return fail_hash(err);
    }
    *out = hash;
    return CUZK_OK;
}

cuzk_status spool_begin(spool_writer **out, spool *s, const char *name, cuzk_err *err) {
    spool_writer *w;
    CUZK_ASSERT(strlen(name) == SPOOL_NAME_CHARS);
    CUZK_TRY(cuzk_zalloc(&w, 1, sizeof *w, err));
    w->owner = s;
    w->fd = -1;
    memcpy(w->name, name, sizeof w->name);
    cuzk_status status = start_hash(&w->hash, err);
    if (status == CUZK_OK) {
        w->fd =
            openat(s->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (w->fd < 0) status = fail_system(err, s->path, "can't add a file", errno);
    }
    if (status != CUZK_OK) {
        free_writer(w);
        return status;
    }
    *out = w;
    return CUZK_OK;
}

cuzk_status spool_append(spool_writer *w, const void *bytes, size_t n_bytes, cuzk_err *err) {
    if (EVP_DigestUpdate(w->hash, bytes, n_bytes) != 1) return fail_hash(err);
    const uint8_t *p = bytes;
    while (n_bytes > 0) {
        ssize_t n = write(w->fd, p, n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_system(err, w->owner->path, "can't store a payload", errno);
        p += n;
        n_bytes -= (size_t)n;
        w->n_bytes += (uint64_t)n;
    }
    return CUZK_OK;
}

cuzk_status spool_finish(spool_sum *out, spool_writer *w, cuzk_err *err) {
    spool_sum sum = {.n_bytes = w->n_bytes};
    if (EVP_DigestFinal_ex(w->hash, sum.sha256, NULL) != 1) return fail_hash(err);
    *out = sum;
    return CUZK_OK;
}

cuzk_status spool_commit(spool_writer *w, cuzk_err *err) {
    spool *s = w->owner;
    cuzk_status status = CUZK_OK;
    if (fsync(w->fd) != 0) {
        status = fail_system(err, s->path, "can't store a payload on the disk", errno);
    } else {
        status = sync_folder(s->fd, s->path, err);
    }
    if (status != CUZK_OK) {
        spool_abort(w);
        return status;
    }
    free_writer(w);
    return CUZK_OK;
}

void spool_abort(spool_writer *w) {
    if (!w) return;
    spool_remove(w->owner, w->name);
    free_writer(w);
}

/* ---- reading ------------------------------------------------------------------------------ */

static cuzk_status fail_lost(cuzk_err *err, const spool *s, const char *what) {
    (void)cuzk_fail(err, CUZK_ERR_FORMAT, "engine.spool", "%s", what);
    cuzk_err_prefix(err, s->path);
    return CUZK_ERR_FORMAT;
}

cuzk_status spool_check(spool *s, const char *name, uint64_t n_bytes, cuzk_err *err) {
    struct stat st;
    if (fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return fail_lost(err, s, "the payload's file is missing");
        return fail_system(err, s->path, "can't be examined", errno);
    }
    if (!S_ISREG(st.st_mode)) return fail_lost(err, s, "the payload is not a file");
    if ((uint64_t)st.st_size != n_bytes) {
        char what[96];
        (void)snprintf(what, sizeof what,
                       "the payload's file has %" PRIu64 " bytes instead of %" PRIu64,
                       (uint64_t)st.st_size, n_bytes);
        return fail_lost(err, s, what);
    }
    return CUZK_OK;
}

static cuzk_status check_hash(const spool *s, cuzk_span bytes, const spool_sum *expected,
                              cuzk_err *err) {
    uint8_t sha256[SPOOL_SHA256_BYTES];
    if (EVP_Digest(bytes.p, bytes.n_bytes, sha256, NULL, EVP_sha256(), NULL) != 1)
        return fail_hash(err);
    if (memcmp(sha256, expected->sha256, sizeof sha256) == 0) return CUZK_OK;
    return fail_lost(err, s, "the payload's file has changed since it was stored (SHA-256)");
}

cuzk_status spool_map(file_in *out, spool *s, const char *name, const spool_sum *expected,
                      cuzk_err *err) {
    char *path;
    file_in file;
    CUZK_TRY(spool_check(s, name, expected->n_bytes, err));
    CUZK_TRY(path_of(&path, s, name, err));
    cuzk_status status = file_in_open(&file, path, err);
    cuzk_free(path);
    CUZK_TRY(status);
    if (file.bytes.n_bytes != expected->n_bytes) {
        status = fail_lost(err, s, "the payload's file changes while it is read");
    } else {
        status = check_hash(s, file.bytes, expected, err);
    }
    if (status != CUZK_OK) {
        file_in_close(&file);
        return status;
    }
    *out = file;
    return CUZK_OK;
}

/* ---- removing ----------------------------------------------------------------------------- */

void spool_remove(spool *s, const char *name) { (void)unlinkat(s->fd, name, 0); }

static bool is_name(const char *text) {
    return strlen(text) == SPOOL_NAME_CHARS &&
           strspn(text, "0123456789abcdef") == SPOOL_NAME_CHARS;
}

static cuzk_status sweep_entry(uint64_t *n_removed, spool *s, const char *name,
                               spool_keep_fn *keep, void *arg, cuzk_err *err) {
    bool is_kept;
    CUZK_TRY(keep(&is_kept, arg, name, err));
    if (is_kept) return CUZK_OK;
    if (unlinkat(s->fd, name, 0) != 0 && errno != ENOENT)
        return fail_system(err, s->path, "can't remove a file", errno);
    *n_removed += 1;
    return CUZK_OK;
}

cuzk_status spool_sweep(uint64_t *n_removed, spool *s, spool_keep_fn *keep, void *arg,
                        cuzk_err *err) {
    *n_removed = 0;
    DIR *dir = opendir(s->path);
    if (!dir) return fail_system(err, s->path, "can't be listed", errno);
    cuzk_status status = CUZK_OK;
    while (status == CUZK_OK) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry) {
            if (errno) status = fail_system(err, s->path, "can't be listed", errno);
            break;
        }
        if (is_name(entry->d_name))
            status = sweep_entry(n_removed, s, entry->d_name, keep, arg, err);
    }
    (void)closedir(dir);
    return status;
}
