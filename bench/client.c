/* How long calls of libmagic_trace take when no recorder runs: prints nanoseconds per call as JSON.
 */
#include "magic_trace.h"

#include <stdio.h>
#include <time.h>

enum { CALLS = 20000000 };

__attribute__((noinline)) static void empty_call(void)
{
    __asm__ volatile("");
}

static magic_trace_min_duration long_time;

static void take_snapshot(void)
{
    magic_trace_take_snapshot_with_arg(7);
}

static void ask(void)
{
    if (magic_trace_min_duration_over(long_time))
        magic_trace_take_snapshot();
}

static double measure(void (*volatile call)(void))
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CALLS; i++)
        call();
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
           CALLS;
}

int main(void)
{
    long_time = magic_trace_min_duration_of_ns(1000000000000);
    magic_trace_mark_start();
    printf("{\"empty call\": %.3f, \"take_snapshot_with_arg\": %.3f, \"mark_start\": %.3f, "
           "\"min_duration_over\": %.3f}\n",
           measure(empty_call), measure(take_snapshot), measure(magic_trace_mark_start),
           measure(ask));
    return 0;
}
