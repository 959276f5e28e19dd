/* truth: -O0 -g; -O2; -O2 -static; strip -O2
 * Calls, tail calls, recursion, calls through the PLT and of function pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int sum;

__attribute__((noinline)) static int leaf(int value)
{
    sum += value;
    return sum;
}

__attribute__((noinline)) static int tail(int value)
{
    sum++;
    return leaf(value + 1);
}

__attribute__((noinline)) static int recurse(int depth)
{
    if (depth == 0)
        return tail(1);
    return recurse(depth - 1) + leaf(depth);
}

static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

int main(void)
{
    int numbers[100];
    for (int i = 0; i < 100; i++)
        numbers[i] = (i * 7919) % 101;
    qsort(numbers, 100, sizeof *numbers, compare);
    for (int round = 0; round < 1000; round++)
        recurse(round % 90);
    char *text = malloc(100);
    snprintf(text, 100, "%d %s", sum, "done");
    puts(text);
    free(text);
    return 0;
}
