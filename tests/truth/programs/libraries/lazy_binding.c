/* Calls into an own shared library, bound lazily, at once and without PLT; the library calls back
 * into the program, which defines one of its functions itself. */
/* truth: -O0 -g -Wl,-z,lazy; -O2 -Wl,-z,lazy; -O2 -Wl,-z,now; -O2 -fno-plt; strip -O2 -Wl,-z,lazy */
/* truth-link: -lbinding */
#include <stdio.h>

typedef int callback(int);
int binding_walk(int depth, callback *callback);
int binding_sum(int count);
int binding_hook(int value);
int binding_next(int value);

/* The library has this function as well; the program's takes its place. */
int binding_hook(int value)
{
    return binding_next(value) + 1;
}

static int visit(int depth)
{
    return binding_sum(depth);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += binding_walk(i, visit);
    printf("sum %d\n", sum);
    return sum == 17588 ? 0 : 1;
}
