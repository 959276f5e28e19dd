/* getcontext and setcontext without a stack of their own: loops, and jumps out of deep calls, like
 * longjmp. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <ucontext.h>

static ucontext_t place;
static volatile int calls;

__attribute__((noinline)) static void go_back(int depth)
{
    volatile int here = depth;
    calls++;
    if (depth > 0)
        go_back(depth - 1);
    setcontext(&place);
    calls -= here;
}

__attribute__((noinline)) static int loop(int turns)
{
    volatile int turn = 0;
    getcontext(&place);
    turn = turn + 1;
    if (turn <= turns)
        go_back(turn % 9);
    return turn;
}

__attribute__((noinline)) static int descend(int depth, int turns)
{
    volatile int here = depth;
    return depth == 0 ? loop(turns) : descend(depth - 1, turns) + (here != depth);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 20; i++)
        sum += descend(3 * i, 9);
    printf("sum %d calls %d\n", sum, calls);
    return sum == 200 && calls == 20 * 45 ? 0 : 1;
}
