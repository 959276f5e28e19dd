/* tight_loops MILLIONS: runs that many million rounds of a loop of 34 instructions and one branch:
 * what a small ring holds the most instructions of. Recorded by bench/decode --scale. */
#include <stdio.h>
#include <stdlib.h>

static long spin(long rounds)
{
    long sum = 0;
    for (long i = 0; i < rounds; i++)
        __asm__ volatile(".rept 32\n\tadd $1, %0\n\t.endr" : "+r"(sum));
    return sum;
}

int main(int argc, char **argv)
{
    long millions = argc > 1 ? atol(argv[1]) : 100;
    printf("%ld\n", spin(millions * 1000000));
    return 0;
}
