/* Direct and mutual recursion, counted. */
#include <stdio.h>

static unsigned long fib_calls, is_even_calls, is_odd_calls;

static unsigned fib(unsigned n)
{
    fib_calls++;
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int is_odd(unsigned n);

static int is_even(unsigned n)
{
    is_even_calls++;
    return n == 0 ? 1 : is_odd(n - 1);
}

static int is_odd(unsigned n)
{
    is_odd_calls++;
    return n == 0 ? 0 : is_even(n - 1);
}

int main(void)
{
    printf("fib(20) = %u, is_even(101) = %d\n", fib(20), is_even(101));
    printf("COUNT fib %lu\n", fib_calls);
    printf("COUNT is_even %lu\nCOUNT is_odd %lu\n", is_even_calls, is_odd_calls);
    printf("COUNT main 1\n");
    return 7;
}
