/* See remote_call.h. The first call's registers are set by the recorder, as are the data after the code. MOV alone
 * restores, so that the flags stay as they are: SYSCALL preserves them. */
#define SYS_RT_SIGPROCMASK 14
#define SIG_SETMASK 2
#define REGISTER(number) registers + 8 * (number)

    .section .rodata
    .globl remote_stub_code, remote_stub_restore, remote_stub_data, remote_stub_end
    .hidden remote_stub_code, remote_stub_restore, remote_stub_data, remote_stub_end
    .balign 16
remote_stub_code:
    syscall
remote_stub_restore:
    mov $SYS_RT_SIGPROCMASK, %eax
    mov $SIG_SETMASK, %edi
    lea mask(%rip), %rsi
    mov $0, %edx
    mov $8, %r10d
    syscall
    mov REGISTER(0)(%rip), %rax
    mov REGISTER(1)(%rip), %rcx
    mov REGISTER(2)(%rip), %rdx
    mov REGISTER(3)(%rip), %rbx
    mov REGISTER(4)(%rip), %rsp
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
    jmp *REGISTER(16)(%rip)
    .balign 8
remote_stub_data:
mask:
    .quad 0
registers:
    .zero 17 * 8
remote_stub_end:

    .section .note.GNU-stack, "", @progbits
