/* setjmp before and behind an array of variable size: two landings in one activation, with
 * different stack pointers. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { LEVELS = 9 };

static jmp_buf before[LEVELS + 1], behind[LEVELS + 1];
static volatile int landed_before, landed_behind;

__attribute__((noinline)) static void jump(int level, int far)
{
    longjmp(far ? before[level] : behind[level], 1);
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
    if (setjmp(behind[here]) != 0) {
        landed_behind++;
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
    printf("sum %d landed %d %d\n", sum, landed_before, landed_behind);
    return sum == 5 * LEVELS * (LEVELS + 1) / 2 && landed_before == 50 && landed_behind == 50 ? 0
                                                                                              : 1;
}
