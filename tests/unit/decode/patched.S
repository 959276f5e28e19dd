/* Replaces program.S's page `patched` in a test of self-modifying code. */
    .text
    .balign 4096
    .globl patched_replacement
    .type patched_replacement, @function
patched_replacement:
    nop
    nop
    nop
    ret
    .size patched_replacement, . - patched_replacement
    .balign 4096, 0x90

    .section .note.GNU-stack, "", @progbits
