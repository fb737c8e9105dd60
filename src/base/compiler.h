/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUZK_BASE_COMPILER_H
#define CUZK_BASE_COMPILER_H
/* base/compiler: the few compiler extensions the rest of the tree may use. */

#define CUZK_MUST_CHECK        __attribute__((warn_unused_result))
#define CUZK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CUZK_INLINE            static inline __attribute__((always_inline, unused))
#define CUZK_LIKELY(x)         __builtin_expect(!!(x), 1)
#define CUZK_UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define CUZK_PREFETCH(p)       __builtin_prefetch(p)
/* Hides the value of an integer variable from the optimizer, so that a mask made of a secret
 * doesn't become a branch. */
#define CUZK_VALUE_BARRIER(x) __asm__("" : "+r"(x))

__extension__ typedef unsigned __int128 cuzk_u128;

#endif
