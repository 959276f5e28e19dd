/* Stands in for the translator's runtime where only its loading is tested: counts its starts in the first word after
 * the image in the arena, says there with what registers it was started, and lets the program go on natively. */
#define COUNT 0x300000 /* TR_IMAGE_OFFSET + TR_IMAGE_LIMIT */

    .text
    .globl tr_start
tr_start:
    orq %rbx, %rax
    orq %rcx, %rax
    orq %rdx, %rax
    orq %rsi, %rax
    orq %rdi, %rax
    orq %rbp, %rax
    orq %r8, %rax
    orq %r9, %rax
    orq %r10, %rax
    orq %r11, %rax
    orq %r12, %rax
    orq %r13, %rax
    orq %r14, %rax
    orq %r15, %rax
    movq tr_start_info+0x18(%rip), %rbx /* arena */
    lock incq COUNT(%rbx)
    lock orq %rax, COUNT+8(%rbx)
    movl zeros(%rip), %eax
    lock orq %rax, COUNT+8(%rbx)
    movl data(%rip), %eax
    movq %rax, COUNT+16(%rbx)
    xorl %eax, %eax
    xorl %ebx, %ebx
    jmp *tr_start_info(%rip)

    .data
    .balign 8
data:
    .long 4711
    .balign 8
    .globl tr_start_info
tr_start_info:
    .skip 0x48

    .bss
    .skip 0x4000
zeros:
    .skip 4

    .section .note.GNU-stack, "", @progbits
