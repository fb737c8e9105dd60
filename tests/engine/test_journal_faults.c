/* SPDX-License-Identifier: Apache-2.0 */
/* engine/journal: each request to the disk fails in turn, and the disk fails for good; what was
 * promised is kept, the journal heals, and errors say what to do.
 *
 * The system calls that change something are defined here, in front of the C library's, so that
 * ours and SQLite's are counted alike. */
#define _GNU_SOURCE /* open64, MAP_ANONYMOUS, SYS_ */
#include "journal_promises.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- a disk that fails ---- */

typedef struct disk_fault {
    unsigned long first, last; /* requests that fail, from 1; 0 = none */
    int error;
    bool is_torn; /* a failing write stores its first half */
} disk_fault;

static struct {
    disk_fault plan;
    unsigned long n_requests, n_flushes;
    bool was_hit;
} disk;

static bool is_refused(void) {
    const unsigned long request = ++disk.n_requests;
    if (request < disk.plan.first || request > disk.plan.last) return false;
    disk.was_hit = true;
    errno = disk.plan.error;
    return true;
}

static void set_fault(disk_fault plan) {
    disk.plan = plan;
    disk.n_requests = disk.n_flushes = 0;
    disk.was_hit = false;
}

static ssize_t put(int fd, const void *bytes, size_t n_bytes, off64_t offset, bool is_append) {
    const bool fails = is_refused();
    if (fails && disk.plan.is_torn) n_bytes /= 2;
    if (!fails || disk.plan.is_torn) {
        const long n = is_append ? syscall(SYS_write, fd, bytes, n_bytes)
                                 : syscall(SYS_pwrite64, fd, bytes, n_bytes, offset);
        if (!fails) return n;
    }
    errno = disk.plan.error;
    return -1;
}

#pragma GCC visibility push(default) /* SQLite's library must find them, too */

ssize_t write(int fd, const void *bytes, size_t n_bytes) {
    return put(fd, bytes, n_bytes, 0, true);
}
ssize_t pwrite(int fd, const void *bytes, size_t n_bytes, off_t offset) {
    return put(fd, bytes, n_bytes, offset, false);
}
ssize_t pwrite64(int fd, const void *bytes, size_t n_bytes, off64_t offset) {
    return put(fd, bytes, n_bytes, offset, false);
}

static int changed(long rc) { return (int)rc; }

static int flush(long number, int fd) {
    disk.n_flushes++;
    return is_refused() ? -1 : changed(syscall(number, fd));
}
int fsync(int fd) { return flush(SYS_fsync, fd); }
int fdatasync(int fd) { return flush(SYS_fdatasync, fd); }
int ftruncate(int fd, off_t n) {
    return is_refused() ? -1 : changed(syscall(SYS_ftruncate, fd, n));
}
int ftruncate64(int fd, off64_t n) {
    return is_refused() ? -1 : changed(syscall(SYS_ftruncate, fd, n));
}
int unlink(const char *path) {
    return is_refused() ? -1 : changed(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int unlinkat(int folder, const char *path, int flags) {
    return is_refused() ? -1 : changed(syscall(SYS_unlinkat, folder, path, flags));
}
int mkdir(const char *path, mode_t mode) {
    return is_refused() ? -1 : changed(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

static int open_any(int folder, const char *path, int flags, mode_t mode) {
    const bool can_change = (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0;
    if (can_change && is_refused()) return -1;
    return changed(syscall(SYS_openat, folder, path, flags, mode));
}

#define OPEN_WITH_MODE(folder, path, flags)                                                   \
    do {                                                                                      \
        va_list args;                                                                         \
        va_start(args, flags);                                                                \
        const mode_t mode = (flags)&O_CREAT ? va_arg(args, mode_t) : 0;                       \
        va_end(args);                                                                         \
        return open_any(folder, path, flags, mode);                                           \
    } while (0)

int open(const char *path, int flags, ...) { OPEN_WITH_MODE(AT_FDCWD, path, flags); }
int open64(const char *path, int flags, ...) { OPEN_WITH_MODE(AT_FDCWD, path, flags); }
int openat(int folder, const char *path, int flags, ...) {
    OPEN_WITH_MODE(folder, path, flags);
}

#pragma GCC visibility pop

/* ---- one request after the other ---- */

/* How long a client lives, and which of its requests fail: every stride-th of those that are
 * not of opening. In a long life the write-ahead log is copied back now and then. */
typedef struct life_form {
    unsigned n_acts, stride;
} life_form;
static const life_form short_form = {30, 6}, every_request = {30, 1}, long_life = {250, 7};

static void note_fault(promises *p, const char *what) {
    if (!p->fault[0]) (void)snprintf(p->fault, sizeof p->fault, "%s", what);
}

/* The journal heals as soon as the disk does, without being opened again. */
static void expect_healed(promises *p, journal *j) {
    const unsigned n_failed = p->n_errors;
    set_fault((disk_fault){0});
    client_accept(p, j);
    if (p->n_errors != n_failed) note_fault(p, "still fails on a good disk");
    if (is_degraded(j)) note_fault(p, "not healed");
}

typedef enum life_end { ENDS_CLOSED, ENDS_ABRUPTLY } life_end;

static void be_a_client(const fixture *f, promises *p, life_form form, disk_fault plan,
                        life_end end) {
    journal *j = NULL;
    cuzk_err err;
    testrand rnd = {1};
    set_fault(plan);
    if (!went_well(p, journal_open(&j, f->state, NULL, &err), &err)) _exit(0);
    for (unsigned i = 0; i < form.n_acts; i++) client_act(p, j, &rnd);
    if (plan.last == ULONG_MAX && p->n_errors > 0 && !is_degraded(j))
        note_fault(p, "a dead disk, and all is well");
    if (end == ENDS_CLOSED) {
        journal_close(j);
        p->is_over = !disk.was_hit;
    } else {
        expect_healed(p, j);
    }
    _exit(0);
}

/* A client's life with that fault in an empty folder; then the journal is looked at. */
static void check_life(promises *p, life_form form, disk_fault plan, life_end end) {
    void *state = NULL;
    assert_int_equal(fixture_setup(&state), 0);
    const fixture *f = state;
    memset(p, 0, offsetof(promises, all));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) be_a_client(f, p, form, plan, end);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("request %lu: killed by %d", plan.first, WTERMSIG(status));
    if (p->fault[0]) fail_msg("request %lu: %s", plan.first, p->fault);
    journal *j = open_journal(f, NULL);
    promises_check(p, j, 0, true);
    journal_close(j);
    assert_int_equal(fixture_teardown(&state), 0);
}

/* One request after the other, until a client meets none that fails. */
static void check_form(life_form form, int error, bool is_for_good, bool is_torn) {
    promises *p = promises_create();
    unsigned long n = 0, n_errors = 0;
    do {
        n += n < 25 ? 1 : form.stride;
        const disk_fault plan = {n, is_for_good ? ULONG_MAX : n, error, is_torn};
        check_life(p, form, plan, ENDS_ABRUPTLY);
        n_errors += p->n_errors;
        check_life(p, form, plan, ENDS_CLOSED);
        assert_true(n < 10000);
    } while (!p->is_over);
    print_message("%lu requests, %lu calls failed\n", n, n_errors);
    assert_true(n > 100 && n_errors > n / form.stride / 4);
    promises_destroy(p);
}

static void check_each(int error, bool is_for_good, bool is_torn) {
    if (!getenv("CUZK_TEST_FULL")) {
        check_form(short_form, error, is_for_good, is_torn);
    } else {
        check_form(every_request, error, is_for_good, is_torn);
        check_form(long_life, error, is_for_good, is_torn);
    }
}

static void test_journal__keeps_its_promises_when_the_disk_is_full_once(void **state) {
    (void)state;
    check_each(ENOSPC, false, true);
}
static void test_journal__keeps_its_promises_when_the_disk_is_full(void **state) {
    (void)state;
    check_each(ENOSPC, true, true);
}
static void test_journal__keeps_its_promises_when_a_request_fails(void **state) {
    (void)state;
    check_each(EIO, false, false);
}
static void test_journal__keeps_its_promises_when_the_disk_dies(void **state) {
    (void)state;
    check_each(EIO, true, true);
}
static void test_journal__keeps_its_promises_when_the_disk_becomes_read_only(void **state) {
    (void)state;
    check_each(EROFS, true, false);
}

/* ---- what is said ---- */

static void expect_open_error(const fixture *f, int error, cuzk_status expected,
                              const char *words) {
    journal *j = NULL;
    cuzk_err err;
    set_fault((disk_fault){1, ULONG_MAX, error, false});
    cuzk_status status = journal_open(&j, f->state, NULL, &err);
    set_fault((disk_fault){0});
    assert_int_equal(status, expected);
    assert_null(j);
    if (!strstr(err.text, words)) fail_msg("'%s' is not in: %s", words, err.text);
}

static void test_open__names_the_file_and_the_reason(void **state) {
    const fixture *f = *state;
    expect_open_error(f, ENOSPC, CUZK_ERR_BUDGET, "/state: can't be made: No space left");
    expect_open_error(f, EROFS, CUZK_ERR_IO, "/state: can't be made: Read-only file system");
    journal_close(open_journal(f, NULL));
    expect_open_error(f, EACCES, CUZK_ERR_IO, "Permission denied");
}

static cuzk_status accept_on(journal *j, disk_fault plan, cuzk_err *err) {
    journal_accepted accepted;
    const journal_request request = request_named("r");
    set_fault(plan);
    cuzk_status status = try_accept(&accepted, j, &request, text_span("x"), err);
    set_fault((disk_fault){0});
    return status;
}

static void test_accept__says_what_to_do_when_the_disk_is_full(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    cuzk_err err;
    journal_health health;
    static const char *const names[] = {"spool", "spool", "spool", "journal.db"};
    static const unsigned long requests[] = {1, 2, 3, 5}; /* open, write, flush; the row */
    for (size_t i = 0; i < 4; i++) {
        const disk_fault plan = {requests[i], ULONG_MAX, ENOSPC, false};
        assert_int_equal(accept_on(j, plan, &err), CUZK_ERR_BUDGET);
        assert_non_null(strstr(err.text, names[i]));
        assert_non_null(strstr(err.text, "make room there and try again"));
        journal_get_health(&health, j);
        assert_true(health.is_degraded);
        assert_int_equal(health.why.code, CUZK_ERR_BUDGET);
    }
    assert_int_equal(accept_on(j, (disk_fault){0}, &err), CUZK_OK);
    journal_get_health(&health, j);
    assert_false(health.is_degraded);
    journal_close(j);
}

/* The payload, its folder, the log; nothing that an accept asks of the disk may fail unnoticed,
 * and nothing of a job that wasn't accepted is left. */
static void test_accept__fails_when_any_request_fails(void **state) {
    const fixture *f = *state;
    journal *j = open_journal(f, NULL);
    cuzk_err err;
    const journal_accepted warm = accept_text(j, "first", "x"); /* begins the log */
    for (unsigned long n = 1; n < 100; n++) {
        cuzk_status status = accept_on(j, (disk_fault){n, n, EIO, false}, &err);
        if (status == CUZK_OK) {
            assert_true(n > 6);
            assert_int_equal(count_payloads(f), 2);
            break;
        }
        assert_int_equal(status, CUZK_ERR_IO);
        assert_int_equal(count_payloads(f), 1);
    }
    assert_int_equal(get_job(j, &warm.id).state, JOURNAL_QUEUED);
    journal_close(j);
}

static void test_journal__waits_for_the_disk_where_it_says_so(void **state) {
    journal *j = open_journal(*state, NULL);
    (void)accept_text(j, "first", "x");
    set_fault((disk_fault){0});
    const journal_accepted a = accept_text(j, "r", "x"), b = accept_text(j, "", "y"),
                           c = accept_text(j, "", "z");
    assert_int_equal(disk.n_flushes, 9);
    (void)start_job(j, &a.id);
    assert_int_equal(disk.n_flushes, 9);
    (void)finish_job(j, &a.id, "p");
    assert_int_equal(disk.n_flushes, 10);
    (void)fail_job(j, &b.id, "no");
    assert_int_equal(disk.n_flushes, 11);
    (void)cancel_job(j, &c.id);
    assert_int_equal(disk.n_flushes, 12);
    journal_result result = take_result(j, &a.id);
    journal_result_free(&result);
    assert_int_equal(disk.n_flushes, 13);
    journal_close(j);
}

#define TEST(name) cmocka_unit_test(name)
#define TEST_IN_FOLDER(name)                                                                  \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_journal__keeps_its_promises_when_the_disk_is_full_once),
        TEST(test_journal__keeps_its_promises_when_the_disk_is_full),
        TEST(test_journal__keeps_its_promises_when_a_request_fails),
        TEST(test_journal__keeps_its_promises_when_the_disk_dies),
        TEST(test_journal__keeps_its_promises_when_the_disk_becomes_read_only),
        TEST_IN_FOLDER(test_open__names_the_file_and_the_reason),
        TEST_IN_FOLDER(test_accept__says_what_to_do_when_the_disk_is_full),
        TEST_IN_FOLDER(test_accept__fails_when_any_request_fails),
        TEST_IN_FOLDER(test_journal__waits_for_the_disk_where_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
