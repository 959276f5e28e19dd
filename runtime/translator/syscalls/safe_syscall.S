/* The program's system calls: a signal that comes before the SYSCALL instruction keeps the call from being made.
 *
 * int tr_make_syscall(volatile int *pending, int64_t number, const uint64_t arguments[6], int64_t *result)
 *
 * 1: made, *result is set. 0: a signal is pending, the call was not made, or is to be restarted. The master handler
 * (signal_delivery.c) compares where it interrupted with the labels:
 *   from tr_syscall_check to tr_syscall_instruction inclusive: the call has not been made, or the kernel has set up its
 *       restart. The handler goes on at tr_syscall_refused.
 *   at tr_syscall_made: the call was made, rax is its result.
 * Between the check and the instruction nothing is pushed: both ways out find the same stack. */

    .globl tr_make_syscall, tr_syscall_check, tr_syscall_instruction, tr_syscall_made, tr_syscall_refused
    .hidden tr_make_syscall, tr_syscall_check, tr_syscall_instruction, tr_syscall_made, tr_syscall_refused
    .globl tr_signal_restorer
    .hidden tr_signal_restorer

    .text
    .type tr_make_syscall, @function
    .balign 16
tr_make_syscall:
    endbr64
    push %rbx
    push %rbp
    mov %rcx, %rbx
    mov %rdi, %rbp
    mov %rsi, %rax
    mov %rdx, %rcx
    mov (%rcx), %rdi
    mov 8(%rcx), %rsi
    mov 16(%rcx), %rdx
    mov 24(%rcx), %r10
    mov 32(%rcx), %r8
    mov 40(%rcx), %r9
tr_syscall_check:
    cmpl $0, (%rbp)
    jne tr_syscall_refused
tr_syscall_instruction:
    syscall
tr_syscall_made:
    mov %rax, (%rbx)
    mov $1, %eax
    pop %rbp
    pop %rbx
    ret
tr_syscall_refused:
    xor %eax, %eax
    pop %rbp
    pop %rbx
    ret

/* What the kernel puts on the signal stack as the master handler's return address. */
    .type tr_signal_restorer, @function
    .balign 16
    nop /* unwinders look at the byte before a return address */
tr_signal_restorer:
    mov $15, %eax /* rt_sigreturn */
    syscall
    hlt

/* void tr_kernel_sigreturn(struct tr_signal_frame *frame): the kernel looks for the frame 8 bytes below rsp. */
    .globl tr_kernel_sigreturn
    .hidden tr_kernel_sigreturn
    .type tr_kernel_sigreturn, @function
    .balign 16
tr_kernel_sigreturn:
    lea 8(%rdi), %rsp
    jmp tr_signal_restorer

    .section .note.GNU-stack, "", @progbits
