/* Coroutines as in libdill: begun by an instruction that sets the stack pointer, switched by setjmp and longjmp. */
/* truth: -O0 -g -fno-omit-frame-pointer; -O1 -fno-omit-frame-pointer */
#include "marker.h"
#include <setjmp.h>
#include <string.h>

enum { COUNT = 6, STACK = 16 << 10, ROUNDS = 40 };

static jmp_buf waits[COUNT], outside;
static char *stacks;
static volatile long sum;
static volatile int ended, current;

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void yield(void)
{
    truth_marker();
    if (!_setjmp(waits[current]))
        _longjmp(outside, 1);
    truth_marker();
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        descend(depth - 1);
    else
        yield();
    if (here % 3 == 1)
        yield();
    for (int i = 0; i < 40; i++)
        step(here);
}

__attribute__((noinline)) static void body(int number)
{
    for (int i = 0; i < ROUNDS; i++)
        descend((number + i) % 5);
}

static volatile int starts;

static void start(void)
{
    body(starts);
    ended++;
    _longjmp(outside, 1);
}

__attribute__((noinline)) static void go(int number)
{
    if (!_setjmp(outside)) {
        current = starts = number;
        char *top = stacks + (number + 1) * STACK - 64;
        __asm__ volatile("mov %0, %%rsp\n\tpushq $0\n\tjmp *%1"
                         :
                         : "r"(top), "r"(start)
                         : "memory");
        __builtin_unreachable();
    }
}

__attribute__((noinline)) static void resume(int number)
{
    current = number;
    if (!_setjmp(outside))
        _longjmp(waits[number], 1);
    truth_marker();
}

int main(void)
{
    stacks = calloc(COUNT, STACK);
    for (int i = 0; i < COUNT; i++)
        go(i);
    for (int i = 0; i < ROUNDS * 6 / 5; i++)
        for (int n = 0; n < COUNT; n++)
            if (ended == 0)
                resume(n);
    printf("%ld\n", sum);
    return 0;
}
