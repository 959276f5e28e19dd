/* Indirect calls and jumps, and returns, that the compiler turns into thunks which return to a
 * pushed target. */
/* truth: -O2 -mindirect-branch=thunk; -O2 -mindirect-branch=thunk-inline; -O2 -mindirect-branch=thunk -mfunction-return=thunk; -O0 -g -mindirect-branch=thunk; compiler=clang -O2 -mretpoline */
#include <stdio.h>

typedef int operation(int);

static volatile int calls;

__attribute__((noinline)) static int plus_one(int value)
{
    calls++;
    return value + 1;
}

__attribute__((noinline)) static int times_two(int value)
{
    calls++;
    return value * 2;
}

static int recursive(int value);

static operation *volatile const table[] = {plus_one, times_two, recursive};

__attribute__((noinline)) static int recursive(int value)
{
    calls++;
    if (value <= 1)
        return 1;
    return table[2](value - 1) + table[value % 2](value);
}

/* A sibling call through a pointer: an indirect jump. */
__attribute__((noinline)) static int in_tail(int which, int value)
{
    calls++;
    return table[which](value);
}

__attribute__((noinline)) static int choose(int value)
{
    switch (value % 6) {
    case 0:
        return plus_one(value);
    case 1:
        return times_two(value);
    case 2:
        return recursive(value % 9);
    case 3:
        return in_tail(1, value);
    case 4:
        return in_tail(2, value % 7);
    default:
        return table[0](value) + table[1](value);
    }
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 400; i++)
        sum += choose(i) + in_tail(i % 3, i % 30);
    printf("sum %d calls %d\n", sum, calls);
    return sum == 148142 && calls == 6005 ? 0 : 1;
}
