/* Constructors before main with priorities, and destructors after it; all make calls. The last one
 * decides about the exit status. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <unistd.h>

static volatile int order;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((noinline)) static void note(int digit)
{
    order = order * 10 + work(digit * 20) / 20;
}

__attribute__((constructor(101))) static void first(void)
{
    note(1);
}

__attribute__((constructor(102))) static void second(void)
{
    note(2);
}

__attribute__((constructor)) static void third(void)
{
    note(3);
}

__attribute__((destructor(101))) static void last(void)
{
    note(7);
    if (order != 1234567)
        _exit(1);
}

__attribute__((destructor(102))) static void last_but_one(void)
{
    note(6);
}

__attribute__((destructor)) static void first_to_go(void)
{
    note(5);
}

int main(void)
{
    note(4);
    return 0;
}
