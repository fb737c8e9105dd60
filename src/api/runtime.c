/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime.h"
#include "base/alloc.h"
#include <stdlib.h>

const char *cuzk_version(void) { return CUZK_VERSION; }

cuzk_status cuzk_runtime_create(cuzk_runtime **out, const cuzk_runtime_options *options,
                                cuzk_err *err) {
    const cuzk_runtime_options defaults = CUZK_RUNTIME_OPTIONS_INIT;
    if (!out)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.runtime",
                         "no place for the runtime (out is NULL)");
    if (options && options->struct_bytes != sizeof *options)
        return cuzk_fail(
            err, CUZK_ERR_ARG, "api.runtime",
            "options of %zu bytes, expected %zu: start from CUZK_RUNTIME_OPTIONS_INIT",
            options->struct_bytes, sizeof *options);
    const cuzk_runtime_options o = options ? *options : defaults;
    cuzk_cpu_level level;
    const cuzk_backend *backend;
    CUZK_TRY(cuzk_cpu_select(&level, o.cpu ? o.cpu : getenv("CUZK_CPU"), err));
    CUZK_TRY(cuzk_backend_find(&backend, o.backend, err));

    cuzk_runtime *rt = NULL;
    CUZK_TRY(cuzk_zalloc(&rt, 1, sizeof *rt, err));
    rt->cpu = level;
    rt->backend = backend;
    for (unsigned i = 0; i < CURVE_COUNT; i++) {
        curve_init(&rt->curves[i], (curve_id)i, level);
        rt->curve_of[i] = &rt->curves[i];
    }
    cuzk_status st = cuzk_exec_create(&rt->exec, o.n_threads, err);
    if (st == CUZK_OK) st = backend->open(&rt->device, &(cuzk_device_options){0}, rt->exec, err);
    if (st == CUZK_OK)
        *out = rt;
    else
        cuzk_runtime_destroy(rt);
    return st;
}

void cuzk_runtime_destroy(cuzk_runtime *rt) {
    if (!rt) return;
    if (rt->device) rt->backend->close(rt->device);
    cuzk_exec_destroy(rt->exec);
    cuzk_free(rt);
}

unsigned cuzk_runtime_n_threads(const cuzk_runtime *rt) {
    return cuzk_exec_n_threads(rt->exec);
}
const char *cuzk_runtime_cpu(const cuzk_runtime *rt) { return cuzk_cpu_level_name(rt->cpu); }
void cuzk_string_free(char *s) { cuzk_free(s); }

cuzk_status api_open(file_in *out, const char *path, cuzk_err *err) {
    if (!path)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.runtime", "no file name (path is NULL)");
    return file_in_open(out, path, err);
}
