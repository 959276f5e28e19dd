/* Functions that -O2 inlines: nested, twice in one loop, with a call inside, around a jump back. Prints how often each
 * ran. */
#include <stdio.h>
#include <stdlib.h>

static int table[256];

static inline int mix(int x)
{
    return (x * 31) ^ (x >> 3);
}

static inline int step(int x, int i)
{
    if (mix(x) & 1)
        table[i & 255] += mix(x + i);
    else
        table[i & 255] -= 3;
    return x + table[i & 255];
}

__attribute__((noinline)) static int walk(int n)
{
    int sum = 1;
    for (int i = 0; i < n; i++)
        sum = step(sum, i);
    return sum;
}

__attribute__((noinline)) static int look_up(int x)
{
    return x * 3 + table[x & 255];
}

static inline int square_of(int x)
{
    int y = look_up(x);
    return y * y + 1;
}

static inline int digits(unsigned x)
{
    int count = 0;
    do
        count++;
    while ((x /= 10) != 0);
    return count;
}

__attribute__((noinline)) static int squares(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += square_of(i) + square_of(sum) + digits((unsigned)sum);
    return sum;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100;
    printf("%d %d\n", walk(n), squares(n));
    return 0;
}
