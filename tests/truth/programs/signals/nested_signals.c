/* A handler raises another signal, whose handler raises a third; and one that interrupts itself
 * (SA_NODEFER). */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>

static volatile int first_ran, second_ran, third_ran, deepest, depth;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

static void third(int number)
{
    third_ran += work(number) == number;
}

static void second(int number)
{
    (void)number;
    second_ran += work(3) == 3;
    raise(SIGTERM);
    second_ran += work(2) == 2;
}

static void first(int number)
{
    (void)number;
    first_ran += work(5) == 5;
    raise(SIGUSR2);
    raise(SIGTERM);
    first_ran += work(1) == 1;
}

static void itself(int number)
{
    depth++;
    if (depth > deepest)
        deepest = depth;
    if (depth < 12)
        raise(number);
    depth--;
}

int main(void)
{
    struct sigaction again = {.sa_handler = itself, .sa_flags = SA_NODEFER};
    signal(SIGUSR1, first);
    signal(SIGUSR2, second);
    signal(SIGTERM, third);
    sigaction(SIGHUP, &again, NULL);
    for (int i = 0; i < 20; i++) {
        raise(SIGUSR1);
        raise(SIGHUP);
    }
    printf("first %d second %d third %d deepest %d\n", first_ran, second_ran, third_ran, deepest);
    return first_ran == 40 && second_ran == 40 && third_ran == 40 && deepest == 12 ? 0 : 1;
}
