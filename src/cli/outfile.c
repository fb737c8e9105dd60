/* SPDX-License-Identifier: Apache-2.0 */
/* cli/outfile: see outfile.h. */
#define _GNU_SOURCE /* realpath, O_CLOEXEC, getrandom */
#include "outfile.h"

#include "command.h"
#include "interrupts.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *path, const char *what, int error) {
    char text[REPORT_LINE_BYTES];
    (void)snprintf(text, sizeof text, "%s: %s: %s",
                   cli_is_dash(path) ? "standard output" : path, what, strerror(error));
    report_error(text, NULL);
    return EXIT_RESOURCES;
}

/* ---- which file a path leads to ---- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder that `path` is in, with a slash at its end. NULL: no memory. */
static char *folder_of(const char *path) {
    size_t n_bytes = (size_t)(base_name(path) - path);
    return n_bytes ? strndup(path, n_bytes) : strdup("./");
}

static bool is_same_inode(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int stat_path(const char *path, int dash_fd, struct stat *st) {
    return cli_is_dash(path) ? fstat(dash_fd, st) : stat(path, st);
}

/* Two names that don't exist yet: the same when they are the same name in the same folder. */
static bool would_be_same(const char *a, const char *b) {
    char *folder_a = folder_of(a), *folder_b = folder_of(b);
    struct stat st_a, st_b;
    bool is_same = !strcmp(base_name(a), base_name(b)) && folder_a && folder_b &&
                   stat(folder_a, &st_a) == 0 && stat(folder_b, &st_b) == 0 &&
                   is_same_inode(&st_a, &st_b);
    free(folder_a);
    free(folder_b);
    return is_same;
}

bool outfile_is_same(const char *output, const char *other, bool other_is_input) {
    struct stat a, b;
    bool has_a = stat_path(output, STDOUT_FILENO, &a) == 0;
    bool has_b = stat_path(other, other_is_input ? STDIN_FILENO : STDOUT_FILENO, &b) == 0;
    if (has_a && has_b) return S_ISREG(a.st_mode) && is_same_inode(&a, &b);
    return !has_a && !has_b && would_be_same(output, other);
}

/* ---- checks before the work ---- */

static int check_creatable(const char *path) {
    if (cli_is_dash(path)) return EXIT_OK;
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) return fail(path, "can't be written", EISDIR);
        if (!S_ISREG(st.st_mode)) return EXIT_OK;
    } else if (errno != ENOENT) {
        return fail(path, "can't be created", errno);
    }
    char *folder = folder_of(path);
    int error = !folder ? ENOMEM : access(folder, W_OK | X_OK) != 0 ? errno : 0;
    free(folder);
    if (error == 0 && *base_name(path) == 0) error = ENOENT;
    return error ? fail(path, "can't be created", error) : EXIT_OK;
}

int outfile_check_all(const outfile *files, size_t n_files, const char *const *inputs,
                      size_t n_inputs) {
    char text[REPORT_LINE_BYTES];
    for (size_t i = 0; i < n_files; i++) {
        if (!*files[i].path) {
            report_error("the name of an output is empty", NULL);
            return EXIT_USAGE;
        }
        for (size_t j = 0; j < n_inputs; j++) {
            if (!inputs[j] || !outfile_is_same(files[i].path, inputs[j], true)) continue;
            (void)snprintf(text, sizeof text,
                           "%s: the output is the same file as the input %s", files[i].path,
                           inputs[j]);
            report_error(text, "another name for the output");
            return EXIT_USAGE;
        }
        for (size_t j = 0; j < i; j++) {
            if (!outfile_is_same(files[i].path, files[j].path, false)) continue;
            (void)snprintf(text, sizeof text,
                           "%s: the output is the same file as the output %s", files[i].path,
                           files[j].path);
            report_error(text, "another name for one of them");
            return EXIT_USAGE;
        }
    }
    for (size_t i = 0; i < n_files; i++) {
        int rc = check_creatable(files[i].path);
        if (rc != EXIT_OK) return rc;
    }
    return EXIT_OK;
}

/* ---- writing ---- */

static int write_bytes(int fd, const char *path, const char *text) {
    size_t n_left = strlen(text);
    while (n_left > 0) {
        ssize_t n = write(fd, text, n_left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(path, "can't be written", errno);
        text += n;
        n_left -= (size_t)n;
    }
    return EXIT_OK;
}

/* A hidden name in the folder of `target`; its length does not depend on the target's. NULL
 * with errno set on failure. */
static char *random_name(const char *target) {
    uint64_t tag;
    if (getrandom(&tag, sizeof tag, 0) != (ssize_t)sizeof tag) return NULL;
    char *folder = folder_of(target), *name = NULL;
    size_t capacity = folder ? strlen(folder) + 32 : 0;
    if (folder) name = malloc(capacity);
    if (name) {
        (void)snprintf(name, capacity, "%s.cuzk-%016llx.tmp", folder, (unsigned long long)tag);
    }
    free(folder);
    if (!name) errno = ENOMEM;
    return name;
}

static int open_temporary(outfile *file) {
    int fd = -1, error = EEXIST;
    for (unsigned i = 0; i < 16 && fd < 0 && error == EEXIST; i++) {
        char *name = random_name(file->target);
        if (name) fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = errno;
        if (fd >= 0) {
            file->temporary = name;
        } else {
            free(name);
        }
    }
    errno = error;
    return fd;
}

static int write_directly(const outfile *file) {
    if (cli_is_dash(file->path)) return write_bytes(STDOUT_FILENO, file->path, file->text);
    int fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return fail(file->path, "can't be opened", errno);
    int rc = write_bytes(fd, file->path, file->text);
    if (close(fd) != 0 && rc == EXIT_OK) rc = fail(file->path, "can't be written", errno);
    return rc;
}

static int write_temporary(outfile *file) {
    int fd = open_temporary(file);
    if (fd < 0) return fail(file->path, "can't be created", errno);
    int rc = write_bytes(fd, file->path, file->text);
    if (rc == EXIT_OK && fsync(fd) != 0) {
        rc = fail(file->path, "can't be written to the disk", errno);
    }
    if (close(fd) != 0 && rc == EXIT_OK) rc = fail(file->path, "can't be written", errno);
    return rc;
}

static int write_one(outfile *file) {
    struct stat st;
    if (cli_is_dash(file->path)) return write_directly(file);
    if (stat(file->path, &st) == 0) {
        if (!S_ISREG(st.st_mode)) return write_directly(file);
        file->target = realpath(file->path, NULL); /* replace what a link points to */
    } else {
        file->target = strdup(file->path);
    }
    if (!file->target) return fail(file->path, "can't be created", errno);
    return write_temporary(file);
}

/* A second name for what the target holds now, so that it can come back. Where the file system
 * has no hard links the target gives up its name for a moment. */
static int keep_old(outfile *file) {
    struct stat st;
    if (!file->temporary || (lstat(file->target, &st) != 0 && errno == ENOENT)) return EXIT_OK;
    char *name = random_name(file->target);
    if (!name || (link(file->target, name) != 0 &&
                  (errno == EEXIST || rename(file->target, name) != 0))) {
        int error = errno;
        free(name);
        return fail(file->path, "can't be replaced", error);
    }
    file->old = name;
    return EXIT_OK;
}

static int put_in_place(outfile *file) {
    if (!file->temporary) return EXIT_OK;
    if (rename(file->temporary, file->target) != 0) {
        return fail(file->path, "can't be put in place", errno);
    }
    free(file->temporary);
    file->temporary = NULL;
    file->is_new = true;
    return EXIT_OK;
}

static void take_back(outfile *file) {
    if (file->old) {
        struct stat st;
        const bool is_changed = file->is_new || lstat(file->target, &st) != 0;
        if (!is_changed || rename(file->old, file->target) == 0) {
            (void)unlink(file->old);
        } /* else the hidden name is all there is, so it stays */
        free(file->old);
        file->old = NULL;
    } else if (file->is_new) {
        (void)unlink(file->target);
    }
}

static void forget(outfile *file) {
    if (file->temporary) (void)unlink(file->temporary);
    if (file->old) (void)unlink(file->old);
    free(file->temporary);
    free(file->old);
    free(file->target);
    file->temporary = file->old = file->target = NULL;
    file->is_new = false;
}

int outfile_write_all(outfile *files, size_t n_files) {
    interrupts held = interrupts_hold();
    int rc = EXIT_OK;
    for (size_t i = 0; i < n_files && rc == EXIT_OK; i++) rc = write_one(&files[i]);
    /* The last one changes nothing when it fails, so only those before it can need their old. */
    for (size_t i = 0; i + 1 < n_files && rc == EXIT_OK; i++) rc = keep_old(&files[i]);
    for (size_t i = 0; i < n_files && rc == EXIT_OK; i++) rc = put_in_place(&files[i]);
    for (size_t i = 0; i < n_files && rc != EXIT_OK; i++) {
        take_back(&files[i]); /* one of a pair is no result */
    }
    for (size_t i = 0; i < n_files; i++) forget(&files[i]);
    interrupts_release(&held);
    return rc;
}
