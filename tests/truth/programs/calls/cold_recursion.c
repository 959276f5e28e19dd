/* Recursion that goes through the far unlikely part (f.cold) of its functions, and returns into it.
 */
/* truth: -O2; -O2 -freorder-blocks-and-partition -g; -O3; -O2 -static; strip -O2 */
#include <stdio.h>

static volatile int cold_parts;

__attribute__((noinline, cold)) static void mark(int depth)
{
    cold_parts += depth >= 0;
}

static int other(int depth);

__attribute__((noinline)) static int through_cold(int depth)
{
    if (__builtin_expect(depth <= 0, 0))
        return 1;
    if (__builtin_expect(depth % 3 == 0, 0)) {
        mark(depth);
        int below = other(depth - 1);
        mark(below);
        int further = through_cold(depth - 4);
        mark(further);
        return below + further;
    }
    return other(depth - 2) + 1;
}

__attribute__((noinline)) static int other(int depth)
{
    volatile int here = depth;
    int sum = through_cold(depth - 1);
    if (__builtin_expect(sum % 5 == 0, 0)) {
        mark(sum);
        sum += through_cold(depth - 3);
        mark(here);
    }
    return sum + 1;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 60; i++)
        sum += through_cold(i);
    printf("sum %d cold parts %d\n", sum, cold_parts);
    return sum == 15536 ? 0 : 1;
}
