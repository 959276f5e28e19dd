/* Threads of GNU pth, which begin in a signal handler on an alternate stack, by setjmp and longjmp. */
/* truth: -O0 -g; -O2; strip -O2 */
/* truth-needs: pth.h */
/* truth-link: -lpth */
#include "marker.h"
#include <pth.h>

enum { THREADS = 6, ROUNDS = 8, WORK = 3000 };

static volatile long sum;

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < WORK; i++)
        step(i);
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0) {
        descend(depth - 1);
    } else {
        truth_marker();
        pth_yield(NULL);
        truth_marker();
    }
    step(here);
}

static void *run(void *argument)
{
    int number = (int)(long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        descend(number + i % 3);
        work();
    }
    return argument;
}

int main(void)
{
    pth_t threads[THREADS];
    long result = 0;
    pth_init();
    for (long i = 0; i < THREADS; i++)
        threads[i] = pth_spawn(PTH_ATTR_DEFAULT, run, (void *)i);
    truth_marker();
    for (int i = 0; i < THREADS; i++) {
        void *value;
        pth_join(threads[i], &value);
        truth_marker();
        result += (long)value;
    }
    pth_kill();
    printf("sum %ld\n", sum);
    return result == THREADS * (THREADS - 1) / 2 ? 0 : 1;
}
