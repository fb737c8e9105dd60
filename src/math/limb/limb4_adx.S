/* SPDX-License-Identifier: Apache-2.0 */
/* math/limb: Montgomery products on 4 limbs. Contracts are in limb4_adx.inc.h. */
#if defined(__x86_64__)
#define X %rdi
#include "math/limb/limb_adx.inc.h"

/* Registers: t in %r8 to %r12; s in %rax, %r13, %r14, %r15, %rbp; m in %rcx, a in %rsi. */

/* (s4, s3, s2, s1, low) = %rdx * src */
.macro PRODUCT src, at, low, s1, s2, s3, s4
    mulx \at(\src), \low, \s1
    mulx \at+8(\src), X, \s2
    add X, \s1
    mulx \at+16(\src), X, \s3
    adc X, \s2
    mulx \at+24(\src), X, \s4
    adc X, \s3
    adc $0, \s4
.endm

/* t += %rdx * src, t4 new */
.macro ADD_ROW src, at, t0, t1, t2, t3, t4
    PRODUCT \src, \at, %rax, %r13, %r14, %r15, \t4
    add %rax, \t0
    adc %r13, \t1
    adc %r14, \t2
    adc %r15, \t3
    adc $0, \t4
.endm

/* t += %rdx * src, t4 there */
.macro ADD_ROW_TO src, at, t0, t1, t2, t3, t4
    PRODUCT \src, \at, %rax, %r13, %r14, %r15, %rbp
    add %rax, \t0
    adc %r13, \t1
    adc %r14, \t2
    adc %r15, \t3
    adc %rbp, \t4
.endm

/* t += k p with t0 + k p0 = 0 mod 2^64, whose carry is 1 unless t0 is 0 */
.macro REDUCE_ROW t0, t1, t2, t3, t4
    mov MOD_INV(%rcx), %rdx
    imul \t0, %rdx
    PRODUCT %rcx, 0, X, %r13, %r14, %r15, %rbp
    neg \t0
    adc %r13, \t1
    adc %r14, \t2
    adc %r15, \t3
    adc %rbp, \t4
.endm

/* (%r8, %r9, %r10, %r12) = a b / R, below 2 p. b in %rbx, which stays. */
.macro MUL
    mov (%rbx), %rdx
    PRODUCT %rsi, 0, %r8, %r9, %r10, %r11, %r12
    REDUCE_ROW %r8, %r9, %r10, %r11, %r12
    mov 8(%rbx), %rdx
    ADD_ROW %rsi, 0, %r9, %r10, %r11, %r12, %r8
    REDUCE_ROW %r9, %r10, %r11, %r12, %r8
    mov 16(%rbx), %rdx
    ADD_ROW %rsi, 0, %r10, %r11, %r12, %r8, %r9
    REDUCE_ROW %r10, %r11, %r12, %r8, %r9
    mov 24(%rbx), %rdx
    ADD_ROW %rsi, 0, %r11, %r12, %r8, %r9, %r10
    REDUCE_ROW %r11, %r12, %r8, %r9, %r10
.endm

/* t += a0 word0 + a1 word1 for a = (a0, a1), then one word of reduction */
.macro SUM_ROW word0, word1, t0, t1, t2, t3, t4
    mov \word0, %rdx
    ADD_ROW %rsi, 0, \t0, \t1, \t2, \t3, \t4
    mov \word1, %rdx
    ADD_ROW_TO %rsi, 32, \t0, \t1, \t2, \t3, \t4
    REDUCE_ROW \t0, \t1, \t2, \t3, \t4
.endm

/* (%r8, %r9, %r10, %r12) = (a0 u + a1 v) / R, below 2 p, u at (r0), v at (r1). */
.macro MUL_SUM r0, at0, r1, at1
    mov \at0(\r0), %rdx
    PRODUCT %rsi, 0, %r8, %r9, %r10, %r11, %r12
    mov \at1(\r1), %rdx
    ADD_ROW_TO %rsi, 32, %r8, %r9, %r10, %r11, %r12
    REDUCE_ROW %r8, %r9, %r10, %r11, %r12
    SUM_ROW \at0+8(\r0), \at1+8(\r1), %r9, %r10, %r11, %r12, %r8
    SUM_ROW \at0+16(\r0), \at1+16(\r1), %r10, %r11, %r12, %r8, %r9
    SUM_ROW \at0+24(\r0), \at1+24(\r1), %r11, %r12, %r8, %r9, %r10
.endm

/* t = t - p if that is not negative */
.macro SUBTRACT_P t0, t1, t2, t3
    mov \t0, %rax
    sub (%rcx), %rax
    mov \t1, %r13
    sbb 8(%rcx), %r13
    mov \t2, %r14
    sbb 16(%rcx), %r14
    mov \t3, %r15
    sbb 24(%rcx), %r15
    cmovnc %rax, \t0
    cmovnc %r13, \t1
    cmovnc %r14, \t2
    cmovnc %r15, \t3
.endm

.macro STORE r, at, t0, t1, t2, t3
    mov \t0, \at(\r)
    mov \t1, \at+8(\r)
    mov \t2, \at+16(\r)
    mov \t3, \at+24(\r)
.endm

/* void limb4_mul_adx(r %rdi, a %rsi, b %rdx, m %rcx) */
FUNCTION limb4_mul_adx
    SAVE_ALL
    SAVE %rdi
    mov %rdx, %rbx
    MUL
    SUBTRACT_P %r12, %r8, %r9, %r10
    RESTORE %rdi
    STORE %rdi, 0, %r12, %r8, %r9, %r10
    RESTORE_ALL
    ret
END_FUNCTION limb4_mul_adx

/* Saves everything and lays out the stack: 0 r, 8 n, 16 step; m to %rcx, b to %rbx. */
.macro ENTER_VECTOR
    SAVE_ALL
    RESERVE 24
    mov %rdi, (%rsp)
    mov %rcx, 8(%rsp)
    mov %r9, 16(%rsp)
    mov %r8, %rcx
    mov %rdx, %rbx
.endm

/* void limb4_vec_mul_step_adx(r %rdi, a %rsi, b %rdx, n %rcx, m %r8, a_step %r9) */
FUNCTION limb4_vec_mul_step_adx
    ENTER_VECTOR
    subq $1, 8(%rsp)
    jc 2f
    .p2align 5
1:  MUL
    SUBTRACT_P %r12, %r8, %r9, %r10
    mov (%rsp), %rdi
    STORE %rdi, 0, %r12, %r8, %r9, %r10
    add $32, %rdi
    mov %rdi, (%rsp)
    add 16(%rsp), %rsi
    add $32, %rbx
    subq $1, 8(%rsp)
    jnc 1b
2:  RELEASE 24
    RESTORE_ALL
    ret
END_FUNCTION limb4_vec_mul_step_adx

/* void limb4_vec_mul_lazy_adx(r %rdi, a %rsi, b %rdx, n %rcx, m %r8) */
FUNCTION limb4_vec_mul_lazy_adx
    ENTER_VECTOR
    subq $1, 8(%rsp)
    jc 2f
    .p2align 5
1:  MUL
    mov (%rsp), %rdi
    STORE %rdi, 0, %r12, %r8, %r9, %r10
    add $32, %rdi
    mov %rdi, (%rsp)
    add $32, %rsi
    add $32, %rbx
    subq $1, 8(%rsp)
    jnc 1b
2:  RELEASE 24
    RESTORE_ALL
    ret
END_FUNCTION limb4_vec_mul_lazy_adx

/* void limb4_vec_mul2_adx(r %rdi, a %rsi, b %rdx, n %rcx, m %r8)
 * Stack: 0 to 31 2 p - b1, 32 to 63 the real part, 64 r, 72 n. */
FUNCTION limb4_vec_mul2_adx
    SAVE_ALL
    RESERVE 80
    mov %rdi, 64(%rsp)
    mov %rcx, 72(%rsp)
    mov %r8, %rcx
    mov %rdx, %rbx
    decq 72(%rsp)
    js 2f
    .p2align 5
1:  mov (%rcx), %r8
    mov 8(%rcx), %r9
    mov 16(%rcx), %r10
    mov 24(%rcx), %r11
    add %r8, %r8
    adc %r9, %r9
    adc %r10, %r10
    adc %r11, %r11
    sub 32(%rbx), %r8
    sbb 40(%rbx), %r9
    sbb 48(%rbx), %r10
    sbb 56(%rbx), %r11
    STORE %rsp, 0, %r8, %r9, %r10, %r11
    MUL_SUM %rbx, 0, %rsp, 0
    SUBTRACT_P %r12, %r8, %r9, %r10
    STORE %rsp, 32, %r12, %r8, %r9, %r10
    MUL_SUM %rbx, 32, %rbx, 0
    SUBTRACT_P %r12, %r8, %r9, %r10
    mov 64(%rsp), %rdi
    STORE %rdi, 32, %r12, %r8, %r9, %r10
    mov 32(%rsp), %rax
    mov 40(%rsp), %rdx
    mov 48(%rsp), %r8
    mov 56(%rsp), %r9
    STORE %rdi, 0, %rax, %rdx, %r8, %r9
    addq $64, 64(%rsp)
    add $64, %rsi
    add $64, %rbx
    decq 72(%rsp)
    jns 1b
2:  RELEASE 80
    RESTORE_ALL
    ret
END_FUNCTION limb4_vec_mul2_adx

#endif

.section .note.GNU-stack, "", %progbits
