/* See attachment.h. Where the recorder starts stopped threads of a process that it takes over or lets go. */
#include "runtime/translator/attachment.h"
#include "runtime/translator/signals/restore_registers.inc"

#define LEAVING_MASK 0x40
#define REGISTER(number) tr_attachment + TR_ATTACH_REGISTERS + 8 * (number)
#define FLAGS_USUAL 0x202

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

/* Natively, as the kernel would go on: no push goes below the program's stack pointer, and a system call that has a
 * restart block keeps it, which rt_sigreturn would not. A signal may come as soon as the mask is set. */
    pushq 16 * 8 + TR_ATTACH_REGISTERS + tr_attachment(%rip)
    popfq
    mov REGISTER(4)(%rip), %rsp
    SET_SIGNAL_MASK tr_attachment + LEAVING_MASK
    RESTORE_REGISTERS tr_attachment + TR_ATTACH_REGISTERS
    jmp *REGISTER(17)(%rip)

/* rdi: struct tr_thread; the stack is its own, and the gs base is set. */
tr_attach_thread_start:
    pushq $FLAGS_USUAL
    popfq
    call tr_attach_thread
    ud2

    .hidden tr_attach_begin, tr_release_begin, tr_attach_thread, tr_first_stack_end, tr_process, tr_syscall_made

    .section .note.GNU-stack, "", @progbits
