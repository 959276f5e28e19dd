/* A handler makes the interrupted code call a function that it never called, as Go and debuggers do. Every other time
 * the next signal waits for the handler to return: it interrupts that function before its first instruction. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

void injected(void);
void injected_body(void);

/* Keeps every register and the flags, and drops the 128 bytes that the interrupted function may use
 * below its stack pointer. */
__asm__(".text\n.globl injected\n.type injected, @function\ninjected:\n"
        "\tpushfq\n\tpushq %rax\n\tpushq %rcx\n\tpushq %rdx\n\tpushq %rsi\n\tpushq %rdi\n"
        "\tpushq %r8\n\tpushq %r9\n\tpushq %r10\n\tpushq %r11\n\tpushq %rbp\n"
        "\tmovq %rsp, %rbp\n\tandq $-16, %rsp\n\tcall injected_body\n\tmovq %rbp, %rsp\n"
        "\tpopq %rbp\n\tpopq %r11\n\tpopq %r10\n\tpopq %r9\n\tpopq %r8\n"
        "\tpopq %rdi\n\tpopq %rsi\n\tpopq %rdx\n\tpopq %rcx\n\tpopq %rax\n\tpopfq\n"
        "\tret $128\n.size injected, . - injected\n");

static volatile int injections, waited;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

void injected_body(void)
{
    injections += work(6) == 6;
}

static void handle(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (injections % 2 == 1)
        raise(SIGUSR1);
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    registers[REG_RSP] -= 128 + 8;
    *(greg_t *)registers[REG_RSP] = registers[REG_RIP];
    registers[REG_RIP] = (greg_t)injected;
}

static void handle_next(int number)
{
    (void)number;
    waited += work(3) == 3;
}

__attribute__((noinline)) static int dive(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        raise(SIGURG);
    else
        dive(depth - 1);
    return work(here);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGURG, &action, NULL);
    signal(SIGUSR1, handle_next);
    int sum = 0;
    for (int i = 0; i < 30; i++)
        sum += dive(i);
    printf("sum %d injections %d waited %d\n", sum, injections, waited);
    return sum == 435 && injections == 30 && waited == 15 ? 0 : 1;
}
