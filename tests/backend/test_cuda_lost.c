/* SPDX-License-Identifier: Apache-2.0 */
/* backend/cuda when the device is lost: a kernel that reads where there is no memory, after
 * which the driver refuses everything in this process. A program of its own for that reason.
 * Skipped without the backend or a device. */
#include "backend/backend.h"
#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 100, FR_BYTES = 32 };

static const cuzk_backend *be; /* set by main */

/* Claims to have its values 64 GiB further on. */
static packed_witness lying_witness(void) {
    uint8_t values[N * FR_BYTES], *data;
    size_t n_bytes;
    packed_witness w;
    memset(values, 5, sizeof values);
    assert_int_equal(packed_witness_bytes(&n_bytes, values, N, NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_alloc(&data, n_bytes, 1, NULL), CUZK_OK);
    assert_int_equal(packed_witness_pack(&w, data, n_bytes, values, N, NULL, NULL), CUZK_OK);
    memset(data + ((const uint8_t *)w.first_wide - data), 0x7f, sizeof *w.first_wide);
    return w;
}

static void test_cuda__answers_and_closes_when_the_device_is_lost(void **state) {
    (void)state;
    cuzk_device *dev;
    cuzk_queue *queue;
    cuzk_buf *buf, *more = NULL;
    cuzk_device_info info;
    cuzk_err err;
    uint8_t got[FR_BYTES];
    packed_witness w = lying_witness();
    assert_int_equal(be->open(&dev, &(cuzk_device_options){.index = 0}, NULL, NULL), CUZK_OK);
    assert_int_equal(be->queue_open(&queue, dev, "lost", NULL, NULL), CUZK_OK);
    assert_int_equal(be->buf_alloc(&buf, dev, CUZK_SPACE_DEVICE, N * FR_BYTES, true, NULL),
                     CUZK_OK);
    assert_int_equal(be->unpack(queue, (cuzk_slice){buf, 0}, &w, NULL), CUZK_OK);
    assert_int_equal(be->queue_wait(queue, &err), CUZK_ERR_DEVICE);
    assert_non_null(strstr(err.text, "device 0: "));
    assert_int_equal(be->unpack(queue, (cuzk_slice){buf, 0}, &w, &err), CUZK_ERR_DEVICE);
    assert_non_null(strstr(err.text, "device 0: "));
    assert_int_equal(be->download(queue, got, (cuzk_slice){buf, 0}, sizeof got, NULL),
                     CUZK_ERR_DEVICE);
    assert_int_equal(be->buf_alloc(&more, dev, CUZK_SPACE_DEVICE, N, true, NULL),
                     CUZK_ERR_DEVICE);
    assert_null(more);
    be->buf_free(buf);
    be->queue_close(queue);
    be->device_info(dev, &info);
    assert_int_equal(info.used_bytes, 0);
    be->close(dev);
    cuzk_free(w.data);
}

int main(void) {
    if (getenv("CUZK_TEST_SMALL")) return 77; /* a sanitizer would report it, rightly */
    if (cuzk_backend_find(&be, "cuda", NULL) != CUZK_OK) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda__answers_and_closes_when_the_device_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
