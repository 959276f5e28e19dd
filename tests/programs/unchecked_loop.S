/* Loops that the translator does not compare with the log's limit: their two parts follow each other by indirect jumps, in no
 * order that repeats, and no instruction in them writes flags. They run FIRST, FIRST + 1, ... LAST times, and that SWEEPS times,
 * so that the log after one of them ends at every distance from where it has been cleared to. No C library: 9 instructions for
 * each target in the table, for each of the loops 4 + 3 * ROUNDS - 1, for each sweep 3 more, and 6 for the rest. */
#define FIRST 1900
#define LAST 2200
#define SWEEPS 40
    .globl _start
_start:
    lea targets(%rip), %rdi
    mov $LAST, %ecx
    mov $1, %eax
1:  imul $1103515245, %eax, %eax /* a linear congruential generator */
    add $12345, %eax
    lea 4f(%rip), %rdx
    lea 5f(%rip), %rsi
    test $0x10000, %eax
    cmovz %rsi, %rdx
    mov %rdx, (%rdi, %rcx, 8)
    dec %ecx
    jnz 1b
    mov $SWEEPS, %r12d
2:  mov $FIRST, %ebx
3:  mov %ebx, %ecx
4:  lea -1(%rcx), %rcx
    jrcxz 6f
    jmp *(%rdi, %rcx, 8)
5:  lea -1(%rcx), %rcx
    jrcxz 6f
    jmp *(%rdi, %rcx, 8)
6:  add $1, %ebx
    cmp $LAST + 1, %ebx
    jne 3b
    dec %r12d
    jnz 2b
    mov $231, %eax /* exit_group */
    syscall
    .bss
targets:
    .zero 8 * (LAST + 1)
