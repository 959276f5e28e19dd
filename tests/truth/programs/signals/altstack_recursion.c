/* Handlers on the alternate stack that recurse, raise signals on it, and are left by siglongjmp
 * from deep in it. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 20, STACK = 256 << 10 };

static sigjmp_buf target;
static volatile int normal, left, inner;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

__attribute__((noinline)) static int sink(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        siglongjmp(target, 1);
    return sink(depth - 1) + here;
}

static void within(int number)
{
    (void)number;
    inner += work(6) == 6;
}

static void handle(int number)
{
    (void)number;
    raise(SIGUSR2);
    work(40);
    if (normal++ % 2 == 0) {
        raise(SIGUSR2);
        return;
    }
    sink(normal);
}

__attribute__((noinline)) static void dive(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        raise(SIGUSR1);
    else
        dive(depth - 1);
    work(here > 3);
}

int main(void)
{
    stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
    struct sigaction outer = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    struct sigaction inside = {.sa_handler = within, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &outer, NULL);
    sigaction(SIGUSR2, &inside, NULL);
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (sigsetjmp(target, 1) == 0)
            dive(i);
        else
            left++;
    }
    printf("left %d inner %d\n", left, inner);
    return left == ROUNDS / 2 && inner == ROUNDS + ROUNDS / 2 ? 0 : 1;
}
