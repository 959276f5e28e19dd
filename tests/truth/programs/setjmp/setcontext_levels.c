/* getcontext at every level of a recursion, and setcontext back to one of them, as one would use
 * setjmp and longjmp. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <ucontext.h>

enum { LEVELS = 18 };

static ucontext_t places[LEVELS + 1];
static volatile int came[LEVELS + 1];
static volatile int landed;

__attribute__((noinline)) static int descend(int level, int goal)
{
    volatile int here = level, wanted = goal;
    if (level == LEVELS) {
        came[goal] = 1;
        setcontext(&places[goal]);
    }
    came[level] = 0;
    getcontext(&places[level]);
    if (came[here]) {
        landed++;
        return here;
    }
    int below = descend(here + 1, wanted);
    return below + (wanted < here);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 3 * LEVELS; i++)
        sum += descend(0, i % LEVELS);
    printf("sum %d landed %d\n", sum, landed);
    return sum == 3 * LEVELS * (LEVELS - 1) / 2 && landed == 3 * LEVELS ? 0 : 1;
}
