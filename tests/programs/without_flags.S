/* Loops in which the translator finds no place where all flags are dead, and which log much: DEC keeps CF, LOOP and system
 * calls write none. No C library: 2 + 2 * COUNT instructions, 1 + COUNT, and 3 + 6 * CALLS. */
#define COUNT 9000000
#define CALLS 60000
    .globl _start
_start:
    mov $COUNT, %rcx
    nop
1:  dec %rcx
    jnz 1b
    mov $COUNT, %rcx
2:  loop 2b
    mov $CALLS, %rbx
3:  mov $500000, %eax /* a call that no kernel has */
    syscall
    lea -1(%rbx), %rbx
    mov %rbx, %rcx
    jrcxz 4f
    jmp 3b
4:  mov $231, %eax /* exit_group */
    syscall
