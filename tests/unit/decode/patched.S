/* What program.S's page `patched` is replaced by in a test of self-modifying code. */
    .text
    .balign 4096
    .globl patched_anew
    .type patched_anew, @function
patched_anew:
    nop
    nop
    nop
    ret
    .size patched_anew, . - patched_anew
    .balign 4096, 0x90

    .section .note.GNU-stack, "", @progbits
