/* SPDX-License-Identifier: Apache-2.0 */
/* base/file: what goes in comes out, and what fails leaves nothing behind. */
#define _GNU_SOURCE /* mkdtemp, pipe2 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- each test works in an empty folder of its own ---- */

static int enter_folder(void **state) {
    static const char pattern[] = "/tmp/cuzk-test-XXXXXX";
    char *folder = malloc(sizeof pattern);
    if (!folder) return -1;
    memcpy(folder, pattern, sizeof pattern);
    *state = folder;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave_folder(void **state) {
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
    free(*state);
    return chdir("/") != 0 || system(command) != 0;
}

static unsigned count_entries(void) {
    DIR *dir = opendir(".");
    assert_non_null(dir);
    unsigned n = 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(dir);
    return n;
}

static void put(const char *path, const void *bytes, size_t n_bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *path, const void *bytes, size_t n_bytes) {
    file_in file;
    assert_int_equal(file_in_open(&file, path, NULL), CUZK_OK);
    assert_int_equal(file.bytes.n_bytes, n_bytes);
    if (n_bytes) assert_memory_equal(file.bytes.p, bytes, n_bytes);
    file_in_close(&file);
}

/* ---- in ---- */

static void test_file_in__maps_a_regular_file(void **state) {
    (void)state;
    put("x", "abc", 3);
    file_in file;
    assert_int_equal(file_in_open(&file, "x", NULL), CUZK_OK);
    assert_true(file.is_mapped);
    assert_int_equal(file.bytes.n_bytes, 3);
    assert_memory_equal(file.bytes.p, "abc", 3);
    file_in_close(&file);
    assert_null(file.bytes.p);
    file_in_close(&file);
}

static void test_file_in__gives_no_bytes_when_the_file_is_empty(void **state) {
    (void)state;
    put("x", "", 0);
    assert_holds("x", "", 0);
}

static void test_file_in__says_why_when_there_is_none(void **state) {
    (void)state;
    file_in file;
    cuzk_err err;
    assert_int_equal(file_in_open(&file, "absent", &err), CUZK_ERR_IO);
    assert_non_null(strstr(err.text, "absent"));
    assert_non_null(strstr(err.text, strerror(ENOENT)));
    assert_int_equal(file_in_open(&file, ".", &err), CUZK_ERR_IO);
    assert_non_null(strstr(err.text, strerror(EISDIR)));
}

typedef struct feeder {
    int fd;
    size_t n_bytes;
} feeder;

static uint8_t byte_at(size_t i) { return (uint8_t)(i * 7 + i / 251); }

static void *feed(void *arg) {
    const feeder *f = arg;
    uint8_t chunk[1000];
    for (size_t done = 0; done < f->n_bytes;) {
        size_t n = f->n_bytes - done < sizeof chunk ? f->n_bytes - done : sizeof chunk;
        for (size_t i = 0; i < n; i++) chunk[i] = byte_at(done + i);
        ssize_t written = write(f->fd, chunk, n);
        if (written < 0) break;
        done += (size_t)written;
    }
    (void)close(f->fd);
    return NULL;
}

/* Lengths around the first buffer and its doublings. */
static void test_file_in__reads_a_pipe_to_its_end(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 131072, 300001};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int ends[2];
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        feeder f = {.fd = ends[1], .n_bytes = lengths[k]};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, feed, &f), 0);
        char path[32];
        (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        file_in file;
        assert_int_equal(file_in_open(&file, path, NULL), CUZK_OK);
        pthread_join(thread, NULL);
        assert_false(file.is_mapped);
        assert_int_equal(file.bytes.n_bytes, lengths[k]);
        for (size_t i = 0; i < lengths[k]; i++) {
            if (file.bytes.p[i] != byte_at(i))
                fail_msg("byte %zu of %zu differs", i, lengths[k]);
        }
        file_in_close(&file);
        (void)close(ends[0]);
    }
}

/* Runs `body` with the file at `path` as standard input or output (fd). */
static void with_fd(int fd, const char *path, int flags, void (*body)(void *), void *arg) {
    int saved = dup(fd), opened = open(path, flags, 0666);
    assert_true(saved >= 0 && opened >= 0);
    assert_int_equal(dup2(opened, fd), fd);
    (void)close(opened);
    body(arg);
    assert_int_equal(dup2(saved, fd), fd);
    (void)close(saved);
}

static void open_dash(void *arg) { assert_int_equal(file_in_open(arg, "-", NULL), CUZK_OK); }

static void open_dash_after_one_byte(void *arg) {
    char first;
    assert_int_equal(read(STDIN_FILENO, &first, 1), 1);
    open_dash(arg);
}

static void test_file_in__reads_what_is_left_of_standard_input(void **state) {
    (void)state;
    put("x", "abc", 3);
    file_in file;
    with_fd(STDIN_FILENO, "x", O_RDONLY, open_dash, &file);
    assert_int_equal(file.bytes.n_bytes, 3);
    assert_memory_equal(file.bytes.p, "abc", 3);
    file_in_close(&file);
    with_fd(STDIN_FILENO, "x", O_RDONLY, open_dash_after_one_byte, &file);
    assert_int_equal(file.bytes.n_bytes, 2);
    assert_memory_equal(file.bytes.p, "bc", 2);
    file_in_close(&file);
}

/* ---- out ---- */

static file_out *start(const char *path) {
    file_out *out;
    assert_int_equal(file_out_open(&out, path, NULL, 0, NULL), CUZK_OK);
    return out;
}

static void test_file_out__appears_only_when_committed(void **state) {
    (void)state;
    file_out *out = start("x");
    assert_int_equal(file_out_write(out, "abc", 3, NULL), CUZK_OK);
    assert_int_equal(access("x", F_OK), -1);
    assert_int_equal(count_entries(), 1); /* in the same folder, so that a rename is enough */
    assert_int_equal(file_out_write(out, "de", 2, NULL), CUZK_OK);
    assert_int_equal(file_out_commit(out, NULL), CUZK_OK);
    assert_int_equal(count_entries(), 1);
    assert_holds("x", "abcde", 5);
}

static void test_file_out__follows_the_umask(void **state) {
    (void)state;
    mode_t before = umask(027);
    assert_int_equal(file_out_commit(start("x"), NULL), CUZK_OK);
    (void)umask(before);
    struct stat st;
    assert_int_equal(stat("x", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_file_out__keeps_the_old_file_when_aborted(void **state) {
    (void)state;
    put("x", "old", 3);
    file_out *out = start("x");
    assert_int_equal(file_out_write(out, "new", 3, NULL), CUZK_OK);
    file_out_abort(out);
    file_out_abort(NULL);
    assert_holds("x", "old", 3);
    assert_int_equal(count_entries(), 1);
}

static void test_file_out__writes_any_mixture_of_lengths_in_order(void **state) {
    (void)state;
    static uint8_t all[400000];
    for (size_t i = 0; i < sizeof all; i++) all[i] = byte_at(i);
    file_out *out = start("x");
    static const size_t lengths[] = {1, 65535, 1, 0, 65536, 65537, 3, 100000};
    size_t done = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_int_equal(file_out_write(out, all + done, lengths[i], NULL), CUZK_OK);
        done += lengths[i];
    }
    assert_int_equal(file_out_commit(out, NULL), CUZK_OK);
    assert_holds("x", all, done);
}

static void test_file_out__patches_bytes_already_written(void **state) {
    (void)state;
    file_out *out = start("x");
    assert_int_equal(file_out_write(out, "....abc", 7, NULL), CUZK_OK);
    assert_int_equal(file_out_patch(out, 0, "1234", 4, NULL), CUZK_OK);
    assert_int_equal(file_out_write(out, "d", 1, NULL), CUZK_OK);
    assert_int_equal(file_out_patch(out, 7, "D", 1, NULL), CUZK_OK);
    assert_int_equal(file_out_commit(out, NULL), CUZK_OK);
    assert_holds("x", "1234abcD", 8);
}

static void test_file_out__refuses_a_path_that_is_an_input(void **state) {
    (void)state;
    put("x", "in", 2);
    put("y", "in", 2);
    assert_int_equal(link("x", "hard"), 0);
    assert_int_equal(symlink("x", "soft"), 0);
    file_in input;
    assert_int_equal(file_in_open(&input, "x", NULL), CUZK_OK);
    const file_in *inputs[] = {NULL, &input};
    const char *refused[] = {"x", "hard", "soft"};
    for (size_t i = 0; i < 3; i++) {
        file_out *out = NULL;
        cuzk_err err;
        assert_int_equal(file_out_open(&out, refused[i], inputs, 2, &err), CUZK_ERR_ARG);
        assert_null(out);
        assert_non_null(strstr(err.text, refused[i]));
    }
    file_out *out;
    assert_int_equal(file_out_open(&out, "y", inputs, 2, NULL), CUZK_OK);
    file_out_abort(out);
    file_in_close(&input);
    assert_holds("x", "in", 2);
    assert_int_equal(count_entries(), 4);
}

static void test_file_out__replaces_the_target_of_a_link_not_the_link(void **state) {
    (void)state;
    put("x", "old", 3);
    assert_int_equal(symlink("x", "soft"), 0);
    file_out *out = start("soft");
    assert_int_equal(file_out_write(out, "new", 3, NULL), CUZK_OK);
    assert_int_equal(file_out_commit(out, NULL), CUZK_OK);
    struct stat st;
    assert_int_equal(lstat("soft", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_holds("x", "new", 3);
}

static void test_file_out__never_replaces_a_device(void **state) {
    (void)state;
    file_out *out = start("/dev/null");
    assert_int_equal(file_out_write(out, "x", 1, NULL), CUZK_OK);
    assert_int_equal(file_out_patch(out, 0, "y", 1, NULL), CUZK_ERR_ARG);
    assert_int_equal(file_out_commit(out, NULL), CUZK_OK);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void write_dash(void *arg) {
    (void)arg;
    file_out *out = start("-");
    assert_int_equal(file_out_write(out, "out", 3, NULL), CUZK_OK);
    assert_int_equal(file_out_commit(out, NULL), CUZK_OK);
    assert_int_equal(write(STDOUT_FILENO, "!", 1), 1); /* still open */
}

static void test_file_out__writes_to_standard_output_when_told_dash(void **state) {
    (void)state;
    with_fd(STDOUT_FILENO, "x", O_WRONLY | O_CREAT, write_dash, NULL);
    assert_holds("x", "out!", 4);
}

/* ---- out, failing ---- */

static void test_file_out__says_why_when_the_folder_is_missing(void **state) {
    (void)state;
    file_out *out = NULL;
    cuzk_err err;
    assert_int_equal(file_out_open(&out, "no/x", NULL, 0, &err), CUZK_ERR_BUDGET);
    assert_null(out);
    assert_non_null(strstr(err.text, strerror(ENOENT)));
    assert_int_equal(file_out_open(&out, ".", NULL, 0, &err), CUZK_ERR_BUDGET);
    assert_int_equal(count_entries(), 0);
}

static void test_file__refuses_an_empty_path(void **state) {
    (void)state;
    file_in in;
    file_out *out = NULL;
    cuzk_err err;
    assert_int_equal(file_in_open(&in, "", &err), CUZK_ERR_ARG);
    assert_non_null(strstr(err.text, "empty"));
    assert_int_equal(file_out_open(&out, "", NULL, 0, &err), CUZK_ERR_ARG);
    assert_null(out);
    assert_int_equal(count_entries(), 0);
}

static void test_file_out__takes_the_longest_name_of_a_file(void **state) {
    (void)state;
    char name[NAME_MAX + 2] = {0};
    memset(name, 'n', NAME_MAX);
    file_out *out = start(name);
    assert_int_equal(file_out_write(out, "abc", 3, NULL), CUZK_OK);
    assert_int_equal(file_out_commit(out, NULL), CUZK_OK);
    assert_holds(name, "abc", 3);
    assert_int_equal(count_entries(), 1);
    name[NAME_MAX] = 'n';
    cuzk_err err;
    assert_int_equal(file_out_open(&out, name, NULL, 0, &err), CUZK_ERR_BUDGET);
    assert_non_null(strstr(err.text, strerror(ENAMETOOLONG)));
}

static void test_file__says_why_when_the_path_is_long(void **state) {
    (void)state;
    char path[600];
    memset(path, 'd', sizeof path);
    for (size_t i = 200; i < sizeof path; i += 200) path[i] = '/';
    memcpy(path + sizeof path - 8, "/k.zkey", 8);
    file_in in;
    file_out *out;
    cuzk_err err;
    assert_int_equal(file_in_open(&in, path, &err), CUZK_ERR_IO);
    assert_non_null(strstr(err.text, "d/k.zkey: can't be opened: "));
    assert_non_null(strstr(err.text, strerror(ENOENT)));
    assert_int_equal(file_out_open(&out, path, NULL, 0, &err), CUZK_ERR_BUDGET);
    assert_non_null(strstr(err.text, "d/k.zkey: can't be created: "));
    assert_non_null(strstr(err.text, strerror(ENOENT)));
}

/* A limit on the file size stands for a full disk. */
static cuzk_status write_against_limit(const char *path, bool at_commit) {
    struct rlimit before, small = {.rlim_cur = 4096};
    (void)getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &small);
    static const uint8_t bytes[200000];
    file_out *out;
    cuzk_err err = {.code = CUZK_OK};
    cuzk_status status = file_out_open(&out, path, NULL, 0, &err);
    if (status == CUZK_OK) {
        status = file_out_write(out, bytes, at_commit ? 10000 : sizeof bytes, &err);
        if (status == CUZK_OK && at_commit)
            status = file_out_commit(out, &err);
        else
            file_out_abort(out);
    }
    (void)setrlimit(RLIMIT_FSIZE, &before);
    (void)signal(SIGXFSZ, SIG_DFL);
    return status == err.code ? status : CUZK_ERR_INTERNAL;
}

static void test_file_out__leaves_nothing_when_the_disk_is_full(void **state) {
    (void)state;
    assert_int_equal(write_against_limit("x", false), CUZK_ERR_BUDGET);
    assert_int_equal(count_entries(), 0);
    assert_int_equal(write_against_limit("x", true), CUZK_ERR_BUDGET);
    assert_int_equal(count_entries(), 0);
    put("x", "old", 3);
    assert_int_equal(write_against_limit("x", true), CUZK_ERR_BUDGET);
    assert_holds("x", "old", 3);
    assert_int_equal(count_entries(), 1);
}

static void test_file_out__leaves_nothing_when_the_name_is_taken_meanwhile(void **state) {
    (void)state;
    file_out *out = start("x");
    assert_int_equal(mkdir("x", 0777), 0);
    cuzk_err err;
    assert_int_equal(file_out_commit(out, &err), CUZK_ERR_BUDGET);
    assert_int_equal(count_entries(), 1);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_file_in__maps_a_regular_file),
        IN_FOLDER(test_file_in__gives_no_bytes_when_the_file_is_empty),
        IN_FOLDER(test_file_in__says_why_when_there_is_none),
        IN_FOLDER(test_file_in__reads_a_pipe_to_its_end),
        IN_FOLDER(test_file_in__reads_what_is_left_of_standard_input),
        IN_FOLDER(test_file_out__appears_only_when_committed),
        IN_FOLDER(test_file_out__follows_the_umask),
        IN_FOLDER(test_file_out__keeps_the_old_file_when_aborted),
        IN_FOLDER(test_file_out__writes_any_mixture_of_lengths_in_order),
        IN_FOLDER(test_file_out__patches_bytes_already_written),
        IN_FOLDER(test_file_out__refuses_a_path_that_is_an_input),
        IN_FOLDER(test_file_out__replaces_the_target_of_a_link_not_the_link),
        IN_FOLDER(test_file_out__never_replaces_a_device),
        IN_FOLDER(test_file_out__writes_to_standard_output_when_told_dash),
        IN_FOLDER(test_file_out__says_why_when_the_folder_is_missing),
        IN_FOLDER(test_file__refuses_an_empty_path),
        IN_FOLDER(test_file_out__takes_the_longest_name_of_a_file),
        IN_FOLDER(test_file__says_why_when_the_path_is_long),
        IN_FOLDER(test_file_out__leaves_nothing_when_the_disk_is_full),
        IN_FOLDER(test_file_out__leaves_nothing_when_the_name_is_taken_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
