/* SPDX-License-Identifier: Apache-2.0 */
/* math/limb: Montgomery products on 6 limbs. Contracts are in limb6_adx.inc.h. */
#if defined(__x86_64__)
#define X %rbx
#include "math/limb/limb_adx.inc.h"

/* Registers: t in %r8 to %r14; s in %rax, %r15, %rbp, %rdi; m in %rcx, a in %rsi. That is
 * all of them: rows come in two halves, and r and b wait on the stack. */

/* (s3, s2, s1, low) = %rdx * three words at src, plus CF at s1 if `first` is adc, not add */
.macro PRODUCT3 first, src, at, low, s1, s2, s3
    mulx \at(\src), \low, \s1
    mulx \at+8(\src), X, \s2
    \first X, \s1
    mulx \at+16(\src), X, \s3
    adc X, \s2
    adc $0, \s3
.endm

/* t = %rdx * src */
.macro FIRST_ROW src, at, t0, t1, t2, t3, t4, t5, t6
    mulx \at(\src), \t0, \t1
    mulx \at+8(\src), X, \t2
    add X, \t1
    mulx \at+16(\src), X, \t3
    adc X, \t2
    mulx \at+24(\src), X, \t4
    adc X, \t3
    mulx \at+32(\src), X, \t5
    adc X, \t4
    mulx \at+40(\src), X, \t6
    adc X, \t5
    adc $0, \t6
.endm

/* t += %rdx * src, t6 new */
.macro ADD_ROW src, at, t0, t1, t2, t3, t4, t5, t6
    PRODUCT3 add, \src, \at, %rax, %r15, %rbp, %rdi
    add %rax, \t0
    adc %r15, \t1
    adc %rbp, \t2
    adc %rdi, \t3
    PRODUCT3 adc, \src, \at+24, %rax, %r15, %rbp, \t6
    add %rax, \t3
    adc %r15, \t4
    adc %rbp, \t5
    adc $0, \t6
.endm

/* t += %rdx * src, t6 there */
.macro ADD_ROW_TO src, at, t0, t1, t2, t3, t4, t5, t6
    PRODUCT3 add, \src, \at, %rax, %r15, %rbp, %rdi
    add %rax, \t0
    adc %r15, \t1
    adc %rbp, \t2
    adc %rdi, \t3
    PRODUCT3 adc, \src, \at+24, %rax, %r15, %rbp, %rdi
    add %rax, \t3
    adc %r15, \t4
    adc %rbp, \t5
    adc %rdi, \t6
.endm

/* t += k p with t0 + k p0 = 0 mod 2^64, whose carry is 1 unless t0 is 0 */
.macro REDUCE_ROW t0, t1, t2, t3, t4, t5, t6
    mov MOD_INV(%rcx), %rdx
    imul \t0, %rdx
    PRODUCT3 add, %rcx, 0, X, %r15, %rbp, %rdi
    neg \t0
    adc %r15, \t1
    adc %rbp, \t2
    adc %rdi, \t3
    PRODUCT3 adc, %rcx, 24, %rax, %r15, %rbp, %rdi
    add %rax, \t3
    adc %r15, \t4
    adc %rbp, \t5
    adc %rdi, \t6
.endm

/* %rdx = the word at `at` of the number whose address is in `slot` of the stack */
.macro LOAD slot, at
    mov \slot(%rsp), %rdx
    mov \at(%rdx), %rdx
.endm

.macro MUL_ROW b, at, t0, t1, t2, t3, t4, t5, t6
    LOAD \b, \at
    ADD_ROW %rsi, 0, \t0, \t1, \t2, \t3, \t4, \t5, \t6
    REDUCE_ROW \t0, \t1, \t2, \t3, \t4, \t5, \t6
.endm

/* (%r14, %r8 to %r12) = a b / R, below 2 p; b: a slot */
.macro MUL b
    LOAD \b, 0
    FIRST_ROW %rsi, 0, %r8, %r9, %r10, %r11, %r12, %r13, %r14
    REDUCE_ROW %r8, %r9, %r10, %r11, %r12, %r13, %r14
    MUL_ROW \b, 8, %r9, %r10, %r11, %r12, %r13, %r14, %r8
    MUL_ROW \b, 16, %r10, %r11, %r12, %r13, %r14, %r8, %r9
    MUL_ROW \b, 24, %r11, %r12, %r13, %r14, %r8, %r9, %r10
    MUL_ROW \b, 32, %r12, %r13, %r14, %r8, %r9, %r10, %r11
    MUL_ROW \b, 40, %r13, %r14, %r8, %r9, %r10, %r11, %r12
.endm

/* t += a0 u + a1 v, one word of u and v each, for a = (a0, a1), then one word of reduction */
.macro SUM_ROW u, at_u, v, at_v, t0, t1, t2, t3, t4, t5, t6
    LOAD \u, \at_u
    ADD_ROW %rsi, 0, \t0, \t1, \t2, \t3, \t4, \t5, \t6
    LOAD \v, \at_v
    ADD_ROW_TO %rsi, 48, \t0, \t1, \t2, \t3, \t4, \t5, \t6
    REDUCE_ROW \t0, \t1, \t2, \t3, \t4, \t5, \t6
.endm

/* (%r14, %r8 to %r12) = (a0 u + a1 v) / R, below 2 p; u, v: slots */
.macro MUL_SUM u, at_u, v, at_v
    LOAD \u, \at_u
    FIRST_ROW %rsi, 0, %r8, %r9, %r10, %r11, %r12, %r13, %r14
    LOAD \v, \at_v
    ADD_ROW_TO %rsi, 48, %r8, %r9, %r10, %r11, %r12, %r13, %r14
    REDUCE_ROW %r8, %r9, %r10, %r11, %r12, %r13, %r14
    SUM_ROW \u, \at_u+8, \v, \at_v+8, %r9, %r10, %r11, %r12, %r13, %r14, %r8
    SUM_ROW \u, \at_u+16, \v, \at_v+16, %r10, %r11, %r12, %r13, %r14, %r8, %r9
    SUM_ROW \u, \at_u+24, \v, \at_v+24, %r11, %r12, %r13, %r14, %r8, %r9, %r10
    SUM_ROW \u, \at_u+32, \v, \at_v+32, %r12, %r13, %r14, %r8, %r9, %r10, %r11
    SUM_ROW \u, \at_u+40, \v, \at_v+40, %r13, %r14, %r8, %r9, %r10, %r11, %r12
.endm

/* (%r14, %r8 to %r12) -= p if that is not negative */
.macro SUBTRACT_P
    mov %r14, %rax
    sub (%rcx), %rax
    mov %r8, %rdx
    sbb 8(%rcx), %rdx
    mov %r9, %rbx
    sbb 16(%rcx), %rbx
    mov %r10, %rdi
    sbb 24(%rcx), %rdi
    mov %r11, %rbp
    sbb 32(%rcx), %rbp
    mov %r12, %r15
    sbb 40(%rcx), %r15
    cmovnc %rax, %r14
    cmovnc %rdx, %r8
    cmovnc %rbx, %r9
    cmovnc %rdi, %r10
    cmovnc %rbp, %r11
    cmovnc %r15, %r12
.endm

.macro STORE r, at, t0, t1, t2, t3, t4, t5
    mov \t0, \at(\r)
    mov \t1, \at+8(\r)
    mov \t2, \at+16(\r)
    mov \t3, \at+24(\r)
    mov \t4, \at+32(\r)
    mov \t5, \at+40(\r)
.endm

/* void limb6_mul_adx(r %rdi, a %rsi, b %rdx, m %rcx). Stack: 0 b, 8 r. */
FUNCTION limb6_mul_adx
    SAVE_ALL
    SAVE %rdi
    SAVE %rdx
    MUL 0
    SUBTRACT_P
    RESTORE %rdx
    RESTORE %rdi
    STORE %rdi, 0, %r14, %r8, %r9, %r10, %r11, %r12
    RESTORE_ALL
    ret
END_FUNCTION limb6_mul_adx

/* Saves everything and lays out the stack: 0 b, 8 r, 16 n; m to %rcx. */
.macro ENTER_VECTOR
    SAVE_ALL
    RESERVE 24
    mov %rdx, (%rsp)
    mov %rdi, 8(%rsp)
    mov %rcx, 16(%rsp)
    mov %r8, %rcx
.endm

/* void limb6_vec_mul_adx(r %rdi, a %rsi, b %rdx, n %rcx, m %r8) */
FUNCTION limb6_vec_mul_adx
    ENTER_VECTOR
    decq 16(%rsp)
    js 2f
    .p2align 5
1:  MUL 0
    SUBTRACT_P
    mov 8(%rsp), %rdi
    STORE %rdi, 0, %r14, %r8, %r9, %r10, %r11, %r12
    addq $48, 8(%rsp)
    add $48, %rsi
    addq $48, (%rsp)
    decq 16(%rsp)
    jns 1b
2:  RELEASE 24
    RESTORE_ALL
    ret
END_FUNCTION limb6_vec_mul_adx

/* void limb6_vec_mul_lazy_adx(r %rdi, a %rsi, b %rdx, n %rcx, m %r8) */
FUNCTION limb6_vec_mul_lazy_adx
    ENTER_VECTOR
    decq 16(%rsp)
    js 2f
    .p2align 5
1:  MUL 0
    mov 8(%rsp), %rdi
    STORE %rdi, 0, %r14, %r8, %r9, %r10, %r11, %r12
    addq $48, 8(%rsp)
    add $48, %rsi
    addq $48, (%rsp)
    decq 16(%rsp)
    jns 1b
2:  RELEASE 24
    RESTORE_ALL
    ret
END_FUNCTION limb6_vec_mul_lazy_adx

/* void limb6_vec_mul2_adx(r %rdi, a %rsi, b %rdx, n %rcx, m %r8)
 * Stack: 0 to 47 2 p - b1, 48 to 95 the real part, 96 b, 104 r, 112 the address of 0,
 * 120 n. */
FUNCTION limb6_vec_mul2_adx
    SAVE_ALL
    RESERVE 128
    mov %rdx, 96(%rsp)
    mov %rdi, 104(%rsp)
    mov %rsp, 112(%rsp)
    mov %rcx, 120(%rsp)
    mov %r8, %rcx
    decq 120(%rsp)
    js 2f
    .p2align 5
1:  mov 96(%rsp), %rdx
    mov (%rcx), %r8
    mov 8(%rcx), %r9
    mov 16(%rcx), %r10
    mov 24(%rcx), %r11
    mov 32(%rcx), %r12
    mov 40(%rcx), %r13
    add %r8, %r8
    adc %r9, %r9
    adc %r10, %r10
    adc %r11, %r11
    adc %r12, %r12
    adc %r13, %r13
    sub 48(%rdx), %r8
    sbb 56(%rdx), %r9
    sbb 64(%rdx), %r10
    sbb 72(%rdx), %r11
    sbb 80(%rdx), %r12
    sbb 88(%rdx), %r13
    STORE %rsp, 0, %r8, %r9, %r10, %r11, %r12, %r13
    MUL_SUM 96, 0, 112, 0
    SUBTRACT_P
    STORE %rsp, 48, %r14, %r8, %r9, %r10, %r11, %r12
    MUL_SUM 96, 48, 96, 0
    SUBTRACT_P
    mov 104(%rsp), %rdi
    STORE %rdi, 48, %r14, %r8, %r9, %r10, %r11, %r12
    mov 48(%rsp), %r8
    mov 56(%rsp), %r9
    mov 64(%rsp), %r10
    mov 72(%rsp), %r11
    mov 80(%rsp), %r12
    mov 88(%rsp), %r13
    STORE %rdi, 0, %r8, %r9, %r10, %r11, %r12, %r13
    addq $96, 104(%rsp)
    add $96, %rsi
    addq $96, 96(%rsp)
    decq 120(%rsp)
    jns 1b
2:  RELEASE 128
    RESTORE_ALL
    ret
END_FUNCTION limb6_vec_mul2_adx

#endif

.section .note.GNU-stack, "", %progbits
