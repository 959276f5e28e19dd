/* Code that adds to the stack pointer and calls a function, as one that copies stacks does, again and again, and never pops
 * what would have been copied. No C library; it does not end. */
    .globl _start
    .type called, @function
_start:
    xor %eax, %eax
1:  add %rax, %rsp
    call called
    jmp 1b
called:
    ret
