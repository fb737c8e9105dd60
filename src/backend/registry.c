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

const cuzk_backend *cuzk_backend_at(unsigned i) { return i < N_BACKENDS ? backends[i] : NULL; }

static cuzk_status fail_unknown(const char *name, cuzk_err *err) {
    char names[64] = "";
    size_t n_chars = 0;
    for (size_t i = 0; i < N_BACKENDS && n_chars < sizeof names; i++) {
        int n_added = snprintf(names + n_chars, sizeof names - n_chars, "%s%s", i ? ", " : "",
                               backends[i]->name);
        n_chars += n_added > 0 ? (size_t)n_added : 0;
    }
    return cuzk_fail(err, CUZK_ERR_DEVICE, "backend.registry",
                     "this build has no backend \"%s\", it has: %s", name, names);
}

/* 0, and why, when it can't be used. A backend that fails to look at its hardware is one that is
 * not usable here. */
static int score_of(const cuzk_backend *b, cuzk_err *why_not) {
    int score = 0;
    unsigned n_devices = 0;
    *why_not = (cuzk_err){.code = CUZK_ERR_DEVICE, .where = "backend.registry"};
    const cuzk_status status = b->probe(&score, &n_devices, why_not);
    if (status == CUZK_OK && score > 0 && n_devices > 0) return score;
    if (!why_not->text[0]) {
        (void)cuzk_fail(why_not, CUZK_ERR_DEVICE, "backend.registry",
                        "no usable device on this machine");
    }
    return 0;
}

cuzk_status cuzk_backend_find_best(const cuzk_backend **out, cuzk_err *why_not,
                                   cuzk_err *err) {
    const cuzk_backend *best = NULL;
    int best_score = 0;
    why_not->text[0] = 0;
    for (size_t i = 0; i < N_BACKENDS; i++) {
        cuzk_err why;
        const int score = score_of(backends[i], &why);
        if (score == 0) *why_not = why;
        if (score > best_score) {
            best = backends[i];
            best_score = score;
        }
    }
    if (!best) {
        return cuzk_fail(err, CUZK_ERR_DEVICE, "backend.registry",
                         "none of the %zu backends is usable on this machine", N_BACKENDS);
    }
    *out = best;
    return CUZK_OK;
}

static const cuzk_backend *by_name(const char *name) {
    for (size_t i = 0; i < N_BACKENDS; i++) {
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    }
    return NULL;
}

cuzk_status cuzk_backend_find(const cuzk_backend **out, const char *name, cuzk_err *err) {
    cuzk_err why_not;
    if (!name) return cuzk_backend_find_best(out, &why_not, err);
    const cuzk_backend *found = by_name(name);
    if (!found) return fail_unknown(name, err);
    if (score_of(found, &why_not) == 0) {
        return cuzk_fail(err, CUZK_ERR_DEVICE, why_not.where, "backend \"%s\": %s", name,
                         why_not.text);
    }
    *out = found;
    return CUZK_OK;
}
