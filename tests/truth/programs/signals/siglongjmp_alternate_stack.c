/* Handlers on an alternate signal stack leave it through siglongjmp. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf target;
static volatile int handled;
static int *volatile nowhere;

__attribute__((noinline)) static void leave(int depth)
{
    if (depth > 0)
        leave(depth - 1);
    siglongjmp(target, 3);
}

static void handle(int number)
{
    (void)number;
    handled++;
    leave(handled % 5);
}

__attribute__((noinline)) static int dive(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        return *nowhere;
    return dive(depth - 1) + here;
}

__attribute__((noinline)) static int attempt(int depth)
{
    int value = sigsetjmp(target, 1);
    return value == 0 ? dive(depth) : value;
}

int main(void)
{
    stack_t stack = {.ss_size = 65536, .ss_sp = malloc(65536)};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0)
        return 1;
    int sum = 0;
    for (int i = 0; i < 50; i++)
        sum += attempt(i);
    free(stack.ss_sp);
    printf("sum %d handled %d\n", sum, handled);
    return sum == 150 && handled == 50 ? 0 : 1;
}
