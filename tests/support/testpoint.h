/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_TESTS_SUPPORT_TESTPOINT_H
#define CUZK_TESTS_SUPPORT_TESTPOINT_H
/* tests/support/testpoint: curves and points for the tests of the mathematics. */
#include "math/group/group.h"
#include "testrand.h"

/* One curve at the CPU level of CUZK_CPU (the best one by default). */
void testpoint_curve(curve *c, curve_id id);
/* Runs `check` on each curve, with the seed printed once. */
typedef void testpoint_check(const curve *c, testrand *rnd);
void testpoint_each_curve(testpoint_check *check);

/* A random multiple of the generator, scaled so that Z is random too. */
void testpoint_in_subgroup(const curve *c, group_id g, point *r, testrand *rnd);
/* A random point of the whole curve: in the subgroup with negligible probability where the
 * cofactor isn't one. Z = 1. */
void testpoint_on_curve(const curve *c, group_id g, point *r, testrand *rnd);
/* The same point with another Z. */
void testpoint_rescale(const curve *c, group_id g, point *r, testrand *rnd);
/* "0123ab" -> bytes; the text is twice n_bytes long. */
void testpoint_unhex(uint8_t *bytes, size_t n_bytes, const char *hex);

#endif
