/* SPDX-License-Identifier: Apache-2.0 */
/* Assembler macros that limb4_adx.S and limb6_adx.S share.
 *
 * A Montgomery product is W rows, each adding a multiple of one number to the running sum t
 * and then a multiple of p that clears its low word. mulx leaves the flags alone, adcx and
 * adox carry in CF and OF: so one row runs two carry chains, low halves and high halves, side
 * by side. The window t of W + 1 registers turns by one each row instead of being moved.
 *
 * Everywhere: %rdx multiplier, %rax and HI the halves of a product. */

#define MOD_INV 144 /* offset of limb_mod.inv; limb_adx.h asserts it */

.macro FUNCTION name
    .text
    .globl \name
    .hidden \name
    .type \name, @function
    .p2align 5
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

/* (t1, t0) += %rdx * word: low half by CF, high half by OF. */
.macro STEP word, t0, t1
    mulx \word, %rax, HI
    adcx %rax, \t0
    adox HI, \t1
.endm
