/* Runs with its unaligned accesses checked (the AC flag): calls, returns and loads of the stack pointer that make none. */
#include <stdint.h>
#include <stdio.h>

enum { STACK_SIZE = 4096 };

static uint8_t other_stack[STACK_SIZE] __attribute__((aligned(16)));

/* rax: the top of another stack. Returns with the flag as it was before. */
__asm__(".text\n"
        "checked_leaf:\n"
        "    ret\n"
        "checked:\n"
        "    pushf\n"
        "    pushf\n"
        "    orl $0x40000, (%rsp)\n"
        "    popf\n"
        "    lea checked_leaf(%rip), %rdx\n"
        "    .rept 20\n"
        "    call checked_leaf\n"
        "    nop\n"
        "    call *%rdx\n"
        "    mov %rsp, %rcx\n"
        "    mov %rax, %rsp\n"
        "    push %rdx\n"
        "    pop %rdx\n"
        "    mov %rcx, %rsp\n"
        "    .endr\n"
        "    popf\n"
        "    ret\n");

__attribute__((noinline)) static void run_checked(void)
{
    __asm__ volatile("sub $128, %%rsp\n"
                     "call checked\n"
                     "add $128, %%rsp\n"
                     :
                     : "a"(other_stack + STACK_SIZE)
                     : "rcx", "rdx", "memory", "cc");
}

int main(void)
{
    for (int i = 0; i < 2000; i++)
        run_checked();
    puts("no unaligned access");
    return 0;
}
