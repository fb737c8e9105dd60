/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_API_RUNTIME_H
#define CUZK_API_RUNTIME_H
/* api/runtime: what every public handle stands on. */
#include "backend/backend.h"
#include "base/cpu.h"
#include "base/file.h"
#include "cuzk/cuzk.h"
#include "keys/device_memory.h"
#include "keys/proving_key.h"

struct cuzk_runtime { /* immutable after create; what is in it locks inside */
    cuzk_cpu_level cpu;
    curve curves[CURVE_COUNT];
    const curve *curve_of[CURVE_COUNT]; /* = &curves[i]: what readers take */
    cuzk_exec *exec;
    const cuzk_backend *backend;
    cuzk_device *device;
    cuzk_device_info device_info; /* as it was at the start */
    device_memory *memory;        /* of the device, and pinned for it */
    cuzk_trace *trace;            /* NULL unless asked for */
    cuzk_err why_not;             /* text empty: nothing was passed over */
};

struct cuzk_key {
    cuzk_runtime *rt;
    file_in file; /* of cuzk_key_open; else zero */
    char *path;   /* the same; goes before errors that the key is to blame for */
    size_t n_bytes;
    proving_key pk;
};

/* A file opened for one call; its name goes before the error. */
CUZK_MUST_CHECK cuzk_status api_open(file_in *out, const char *path, cuzk_err *err);

#endif
