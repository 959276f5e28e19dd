#include "magic_trace.h"

#include <time.h>

/* In the code of magic_trace_stop_indicator, which no other function refers to: so linkers that
 * fold equal functions (--icf=all) leave it alone. */
static const char identity[] = "magic_trace_stop_indicator";

/* Weak: programs that also link OCaml's library of the same purpose have this function twice, and
 * either works. It must stay a function of this name, with these arguments in their registers,
 * although compilers optimize functions that do nothing. gcc needs noipa: without it link-time
 * optimization passes fewer arguments, to a local copy of another name. clang has no such attribute
 * and makes no such copies. */
#if __has_attribute(noipa)
__attribute__((noipa))
#endif
__attribute__((noinline, used, weak, visibility("default"))) intptr_t
magic_trace_stop_indicator(intptr_t time, intptr_t argument)
{
    __asm__ volatile("" : : "r"(time), "r"(argument), "r"(identity) : "memory");
    return 1; /* OCaml's unit */
}

static __thread uint64_t started;

uint64_t magic_trace_now(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static intptr_t tagged(uint64_t value)
{
    return (intptr_t)(value << 1 | 1);
}

void magic_trace_take_snapshot_with_time_and_arg(uint64_t time, int64_t argument)
{
    magic_trace_stop_indicator(tagged(time), tagged((uint64_t)argument));
}

void magic_trace_take_snapshot_with_arg(int64_t argument)
{
    magic_trace_stop_indicator(tagged(started), tagged((uint64_t)argument));
}

void magic_trace_take_snapshot(void)
{
    magic_trace_take_snapshot_with_arg(0);
}

void magic_trace_mark_start(void)
{
    started = magic_trace_now();
}

/* ---- comparing lengths of time ---- */

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The counter's rate: against the system's clock over 10 ms, good to a few parts in 100,000. */
static double measure_ticks_per_ns(void)
{
    enum { MEASURE_NS = 10 * 1000 * 1000 };
    uint64_t begin_ns = monotonic_ns(), begin = magic_trace_now(), passed;
    do
        passed = monotonic_ns() - begin_ns;
    while (passed < MEASURE_NS);
    return (double)(magic_trace_now() - begin) / (double)passed;
}

magic_trace_min_duration magic_trace_min_duration_of_ns(uint64_t nanoseconds)
{
    /* Threads that come here at the same time measure the same. */
    static double ticks_per_ns;
    double rate;
    __atomic_load(&ticks_per_ns, &rate, __ATOMIC_RELAXED);
    if (rate == 0) {
        rate = measure_ticks_per_ns();
        __atomic_store(&ticks_per_ns, &rate, __ATOMIC_RELAXED);
    }
    double ticks = (double)nanoseconds * rate;
    magic_trace_min_duration duration = {ticks < 9e18 ? (uint64_t)ticks : UINT64_MAX};
    return duration;
}

bool magic_trace_min_duration_over(magic_trace_min_duration duration)
{
    return started && magic_trace_now() - started > duration.ticks;
}
