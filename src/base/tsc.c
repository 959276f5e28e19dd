#include "base/tsc.h"

#include <errno.h>
#include <time.h>

enum { NS_PER_SECOND = 1000000000, NS_PER_MILLISECOND = 1000000 };

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

struct tsc_anchor tsc_anchor_now(void)
{
    /* Of several readings the one with the narrowest bounds was disturbed least (by an interrupt,
     * or by the hypervisor taking the processor away). */
    enum { READINGS = 16 };
    struct tsc_anchor best = {0};
    uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        uint64_t before = tsc_now();
        uint64_t monotonic = clock_ns(CLOCK_MONOTONIC);
        uint64_t after = tsc_now();
        if (after - before >= best_width)
            continue;
        best_width = after - before;
        best.tsc = before + best_width / 2;
        best.monotonic_ns = monotonic;
        best.realtime_ns = clock_ns(CLOCK_REALTIME);
    }
    return best;
}

uint64_t tsc_rate(const struct tsc_anchor *start, const struct tsc_anchor *end)
{
    if (end->tsc <= start->tsc || end->monotonic_ns < start->monotonic_ns + NS_PER_MILLISECOND)
        return 0;
    return (uint64_t)((unsigned __int128)(end->tsc - start->tsc) * NS_PER_SECOND /
                      (end->monotonic_ns - start->monotonic_ns));
}

uint64_t tsc_measure_rate(const struct tsc_anchor *start)
{
    struct timespec wait = {.tv_nsec = 10 * NS_PER_MILLISECOND};
    while (nanosleep(&wait, &wait) != 0 && errno == EINTR)
        ;
    struct tsc_anchor end = tsc_anchor_now();
    return tsc_rate(start, &end);
}

struct clock_conversion tsc_conversion(const struct tsc_anchor *anchor, uint64_t rate)
{
    /* The largest shift whose multiplier fits 32 bits is the most precise. */
    struct clock_conversion clock = {.shift = 32};
    uint64_t mult;
    while ((mult = ((uint64_t)NS_PER_SECOND << clock.shift) / rate) > UINT32_MAX)
        clock.shift--;
    clock.mult = (uint32_t)mult;
    struct nanoseconds without_zero = clock_to_nanoseconds(&clock, (struct ticks){anchor->tsc});
    clock.zero = anchor->monotonic_ns - without_zero.value;
    return clock;
}
