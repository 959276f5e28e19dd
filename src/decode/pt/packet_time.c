#include "decode/pt/packet_time.h"

enum { MTC_BITS = 8, TMA_BITS = 16 };

void packet_time_init(struct packet_time *time, const struct pt_setup *setup)
{
    *time = (struct packet_time){.setup = setup};
    if (setup->mtc_period_bits && setup->config & setup->mtc_bit)
        time->mtc_shift = (unsigned)((setup->config & setup->mtc_period_bits) >>
                                     __builtin_ctzll(setup->mtc_period_bits));
}

static void set_now(struct packet_time *time, uint64_t now)
{
    if (now > time->now.value)
        time->now.value = now;
}

/* At a packet that gives the time without cycles: computes the length of a cycle, if it is not
 * known otherwise. */
static void measure(struct packet_time *time, uint64_t now)
{
    bool known = time->setup->max_nonturbo_ratio && time->ticks_per_cycle;
    if (!known && time->measured_from && time->measured_cycles && now > time->measured_from)
        time->ticks_per_cycle = (uint64_t)(((unsigned __int128)(now - time->measured_from)
                                            << PACKET_TIME_FRACTION_BITS) /
                                           time->measured_cycles);
    time->measured_from = now;
    time->measured_cycles = 0;
}

static void set_base(struct packet_time *time, uint64_t now)
{
    measure(time, now);
    time->base = now;
    time->cycles = 0;
    set_now(time, now);
}

void packet_time_tsc(struct packet_time *time, uint64_t tsc)
{
    time->has_counter = false;
    set_base(time, tsc);
}

void packet_time_forget_cycles(struct packet_time *time)
{
    time->ticks_per_cycle = time->cycles = 0;
    time->measured_from = time->measured_cycles = 0;
}

void packet_time_restart(struct packet_time *time, uint64_t tsc)
{
    time->now.value = 0;
    packet_time_tsc(time, tsc);
}

static bool knows_counter(const struct packet_time *time)
{
    return time->setup->tsc_ctc_numerator && time->setup->tsc_ctc_denominator;
}

static uint64_t counter_to_ticks(const struct packet_time *time, uint64_t counter)
{
    return (uint64_t)((unsigned __int128)counter * time->setup->tsc_ctc_numerator /
                      time->setup->tsc_ctc_denominator);
}

void packet_time_tma(struct packet_time *time, uint64_t counter, uint64_t fast)
{
    if (!knows_counter(time))
        return;
    time->has_counter = true;
    time->counter = counter;
    time->counter_bits = TMA_BITS;
    time->counter_elapsed = 0;
    time->counter_base = time->base - fast;
}

/* The distance to the next value of the counter whose low bits are those of `counter`. TMA may have
 * given fewer bits than MTC does. */
static uint64_t counter_step(const struct packet_time *time, uint64_t counter, unsigned bits)
{
    unsigned common = time->counter_bits < bits ? time->counter_bits : bits;
    uint64_t period = (uint64_t)1 << common;
    uint64_t step = (counter - time->counter) & (period - 1);
    return step ? step : period;
}

void packet_time_mtc(struct packet_time *time, uint64_t bits)
{
    if (!time->has_counter)
        return;
    uint64_t counter = bits << time->mtc_shift;
    unsigned reported = time->mtc_shift + MTC_BITS;
    time->counter_elapsed += counter_step(time, counter, reported);
    time->counter = counter;
    time->counter_bits = reported;
    /* Relative to the TMA packet, so that rounding errors do not add up. */
    set_base(time, time->counter_base + counter_to_ticks(time, time->counter_elapsed));
}

void packet_time_cbr(struct packet_time *time, uint64_t ratio)
{
    uint64_t nominal = time->setup->max_nonturbo_ratio;
    /* The cycles so far passed at the old ratio. */
    time->base += packet_time_of_cycles(time, time->cycles);
    time->cycles = 0;
    if (nominal && ratio)
        time->ticks_per_cycle = (nominal << PACKET_TIME_FRACTION_BITS) / ratio;
}

void packet_time_take(struct packet_time *time, const struct pt_packet *packet)
{
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TSC:
        packet_time_tsc(time, packet->payload);
        break;
    case PT_PACKET_TMA:
        packet_time_tma(time, packet->payload, packet->second);
        break;
    case PT_PACKET_MTC:
        packet_time_mtc(time, packet->payload);
        break;
    case PT_PACKET_CBR:
        packet_time_cbr(time, packet->payload);
        break;
    case PT_PACKET_CYC:
        packet_time_cyc(time, packet->payload);
        break;
    default:
        break;
    }
}

void packet_time_overflow(struct packet_time *time)
{
    time->base = time->now.value;
    time->cycles = time->measured_cycles = time->measured_from = 0;
    time->has_counter = false;
}
