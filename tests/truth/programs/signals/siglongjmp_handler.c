/* A signal handler leaves through siglongjmp, from several frames of its own, over several frames
 * below. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf target;
static volatile int handled;

__attribute__((noinline)) static void leave(int depth)
{
    if (depth > 0)
        leave(depth - 1);
    siglongjmp(target, 5);
}

static void handle(int number)
{
    (void)number;
    handled++;
    leave(handled % 4);
}

__attribute__((noinline)) static int dive(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        raise(SIGUSR1);
    return dive(depth - 1) + here;
}

__attribute__((noinline)) static int attempt(int depth)
{
    int value = sigsetjmp(target, 1);
    return value == 0 ? dive(depth) : value;
}

int main(void)
{
    signal(SIGUSR1, handle);
    int sum = 0;
    for (int i = 0; i < 50; i++)
        sum += attempt(i);
    printf("sum %d handled %d\n", sum, handled);
    return sum == 250 && handled == 50 ? 0 : 1;
}
