/* Code that is walked through, not run: blocks of every kind. The walk (random_walk.c) takes any side
 * of conditional jumps, and goes from indirect ones to any place that the tables below list. */
        .text

.macro walked name, callee
\name:
        test    %eax, %eax
        jz      1f
        call    \callee
        nop
1:      dec     %ecx
        jnz     1b
        jrcxz   2f
        call    *%rax
        jmp     3f
2:      cmp     %rax, %rbx
        jmp     *%rdx
3:      call    4f
4:      pop     %rax
        add     $1, %rax
        mov     $39, %eax
        syscall
        test    %rax, %rax
        js      5f
        lea     8(%rsp), %rbx
        mov     16(%rsp), %rdx
        ret
5:      nop
        nop
        jmp     \name\()_again
\name\()_again:
        xor     %eax, %eax
        jnz     \name
        ret
        .pushsection .data.rel.local
        .quad   2b, 3b, 5b
        .popsection
.endm

        .globl  walked_code, walked_end, walked_handler, walked_return, walked_jump_targets
        .globl  walked_functions, walked_away
        .pushsection .data.rel.local, "aw"
        .balign 8
walked_jump_targets:
        .popsection

walked_code:
        call    first
        jmp     walked_code
        walked  first, second
        walked  second, third
        walked  third, fourth
        walked  fourth, leaf
leaf:   nop
        ret

        .pushsection .data.rel.local
walked_functions:
        .quad   first, second, third, fourth, leaf, walked_away
        .popsection

/* As longjmp. */
walked_away:
        mov     %rdi, %rax
        nop
        mov     %rsi, %rsp
        jmp     *%rdx

walked_handler:
        push    %rbx
        test    %rdi, %rdi
        jz      1f
        call    leaf
1:      pop     %rbx
        ret
walked_return:
        mov     $15, %eax
        syscall
walked_end:
        .section .note.GNU-stack, "", @progbits
