/* Some hundred fibers, switched by a few instructions. Each waits at its own depth, and
 * is resumed when the others have worked. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include "marker.h"

enum { FIBERS = 300, STACK = 16 << 10, ROUNDS = 5, WORK = 60 };

static void *fibers[FIBERS], *outside;
static int running;
static volatile long sum;

/* Saves the stack pointer in *from, and continues where `to` was saved. */
void switch_stacks(void **from, void *to);
__asm__(".text\n.globl switch_stacks\n.type switch_stacks, @function\n"
        "switch_stacks:\n.cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "push %rbx\n.cfi_def_cfa_offset 24\n.cfi_offset %rbx, -24\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %rbx\n.cfi_def_cfa_offset 16\n.cfi_restore %rbx\n"
        "pop %rbp\n.cfi_def_cfa_offset 8\n.cfi_restore %rbp\n"
        "ret\n.cfi_endproc\n.size switch_stacks, .-switch_stacks\n");

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < WORK; i++)
        step(i);
}

__attribute__((noinline)) static void wait(void)
{
    truth_marker();
    switch_stacks(&fibers[running], outside);
    truth_marker();
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        wait();
    else
        descend(depth - 1);
    step(here);
}

static void run(void)
{
    for (int i = 0;; i++)
        descend((running + i) % 4);
}

__attribute__((noinline)) static void resume(int number)
{
    running = number;
    switch_stacks(&outside, fibers[number]);
    truth_marker();
    work();
}

int main(void)
{
    char *stacks = malloc(FIBERS * STACK);
    for (int i = 0; i < FIBERS; i++) {
        void **top = (void **)(((unsigned long)stacks + (i + 1) * STACK) & -16UL);
        *--top = NULL;
        *--top = (void *)run;
        *--top = NULL;
        *--top = NULL;
        fibers[i] = top;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < FIBERS; i++)
            resume(i);
    free(stacks);
    printf("sum %ld\n", sum);
    return 0;
}
