/* The time of packets, in ticks of the time-stamp counter.
 *
 * TSC packets hold all of it. Between them MTC packets hold bits of a slower counter that runs
 * together with it, and CYC packets the number of core cycles that have passed: a cycle is as long
 * as CBR says, or, if the ratio of the processor is unknown, as long as the last cycles were. Time
 * never goes back: a time earlier than the newest is replaced by the newest.
 *
 * A PSB with a TSC packet resets all state, so streams may be decoded from any of them on. Used by
 * the decoder.
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

    struct ticks now; /* the newest time of a packet */
    uint64_t base;    /* time of the newest TSC, TMA or MTC packet */
    uint64_t cycles;  /* since then */

    bool has_counter;         /* a TMA packet has tied the counter to the TSC */
    uint64_t counter_base;    /* the TSC at that packet, less the counter's fraction */
    uint64_t counter_elapsed; /* since then */
    uint64_t counter;         /* its low bits, from the last TMA or MTC packet: ... */
    unsigned counter_bits;    /* ... this many */
    uint64_t ticks_per_cycle; /* 16 fraction bits; 0: unknown */
    uint64_t measured_cycles, measured_from; /* cycles since the time `measured_from`; 0: none */
};

void packet_time_init(struct packet_time *time, const struct pt_setup *setup);

/* At a PSB, after which CBR gives the length of cycles. */
void packet_time_forget_cycles(struct packet_time *time);

/* The TSC packet after a PSB: time restarts, even if it was later before. */
void packet_time_restart(struct packet_time *time, uint64_t tsc);

void packet_time_tsc(struct packet_time *time, uint64_t tsc);
void packet_time_tma(struct packet_time *time, uint64_t counter, uint64_t fast);
void packet_time_mtc(struct packet_time *time, uint64_t bits);
void packet_time_cbr(struct packet_time *time, uint64_t ratio);

enum { PACKET_TIME_FRACTION_BITS = 16 };

/* The duration of `cycles`; 0 if it is unknown. */
static inline uint64_t packet_time_of_cycles(const struct packet_time *time, uint64_t cycles)
{
    return (uint64_t)((unsigned __int128)cycles * time->ticks_per_cycle >>
                      PACKET_TIME_FRACTION_BITS);
}

/* The time after `cycles` more cycles. */
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

/* Takes one of the five kinds above; others do not affect the time. */
void packet_time_take(struct packet_time *time, const struct pt_packet *packet);

/* Packets were lost, and cycles with them. */
void packet_time_overflow(struct packet_time *time);

#endif
