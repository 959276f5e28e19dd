/* CLOCK_MONOTONIC, for whoever waits, or says something no more often than now and then. */
#ifndef MAGIC_TRACE_BASE_MONOTONIC_H
#define MAGIC_TRACE_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t monotonic_ms(void)
{
    return monotonic_ns() / 1000000;
}

#endif
