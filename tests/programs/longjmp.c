/* Leaving several calls at once: setjmp and longjmp, over and over. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf target;
static unsigned long attempt_calls, dive_calls;

static void dive(int depth)
{
    dive_calls++;
    if (depth == 0)
        longjmp(target, 1);
    dive(depth - 1);
}

static int attempt(int depth)
{
    attempt_calls++;
    if (setjmp(target) == 0)
        dive(depth);
    return depth;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 20; i++)
        sum += attempt(i);
    printf("sum %d\n", sum);
    printf("COUNT attempt %lu\nCOUNT dive %lu\nCOUNT main 1\n", attempt_calls, dive_calls);
    return 0;
}
