/* The decoder's fast path gives the same events and counts as the slow path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "both_paths.h"
#include "decode/pt/decoder.h"
#include "made_run.h"

static void make(struct fixture *fixture, const void *choices)
{
    run_make(fixture, choices);
}

static void decode(struct fixture *fixture, const struct run_choices *choices, unsigned cores,
                   bool at_length)
{
    both_ways_decode(fixture, make, choices, cores, at_length);
}

/* Intact packets give no errors, and enough events for the test to be worth while. */
static void check(const struct run_choices *choices)
{
    struct fixture shortly, at_length;
    decode(&at_length, choices, 1, true);
    assert_int_equal(at_length.statistics.errors, 0);
    assert_true(fixture_event_count(&at_length) > 1000);
    decode(&shortly, choices, 1, false);
    both_ways_expect_same(&shortly, &at_length);
    both_ways_expect_same_counts(make, choices);
    fixture_free(&shortly);
    fixture_free(&at_length);
}

/* The simplest run; tests change one or two choices of it. */
static const struct run_choices plain = {.seed = 1,
                                         .size = 1 << 15,
                                         .repeats = 12,
                                         .tnt_bits = 6,
                                         .deepest = 10,
                                         .compressed_percent = 100,
                                         .longest_cyc = 1};

static void compressed_returns(void **state)
{
    check(&plain);
}

static void uncompressed_returns(void **state)
{
    struct run_choices choices = plain;
    choices.compressed_percent = 0;
    check(&choices);
}

static void some_returns_are_compressed(void **state)
{
    struct run_choices choices = plain;
    choices.compressed_percent = 70;
    check(&choices);
}

static void deeper_than_processors_remember(void **state)
{
    struct run_choices choices = plain;
    for (choices.compressed_percent = 60; choices.compressed_percent <= 100;
         choices.compressed_percent += 40) {
        choices.deepest = 150;
        check(&choices);
        choices.tnt_bits = 47;
        check(&choices);
    }
}

static void packets_of_many_bits(void **state)
{
    struct run_choices choices = plain;
    for (choices.tnt_bits = 7; choices.tnt_bits <= 47; choices.tnt_bits += 8)
        check(&choices);
}

static void deferred_addresses(void **state)
{
    struct run_choices choices = plain;
    choices.deferred_percent = 60;
    check(&choices);
    choices.tnt_bits = 47;
    choices.compressed_percent = 80;
    check(&choices);
}

static void cycles_in_one_byte(void **state)
{
    struct run_choices choices = plain;
    choices.cyc_percent = 80;
    choices.longest_cyc = 31;
    check(&choices);
    choices.compressed_percent = 50;
    check(&choices);
}

static void cycles_in_two_bytes_and_more(void **state)
{
    struct run_choices choices = plain;
    choices.cyc_percent = 60;
    choices.longest_cyc = 4095;
    check(&choices);
    choices.longest_cyc = 10000;
    check(&choices);
}

static void cycles_and_deferred_addresses(void **state)
{
    struct run_choices choices = plain;
    choices.cyc_percent = 50;
    choices.longest_cyc = 100;
    choices.deferred_percent = 50;
    choices.compressed_percent = 60;
    check(&choices);
}

static void psbs_on_the_way(void **state)
{
    struct run_choices choices = plain;
    choices.rounds_between_psbs = 3;
    choices.cyc_percent = 30;
    choices.longest_cyc = 100;
    check(&choices);
}

static void pages_are_replaced(void **state)
{
    struct run_choices choices = plain;
    choices.rounds_between_patches = 10;
    choices.cyc_percent = 50;
    choices.longest_cyc = 100;
    check(&choices);
    choices.rounds_between_psbs = 7;
    check(&choices);
}

static void tracing_stops_and_continues(void **state)
{
    struct run_choices choices = plain;
    choices.syscalls = true;
    choices.cyc_percent = 50;
    choices.longest_cyc = 100;
    check(&choices);
}

static void stops_report_what_ran_last(void **state)
{
    struct run_choices choices = plain;
    choices.trace_stops = true;
    check(&choices);
}

/* Everything at once. */
static const struct run_choices motley = {.seed = 1,
                                          .size = 1 << 14,
                                          .repeats = 6,
                                          .tnt_bits = 47,
                                          .deepest = 90,
                                          .compressed_percent = 80,
                                          .cyc_percent = 40,
                                          .longest_cyc = 300,
                                          .deferred_percent = 20,
                                          .rounds_between_psbs = 11,
                                          .rounds_between_patches = 20,
                                          .syscalls = true};

static void whatever_runs(void **state)
{
    struct run_choices choices = motley;
    for (choices.seed = 1; choices.seed <= 40; choices.seed++) {
        choices.tnt_bits = choices.seed % 2 ? 6 : 47;
        choices.trace_stops = choices.seed % 4 == 0;
        choices.repeats = 2 + (unsigned)choices.seed % 10;
        check(&choices);
    }
}

static void psb_segments_are_decoded_alike_by_any_number_of_cores(void **state)
{
    struct run_choices choices = motley;
    choices.size = 900 << 10;
    struct fixture at_length;
    decode(&at_length, &choices, 1, true);
    assert_int_equal(at_length.statistics.errors, 0);
    for (unsigned cores = 1; cores <= 3; cores++) {
        struct fixture fixture;
        decode(&fixture, &choices, cores, false);
        both_ways_expect_same(&fixture, &at_length);
        fixture_free(&fixture);
    }
    fixture_free(&at_length);
}

/* So that its events can be passed on when its PSB segment's turn comes. */
static void a_decoder_runs_as_far_as_it_was_asked(void **state)
{
    enum { STEPS = 50, LONGEST_PACKET = 16 };
    struct fixture fixture;
    decode(&fixture, &plain, 1, false);
    struct decoder_shared *shared = decoder_shared_open(&fixture.data, fixture.symbols);
    struct decoder_memory *memory = decoder_memory_new();
    struct reorder_buffer reorder_buffer;
    struct schedule schedule;
    reorder_buffer_init(&reorder_buffer, false);
    schedule_of_thread(&schedule, NULL,
                       address_spaces_process(&fixture.spaces, (uint32_t)PROGRAM_PID));
    size_t size = packets_size(&fixture.packets);
    const struct decoder_input input = {.bytes = fixture.packets.bytes,
                                        .size = size,
                                        .stop = size,
                                        .schedule = &schedule,
                                        .reorder_buffer = &reorder_buffer};
    struct decoder *decoder = decoder_open(shared, memory, &input);
    unsigned rounds = 1;
    while (decoder_run(decoder, STEPS))
        rounds++;
    assert_true(rounds >= size / STEPS / LONGEST_PACKET);
    decoder_close(decoder);
    schedule_free(&schedule);
    reorder_buffer_free(&reorder_buffer);
    decoder_memory_free(memory);
    decoder_shared_close(shared);
    fixture_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compressed_returns),
        cmocka_unit_test(uncompressed_returns),
        cmocka_unit_test(some_returns_are_compressed),
        cmocka_unit_test(deeper_than_processors_remember),
        cmocka_unit_test(packets_of_many_bits),
        cmocka_unit_test(deferred_addresses),
        cmocka_unit_test(cycles_in_one_byte),
        cmocka_unit_test(cycles_in_two_bytes_and_more),
        cmocka_unit_test(cycles_and_deferred_addresses),
        cmocka_unit_test(psbs_on_the_way),
        cmocka_unit_test(pages_are_replaced),
        cmocka_unit_test(tracing_stops_and_continues),
        cmocka_unit_test(stops_report_what_ran_last),
        cmocka_unit_test(whatever_runs),
        cmocka_unit_test(psb_segments_are_decoded_alike_by_any_number_of_cores),
        cmocka_unit_test(a_decoder_runs_as_far_as_it_was_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
