/* The time that packets tell, in ticks of the time-stamp counter.
 *
 * TSC packets tell it whole. Between them MTC packets tell bits of a slower counter that runs
 * together with it, and CYC packets how many core cycles have passed: a cycle is as long as CBR
 * says, or, where the ratio of the processor is not known, as the last cycles were. Time never goes
 * back: what is earlier than the newest time is that time.
 *
 * Nothing is kept from before a PSB with a TSC packet, so streams may be decoded from any of them
 * on. Used by the decoder.
 *
 * Source: Intel SDM volume 3, "Intel Processor Trace", section "Tracking Time".
 */
#ifndef MAGIC_TRACE_DECODE_PT_PACKET_TIME_H
#define MAGIC_TRACE_DECODE_PT_PACKET_TIME_H

#include "packet/packet_decoder.h"
#include "recording/perf_data/perf_data.h"

struct packet_time {
    const struct pt_setup *setup; /* borrowed */
    unsigned mtc_shift;           /* an MTC packet holds bits 7..0 of the counter above this */

    struct ticks now; /* the newest time told */
    uint64_t base;    /* time of the newest TSC, TMA or MTC packet */
    uint64_t cycles;  /* since then */

    bool has_counter;         /* a TMA packet has tied the counter to the TSC */
    uint64_t counter_base;    /* the TSC when it did, less the counter's fraction */
    uint64_t counter_elapsed; /* since then */
    uint64_t counter;         /* its low bits, as TMA or MTC has told them last: ... */
    unsigned counter_bits;    /* ... so many */
    uint64_t ticks_per_cycle; /* 16 fraction bits; 0: not known */
    uint64_t measured_cycles, measured_from; /* cycles since the time `measured_from`; 0: none */
};

void packet_time_init(struct packet_time *time, const struct pt_setup *setup);

/* A PSB, behind which CBR tells how long cycles are. */
void packet_time_forget_cycles(struct packet_time *time);

/* The TSC packet behind a PSB: time begins anew, even if it was later before. */
void packet_time_restart(struct packet_time *time, uint64_t tsc);

void packet_time_tsc(struct packet_time *time, uint64_t tsc);
void packet_time_tma(struct packet_time *time, uint64_t counter, uint64_t fast);
void packet_time_mtc(struct packet_time *time, uint64_t counter);
void packet_time_cbr(struct packet_time *time, uint64_t ratio);

enum { PACKET_TIME_FRACTION_BITS = 16 };

/* What so many cycles take; 0 where that is not known. */
static inline uint64_t packet_time_of_cycles(const struct packet_time *time, uint64_t cycles)
{
    return (uint64_t)((unsigned __int128)cycles * time->ticks_per_cycle >>
                      PACKET_TIME_FRACTION_BITS);
}

/* The time when so many more cycles will have passed. */
static inline struct ticks packet_time_after(const struct packet_time *time, uint64_t cycles)
{
    uint64_t now = time->base + packet_time_of_cycles(time, time->cycles + cycles);
    return time->ticks_per_cycle && now > time->now.value ? (struct ticks){now} : time->now;
}

static inline void packet_time_cyc(struct packet_time *time, uint64_t cycles)
{
    time->now = packet_time_after(time, cycles);
    time->cycles += cycles;
    time->measured_cycles += cycles;
}

/* One of the five kinds above; others tell no time. */
void packet_time_take(struct packet_time *time, const struct pt_packet *packet);

/* Packets were lost: cycles too. */
void packet_time_overflow(struct packet_time *time);

#endif
