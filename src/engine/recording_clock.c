#include "engine/recording_clock.h"

/* With -clock instructions the ticks are instructions, said to take a nanosecond each. */
enum { INSTRUCTIONS_PER_SECOND = 1000000000, BUS_HZ = 100 * 1000 * 1000 };

struct recording_clock recording_clock_start(enum record_clock kind)
{
    struct recording_clock clock = {.clock = kind, .start = tsc_anchor_now()};
    clock.hz = kind == RECORD_CLOCK_INSTRUCTIONS ? INSTRUCTIONS_PER_SECOND
                                                 : tsc_measure_rate(&clock.start);
    clock.bus_ratio = (uint32_t)((clock.hz + BUS_HZ / 2) / BUS_HZ);
    return clock;
}

uint64_t recording_clock_ticks(const struct recording_clock *clock, uint64_t nanoseconds)
{
    return (uint64_t)((unsigned __int128)nanoseconds * clock->hz / 1000000000);
}

struct clock_conversion recording_clock_conversion(const struct recording_clock *clock)
{
    if (clock->clock == RECORD_CLOCK_INSTRUCTIONS)
        return (struct clock_conversion){.mult = 1};
    struct tsc_anchor end = tsc_anchor_now();
    uint64_t rate = tsc_rate(&clock->start, &end);
    uint64_t difference = rate > clock->hz ? rate - clock->hz : clock->hz - rate;
    /* Salvaged after a restart or a sleep of the machine, the two do not fit together. */
    if (difference > clock->hz / 1000)
        rate = clock->hz;
    return tsc_conversion(&clock->start, rate);
}
