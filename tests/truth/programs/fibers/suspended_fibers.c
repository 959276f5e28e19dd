/* Fibers that wait at many depths while another works for long, and are resumed after that: in a snapshot, they were
 * suspended before it begins. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include "marker.h"
#include <ucontext.h>

enum { FIBERS = 8, STACK = 64 << 10, ROUNDS = 6, WORK = 60000 };

static ucontext_t contexts[FIBERS], outside;
static volatile long sum;

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < WORK; i++)
        step(i);
}

__attribute__((noinline)) static void wait(int number)
{
    truth_marker();
    swapcontext(&contexts[number], &outside);
    truth_marker();
}

__attribute__((noinline)) static void descend(int number, int depth)
{
    volatile int here = depth;
    if (depth == 0)
        wait(number);
    else
        descend(number, depth - 1);
    step(here);
}

static void run(int number)
{
    for (int i = 0; i < ROUNDS; i++)
        descend(number, number + i % 3);
}

__attribute__((noinline)) static void resume(int number)
{
    swapcontext(&outside, &contexts[number]);
    truth_marker();
}

int main(void)
{
    char *stacks = malloc(FIBERS * STACK);
    for (int i = 0; i < FIBERS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks + i * STACK;
        contexts[i].uc_stack.ss_size = STACK;
        contexts[i].uc_link = &outside;
        makecontext(&contexts[i], (void (*)(void))run, 1, i);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < FIBERS; i++)
            resume(i);
        work();
    }
    for (int i = 0; i < FIBERS; i++)
        resume(i);
    free(stacks);
    printf("sum %ld\n", sum);
    return 0;
}
