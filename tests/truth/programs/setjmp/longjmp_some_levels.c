/* Only every third level calls setjmp; jumps land on one of them from any depth, several times
 * during one dive. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <setjmp.h>
#include <stdio.h>

enum { LEVELS = 33 };

static jmp_buf targets[LEVELS + 1];
static volatile int landed;

static int descend(int level, int goal);

__attribute__((noinline)) static int with_setjmp(int level, int goal)
{
    volatile int came = 0;
    if (setjmp(targets[level]) != 0) {
        landed++;
        came = came + 1;
    }
    if (came == 2)
        return level;
    return descend(level + 1, goal);
}

__attribute__((noinline)) static int without_setjmp(int level, int goal)
{
    return descend(level + 1, goal) + 1;
}

__attribute__((noinline)) static int descend(int level, int goal)
{
    if (level == LEVELS)
        longjmp(targets[goal], 1);
    return level % 3 == 0 ? with_setjmp(level, goal) : without_setjmp(level, goal);
}

int main(void)
{
    int sum = 0;
    for (int goal = 0; goal < LEVELS; goal += 3)
        sum += descend(0, goal);
    printf("sum %d landed %d\n", sum, landed);
    /* Level `goal` returns itself, and two of three levels above it add one. */
    return sum == 165 + 2 * 55 && landed == 22 ? 0 : 1;
}
