/* SPDX-License-Identifier: Apache-2.0 */
/* math/limb: Montgomery products on 6 limbs with mulx, adcx and adox. */
#if defined(__x86_64__)
#define HI %r15
#include "limb_adx.inc.h"

/* t = %rdx * src */
.macro MUL_ROW src, t0, t1, t2, t3, t4, t5, t6
    mulx (\src), \t0, \t1
    mulx 8(\src), %rax, \t2
    add %rax, \t1
    mulx 16(\src), %rax, \t3
    adc %rax, \t2
    mulx 24(\src), %rax, \t4
    adc %rax, \t3
    mulx 32(\src), %rax, \t5
    adc %rax, \t4
    mulx 40(\src), %rax, \t6
    adc %rax, \t5
    adc $0, \t6
.endm

/* t += %rdx * src, t6 new */
.macro ADD_ROW src, t0, t1, t2, t3, t4, t5, t6
    xor %eax, %eax
    STEP (\src), \t0, \t1
    STEP 8(\src), \t1, \t2
    STEP 16(\src), \t2, \t3
    STEP 24(\src), \t3, \t4
    STEP 32(\src), \t4, \t5
    mulx 40(\src), %rax, \t6
    adcx %rax, \t5
    mov $0, %eax
    adox %rax, \t6
    adcx %rax, \t6
.endm

/* t += %rdx * src, into a t6 that is there */
.macro ADD_ROW_TO src, t0, t1, t2, t3, t4, t5, t6
    xor %eax, %eax
    STEP (\src), \t0, \t1
    STEP 8(\src), \t1, \t2
    STEP 16(\src), \t2, \t3
    STEP 24(\src), \t3, \t4
    STEP 32(\src), \t4, \t5
    STEP 40(\src), \t5, \t6
    mov $0, %eax
    adcx %rax, \t6
.endm

/* t += k p with t0 + k p0 = 0 mod 2^64; m is limb_mod */
.macro REDUCE_ROW m, t0, t1, t2, t3, t4, t5, t6
    mov MOD_INV(\m), %rdx
    imul \t0, %rdx
    xor %eax, %eax
    mulx (\m), %rax, HI
    adcx \t0, %rax
    adox HI, \t1
    STEP 8(\m), \t1, \t2
    STEP 16(\m), \t2, \t3
    STEP 24(\m), \t3, \t4
    STEP 32(\m), \t4, \t5
    STEP 40(\m), \t5, \t6
    mov $0, %eax
    adcx %rax, \t6
.endm

/* r = t - p if that is not negative, else t */
.macro STORE_REDUCED r, m, t0, t1, t2, t3, t4, t5, d0, d1, d2, d3, d4, d5
    mov \t0, \d0
    sub (\m), \d0
    mov \t1, \d1
    sbb 8(\m), \d1
    mov \t2, \d2
    sbb 16(\m), \d2
    mov \t3, \d3
    sbb 24(\m), \d3
    mov \t4, \d4
    sbb 32(\m), \d4
    mov \t5, \d5
    sbb 40(\m), \d5
    cmovnc \d0, \t0
    cmovnc \d1, \t1
    cmovnc \d2, \t2
    cmovnc \d3, \t3
    cmovnc \d4, \t4
    cmovnc \d5, \t5
    mov \t0, (\r)
    mov \t1, 8(\r)
    mov \t2, 16(\r)
    mov \t3, 24(\r)
    mov \t4, 32(\r)
    mov \t5, 40(\r)
.endm

/* void limb6_mul_adx(r %rdi, a %rsi, b %rdx, m %rcx) */
FUNCTION limb6_mul_adx
    SAVE %rbx
    SAVE %r12
    SAVE %r13
    SAVE %r14
    SAVE %r15
    mov %rdx, %rbx
    mov (%rbx), %rdx
    MUL_ROW %rsi, %r8, %r9, %r10, %r11, %r12, %r13, %r14
    REDUCE_ROW %rcx, %r8, %r9, %r10, %r11, %r12, %r13, %r14
    mov 8(%rbx), %rdx
    ADD_ROW %rsi, %r9, %r10, %r11, %r12, %r13, %r14, %r8
    REDUCE_ROW %rcx, %r9, %r10, %r11, %r12, %r13, %r14, %r8
    mov 16(%rbx), %rdx
    ADD_ROW %rsi, %r10, %r11, %r12, %r13, %r14, %r8, %r9
    REDUCE_ROW %rcx, %r10, %r11, %r12, %r13, %r14, %r8, %r9
    mov 24(%rbx), %rdx
    ADD_ROW %rsi, %r11, %r12, %r13, %r14, %r8, %r9, %r10
    REDUCE_ROW %rcx, %r11, %r12, %r13, %r14, %r8, %r9, %r10
    mov 32(%rbx), %rdx
    ADD_ROW %rsi, %r12, %r13, %r14, %r8, %r9, %r10, %r11
    REDUCE_ROW %rcx, %r12, %r13, %r14, %r8, %r9, %r10, %r11
    mov 40(%rbx), %rdx
    ADD_ROW %rsi, %r13, %r14, %r8, %r9, %r10, %r11, %r12
    REDUCE_ROW %rcx, %r13, %r14, %r8, %r9, %r10, %r11, %r12
    STORE_REDUCED %rdi, %rcx, %r14, %r8, %r9, %r10, %r11, %r12, \
                  %rax, %rdx, %rbx, %rsi, %r13, %r15
    RESTORE %r15
    RESTORE %r14
    RESTORE %r13
    RESTORE %r12
    RESTORE %rbx
    ret
END_FUNCTION limb6_mul_adx

/* void limb6_mul_sum_adx(r %rdi, a %rsi, b %rdx, c %rcx, d %r8, m %r9) */
FUNCTION limb6_mul_sum_adx
    SAVE %rbx
    SAVE %rbp
    SAVE %r12
    SAVE %r13
    SAVE %r14
    SAVE %r15
    push %rdi
    .cfi_adjust_cfa_offset 8
    mov %rdx, %rbx
    mov (%rbx), %rdx
    MUL_ROW %rsi, %r10, %r11, %r12, %r13, %r14, %rdi, %rbp
    mov (%r8), %rdx
    ADD_ROW_TO %rcx, %r10, %r11, %r12, %r13, %r14, %rdi, %rbp
    REDUCE_ROW %r9, %r10, %r11, %r12, %r13, %r14, %rdi, %rbp
    mov 8(%rbx), %rdx
    ADD_ROW %rsi, %r11, %r12, %r13, %r14, %rdi, %rbp, %r10
    mov 8(%r8), %rdx
    ADD_ROW_TO %rcx, %r11, %r12, %r13, %r14, %rdi, %rbp, %r10
    REDUCE_ROW %r9, %r11, %r12, %r13, %r14, %rdi, %rbp, %r10
    mov 16(%rbx), %rdx
    ADD_ROW %rsi, %r12, %r13, %r14, %rdi, %rbp, %r10, %r11
    mov 16(%r8), %rdx
    ADD_ROW_TO %rcx, %r12, %r13, %r14, %rdi, %rbp, %r10, %r11
    REDUCE_ROW %r9, %r12, %r13, %r14, %rdi, %rbp, %r10, %r11
    mov 24(%rbx), %rdx
    ADD_ROW %rsi, %r13, %r14, %rdi, %rbp, %r10, %r11, %r12
    mov 24(%r8), %rdx
    ADD_ROW_TO %rcx, %r13, %r14, %rdi, %rbp, %r10, %r11, %r12
    REDUCE_ROW %r9, %r13, %r14, %rdi, %rbp, %r10, %r11, %r12
    mov 32(%rbx), %rdx
    ADD_ROW %rsi, %r14, %rdi, %rbp, %r10, %r11, %r12, %r13
    mov 32(%r8), %rdx
    ADD_ROW_TO %rcx, %r14, %rdi, %rbp, %r10, %r11, %r12, %r13
    REDUCE_ROW %r9, %r14, %rdi, %rbp, %r10, %r11, %r12, %r13
    mov 40(%rbx), %rdx
    ADD_ROW %rsi, %rdi, %rbp, %r10, %r11, %r12, %r13, %r14
    mov 40(%r8), %rdx
    ADD_ROW_TO %rcx, %rdi, %rbp, %r10, %r11, %r12, %r13, %r14
    REDUCE_ROW %r9, %rdi, %rbp, %r10, %r11, %r12, %r13, %r14
    mov (%rsp), %r8
    STORE_REDUCED %r8, %r9, %rbp, %r10, %r11, %r12, %r13, %r14, \
                  %rax, %rdx, %rbx, %rsi, %rcx, %r15
    pop %rdi
    .cfi_adjust_cfa_offset -8
    RESTORE %r15
    RESTORE %r14
    RESTORE %r13
    RESTORE %r12
    RESTORE %rbp
    RESTORE %rbx
    ret
END_FUNCTION limb6_mul_sum_adx
#endif

.section .note.GNU-stack, "", @progbits
