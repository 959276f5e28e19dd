/* Handlers that work for long on an alternate signal stack, or on the interrupted one: a snapshot begins in the middle of
 * them, and they return to what they interrupted. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include "marker.h"
#include <signal.h>

enum { STACK = 64 << 10, ROUNDS = 6, WORK = 60000 };

static volatile long sum;

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < WORK; i++)
        step(i);
    truth_marker();
}

static void handle(int number)
{
    truth_marker();
    if (number == SIGUSR1)
        raise(SIGUSR2);
    work();
    truth_marker();
    step(number);
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        descend(depth - 1);
    else
        raise(sum & 1 ? SIGUSR1 : SIGUSR2);
    truth_marker();
    step(here);
}

int main(void)
{
    stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
    struct sigaction outer = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    struct sigaction inner = {.sa_handler = handle};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &outer, NULL);
    sigaction(SIGUSR2, &inner, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        sum = round;
        descend(round);
    }
    printf("sum %ld\n", sum);
    return 0;
}
