/* Hundreds of requests, of which two last long: number 100 sleeps, and number 200 computes unless the argument is "sleeps".
 * Linked with libmagic_trace. */
#include "magic_trace.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 300, SLEEPS = 100, BURNS = 200, LONG_MS = 400 };

static volatile unsigned sum;

__attribute__((noinline)) static void burns(void)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < LONG_MS);
}

__attribute__((noinline)) static void handle(int number, int computes)
{
    if (number == SLEEPS)
        usleep(LONG_MS * 1000);
    if (number == BURNS && computes)
        burns();
    sum += (unsigned)number;
}

int main(int argc, char **argv)
{
    int computes = argc < 2 || strcmp(argv[1], "sleeps") != 0;
    for (int i = 0; i < REQUESTS; i++) {
        magic_trace_mark_start();
        handle(i, computes);
        magic_trace_take_snapshot_with_arg(i);
    }
    puts("done");
    return 0;
}
