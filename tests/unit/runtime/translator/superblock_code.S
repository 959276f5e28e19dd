/* Code that superblock_test.c has superblocks formed of: a label each, and names of places in it. */
.macro PLACE name
    .globl \name
    .hidden \name
\name:
.endm

    .section .rodata
    .globl code_begin, code_end
    .hidden code_begin, code_end
code_begin:

PLACE straight /* more than the longest superblock */
    .rept 60
    mov %rax, %rbx
    .endr
    ret

PLACE forward /* a conditional jump forward is expected to fall through */
    cmp %rax, %rbx
    je forward_target
PLACE forward_next
    mov %rax, %rbx
    ret
PLACE forward_target
    mov %rbx, %rax
    ret

PLACE backward /* ends there */
    mov %rax, %rbx
    cmp %rax, %rcx
    jne backward
    mov %rcx, %rax
    ret

PLACE jumps /* are followed */
    mov %rax, %rbx
    jmp jumps_target
    ud2
PLACE jumps_target
    mov %rcx, %rdx
    ret

PLACE calls /* are followed, and so is the return */
    mov %rax, %rbx
    call callee
PLACE calls_back
    mov %rcx, %rdx
    jmp *%rax
PLACE callee
    mov %rdx, %rsi
    ret

PLACE call_of_next /* is not followed: the return address is wanted */
    call call_of_next_target
PLACE call_of_next_target
    pop %rax
    ret

PLACE deep /* one call more than are followed */
    call 1f
1:  mov %rax, %rbx
PLACE deep_1
    call deep_2
    ret
PLACE deep_2
    call deep_3
    ret
PLACE deep_3
    call deep_4
    ret
PLACE deep_4
    call deep_5
    ret
PLACE deep_5
    ret

PLACE indirect
    mov %rax, %rbx
    call *%rax
    mov %rbx, %rax
    ret

PLACE system_call
    mov %rax, %rbx
    syscall
PLACE system_call_next
    ret

PLACE trap /* ends before it; at it, it is alone */
    mov %rax, %rbx
PLACE trap_itself
    int3
    ret

PLACE gs_operand
    mov %rax, %rbx
PLACE gs_operand_itself
    mov %gs:0, %rax
    ret

PLACE stack_switch /* ends after it */
    mov %rax, %rbx
    mov %rax, %rsp
PLACE stack_switch_next
    ret

PLACE stack_copy /* ends after it */
    mov %rax, %rbx
    add %rax, %rsp
PLACE stack_copy_next
    add %rax, %rbp
    call stack_copy
    ret

PLACE stack_copy_by_string
    add %rax, %rsp
    rep movsq
    ret

PLACE stack_addition_before_jump
    add %rax, %rsp
    jmp *%rcx

PLACE arguments_dropped /* is none */
    pop %rcx
    add %rax, %rsp
    push %rcx
    ret

PLACE frame_moves /* are none */
    push %rbp
    mov %rsp, %rbp
    sub $64, %rsp
    and $-16, %rsp
    mov %rbp, %rsp
    pop %rbp
    jmp *%rax

PLACE loop_of_adds /* all flags are dead at its beginning */
    mov (%rax), %rbx
    add $8, %rax
    cmp %rax, %rcx
    jne loop_of_adds
    ret

PLACE loop_of_tests /* a walk along a list: TEST writes AF for all that anybody can see */
    mov (%rax), %rax
    test %rax, %rax
    jne loop_of_tests
    ret

PLACE loop_of_dec /* CF lives on */
    mov %rax, %rbx
    dec %rcx
    jne loop_of_dec
    ret

PLACE loop_with_carry /* ADC reads what the comparison would write; after it the flags are dead before CMP */
    adc %rax, %rbx
    mov %rbx, %rcx
    cmp %rcx, %rdx
    jne loop_with_carry
    ret

PLACE loop_of_loop
    mov %rax, %rbx
    loop loop_of_loop
    ret

PLACE no_loop /* leads nowhere back: no comparison is needed */
    add $8, %rax
    cmp %rax, %rbx
    je no_loop_target
    mov %rax, %rcx
    syscall
PLACE no_loop_target
    ret

PLACE same_exits /* two side exits that lead to the same place: the second one is ambiguous */
    cmp %rax, %rbx
    je same_exits_target
    cmp %rax, %rcx
    je same_exits_target
    mov %rax, %rdx
    ret
PLACE same_exits_target
    ret

PLACE end_and_exit /* a side exit that leads where the end leads */
    cmp %rax, %rbx
    je end_and_exit_target
    mov %rax, %rdx
    call *%rcx
PLACE end_and_exit_target
    ret

PLACE exit_to_fall
    cmp %rax, %rbx
    je exit_to_fall_next
    mov %rax, %rdx
    syscall
PLACE exit_to_fall_next
    ret

PLACE route
    mov %rax, %rbx
PLACE route_loop
    add $1, %rbx
    cmp %rbx, %rcx
    jne route_loop
PLACE route_end
    jmp *%rdx
PLACE route_target
    mov %rcx, %rax
    ret

PLACE truncated /* the last instruction lacks its last byte */
    mov %rax, %rbx
PLACE truncated_itself
    .byte 0x48, 0x89
code_end:
    .byte 0xc3

    .section .note.GNU-stack,"",@progbits
