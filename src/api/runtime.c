/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime.h"
#include "base/alloc.h"

#include <stdlib.h>

/* Enough for thousands of proofs; what comes later is counted and dropped. */
#define MAX_SPANS ((size_t)1 << 20)

const char *cuzk_version(void) { return CUZK_VERSION; }

const char *cuzk_backend_name(unsigned i) {
    const cuzk_backend *backend = cuzk_backend_at(i);
    return backend ? backend->name : NULL;
}

static cuzk_status find_backend(cuzk_runtime *rt, const char *name, cuzk_err *err) {
    if (name) return cuzk_backend_find(&rt->backend, name, err);
    return cuzk_backend_find_best(&rt->backend, &rt->why_not, err);
}

/* Options that say something about a GPU are not for the CPU, chosen or fallen back to. */
static cuzk_status check_is_gpu(const cuzk_runtime *rt, const cuzk_runtime_options *o,
                                cuzk_err *err) {
    const char *why_not = rt->why_not.text;
    if ((!o->device && !o->vram_budget_bytes) || rt->backend != &cuzk_backend_cpu)
        return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_ARG, "api.runtime",
                     "%s needs the backend \"cuda\", not \"cpu\"%s%s",
                     o->device ? "a device other than 0" : "a budget of GPU memory",
                     why_not[0] ? "; no usable GPU: " : "", why_not);
}

static cuzk_status open_device(cuzk_runtime *rt, const cuzk_runtime_options *o,
                               cuzk_err *err) {
    const cuzk_device_options options = {o->device, o->vram_budget_bytes};
    CUZK_TRY(check_is_gpu(rt, o, err));
    CUZK_TRY(rt->backend->open(&rt->device, &options, rt->exec, err));
    rt->backend->device_info(rt->device, &rt->device_info);
    return CUZK_OK;
}

static cuzk_status fill(cuzk_runtime *rt, const cuzk_runtime_options *o, cuzk_err *err) {
    for (unsigned i = 0; i < CURVE_COUNT; i++) {
        curve_init(&rt->curves[i], (curve_id)i, rt->cpu);
        rt->curve_of[i] = &rt->curves[i];
    }
    CUZK_TRY(find_backend(rt, o->backend, err));
    CUZK_TRY(cuzk_exec_create(&rt->exec, o->n_threads, err));
    CUZK_TRY(open_device(rt, o, err));
    CUZK_TRY(device_memory_create(&rt->memory, rt->backend, rt->device, rt->exec, NULL, err));
    return o->trace ? cuzk_trace_create(&rt->trace, MAX_SPANS, err) : CUZK_OK;
}

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
    const cuzk_runtime_options *o = options ? options : &defaults;
    cuzk_cpu_level level;
    CUZK_TRY(cuzk_cpu_select(&level, o->cpu ? o->cpu : getenv("CUZK_CPU"), err));

    cuzk_runtime *rt = NULL;
    CUZK_TRY(cuzk_zalloc(&rt, 1, sizeof *rt, err));
    rt->cpu = level;
    const cuzk_status st = fill(rt, o, err);
    if (st == CUZK_OK)
        *out = rt;
    else
        cuzk_runtime_destroy(rt);
    return st;
}

void cuzk_runtime_destroy(cuzk_runtime *rt) {
    if (!rt) return;
    device_memory_destroy(rt->memory);
    if (rt->device) rt->backend->close(rt->device);
    cuzk_exec_destroy(rt->exec);
    cuzk_trace_destroy(rt->trace);
    cuzk_free(rt);
}

unsigned cuzk_runtime_n_threads(const cuzk_runtime *rt) {
    return cuzk_exec_n_threads(rt->exec);
}
const char *cuzk_runtime_cpu(const cuzk_runtime *rt) { return cuzk_cpu_level_name(rt->cpu); }
const char *cuzk_runtime_backend(const cuzk_runtime *rt) { return rt->backend->name; }
const char *cuzk_runtime_device(const cuzk_runtime *rt) { return rt->device_info.name; }
const char *cuzk_runtime_why_not(const cuzk_runtime *rt) {
    return rt->why_not.text[0] ? rt->why_not.text : NULL;
}
void cuzk_string_free(char *s) { cuzk_free(s); }

cuzk_status cuzk_runtime_trace_json(char **out_json, cuzk_runtime *rt, cuzk_err *err) {
    if (!out_json || !rt)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.runtime", "a NULL argument");
    if (!rt->trace)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.runtime",
                         "no trace: the runtime was made without the option `trace`");
    return cuzk_trace_chrome_json(out_json, rt->trace, err);
}

cuzk_status api_open(file_in *out, const char *path, cuzk_err *err) {
    if (!path)
        return cuzk_fail(err, CUZK_ERR_ARG, "api.runtime", "no file name (path is NULL)");
    return file_in_open(out, path, err);
}
