/* See remote_call.h. The first call's registers are set by the recorder, as are the data after the code. */
#include "runtime/translator/signals/restore_registers.inc"

#define REGISTER(number) registers + 8 * (number)

    .section .rodata
    .globl remote_stub_code, remote_stub_restore, remote_stub_data, remote_stub_end
    .hidden remote_stub_code, remote_stub_restore, remote_stub_data, remote_stub_end
    .balign 16
remote_stub_code:
    syscall
remote_stub_restore:
    SET_SIGNAL_MASK mask
    mov REGISTER(4)(%rip), %rsp
    RESTORE_REGISTERS registers
    jmp *REGISTER(16)(%rip)
    .balign 8
remote_stub_data:
mask:
    .quad 0
registers:
    .zero 17 * 8
remote_stub_end:

    .section .note.GNU-stack, "", @progbits
