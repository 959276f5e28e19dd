/* The ticks of a recording that is made in software: what they count, and how they become times.
 *
 * Started by an engine before its program runs, and kept with the recording, so that salvage can
 * convert what a killed magic-trace left.
 */
#ifndef MAGIC_TRACE_ENGINE_RECORDING_CLOCK_H
#define MAGIC_TRACE_ENGINE_RECORDING_CLOCK_H

#include "base/clock.h"
#include "base/tsc.h"
#include "engine/engine.h"

struct recording_clock {
    enum record_clock clock;
    uint64_t hz;             /* ticks per second: of the TSC; with the instruction clock 1e9 */
    uint32_t bus_ratio;      /* what CBR packets say: MHz / 100 */
    struct tsc_anchor start; /* when it was started */
};

/* Takes 10 ms: the rate is measured. */
struct recording_clock recording_clock_start(enum record_clock kind);

uint64_t recording_clock_ticks(const struct recording_clock *clock, uint64_t nanoseconds);

/* Ticks to nanoseconds, at the end of the recording: the longer it was, the better the rate. */
struct clock_conversion recording_clock_conversion(const struct recording_clock *clock);

#endif
