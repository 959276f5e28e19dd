/* The part that all random programs share: position-independent code that is copied to the beginning of each. It calls the
 * random code once per iteration, saves all registers, and logs a hash of what the code has written. At the end
 * it writes the hashes, and the data of the last iteration, to standard output.
 */
#include "layout.h"

#define FS(offset) %fs:((offset) - ARENA_MIDDLE)

    .section .rodata
    .globl skeleton_begin, skeleton_end, skeleton_data, skeleton_code
skeleton_begin:
    mov skeleton_data(%rip), %rbx
    lea ARENA_MIDDLE(%rbx), %rsi
    mov $0x1002, %edi /* ARCH_SET_FS */
    mov $158, %eax    /* arch_prctl */
    syscall
iterate:
    lea STACK_TOP - 0x100(%rbx), %rsp
    fninit
    ldmxcsr CONTROL_WORDS(%rbx)
    mov FUEL_FULL(%rbx), %rax
    mov %rax, FUEL(%rbx)
    mov (%rbx), %rax
    movabs $0x9e3779b97f4a7c15, %rcx
    imul %rcx, %rax
    mov %rax, %rdx
    rol $17, %rdx
    mov %rax, %rsi
    bswap %rsi
    lea (%rax, %rdx), %rdi
    movzwl %ax, %ebp
    lea (%rdi, %rsi, 2), %r8
    movzbl %dl, %r9d
    mov %rdi, %r10
    rol $40, %r10
    lea (%r8, %r10), %r11
    not %r10
    movslq %r8d, %r12
    movq %rax, %xmm0
    cvtsi2sd %esi, %xmm5
    cvtsi2ss %edi, %xmm6
    cld
    call *skeleton_code(%rip)

    mov %rax, FS(FINAL_SLOT + 0 * 8)
    mov %rcx, FS(FINAL_SLOT + 1 * 8)
    mov %rdx, FS(FINAL_SLOT + 2 * 8)
    mov %rbx, FS(FINAL_SLOT + 3 * 8)
    mov %rsp, FS(FINAL_SLOT + 4 * 8)
    mov %rbp, FS(FINAL_SLOT + 5 * 8)
    mov %rsi, FS(FINAL_SLOT + 6 * 8)
    mov %rdi, FS(FINAL_SLOT + 7 * 8)
    mov %r8, FS(FINAL_SLOT + 8 * 8)
    mov %r9, FS(FINAL_SLOT + 9 * 8)
    mov %r10, FS(FINAL_SLOT + 10 * 8)
    mov %r11, FS(FINAL_SLOT + 11 * 8)
    mov %r12, FS(FINAL_SLOT + 12 * 8)
    mov %r13, FS(FINAL_SLOT + 13 * 8)
    mov %r14, FS(FINAL_SLOT + 14 * 8)
    mov %r15, FS(FINAL_SLOT + 15 * 8)
    pushfq
    popq FS(FINAL_SLOT + 16 * 8)

    mov skeleton_data(%rip), %rbx
    lea VECTORS(%rbx), %rdi
    fxsave64 0x800(%rdi)
    movw $0, 0x806(%rdi) /* the last x87 instruction and its operand: addresses in the code cache */
    movq $0, 0x808(%rdi)
    movq $0, 0x810(%rdi)
    cmpl $1, VECTORS_KIND(%rbx)
    jb hash
    ja save_zmm
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vmovdqu %ymm\n, \n * 64(%rdi)
    .endr
    jmp hash
save_zmm:
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vmovdqu64 %zmm\n, \n * 64(%rdi)
    .endr
    .irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    vmovdqu64 %zmm\n, \n * 64(%rdi)
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    kmovq %k\n, 0xa00 + \n * 8(%rdi)
    .endr

hash:
    xor %eax, %eax
    xor %edx, %edx
    lea HASHED(%rbx), %rsi
    lea STACK_TOP(%rbx), %rcx
1:  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    crc32q \n * 16(%rsi), %rax
    crc32q \n * 16 + 8(%rsi), %rdx
    .endr
    sub $-128, %rsi
    cmp %rcx, %rsi
    jb 1b
    shl $32, %rdx
    or %rdx, %rax
    mov ITERATION(%rbx), %rcx
    mov %rax, LOG(%rbx, %rcx, 8)
    inc %rcx
    mov %rcx, ITERATION(%rbx)
    cmp ITERATIONS(%rbx), %rcx
    jb iterate

    lea LOG(%rbx), %rsi
    lea (, %rcx, 8), %rdx
    mov $1, %edi
    mov $1, %eax /* write */
    syscall
    lea HASHED(%rbx), %rsi
    mov $STACK_TOP - HASHED, %edx
    mov $1, %edi
    mov $1, %eax
    syscall
    xor %edi, %edi
    mov $60, %eax /* exit */
    syscall
skeleton_data:
    .quad 0
skeleton_code:
    .quad 0
skeleton_end:

    .section .note.GNU-stack,"",@progbits
