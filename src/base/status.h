/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_STATUS_H
#define CUZK_BASE_STATUS_H
/* base/status: writing the one error message of a failing call. */
#include "base/compiler.h"
#include "cuzk/status.h"

/* Records an error and returns `code`, so that detecting code can
 * `return cuzk_fail(err, CUZK_ERR_FORMAT, "format.zkey", "...", ...)`.
 * Whoever decides the error calls this, once; everyone above only propagates the status.
 * Non-printing bytes of the formatted text become '?', so a hostile file name or value
 * can't forge a second line. `err` may be NULL. */
cuzk_status cuzk_fail(cuzk_err *err, cuzk_status code, const char *where, const char *fmt, ...)
    CUZK_PRINTF(4, 5);

/* Puts "prefix: " before the text of an error that is already there (a file name). A long
 * prefix loses its front, "...tail/of/path", so that the reason stays whole. */
void cuzk_err_prefix(cuzk_err *err, const char *prefix);

/* Our own bugs only; never for input, memory or devices. */
#define CUZK_ASSERT(x) ((x) ? (void)0 : cuzk_assert_failed(#x, __FILE__, __LINE__))
void cuzk_assert_failed(const char *what, const char *file, int line)
    __attribute__((noreturn));

#define CUZK_TRY(call)                                                                        \
    do {                                                                                      \
        cuzk_status try_status_ = (call);                                                     \
        if (try_status_ != CUZK_OK) return try_status_;                                       \
    } while (0)

#endif
