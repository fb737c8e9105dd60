/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda/cuda_error: the one place where a cudaError_t becomes a status. */
#include "backend/cuda/cuda.h"

#ifdef CUZK_FAULTS
#include <string.h>
#endif

extern "C" cuzk_status cuda_check(cudaError_t code, const char *what, cuzk_err *err) {
    if (code == cudaSuccess) return CUZK_OK;
    int device = -1;
    (void)cudaGetDevice(&device); /* also of one that has failed */
    (void)cudaGetLastError(); /* an error that can be survived must not meet the next call */
    const bool no_memory = code == cudaErrorMemoryAllocation;
    return cuzk_fail(err, no_memory ? CUZK_ERR_NOMEM : CUZK_ERR_DEVICE, "backend.cuda",
                     "device %d: %s: %s (%s)", device, what, cudaGetErrorString(code),
                     cudaGetErrorName(code));
}

#ifdef CUZK_FAULTS
extern "C" cuzk_status cuda_fail_injected(const char *what, cuzk_err *err) {
    return cuda_check(strstr(what, "Malloc") ? cudaErrorMemoryAllocation : cudaErrorUnknown,
                      what, err);
}
#endif
