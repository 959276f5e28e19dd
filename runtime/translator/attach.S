/* See attachment.h. Where the recorder starts stopped threads of a process that it takes over or lets go. */
#include "runtime/translator/attachment.h"

#define LEAVING_MASK 0x40
#define REGISTER(number) tr_attachment + TR_ATTACH_REGISTERS + 8 * (number)
#define FLAGS_USUAL 0x202
#define SIG_SETMASK 2
#define SYS_RT_SIGPROCMASK 14

    .section .attachment, "awx", @progbits
    .globl tr_attachment
    .hidden tr_attachment
    .type tr_attachment, @object
tr_attachment:
    .quad TR_ATTACHMENT_MAGIC
    .quad tr_attach_start - tr_attachment
    .quad tr_attach_thread_start - tr_attachment
    .quad tr_release_start - tr_attachment
    .quad tr_syscall_made - tr_attachment
    .quad tr_process - tr_attachment
    .zero TR_ATTACHMENT_SIZE - (. - tr_attachment)
    .size tr_attachment, TR_ATTACHMENT_SIZE

    .text
    .type tr_attach_start, @function
    .type tr_release_start, @function
    .type tr_attach_thread_start, @function

/* All of the carrier's registers are in tr_attachment.leaving. */
tr_attach_start:
    lea tr_attach_begin(%rip), %rax
    jmp carry
tr_release_start:
    lea tr_release_begin(%rip), %rax
carry:
    lea tr_first_stack_end(%rip), %rsp
    pushq $FLAGS_USUAL
    popfq
    lea tr_attachment(%rip), %rdi
    call *%rax

/* Natively, as the kernel would go on: nothing is pushed below the program's stack pointer, and a system call that has a
 * restart block keeps it, which rt_sigreturn would not. A signal may come as soon as the mask is set. */
    pushq 16 * 8 + TR_ATTACH_REGISTERS + tr_attachment(%rip)
    popfq
    mov REGISTER(4)(%rip), %rsp
    mov $SYS_RT_SIGPROCMASK, %eax
    mov $SIG_SETMASK, %edi
    lea tr_attachment + LEAVING_MASK(%rip), %rsi
    mov $0, %edx
    mov $8, %r10d
    syscall
    mov REGISTER(0)(%rip), %rax
    mov REGISTER(1)(%rip), %rcx
    mov REGISTER(2)(%rip), %rdx
    mov REGISTER(3)(%rip), %rbx
    mov REGISTER(5)(%rip), %rbp
    mov REGISTER(6)(%rip), %rsi
    mov REGISTER(7)(%rip), %rdi
    mov REGISTER(8)(%rip), %r8
    mov REGISTER(9)(%rip), %r9
    mov REGISTER(10)(%rip), %r10
    mov REGISTER(11)(%rip), %r11
    mov REGISTER(12)(%rip), %r12
    mov REGISTER(13)(%rip), %r13
    mov REGISTER(14)(%rip), %r14
    mov REGISTER(15)(%rip), %r15
    jmp *REGISTER(17)(%rip)

/* rdi: struct tr_thread; the stack is its own, and the gs base is set. */
tr_attach_thread_start:
    pushq $FLAGS_USUAL
    popfq
    call tr_attach_thread
    ud2

    .hidden tr_attach_begin, tr_release_begin, tr_attach_thread, tr_first_stack_end, tr_process, tr_syscall_made

    .section .note.GNU-stack, "", @progbits
