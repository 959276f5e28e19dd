/* Recursion of 5,000 levels, three times, each level with its own record on the stack. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdio.h>

enum { LEVELS = 5000 };

static volatile int calls;

struct level {
    const struct level *up;
    int number;
};

__attribute__((noinline)) static long chain_sum(const struct level *level)
{
    long sum = 0;
    for (; level; level = level->up)
        sum += level->number;
    return sum;
}

__attribute__((noinline)) static long descend(const struct level *up, int number)
{
    struct level here = {up, number};
    calls++;
    if (number == LEVELS)
        return chain_sum(&here);
    long sum = descend(&here, number + 1);
    return here.number == number ? sum : 0;
}

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 3; i++)
        sum += descend(NULL, 1);
    printf("sum %ld calls %d\n", sum, calls);
    return sum == 3L * LEVELS * (LEVELS + 1) / 2 && calls == 3 * LEVELS ? 0 : 1;
}
