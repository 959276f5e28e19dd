/* Fibers that end into one another by uc_link, on mapped stacks with guard pages that are unmapped when their fiber has ended
 * and mapped again for the next. */
/* truth: -O0 -g; -O2; -O2 -static */
#include "marker.h"
#include <sys/mman.h>
#include <ucontext.h>

enum { CHAIN = 5, ROUNDS = 12, STACK = 32 << 10, GUARD = 4096 };

struct fiber {
    ucontext_t context;
    char *stack;
    int waits;
};

static struct fiber fibers[CHAIN];
static ucontext_t outside;
static volatile long sum;

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void descend(int number, int depth)
{
    volatile int here = depth;
    if (depth > 0) {
        descend(number, depth - 1);
    } else {
        truth_marker();
        fibers[number].waits = 1;
        swapcontext(&fibers[number].context, &outside);
        truth_marker();
    }
    for (int i = 0; i < 50; i++)
        step(here);
}

static void run(int number, int depth)
{
    descend(number, depth);
    truth_marker();
    if (depth % 2)
        descend(number, depth / 2);
}

static void begin(int number, int depth)
{
    struct fiber *fiber = &fibers[number];
    fiber->stack =
        mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(fiber->stack, GUARD, PROT_NONE);
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack + GUARD;
    fiber->context.uc_stack.ss_size = STACK;
    fiber->context.uc_link = number + 1 < CHAIN ? &fibers[number + 1].context : &outside;
    makecontext(&fiber->context, (void (*)(void))run, 2, number, depth);
}

__attribute__((noinline)) static void enter(int number)
{
    swapcontext(&outside, &fibers[number].context);
    truth_marker();
}

__attribute__((noinline)) static void round_of(int round)
{
    for (int i = 0; i < CHAIN; i++)
        begin(i, (i + round) % 6 * 2);
    for (int i = 0; i < CHAIN; i++)
        enter(i); /* all wait once */
    enter(0);     /* this one ends into the next, which goes on where it waits, and so on */
    for (int i = 0; i < CHAIN; i++)
        munmap(fibers[i].stack, GUARD + STACK);
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        round_of(i);
        for (int j = 0; j < 3000; j++)
            step(j);
    }
    printf("%ld\n", sum);
    return 0;
}
