/* Calls a library's function first of all, and runs long after it. Link with library.c. */
#include <stdio.h>

int library_run(int steps);

int main(void)
{
    volatile unsigned long rounds = 0;
    int value = library_run(1);
    while (rounds < 3000000)
        rounds++;
    printf("%d\nCOUNT library_run 1\n", value);
    return 0;
}
