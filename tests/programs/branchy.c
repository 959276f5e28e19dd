/* A loop of short blocks, about 2.6 instructions each, as hard on a branch recorder as code gets:
 * for benchmarks. */
#include <stdio.h>
#include <stdlib.h>

/* Without it gcc adds the bit instead of branching on it. */
#define STAY_A_BRANCH __asm__ volatile("")

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000000;
    unsigned state = 1, a = 0, b = 0, c = 0, d = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        state++; /* a pattern that processors predict: what is measured is recording, not guessing
                  */
        if (state & 1u << 0) {
            a++;
            STAY_A_BRANCH;
        }
        if (state & 1u << 1) {
            b++;
            STAY_A_BRANCH;
        }
        if (state & 1u << 2) {
            c++;
            STAY_A_BRANCH;
        }
        if (state & 1u << 3) {
            d++;
            STAY_A_BRANCH;
        }
    }
    printf("%u %u %u %u\n", a, b, c, d);
    return 0;
}
