/* setjmp before and after an array of variable size: two unwind targets in one activation, with
 * different stack pointers. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { LEVELS = 9 };

static jmp_buf before[LEVELS + 1], after[LEVELS + 1];
static volatile int landed_before, landed_after;

__attribute__((noinline)) static void jump(int level, int far)
{
    longjmp(far ? before[level] : after[level], 1);
}

__attribute__((noinline)) static int descend(int level, int goal)
{
    volatile int here = level, wanted = goal, result = 0;
    if (setjmp(before[level]) != 0) {
        landed_before++;
        return here;
    }
    char *space = alloca(200 + 100 * (size_t)here);
    memset(space, here, 200);
    if (setjmp(after[here]) != 0) {
        landed_after++;
        jump(here, 1);
    }
    if (here == LEVELS)
        jump(wanted, 0);
    result = descend(here + 1, wanted);
    return result + (space[0] == here) - 1;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 5 * (LEVELS + 1); i++)
        sum += descend(0, i % (LEVELS + 1));
    printf("sum %d landed %d %d\n", sum, landed_before, landed_after);
    return sum == 5 * LEVELS * (LEVELS + 1) / 2 && landed_before == 50 && landed_after == 50 ? 0
                                                                                             : 1;
}
