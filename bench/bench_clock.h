/* Processor time of this process, for programs that measure a part of their own run. */
#ifndef MAGIC_TRACE_BENCH_BENCH_CLOCK_H
#define MAGIC_TRACE_BENCH_BENCH_CLOCK_H

#include <time.h>

/* Seconds, of all threads, user and system. */
static inline double bench_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Of the wall clock. */
static inline double bench_wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
