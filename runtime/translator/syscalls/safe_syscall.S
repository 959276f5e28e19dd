/* The program's system calls: a signal that comes before the SYSCALL instruction keeps the call from being made.
 *
 * int tr_make_syscall(volatile int *pending, int64_t number, const uint64_t arguments[6], int64_t *result)
 *
 * 1: made, *result is set. 0: a signal is pending, the call was not made, or is to be restarted. The master handler
 * (signal_delivery.c) compares where it interrupted with the labels:
 *   from tr_syscall_check to tr_syscall_instruction inclusive: the call has not been made, or the kernel has set up its
 *       restart. The handler goes on at tr_syscall_refused.
 *   at tr_syscall_made: the call was made, rax is its result.
 *
 * Who looks at a thread that waits in the call, by ptrace or in /proc, finds the program's stack pointer and registers, but for the
 * program counter, rax and what SYSCALL itself changes. Sanitizers' search for leaks does: what it finds on the stack and in registers
 * is in use. Signals come on the thread's alternate stack, so the kernel writes nothing to the program's.
 */
#define CALLING_STACK 0x510 /* of struct tr_hot; checked in dispatch.c */
#define APP 0x520           /* struct tr_state */

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
    push %r12
    push %r13
    push %r14
    push %r15
    push %rcx
    mov %rdi, %r11
    mov %rsi, %rax
    mov %rdx, %rcx
    mov (%rcx), %rdi
    mov 8(%rcx), %rsi
    mov 16(%rcx), %rdx
    mov 24(%rcx), %r10
    mov 32(%rcx), %r8
    mov 40(%rcx), %r9
    mov %rsp, %gs:CALLING_STACK
    mov %gs:APP + 3 * 8, %rbx
    mov %gs:APP + 4 * 8, %rsp
    mov %gs:APP + 5 * 8, %rbp
    mov %gs:APP + 12 * 8, %r12
    mov %gs:APP + 13 * 8, %r13
    mov %gs:APP + 14 * 8, %r14
    mov %gs:APP + 15 * 8, %r15
tr_syscall_check:
    cmpl $0, (%r11)
    jne tr_syscall_refused
tr_syscall_instruction:
    syscall
tr_syscall_made:
    mov %gs:CALLING_STACK, %rsp
    pop %rcx
    mov %rax, (%rcx)
    mov $1, %eax
    jmp .Lreturn
tr_syscall_refused:
    mov %gs:CALLING_STACK, %rsp
    pop %rcx
    xor %eax, %eax
.Lreturn:
    pop %r15
    pop %r14
    pop %r13
    pop %r12
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
