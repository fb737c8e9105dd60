/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/* Assembler macros that limb4_adx.S and limb6_adx.S share.
 *
 * A Montgomery product is W rows; a row adds a multiple of the first factor to the running
 * sum t, then the multiple of p that clears the low word of t. The window t of W + 1
 * registers turns by one each row instead of being moved.
 *
 * Where the time goes: mulx, one a cycle, and additions with carry in, two a cycle, whichever
 * of adc, adcx and adox they are. So a row first sums its own products, whose chain starts
 * with a plain add, and adds the sum to t in another chain that starts with a plain add; two
 * chains on two flags (adcx, adox) start with a carry in each and end with two carries out,
 * and are 5 to 10 % slower.
 *
 * Everywhere: %rdx multiplier, X a register for what is added at once. */

#define MOD_INV 144 /* offset of limb_mod.inv; limb<W>_adx.h asserts it */

.macro FUNCTION name
    .text
    .globl \name
    .hidden \name
    .type \name, @function
    .p2align 6
\name:
    .cfi_startproc
.endm

.macro END_FUNCTION name
    .cfi_endproc
    .size \name, . - \name
.endm

.macro SAVE reg
    push \reg
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \reg, 0
.endm

.macro RESTORE reg
    pop \reg
    .cfi_adjust_cfa_offset -8
    .cfi_restore \reg
.endm

.macro SAVE_ALL
    SAVE %rbx
    SAVE %rbp
    SAVE %r12
    SAVE %r13
    SAVE %r14
    SAVE %r15
.endm

.macro RESTORE_ALL
    RESTORE %r15
    RESTORE %r14
    RESTORE %r13
    RESTORE %r12
    RESTORE %rbp
    RESTORE %rbx
.endm

.macro RESERVE n_bytes
    sub $\n_bytes, %rsp
    .cfi_adjust_cfa_offset \n_bytes
.endm

.macro RELEASE n_bytes
    add $\n_bytes, %rsp
    .cfi_adjust_cfa_offset -\n_bytes
.endm
