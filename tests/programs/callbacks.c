/* Calls that come back: qsort's comparisons, and functions called through a table. */
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 100 };

static unsigned long compare_calls, add_calls, negate_calls, apply_calls;

static int compare(const void *a, const void *b)
{
    compare_calls++;
    return *(const int *)a - *(const int *)b;
}

static long add(long value)
{
    add_calls++;
    return value + 3;
}

static long negate(long value)
{
    negate_calls++;
    return -value;
}

static long apply(long (*function)(long), long value)
{
    apply_calls++;
    return function(value);
}

int main(void)
{
    int elements[ELEMENTS];
    unsigned state = 56u; /* chosen so that glibc's qsort makes 533 comparisons */
    for (int i = 0; i < ELEMENTS; i++) {
        state = state * 1103515245u + 12345u;
        elements[i] = (int)(state >> 16 & 0x7fff);
    }
    qsort(elements, ELEMENTS, sizeof *elements, compare);

    long (*const functions[])(long) = {add, negate, add};
    long value = elements[0];
    for (int i = 0; i < 300; i++)
        value = apply(functions[i % 3], value);
    printf("least %d, greatest %d, value %ld\n", elements[0], elements[ELEMENTS - 1], value);
    printf("COUNT compare %lu\n", compare_calls);
    printf("COUNT add %lu\nCOUNT negate %lu\nCOUNT apply %lu\n", add_calls, negate_calls,
           apply_calls);
    return 0;
}
