/* Two threads that compute on the same processor, each of them 600 times, and sleep in between: at no time do
 * both run. They compute for some 40 ms each on a fast machine, in which the kernel has one make way for the other. */
#define _GNU_SOURCE
#include "one_processor.h"

enum { CALLS = 600, SLEEPS = 3, SLEEP_NS = 20 * 1000 * 1000 };

static volatile unsigned long sum[2], divisor = 7;

__attribute__((noinline)) static void compute(int thread)
{
    for (unsigned i = 0; i < 3000; i++) { /* takes long for so few branches */
        unsigned long large = (sum[thread] | 1UL << 62) / divisor | 1UL << 62;
        large = (large / divisor | 1UL << 62) / divisor | 1UL << 62;
        sum[thread] = (large / divisor | 1UL << 62) / divisor + i;
    }
}

static void *run(void *argument)
{
    int thread = argument != NULL;
    for (int i = 0; i < CALLS; i++) {
        compute(thread);
        if (i % (CALLS / SLEEPS) == 1)
            doze(SLEEP_NS);
    }
    return NULL;
}

int main(void)
{
    return run_on_one_processor(run);
}
