/* Every level of a recursion has its own jmp_buf; jumps go up by 1, 2, 5 and all levels. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <setjmp.h>
#include <stdio.h>

enum { LEVELS = 40 };

static jmp_buf targets[LEVELS + 1];
static volatile int calls, landed;

__attribute__((noinline)) static int leaf(int level, int up)
{
    calls++;
    if (up > 0)
        longjmp(targets[level - up], up);
    return level;
}

__attribute__((noinline)) static int descend(int level, int up)
{
    calls++;
    int came = setjmp(targets[level]);
    if (came != 0) {
        landed++;
        return leaf(level, 0);
    }
    if (level == LEVELS)
        return leaf(level, up);
    return descend(level + 1, up);
}

int main(void)
{
    static const int ups[] = {1, 2, 5, LEVELS};
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += descend(0, ups[i % 4]);
    printf("sum %d landed %d calls %d\n", sum, landed, calls);
    return sum == 10 * (39 + 38 + 35 + 0) && landed == 40 && calls == 40 * 43 ? 0 : 1;
}
