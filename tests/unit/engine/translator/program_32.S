/* A 32-bit program that ends with status 42. */
    .text
    .globl _start
_start:
    movl $1, %eax
    movl $42, %ebx
    int $0x80

    .section .note.GNU-stack, "", @progbits
