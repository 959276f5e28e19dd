#include "cli/stage_clock.h"

#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct stage_seconds stage_clock_read(void)
{
    return (struct stage_seconds){read_clock(CLOCK_MONOTONIC),
                                  read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}
