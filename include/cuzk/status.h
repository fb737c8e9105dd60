/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_STATUS_H
#define CUZK_STATUS_H
/* cuzk/status.h: what a call answers, and the one error message that goes with it. */

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports; everything else stays hidden. */
#define CUZK_API     __attribute__((visibility("default")))
#define CUZK_CHECKED __attribute__((warn_unused_result))

/* Grouped by who can act on it. The values are frozen. */
typedef enum cuzk_status {
    CUZK_OK = 0,
    CUZK_ERR_ARG = -1,        /* programmer: a call against its documentation        */
    CUZK_ERR_FORMAT = -10,    /* submitter: a file that is not what it should be      */
    CUZK_ERR_WITNESS = -11,   /* submitter: a witness that does not fit or satisfy    */
    CUZK_ERR_INVALID = -12,   /* submitter: a well-formed proof that does not verify  */
    CUZK_ERR_NOMEM = -20,     /* caller: the system refused memory                    */
    CUZK_ERR_BUDGET = -21,    /* caller: over a limit, or an output can't be stored   */
    CUZK_ERR_BUSY = -22,      /* caller: deadline passed, a retry may succeed         */
    CUZK_ERR_CANCELLED = -23, /* caller: cancelled by the caller's own callback       */
    CUZK_ERR_IO = -30,        /* operator: an input could not be opened or read       */
    CUZK_ERR_DEVICE = -40,    /* operator: an accelerator failed or is missing        */
    CUZK_ERR_INTERNAL = -90   /* us: a bug                                            */
} cuzk_status;

/* The first error on a path, written where it was detected. Callers that do not want the
 * text pass NULL wherever a `cuzk_err *` is taken. Plain data: copy it freely. */
typedef struct cuzk_err {
    cuzk_status code;
    const char *where; /* static string, e.g. "format.zkey" */
    char text[232];    /* one line, no newline, always terminated */
} cuzk_err;

/* Name of a status, e.g. "FORMAT". Never NULL. */
CUZK_API const char *cuzk_status_name(cuzk_status status);

/* Process exit code for a status: 0 ok, 1 not valid, 2 usage, 3 input file or format,
 * 4 witness, 5 resources (memory, disk, device, cancelled), 6 internal. */
CUZK_API int cuzk_status_exit_code(cuzk_status status);

#ifdef __cplusplus
}
#endif
#endif
