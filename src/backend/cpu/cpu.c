/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/cpu: the CPU as a backend: its objects and its table. Every operation is
 * complete when its call returns, so a queue holds nothing. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"

static cuzk_status cpu_probe(int *score, unsigned *n_devices, cuzk_err *err) {
    (void)err;
    *score = 1; /* always there, and any accelerator beats it */
    *n_devices = 1;
    return CUZK_OK;
}

static cuzk_status cpu_open(cuzk_device **out, const cuzk_device_options *options,
                            cuzk_exec *exec, cuzk_err *err) {
    if (options->index != 0) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu", "device %u, expected 0",
                         options->index);
    }
    cuzk_device *dev;
    CUZK_TRY(cuzk_alloc(&dev, 1, sizeof *dev, err));
    *dev = (cuzk_device){.exec = exec};
    *out = dev;
    return CUZK_OK;
}

static void cpu_close(cuzk_device *dev) { cuzk_free(dev); }

/* ---- buffers ---- */
static cuzk_status cpu_buf_alloc(cuzk_buf **out, cuzk_device *dev, cuzk_space space,
                                 size_t n_bytes, bool secret, cuzk_err *err) {
    (void)dev;
    (void)space; /* both spaces are this memory */
    cuzk_buf *buf;
    CUZK_TRY(cuzk_alloc(&buf, 1, sizeof *buf, err));
    *buf = (cuzk_buf){.n_bytes = n_bytes, .owned = true, .secret = secret};
    cuzk_status status = cuzk_alloc(&buf->p, n_bytes, 1, err);
    if (status != CUZK_OK) {
        cuzk_free(buf);
        return status;
    }
    *out = buf;
    return CUZK_OK;
}

static cuzk_status cpu_buf_wrap(cuzk_buf **out, cuzk_device *dev, const void *bytes,
                                size_t n_bytes, cuzk_err *err) {
    (void)dev;
    cuzk_buf *buf;
    CUZK_TRY(cuzk_alloc(&buf, 1, sizeof *buf, err));
    *buf = (cuzk_buf){.p = (uint8_t *)(uintptr_t)bytes, .n_bytes = n_bytes};
    *out = buf;
    return CUZK_OK;
}

static void cpu_buf_free(cuzk_buf *buf) {
    if (!buf) return;
    if (buf->owned && buf->secret)
        cuzk_free_secret(buf->p, buf->n_bytes);
    else if (buf->owned)
        cuzk_free(buf->p);
    cuzk_free(buf);
}

/* ---- operands ---- */
cuzk_status cpu_slice_bytes(const uint8_t **out, cuzk_slice slice, uint64_t n_items,
                            size_t item_bytes, const char *what, cuzk_err *err) {
    if (!slice.buf) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu", "operand %s has no buffer", what);
    }
    size_t n_bytes = slice.buf->n_bytes;
    if (slice.offset > n_bytes || n_items > (n_bytes - slice.offset) / item_bytes) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu",
                         "operand %s: %llu items of %zu bytes at offset %zu, "
                         "but the buffer has %zu bytes",
                         what, (unsigned long long)n_items, item_bytes, slice.offset, n_bytes);
    }
    *out = slice.buf->p ? slice.buf->p + slice.offset : NULL;
    return CUZK_OK;
}

cuzk_status cpu_slice_fr(uint64_t **out, cuzk_slice slice, uint64_t n, cpu_access access,
                         const char *what, cuzk_err *err) {
    const uint8_t *p = NULL;
    CUZK_TRY(cpu_slice_bytes(&p, slice, n, CPU_FR_BYTES, what, err));
    if ((uintptr_t)p % sizeof(uint64_t) != 0) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu",
                         "operand %s is not aligned to %zu bytes", what, sizeof(uint64_t));
    }
    if (access == CPU_WRITE && !slice.buf->owned) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu",
                         "result %s lies in wrapped memory, which is read only", what);
    }
    *out = (uint64_t *)(uintptr_t)p;
    return CUZK_OK;
}

cuzk_status cpu_check_fr(const field *fr, cuzk_err *err) {
    if (fr->m.n_limbs == CPU_FR_LIMBS) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu", "scalar field of %u limbs, expected %u",
                     fr->m.n_limbs, CPU_FR_LIMBS);
}

/* ---- queues ---- */
static cuzk_status cpu_queue_open(cuzk_queue **out, cuzk_device *dev, const char *name,
                                  cuzk_trace *trace, cuzk_err *err) {
    cuzk_queue *queue;
    CUZK_TRY(cuzk_alloc(&queue, 1, sizeof *queue, err));
    *queue = (cuzk_queue){.dev = dev, .name = name, .trace = trace};
    *out = queue;
    return CUZK_OK;
}

static cuzk_status cpu_queue_wait(cuzk_queue *queue, cuzk_err *err) {
    (void)queue;
    (void)err;
    return CUZK_OK;
}

static void cpu_queue_close(cuzk_queue *queue) { cuzk_free(queue); }

const cuzk_backend cuzk_backend_cpu = {
    .abi = CUZK_BACKEND_ABI,
    .name = "cpu",
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .buf_alloc = cpu_buf_alloc,
    .buf_wrap = cpu_buf_wrap,
    .buf_free = cpu_buf_free,
    .queue_open = cpu_queue_open,
    .queue_wait = cpu_queue_wait,
    .queue_close = cpu_queue_close,
    .domain_open = cpu_domain_open,
    .domain_close = cpu_domain_close,
    .scalars_open = cpu_scalars_open,
    .scalars_close = cpu_scalars_close,
    .matrix_open = cpu_matrix_open,
    .matrix_close = cpu_matrix_close,
    .evaluate = cpu_evaluate,
    .ntt = cpu_ntt,
    .pointwise = cpu_pointwise,
    .msm = cpu_msm,
};
