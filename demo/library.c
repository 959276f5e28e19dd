/* A small library that learns something the first time it is asked: a table of primes. */
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 5000 };

static unsigned char *composite; /* [n] is 1 when n has a divisor; NULL until the first question */

static void cross_out_multiples(unsigned n)
{
    for (unsigned multiple = n * n; multiple < LIMIT; multiple += n)
        composite[multiple] = 1;
}

static void build_table(void)
{
    composite = malloc(LIMIT);
    memset(composite, 0, LIMIT);
    for (unsigned n = 2; n * n < LIMIT; n++)
        if (!composite[n])
            cross_out_multiples(n);
}

static int is_prime(unsigned n)
{
    return n > 1 && !composite[n];
}

unsigned next_prime(unsigned after)
{
    if (!composite)
        build_table();
    unsigned n = after + 1;
    while (n < LIMIT - 1 && !is_prime(n))
        n++;
    return n;
}
