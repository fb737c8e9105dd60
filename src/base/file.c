/* SPDX-License-Identifier: Apache-2.0 */
/* base/file: see file.h. */
#define _GNU_SOURCE /* realpath, O_CLOEXEC, getrandom */
#include "base/file.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ_BYTES ((size_t)64 << 10)
#define OUT_BUFFER_BYTES ((size_t)64 << 10)

static cuzk_status fail(cuzk_err *err, cuzk_status code, const char *path, const char *what) {
    (void)cuzk_fail(err, code, "base.file", "%s", what);
    cuzk_err_prefix(err, path);
    return code;
}

static cuzk_status fail_system(cuzk_err *err, cuzk_status code, const char *what,
                               const char *path, int error) {
    if (error == ENOMEM) code = CUZK_ERR_NOMEM;
    (void)cuzk_fail(err, code, "base.file", "%s: %s", what, strerror(error));
    cuzk_err_prefix(err, path);
    return code;
}

static cuzk_status fail_in(cuzk_err *err, const char *what, const char *path, int error) {
    return fail_system(err, CUZK_ERR_IO, what, path, error);
}

/* Whatever keeps an output from being stored is lacking here, not wrong in what was given. */
static cuzk_status fail_out(cuzk_err *err, const char *what, const char *path, int error) {
    return fail_system(err, CUZK_ERR_BUDGET, what, path, error);
}

static cuzk_status refuse_empty(const char *path, cuzk_err *err) {
    if (*path) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_ARG, "base.file", "a file name is empty");
}

static bool is_dash(const char *path) { return path[0] == '-' && path[1] == 0; }

/* ---- in ---- */

static cuzk_status map_all(file_in *in, int fd, uint64_t n_bytes, const char *path,
                           cuzk_err *err) {
    if (n_bytes > SIZE_MAX) return fail_in(err, "can't be mapped", path, EOVERFLOW);
    if (n_bytes == 0) return CUZK_OK; /* an empty mapping is an error for the system */
    void *p = mmap(NULL, (size_t)n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) return fail_in(err, "can't be mapped", path, errno);
    in->bytes = (cuzk_span){p, (size_t)n_bytes};
    in->is_mapped = true;
    return CUZK_OK;
}

/* Doubles by hand, so that no copy of a secret stays behind in freed memory. */
static cuzk_status grow(uint8_t **p, size_t n_used, size_t *capacity, cuzk_err *err) {
    uint8_t *bigger;
    if (*capacity > SIZE_MAX / 2)
        return cuzk_fail(err, CUZK_ERR_NOMEM, "base.file", "too long");
    CUZK_TRY(cuzk_alloc(&bigger, 2, *capacity, err));
    memcpy(bigger, *p, n_used);
    cuzk_free_secret(*p, *capacity);
    *p = bigger;
    *capacity *= 2;
    return CUZK_OK;
}

static cuzk_status read_all(file_in *in, int fd, const char *path, cuzk_err *err) {
    uint8_t *p;
    size_t n_used = 0, capacity = FIRST_READ_BYTES;
    CUZK_TRY(cuzk_alloc(&p, 1, capacity, err));
    cuzk_status status = CUZK_OK;
    for (;;) {
        if (n_used == capacity) {
            status = grow(&p, n_used, &capacity, err);
            if (status != CUZK_OK) goto fail;
        }
        ssize_t n = read(fd, p + n_used, capacity - n_used);
        if (n == 0) break;
        if (n > 0) {
            n_used += (size_t)n;
        } else if (errno != EINTR) {
            status = fail_in(err, "can't be read", path, errno);
            goto fail;
        }
    }
    in->bytes = (cuzk_span){p, n_used};
    return CUZK_OK;
fail:
    cuzk_free_secret(p, capacity);
    return status;
}

cuzk_status file_in_open(file_in *out, const char *path, cuzk_err *err) {
    CUZK_TRY(refuse_empty(path, err));
    bool is_stdin = is_dash(path);
    const char *name = is_stdin ? "standard input" : path;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return fail_in(err, "can't be opened", name, errno);

    file_in in = {0};
    struct stat st;
    cuzk_status status;
    if (fstat(fd, &st) != 0) {
        status = fail_in(err, "can't be examined", name, errno);
    } else if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
        status = map_all(&in, fd, (uint64_t)st.st_size, name, err);
    } else { /* also a file given as standard input of which someone has read a part */
        status = read_all(&in, fd, name, err);
    }
    if (!is_stdin) (void)close(fd);
    if (status != CUZK_OK) return status;
    in.device = st.st_dev;
    in.inode = st.st_ino;
    *out = in;
    return CUZK_OK;
}

void file_in_close(file_in *in) {
    if (in->is_mapped) {
        (void)munmap((void *)(uintptr_t)in->bytes.p, in->bytes.n_bytes);
    } else {
        cuzk_free_secret((void *)(uintptr_t)in->bytes.p, in->bytes.n_bytes);
    }
    *in = (file_in){0};
}

/* ---- out ---- */

struct file_out {
    int fd;
    bool is_stdout;
    char *path;         /* as it will be called, symbolic links followed */
    char *temporary;    /* NULL when written directly */
    uint64_t n_flushed; /* bytes already given to the system */
    size_t n_buffered;
    uint8_t buffer[OUT_BUFFER_BYTES];
};

static cuzk_status write_all(file_out *out, const uint8_t *p, size_t n_bytes, cuzk_err *err) {
    while (n_bytes > 0) {
        ssize_t n = write(out->fd, p, n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_out(err, "can't be written", out->path, errno);
        p += n;
        n_bytes -= (size_t)n;
        out->n_flushed += (uint64_t)n;
    }
    return CUZK_OK;
}

static cuzk_status flush(file_out *out, cuzk_err *err) {
    size_t n_bytes = out->n_buffered;
    out->n_buffered = 0;
    return write_all(out, out->buffer, n_bytes, err);
}

static cuzk_status copy_text(char **out, const char *text, cuzk_err *err) {
    const size_t n_bytes = strlen(text) + 1;
    CUZK_TRY(cuzk_alloc(out, 1, n_bytes, err));
    memcpy(*out, text, n_bytes);
    return CUZK_OK;
}

/* A hidden name in the folder of `path`; its length does not depend on that of the file's. */
static cuzk_status random_name(char **out, const char *path, cuzk_err *err) {
    static const char pattern[] = ".cuzk-0123456789abcdef.tmp";
    const char *slash = strrchr(path, '/');
    const size_t n_folder = slash ? (size_t)(slash + 1 - path) : 0;
    uint64_t tag;
    if (getrandom(&tag, sizeof tag, 0) != (ssize_t)sizeof tag)
        return fail_out(err, "no random name for the temporary file", path, errno);
    char *name = NULL;
    CUZK_TRY(cuzk_alloc(&name, 1, n_folder + sizeof pattern, err));
    memcpy(name, path, n_folder);
    (void)snprintf(name + n_folder, sizeof pattern, ".cuzk-%016llx.tmp",
                   (unsigned long long)tag);
    *out = name;
    return CUZK_OK;
}

/* Unlike mkstemp this leaves the permissions to the umask, as for any file the user makes. */
static cuzk_status open_temporary(file_out *out, cuzk_err *err) {
    int error = EEXIST;
    for (int attempt = 0; attempt < 16 && error == EEXIST; attempt++) {
        char *temporary = NULL;
        CUZK_TRY(random_name(&temporary, out->path, err));
        out->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0) {
            out->temporary = temporary;
            return CUZK_OK;
        }
        error = errno;
        cuzk_free(temporary);
    }
    return fail_out(err, "can't be created", out->path, error);
}

static cuzk_status open_target(file_out *out, const char *path, const file_in *const *inputs,
                               size_t n_inputs, cuzk_err *err) {
    struct stat st;
    if (is_dash(path)) {
        out->fd = STDOUT_FILENO;
        out->is_stdout = true;
        return copy_text(&out->path, "standard output", err);
    }
    if (stat(path, &st) != 0) {
        int error = errno;
        CUZK_TRY(copy_text(&out->path, path, err));
        if (error != ENOENT) return fail_out(err, "can't be created", path, error);
        return open_temporary(out, err);
    }
    for (size_t i = 0; i < n_inputs; i++) {
        if (inputs[i] && inputs[i]->device == st.st_dev && inputs[i]->inode == st.st_ino) {
            return fail(err, CUZK_ERR_ARG, path, "the output is one of the inputs");
        }
    }
    char *resolved = realpath(path, NULL); /* replace what a link points to, not the link */
    if (!resolved) return fail_out(err, "can't be created", path, errno);
    cuzk_status status = copy_text(&out->path, resolved, err);
    free(resolved);
    CUZK_TRY(status);
    if (S_ISREG(st.st_mode)) return open_temporary(out, err);
    out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return out->fd >= 0 ? CUZK_OK : fail_out(err, "can't be opened", path, errno);
}

cuzk_status file_out_open(file_out **out, const char *path, const file_in *const *inputs,
                          size_t n_inputs, cuzk_err *err) {
    file_out *o;
    CUZK_TRY(refuse_empty(path, err));
    CUZK_TRY(cuzk_zalloc(&o, 1, sizeof *o, err));
    o->fd = -1;
    cuzk_status status = open_target(o, path, inputs, n_inputs, err);
    if (status != CUZK_OK) {
        file_out_abort(o);
        return status;
    }
    *out = o;
    return CUZK_OK;
}

cuzk_status file_out_write(file_out *out, const void *bytes, size_t n_bytes, cuzk_err *err) {
    if (n_bytes > OUT_BUFFER_BYTES - out->n_buffered) CUZK_TRY(flush(out, err));
    if (n_bytes > OUT_BUFFER_BYTES) return write_all(out, bytes, n_bytes, err);
    if (n_bytes > 0) memcpy(out->buffer + out->n_buffered, bytes, n_bytes);
    out->n_buffered += n_bytes;
    return CUZK_OK;
}

cuzk_status file_out_patch(file_out *out, uint64_t offset, const void *bytes, size_t n_bytes,
                           cuzk_err *err) {
    CUZK_TRY(flush(out, err));
    if (!out->temporary) {
        return fail(err, CUZK_ERR_ARG, out->path,
                    "only a regular file can be changed after it was written");
    }
    CUZK_ASSERT(offset <= out->n_flushed && n_bytes <= out->n_flushed - offset);
    const uint8_t *p = bytes;
    while (n_bytes > 0) {
        ssize_t n = pwrite(out->fd, p, n_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_out(err, "can't be written", out->path, errno);
        p += n;
        n_bytes -= (size_t)n;
        offset += (uint64_t)n;
    }
    return CUZK_OK;
}

/* Makes the new name itself survive a power cut. The file is in place by now, and some file
 * systems can't do this, so a failure is not an error. */
static void sync_folder_of(const char *path) {
    char *folder;
    if (copy_text(&folder, path, NULL) != CUZK_OK) return;
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder ? 1 : 0] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    cuzk_free(folder);
}

cuzk_status file_out_commit(file_out *out, cuzk_err *err) {
    cuzk_status status = flush(out, err);
    if (status != CUZK_OK) goto out;
    if (out->temporary && fsync(out->fd) != 0) {
        status = fail_out(err, "can't be written to the disk", out->path, errno);
        goto out;
    }
    if (!out->is_stdout) { /* a network file system may report a lost write only here */
        int closed = close(out->fd);
        out->fd = -1;
        if (closed != 0 && errno != EINTR) {
            status = fail_out(err, "can't be written", out->path, errno);
            goto out;
        }
    }
    if (out->temporary) {
        if (rename(out->temporary, out->path) != 0) {
            status = fail_out(err, "can't be put in place", out->path, errno);
            goto out;
        }
        cuzk_free(out->temporary);
        out->temporary = NULL;
        sync_folder_of(out->path);
    }
out:
    file_out_abort(out);
    return status;
}

void file_out_abort(file_out *out) {
    if (!out) return;
    if (out->fd >= 0 && !out->is_stdout) (void)close(out->fd);
    if (out->temporary) (void)unlink(out->temporary);
    cuzk_free(out->temporary);
    cuzk_free(out->path);
    cuzk_free_secret(out, sizeof *out);
}
