/* exit() deep in a recursion; functions given to atexit and on_exit run, add others, and call
 * exit's rest. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int ran;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static void judge(void)
{
    if (ran != 26)
        _exit(1);
}

static void late(void)
{
    ran += work(5);
}

static void adds_another(void)
{
    ran += work(1);
    atexit(late);
}

static void with_status(int status, void *argument)
{
    ran += work(status) + *(int *)argument;
}

__attribute__((noinline)) static int descend(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        exit(0);
    return descend(depth - 1) + here;
}

int main(void)
{
    static int argument = 4;
    atexit(judge);
    on_exit(with_status, &argument);
    for (int i = 0; i < 16; i++)
        if (i % 4 == 0)
            atexit(adds_another);
        else
            atexit(late);
    ran = -(12 * 5 + 4 * 6 + 4 - 26);
    return descend(1000);
}
