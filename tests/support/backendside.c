/* SPDX-License-Identifier: Apache-2.0 */
#include "backendside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void side_open(side *out, const char *backend, cuzk_exec *exec) {
    assert_int_equal(cuzk_backend_find(&out->be, backend, NULL), CUZK_OK);
    assert_int_equal(out->be->open(&out->dev, &(cuzk_device_options){.index = 0}, exec, NULL),
                     CUZK_OK);
    assert_int_equal(out->be->queue_open(&out->queue, out->dev, "test", NULL, NULL), CUZK_OK);
}

void side_close(side *a) {
    a->be->queue_close(a->queue);
    a->be->close(a->dev);
}

bool side_is_small(void) {
    const char *v = getenv("CUZK_TEST_SMALL");
    return v && strcmp(v, "1") == 0;
}
