/* longjmp out of 1, 5 and 50 frames to a setjmp in the caller. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf target;
static volatile int calls;

__attribute__((noinline)) static int dive(int depth)
{
    calls++;
    volatile int here = depth;
    if (depth > 1)
        return dive(depth - 1) + here;
    longjmp(target, 7);
}

__attribute__((noinline)) static int after(int value)
{
    calls++;
    return value + 1;
}

__attribute__((noinline)) static int attempt(int depth)
{
    int value = setjmp(target);
    if (value == 0)
        return dive(depth);
    return after(value);
}

int main(void)
{
    static const int depths[] = {1, 5, 50};
    int sum = 0;
    for (int i = 0; i < 60; i++)
        sum += attempt(depths[i % 3]);
    printf("sum %d calls %d\n", sum, calls);
    return sum == 60 * 8 && calls == 20 * 56 + 60 ? 0 : 1;
}
