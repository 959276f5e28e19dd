/* GNU nested functions: trampolines that run on the stack, and a goto out of several frames. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
/* truth-link: -Wl,-z,execstack */
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100 };

__attribute__((noinline)) static int apply(int (*function)(int), int value)
{
    volatile int here = value;
    return function(value) + here;
}

__attribute__((noinline)) static int apply_below(int (*function)(int), int value, int depth)
{
    volatile int here = depth;
    if (depth == 0)
        return apply(function, value);
    return apply_below(function, value, depth - 1) + (here != depth);
}

__attribute__((noinline)) static int accumulate(int rounds)
{
    int sum = 0;
    int add(int value)
    {
        sum += value;
        return sum;
    }
    int last = 0;
    for (int i = 0; i < rounds; i++)
        last = apply_below(add, i, i % 7);
    return last - (rounds - 1);
}

__attribute__((noinline)) static int leaves_by_goto(int rounds)
{
    __label__ out;
    int left = 0;
    int jump(int value)
    {
        if (value >= 0)
            goto out;
        return value;
    }
    left = apply_below(jump, -1, 3);
out:
    left += 5;
    if (left < rounds)
        apply_below(jump, 1, 6);
    return left;
}

__attribute__((noinline)) static int sort_with_count(void)
{
    int numbers[COUNT], comparisons = 0;
    int compare(const void *left, const void *right)
    {
        comparisons++;
        return *(const int *)left - *(const int *)right;
    }
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i * 37 % COUNT;
    qsort(numbers, COUNT, sizeof *numbers, compare);
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] != i)
            return 0;
    return comparisons;
}

int main(void)
{
    int sum = accumulate(100), left = leaves_by_goto(100), comparisons = sort_with_count();
    printf("sum %d left %d comparisons %d\n", sum, left, comparisons);
    return sum == 4950 && left >= 100 && comparisons >= COUNT - 1 ? 0 : 1;
}
