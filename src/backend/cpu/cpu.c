/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cpu/cpu: the CPU as a backend: its objects and its table. Every operation is
 * complete when its call returns, so a queue holds nothing. */
#include "backend/cpu/cpu.h"

#include "base/alloc.h"
#include "base/clock.h"

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

static void cpu_device_info(cuzk_device *dev, cuzk_device_info *out) {
    (void)dev;
    *out = (cuzk_device_info){.name = "CPU"};
}

static void cpu_device_info_reset(cuzk_device *dev) { (void)dev; }

static pages_pinner cpu_pinner(cuzk_device *dev) {
    (void)dev;
    return pages_pinner_mlock;
}

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

static cuzk_status check_owned(cuzk_slice slice, const char *what, cuzk_err *err) {
    if (slice.buf->owned) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu",
                     "result %s lies in wrapped memory, which is read only", what);
}

cuzk_status cpu_slice_fr(uint64_t **out, cuzk_slice slice, uint64_t n, cpu_access access,
                         const char *what, cuzk_err *err) {
    const uint8_t *p = NULL;
    CUZK_TRY(cpu_slice_bytes(&p, slice, n, CPU_FR_BYTES, what, err));
    if ((uintptr_t)p % sizeof(uint64_t) != 0) {
        return cuzk_fail(err, CUZK_ERR_ARG, "backend.cpu",
                         "operand %s is not aligned to %zu bytes", what, sizeof(uint64_t));
    }
    if (access == CPU_WRITE) CUZK_TRY(check_owned(slice, what, err));
    *out = (uint64_t *)(uintptr_t)p;
    return CUZK_OK;
}

cuzk_status cpu_slice_written(uint8_t **out, cuzk_slice slice, uint64_t n_items,
                              size_t item_bytes, const char *what, cuzk_err *err) {
    const uint8_t *p = NULL;
    CUZK_TRY(cpu_slice_bytes(&p, slice, n_items, item_bytes, what, err));
    CUZK_TRY(check_owned(slice, what, err));
    *out = (uint8_t *)(uintptr_t)p;
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

static cuzk_status cpu_queue_after(cuzk_queue *queue, cuzk_queue *other, cuzk_err *err) {
    (void)queue;
    (void)other;
    (void)err;
    return CUZK_OK;
}

static void cpu_queue_close(cuzk_queue *queue) { cuzk_free(queue); }

/* ---- operations, each in a span ---- */
static cuzk_status tell(cuzk_queue *queue, const char *name, uint64_t begin_ns, size_t n_bytes,
                        cuzk_status status) {
    if (queue->trace && status == CUZK_OK) {
        cuzk_trace_add(queue->trace, &(cuzk_span_record){.lane = queue->name,
                                                         .name = name,
                                                         .begin_ns = begin_ns,
                                                         .end_ns = cuzk_clock_ns(),
                                                         .n_bytes = n_bytes});
    }
    return status;
}

static cuzk_status upload(cuzk_queue *queue, cuzk_slice to, const void *from, size_t n_bytes,
                          cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "upload", begin, n_bytes, cpu_upload(queue, to, from, n_bytes, err));
}

static cuzk_status download(cuzk_queue *queue, void *to, cuzk_slice from, size_t n_bytes,
                            cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "download", begin, n_bytes,
                cpu_download(queue, to, from, n_bytes, err));
}

static cuzk_status unpack(cuzk_queue *queue, cuzk_slice to, const packed_witness *w,
                          cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "unpack", begin, w->n_bytes, cpu_unpack(queue, to, w, err));
}

static cuzk_status matrix_open(cuzk_matrix **out, cuzk_queue *queue, const field *fr,
                               const matrix_view *view, cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "matrix", begin, 0, cpu_matrix_open(out, queue, fr, view, err));
}

static cuzk_status scalars_open(cuzk_scalars **out, cuzk_queue *queue, const field *fr,
                                cuzk_slice values, size_t n, bool montgomery, cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "scalars", begin, 0,
                cpu_scalars_open(out, queue, fr, values, n, montgomery, err));
}

static cuzk_status evaluate(cuzk_queue *queue, const cuzk_evaluate_job *job, cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "evaluate", begin, 0, cpu_evaluate(queue, job, err));
}

static cuzk_status ntt(cuzk_queue *queue, const cuzk_ntt_job *job, cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "ntt", begin, 0, cpu_ntt(queue, job, err));
}

static cuzk_status pointwise(cuzk_queue *queue, const cuzk_pointwise_job *job, cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "pointwise", begin, 0, cpu_pointwise(queue, job, err));
}

static cuzk_status msm(cuzk_queue *queue, const cuzk_msm_job *jobs, size_t n_jobs,
                       cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "msm", begin, 0, cpu_msm(queue, jobs, n_jobs, err));
}

static cuzk_status multiples(cuzk_queue *queue, const cuzk_multiples_job *job, cuzk_err *err) {
    const uint64_t begin = cuzk_clock_ns();
    return tell(queue, "multiples", begin, 0, cpu_multiples(queue, job, err));
}

/* ---- memory of the device: there is none to plan for ---- */
static uint64_t domain_bytes(unsigned log_n) {
    (void)log_n;
    return 0;
}

static uint64_t matrix_bytes(const matrix_view *view) {
    (void)view;
    return 0;
}

static uint64_t scalars_bytes(size_t n) {
    (void)n;
    return 0;
}

static uint64_t msm_bytes(const curve *c, group_id group, size_t n) {
    (void)c;
    (void)group;
    (void)n;
    return 0;
}

static uint64_t ntt_bytes(unsigned log_n, cuzk_ntt_kind kind, bool brp) {
    (void)log_n;
    (void)kind;
    (void)brp;
    return 0;
}

const cuzk_backend cuzk_backend_cpu = {
    .abi = CUZK_BACKEND_ABI,
    .name = "cpu",
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .device_info = cpu_device_info,
    .device_info_reset = cpu_device_info_reset,
    .pinner = cpu_pinner,
    .buf_alloc = cpu_buf_alloc,
    .buf_wrap = cpu_buf_wrap,
    .buf_free = cpu_buf_free,
    .queue_open = cpu_queue_open,
    .queue_wait = cpu_queue_wait,
    .queue_after = cpu_queue_after,
    .queue_close = cpu_queue_close,
    .upload = upload,
    .download = download,
    .unpack = unpack,
    .domain_bytes = domain_bytes,
    .matrix_bytes = matrix_bytes,
    .matrix_work_bytes = matrix_bytes,
    .scalars_bytes = scalars_bytes,
    .msm_bytes = msm_bytes,
    .ntt_bytes = ntt_bytes,
    .domain_open = cpu_domain_open,
    .domain_close = cpu_domain_close,
    .scalars_open = scalars_open,
    .scalars_close = cpu_scalars_close,
    .matrix_open = matrix_open,
    .matrix_close = cpu_matrix_close,
    .evaluate = evaluate,
    .ntt = ntt,
    .pointwise = pointwise,
    .msm = msm,
    .multiples = multiples,
};
