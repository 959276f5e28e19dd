/* Three functions that call each other, as a tree and as a deep chain. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdio.h>

static volatile int calls;

static int second(int depth);
static int third(int depth);

__attribute__((noinline)) static int first(int depth)
{
    calls++;
    return depth <= 0 ? 1 : second(depth - 1) + third(depth - 2);
}

__attribute__((noinline)) static int second(int depth)
{
    calls++;
    return depth <= 0 ? 2 : third(depth - 1) + first(depth - 3);
}

__attribute__((noinline)) static int third(int depth)
{
    calls++;
    return depth <= 0 ? 3 : 1 + first(depth - 1);
}

int main(void)
{
    int value = first(28);
    printf("value %d in %d calls\n", value, calls);
    return value == 38373 && calls == 38907 ? 0 : 1;
}
