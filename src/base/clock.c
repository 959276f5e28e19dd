#include "base/clock.h"

struct ticks clock_to_ticks(const struct clock_conversion *clock, struct nanoseconds time)
{
    if (clock->mult == 0)
        return (struct ticks){0};
    uint64_t since_zero = time.value - clock->zero;
    uint64_t quotient = since_zero / clock->mult;
    uint64_t remainder = since_zero % clock->mult;
    return (struct ticks){(quotient << clock->shift) + (remainder << clock->shift) / clock->mult};
}
