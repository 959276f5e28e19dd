/* Handlers that interrupt each other and are left by siglongjmp: to the outer handler, or past it
 * to the program. SIGABRT of abort() too. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf program, handler;
static volatile int to_program, landed_in_handler, handled;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((noinline)) static void leave(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        leave(depth - 1);
    else if (to_program)
        siglongjmp(program, 7);
    else
        siglongjmp(handler, 3);
    handled += here;
}

static void inner(int number)
{
    handled += work(number % 4) == number % 4;
    leave(handled % 3);
}

__attribute__((noinline)) static void fail(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        fail(depth - 1);
    else if (handled % 2)
        abort();
    else
        raise(SIGUSR2);
    handled += here;
}

static void outer(int number)
{
    (void)number;
    if (sigsetjmp(handler, 1) != 0) {
        landed_in_handler++;
        work(3);
        return;
    }
    fail(2);
}

__attribute__((noinline)) static int dive(int depth)
{
    volatile int here = depth;
    if (depth == 0) {
        raise(SIGUSR1);
        return work(2);
    }
    return dive(depth - 1) + (here == depth);
}

__attribute__((noinline)) static int attempt(int depth)
{
    int value = sigsetjmp(program, 1);
    return value == 0 ? dive(depth) : value;
}

int main(void)
{
    struct sigaction action = {.sa_handler = outer};
    int sum = 0;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = inner;
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
    for (int i = 0; i < 20; i++) {
        to_program = i % 2;
        sum += attempt(i);
    }
    printf("sum %d landed %d handled %d\n", sum, landed_in_handler, handled);
    /* Every other attempt returns its depth and 2, the others 7. */
    return sum == 90 + 10 * 2 + 10 * 7 && landed_in_handler == 10 && handled == 20 ? 0 : 1;
}
