/* __builtin_setjmp and __builtin_longjmp: jumps made by the compiler itself, without a call of
 * setjmp. Every level has its own buffer; jumps go up by 1, 3 and all levels. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>

enum { LEVELS = 24 };

static void *targets[LEVELS + 1][5];
static volatile int calls, landed;

__attribute__((noinline)) static int leaf(int level, int up)
{
    calls++;
    if (up > 0)
        __builtin_longjmp(targets[level - up], 1);
    return level;
}

__attribute__((noinline)) static int descend(int level, int up)
{
    volatile int here = level, goes_up = up;
    calls++;
    if (level == LEVELS)
        return leaf(level, up);
    if (__builtin_setjmp(targets[level]) != 0) {
        landed++;
        return leaf(here, 0);
    }
    return descend(here + 1, goes_up);
}

int main(void)
{
    static const int ups[] = {1, 3, LEVELS};
    int sum = 0;
    for (int i = 0; i < 30; i++)
        sum += descend(0, ups[i % 3]);
    printf("sum %d landed %d calls %d\n", sum, landed, calls);
    return sum == 10 * (LEVELS - 1 + LEVELS - 3) && landed == 30 && calls == 30 * (LEVELS + 3) ? 0
                                                                                               : 1;
}
