#include "engine/pt_packets_setup.h"

#include "packet/encoder.h"

/* The bits of attr.config, at the places where Intel's PMUs have them (IA32_RTIT_CTL, SDM volume
 * 3). */
enum {
    CONFIG_PT = 1 << 0,
    CONFIG_CYC = 1 << 1,
    CONFIG_MTC = 1 << 9,
    CONFIG_TSC = 1 << 10,
    CONFIG_NO_RETURN_COMPRESSION = 1 << 11,
    CONFIG_BRANCH = 1 << 13,
    CONFIG_MTC_PERIOD_SHIFT = 14,
    CONFIG_MTC_PERIOD = 15 << CONFIG_MTC_PERIOD_SHIFT,
};

struct pt_setup pt_packets_setup(const struct clock_conversion *clock, uint32_t bus_ratio,
                                 const struct record_packets *packets)
{
    uint64_t config = CONFIG_PT | CONFIG_TSC | CONFIG_BRANCH;
    if (!packets->coarse_time)
        config |= CONFIG_CYC;
    if (packets->periods)
        config |= CONFIG_MTC | PT_MTC_FREQUENCY << CONFIG_MTC_PERIOD_SHIFT;
    if (packets->all_returns)
        config |= CONFIG_NO_RETURN_COMPRESSION;
    return (struct pt_setup){
        .clock = *clock,
        .has_clock = true,
        .config = config,
        .tsc_bit = CONFIG_TSC,
        .no_return_compression_bit = CONFIG_NO_RETURN_COMPRESSION,
        .mtc_bit = CONFIG_MTC,
        .mtc_period_bits = CONFIG_MTC_PERIOD,
        .tsc_ctc_numerator = packets->periods ? PT_CRYSTAL_TICKS : 0,
        .tsc_ctc_denominator = packets->periods ? 1 : 0,
        .cyc_bit = CONFIG_CYC,
        .max_nonturbo_ratio = bus_ratio,
    };
}

const char *record_clock_name(enum record_clock clock)
{
    switch (clock) {
    case RECORD_CLOCK_HOST:
        return "host";
    case RECORD_CLOCK_INSTRUCTIONS:
        return "instructions";
    case RECORD_CLOCK_DEFAULT:
        break;
    }
    return "default";
}
