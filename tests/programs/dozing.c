/* Computes and sleeps several times, says so, and waits until it is ended. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS = 5, SLEEP_NS = 20 * 1000 * 1000 };

static volatile unsigned long sum;

__attribute__((noinline)) static void compute(void)
{
    for (unsigned i = 0; i < 3000; i++)
        sum += i;
}

__attribute__((noinline)) static void doze(void)
{
    struct timespec pause = {.tv_nsec = SLEEP_NS};
    nanosleep(&pause, NULL);
}

int main(void)
{
    for (int i = 0; i < SLEEPS; i++) {
        compute();
        doze();
    }
    compute();
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
