/* SPDX-License-Identifier: Apache-2.0 */
/* backend/registry: the backends of this build. To add one: a line in `backends`. */
#include "backend/backend.h"

#include <stdio.h>
#include <string.h>

static const cuzk_backend *const backends[] = {
    &cuzk_backend_cpu,
#ifdef CUZK_HAVE_CUDA
    &cuzk_backend_cuda,
#endif
};

#define N_BACKENDS (sizeof backends / sizeof backends[0])

static cuzk_status fail_unknown(const char *name, cuzk_err *err) {
    char names[64] = "";
    size_t n_chars = 0;
    for (size_t i = 0; i < N_BACKENDS && n_chars < sizeof names; i++) {
        int n_added = snprintf(names + n_chars, sizeof names - n_chars, "%s%s", i ? ", " : "",
                               backends[i]->name);
        n_chars += n_added > 0 ? (size_t)n_added : 0;
    }
    return cuzk_fail(err, CUZK_ERR_DEVICE, "backend.registry",
                     "there is no backend \"%s\", expected one of: %s", name, names);
}

/* A backend that fails to look at its hardware is one that is not usable here. */
static const cuzk_backend *best_usable(void) {
    const cuzk_backend *best = NULL;
    int best_score = 0;
    for (size_t i = 0; i < N_BACKENDS; i++) {
        int score = 0;
        unsigned n_devices = 0;
        if (backends[i]->probe(&score, &n_devices, NULL) != CUZK_OK || n_devices == 0)
            continue;
        if (score > best_score) {
            best = backends[i];
            best_score = score;
        }
    }
    return best;
}

static const cuzk_backend *by_name(const char *name) {
    for (size_t i = 0; i < N_BACKENDS; i++) {
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    }
    return NULL;
}

cuzk_status cuzk_backend_find(const cuzk_backend **out, const char *name, cuzk_err *err) {
    const cuzk_backend *found = name ? by_name(name) : best_usable();
    if (!found && name) return fail_unknown(name, err);
    if (!found) {
        return cuzk_fail(err, CUZK_ERR_DEVICE, "backend.registry",
                         "none of the %zu backends is usable on this machine", N_BACKENDS);
    }
    if (name) {
        int score = 0;
        unsigned n_devices = 0;
        CUZK_TRY(found->probe(&score, &n_devices, err));
        if (score == 0 || n_devices == 0) {
            return cuzk_fail(err, CUZK_ERR_DEVICE, "backend.registry",
                             "backend \"%s\" found no usable device on this machine", name);
        }
    }
    *out = found;
    return CUZK_OK;
}
