/* The time of timing packets, by the formulas of Intel SDM volume 3, "Tracking Time". */
#include "decode/pt/packet_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MTC_BIT = 0x200, MTC_PERIOD_BITS = 0x3c000, MTC_PERIOD_LOWEST = 14, RATIO = 30 };

struct clock {
    struct pt_setup setup;
    struct packet_time time;
};

/* A counter tick is `ticks` / `counters` ticks; an MTC packet has its bits from `shift` on. */
static void begin(struct clock *clock, uint32_t ticks, uint32_t counters, unsigned shift)
{
    clock->setup = (struct pt_setup){.config = MTC_BIT | (uint64_t)shift << MTC_PERIOD_LOWEST,
                                     .mtc_bit = MTC_BIT,
                                     .mtc_period_bits = MTC_PERIOD_BITS,
                                     .tsc_ctc_numerator = ticks,
                                     .tsc_ctc_denominator = counters,
                                     .max_nonturbo_ratio = RATIO};
    packet_time_init(&clock->time, &clock->setup);
}

static void expect(const struct clock *clock, uint64_t ticks)
{
    assert_int_equal(clock->time.now.value, ticks);
}

/* TSC. */

static void tsc_reports_the_time(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    expect(&c, 0);
    packet_time_tsc(&c.time, 1000);
    expect(&c, 1000);
    packet_time_tsc(&c.time, 1500);
    expect(&c, 1500);
}

static void time_never_goes_back(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_tsc(&c.time, 900);
    expect(&c, 1000);
    packet_time_cbr(&c.time, RATIO);
    packet_time_cyc(&c.time, 60); /* from 900 on */
    expect(&c, 1000);
    packet_time_cyc(&c.time, 60);
    expect(&c, 1020);
}

static void time_begins_again_after_a_psb(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_restart(&c.time, 900);
    expect(&c, 900);
}

/* CYC. */

static void a_cycle_is_as_long_as_the_ratios_say(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_cbr(&c.time, 2 * RATIO); /* twice as fast as the TSC */
    packet_time_cyc(&c.time, 100);
    expect(&c, 1050);
    packet_time_cyc(&c.time, 1);
    expect(&c, 1050);
    packet_time_cyc(&c.time, 1); /* half a tick each */
    expect(&c, 1051);
}

static void a_new_ratio_holds_for_the_cycles_after_it(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_cbr(&c.time, 2 * RATIO);
    packet_time_cyc(&c.time, 100);
    packet_time_cbr(&c.time, RATIO / 2);
    expect(&c, 1050);
    packet_time_cyc(&c.time, 100);
    expect(&c, 1250);
}

static void cycles_count_from_the_newest_tsc(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_cbr(&c.time, RATIO);
    packet_time_cyc(&c.time, 100);
    packet_time_tsc(&c.time, 2000);
    packet_time_cyc(&c.time, 5);
    expect(&c, 2005);
}

static void a_ratio_of_0_is_none(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_cbr(&c.time, RATIO);
    packet_time_cbr(&c.time, 0);
    packet_time_cyc(&c.time, 7);
    expect(&c, 1007);
}

static void cycles_of_unknown_length_report_nothing(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_cyc(&c.time, 100);
    expect(&c, 1000);
    packet_time_cbr(&c.time, RATIO);
    packet_time_cyc(&c.time, 100);
    packet_time_forget_cycles(&c.time); /* a PSB */
    packet_time_cyc(&c.time, 100);
    expect(&c, 1100);
}

static void without_a_nominal_ratio_cycles_are_as_long_as_the_last_ones(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    c.setup.max_nonturbo_ratio = 0;
    packet_time_tsc(&c.time, 1000);
    packet_time_cbr(&c.time, RATIO); /* says nothing */
    packet_time_cyc(&c.time, 50);
    expect(&c, 1000);
    packet_time_tsc(&c.time, 1100); /* two ticks each */
    packet_time_cyc(&c.time, 10);
    expect(&c, 1120);
    packet_time_cyc(&c.time, 10);
    packet_time_tsc(&c.time, 1200); /* five ticks each */
    packet_time_cyc(&c.time, 10);
    expect(&c, 1250);
}

static void mtc_packets_measure_cycles_too(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 0);
    c.setup.max_nonturbo_ratio = 0;
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 7, 0);
    packet_time_cyc(&c.time, 50);
    packet_time_mtc(&c.time, 8);
    expect(&c, 1100);
    packet_time_cyc(&c.time, 10);
    expect(&c, 1120);
}

static void with_known_ratios_nothing_is_measured(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_cbr(&c.time, RATIO);
    packet_time_cyc(&c.time, 100);
    packet_time_tsc(&c.time, 5000); /* the processor slept meanwhile */
    packet_time_cyc(&c.time, 10);
    expect(&c, 5010);
}

/* MTC. */

static void mtc_without_tma_reports_nothing(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_mtc(&c.time, 8);
    expect(&c, 1000);
}

static void mtc_without_the_counter_s_frequency_reports_nothing(void **state)
{
    struct clock c;
    begin(&c, 100, 0, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 7, 0);
    packet_time_mtc(&c.time, 8);
    expect(&c, 1000);
}

static void tma_ties_the_counter_to_the_tsc(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 0);
    packet_time_tsc(&c.time, 1030);
    packet_time_tma(&c.time, 0x1207, 30); /* the counter ticked 30 ticks before */
    expect(&c, 1030);
    packet_time_mtc(&c.time, 0x08);
    expect(&c, 1100);
    packet_time_mtc(&c.time, 0x0b);
    expect(&c, 1400);
}

static void mtc_wraps_around(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 0xffff, 0);
    packet_time_mtc(&c.time, 0x00);
    expect(&c, 1100);
    for (unsigned i = 1; i <= 1000; i++)
        packet_time_mtc(&c.time, i & 0xff);
    expect(&c, 1100 + 1000 * 100);
    packet_time_mtc(&c.time, (1000 - 1) & 0xff); /* all but one of a round were lost */
    expect(&c, 1100 + 1255 * 100);
}

static void mtc_holds_the_bits_from_its_period_on(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 3);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 0x1234, 0); /* 4 before the next multiple of 8: 0x247 << 3 */
    packet_time_mtc(&c.time, 0x47);
    expect(&c, 1400);
    packet_time_mtc(&c.time, 0x48);
    expect(&c, 2200);
}

/* "CTC Delta [15:0] = CTC Next [15:0] - TMA.CTC [15:0]": the packet's bit 16 is not in TMA. */
static void mtc_may_hold_bits_that_tma_does_not(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 9);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 0x01fe, 0);
    packet_time_mtc(&c.time, 0x81); /* 0x10200 */
    expect(&c, 1200);
    packet_time_mtc(&c.time, 0x82);
    expect(&c, 1200 + 512 * 100);
    packet_time_tsc(&c.time, 1000000);
    packet_time_tma(&c.time, 0xfffe, 0);
    packet_time_mtc(&c.time, 0x80); /* 0x10000 */
    expect(&c, 1000200);
}

/* 2.5 ticks per counter tick. */
static void fractions_of_ticks_do_not_add_up_to_errors(void **state)
{
    struct clock c;
    begin(&c, 5, 2, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 0, 0);
    for (unsigned i = 1; i <= 200; i++)
        packet_time_mtc(&c.time, i);
    expect(&c, 1500);
}

static void cycles_count_from_the_newest_mtc(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 7, 0);
    packet_time_cbr(&c.time, RATIO);
    packet_time_cyc(&c.time, 110); /* a little too many */
    expect(&c, 1110);
    packet_time_mtc(&c.time, 8);
    expect(&c, 1110); /* never back */
    packet_time_cyc(&c.time, 5);
    expect(&c, 1110);
    packet_time_cyc(&c.time, 25);
    expect(&c, 1130);
}

static void a_tsc_unties_the_counter(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 7, 0);
    packet_time_tsc(&c.time, 2000);
    packet_time_mtc(&c.time, 8);
    expect(&c, 2000);
}

static void without_mtc_packets_in_the_setup_its_period_does_not_count(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 3);
    c.setup.config &= ~(uint64_t)MTC_BIT;
    packet_time_init(&c.time, &c.setup);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 7, 0);
    packet_time_mtc(&c.time, 8);
    expect(&c, 1100);
}

/* Overflow. */

static void an_overflow_keeps_the_time_and_drops_what_was_counted(void **state)
{
    struct clock c;
    begin(&c, 100, 1, 0);
    packet_time_tsc(&c.time, 1000);
    packet_time_tma(&c.time, 7, 0);
    packet_time_cbr(&c.time, RATIO);
    packet_time_cyc(&c.time, 40);
    packet_time_overflow(&c.time);
    expect(&c, 1040);
    packet_time_mtc(&c.time, 8);
    expect(&c, 1040);
    packet_time_cyc(&c.time, 10);
    expect(&c, 1050);
}

static void nothing_is_measured_across_an_overflow(void **state)
{
    struct clock c;
    begin(&c, 0, 0, 0);
    c.setup.max_nonturbo_ratio = 0;
    packet_time_tsc(&c.time, 1000);
    packet_time_cyc(&c.time, 50);
    packet_time_overflow(&c.time);
    packet_time_cyc(&c.time, 50);
    packet_time_tsc(&c.time, 9000);
    packet_time_cyc(&c.time, 10);
    expect(&c, 9000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tsc_reports_the_time),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(time_begins_again_after_a_psb),
        cmocka_unit_test(a_cycle_is_as_long_as_the_ratios_say),
        cmocka_unit_test(a_new_ratio_holds_for_the_cycles_after_it),
        cmocka_unit_test(cycles_count_from_the_newest_tsc),
        cmocka_unit_test(a_ratio_of_0_is_none),
        cmocka_unit_test(cycles_of_unknown_length_report_nothing),
        cmocka_unit_test(without_a_nominal_ratio_cycles_are_as_long_as_the_last_ones),
        cmocka_unit_test(mtc_packets_measure_cycles_too),
        cmocka_unit_test(with_known_ratios_nothing_is_measured),
        cmocka_unit_test(mtc_without_tma_reports_nothing),
        cmocka_unit_test(mtc_without_the_counter_s_frequency_reports_nothing),
        cmocka_unit_test(tma_ties_the_counter_to_the_tsc),
        cmocka_unit_test(mtc_wraps_around),
        cmocka_unit_test(mtc_holds_the_bits_from_its_period_on),
        cmocka_unit_test(mtc_may_hold_bits_that_tma_does_not),
        cmocka_unit_test(fractions_of_ticks_do_not_add_up_to_errors),
        cmocka_unit_test(cycles_count_from_the_newest_mtc),
        cmocka_unit_test(a_tsc_unties_the_counter),
        cmocka_unit_test(without_mtc_packets_in_the_setup_its_period_does_not_count),
        cmocka_unit_test(an_overflow_keeps_the_time_and_drops_what_was_counted),
        cmocka_unit_test(nothing_is_measured_across_an_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
