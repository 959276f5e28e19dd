/* A context switch written by hand, as in most coroutine libraries: push the registers that a
 * callee keeps, exchange the stack pointer, pop them, and return. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIBERS = 4, STACK = 32768, TURNS = 800 };

void switch_stack(void **save, void *load);
__asm__(".text\n.globl switch_stack\n.type switch_stack, @function\nswitch_stack:\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
        "\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n"
        "\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
        ".size switch_stack, . - switch_stack\n");

static void *fibers[FIBERS], *scheduler;
static int current;
static volatile int visits;

__attribute__((noinline)) static void yield_turn(int number)
{
    visits++;
    switch_stack(&fibers[number], scheduler);
}

__attribute__((noinline)) static int climb(int number, int depth)
{
    volatile int here = depth;
    if (depth % (number + 2) == 0)
        yield_turn(number);
    return depth >= 30 ? here : climb(number, depth + 1) + (here == depth);
}

static void run(void)
{
    int number = current;
    for (;;)
        climb(number, 0);
}

/* The first switch pops six registers and returns to run, whose own return address is never used.
 */
static void *prepared(char *stack)
{
    uintptr_t *top = (uintptr_t *)(stack + STACK);
    *--top = 0;
    *--top = (uintptr_t)run;
    for (int i = 0; i < 6; i++)
        *--top = 0;
    return top;
}

int main(void)
{
    char *stacks[FIBERS];
    for (int i = 0; i < FIBERS; i++)
        fibers[i] = prepared(stacks[i] = aligned_alloc(16, STACK));
    for (int turn = 0; turn < TURNS; turn++) {
        current = turn % FIBERS;
        switch_stack(&scheduler, fibers[current]);
    }
    for (int i = 0; i < FIBERS; i++)
        free(stacks[i]);
    printf("visits %d\n", visits);
    return visits == TURNS ? 0 : 1;
}
