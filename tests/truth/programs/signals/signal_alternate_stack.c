/* Handlers on an alternate stack that recurse deeply there and are interrupted there by another
 * signal. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int inner_ran, outer_ran;

__attribute__((noinline)) static int work(int depth, int number)
{
    volatile int here = depth;
    if (depth == 0) {
        if (number != 0)
            raise(number);
        return 0;
    }
    return work(depth - 1, number) + (here == depth);
}

static void inner(int number)
{
    (void)number;
    inner_ran += work(30, 0) == 30;
}

static void outer(int number)
{
    (void)number;
    outer_ran += work(100, SIGUSR2) == 100;
}

int main(void)
{
    stack_t stack = {.ss_size = 1 << 18, .ss_sp = malloc(1 << 18)};
    struct sigaction action = {.sa_handler = outer, .sa_flags = SA_ONSTACK};
    if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0)
        return 1;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = inner;
    sigaction(SIGUSR2, &action, NULL);
    int right = 0;
    for (int i = 0; i < 30; i++)
        right += work(i, SIGUSR1) == i;
    free(stack.ss_sp);
    printf("right %d outer %d inner %d\n", right, outer_ran, inner_ran);
    return right == 30 && outer_ran == 30 && inner_ran == 30 ? 0 : 1;
}
