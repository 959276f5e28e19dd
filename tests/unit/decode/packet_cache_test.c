/* When packet-sequence cache entries must not be used: for the same packets where something else
 * differs. All is tested with plain packets, and with CYC packets between them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "both_paths.h"
#include "decode/pt/fast/packet_cache.h"

#include <string.h>

enum { OFTEN = 6 /* an entry has been learnt, and used */ };

/* Before a packet that a test adds, if cycles are counted: of one byte or two. */
static void cyc(struct fixture *fixture)
{
    if (fixture->counts_cycles)
        packets_cyc(&fixture->packets, packets_size(&fixture->packets) % 5 * 13);
}

/* Separates sequences: a new entry begins after it, and an entry before it does not depend on what
 * follows. */
static void separate(struct fixture *fixture)
{
    static const uint8_t padding[SEQUENCE_BYTES] = {0};
    packets_raw(&fixture->packets, padding, sizeof(padding));
}

/* Of three bytes, so that many fit into an entry: the other bytes are those of the address before.
 */
static void tip(struct fixture *fixture, const char *place)
{
    uint16_t low = (uint16_t)at(place);
    uint8_t packet[3] = {0x2d};
    memcpy(packet + 1, &low, sizeof(low));
    cyc(fixture);
    packets_raw(&fixture->packets, packet, sizeof(packet));
}

static void tnt(struct fixture *fixture, const char *bits)
{
    cyc(fixture);
    packets_tnt(&fixture->packets, bits);
}

static void begin(struct fixture *fixture)
{
    packets_psb(&fixture->packets, 1000, 0);
    packets_enable(&fixture->packets, at("indirect"));
}

/* From `indirect` to `indirect`. */
typedef void round_function(struct fixture *fixture);

/* The first until there is an entry for it, then the second, then both again. */
struct rounds {
    round_function *first, *second;
    bool counts_cycles;
};

static void make_rounds(struct fixture *fixture, const void *choices)
{
    const struct rounds *rounds = choices;
    fixture_add_copy(fixture);
    fixture->counts_cycles = rounds->counts_cycles;
    begin(fixture);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; j < OFTEN; j++)
            rounds->first(fixture);
        for (unsigned j = 0; j < OFTEN; j++)
            rounds->second(fixture);
    }
}

/* Returns how many errors there are. */
static uint64_t check_one(make_recording *make, const void *choices)
{
    struct fixture shortly, at_length;
    both_ways_decode(&at_length, make, choices, 1, true);
    both_ways_decode(&shortly, make, choices, 1, false);
    both_ways_expect_same(&shortly, &at_length);
    both_ways_expect_same_counts(make, choices);
    uint64_t errors = at_length.statistics.errors;
    fixture_free(&shortly);
    fixture_free(&at_length);
    return errors;
}

static uint64_t check(round_function *first, round_function *second)
{
    uint64_t errors = check_one(make_rounds, &(struct rounds){first, second, false});
    assert_int_equal(check_one(make_rounds, &(struct rounds){first, second, true}), errors);
    return errors;
}

static void check_right(round_function *first, round_function *second)
{
    assert_int_equal(check(first, second), 0);
}

/* The newest call differs: returns of the same bits go elsewhere. */

static void return_from_recursive(struct fixture *fixture)
{
    tip(fixture, "recursive");
    separate(fixture);
    tnt(fixture, "TT");
    separate(fixture);
    tip(fixture, "indirect");
}

static void return_to_caml(struct fixture *fixture)
{
    tip(fixture, "caml_start_program");
    tip(fixture, "recursive");
    separate(fixture);
    tnt(fixture, "TT");
    separate(fixture);
    tnt(fixture, "T");
    tip(fixture, "indirect");
}

static void the_newest_call_is_another(void **state)
{
    check_right(return_from_recursive, return_to_caml);
    check_right(return_to_caml, return_from_recursive);
}

/* The call before it differs. */

static void return_twice(struct fixture *fixture)
{
    tip(fixture, "recursive");
    tnt(fixture, "N");
    separate(fixture);
    tnt(fixture, "TTT");
    separate(fixture);
    tip(fixture, "indirect");
}

static void return_twice_to_caml(struct fixture *fixture)
{
    tip(fixture, "caml_start_program");
    tip(fixture, "recursive");
    tnt(fixture, "N");
    separate(fixture);
    tnt(fixture, "TTT");
    separate(fixture);
    tnt(fixture, "T");
    tip(fixture, "indirect");
}

static void the_call_before_is_another(void **state)
{
    check_right(return_twice, return_twice_to_caml);
    check_right(return_twice_to_caml, return_twice);
}

/* Three returns whose addresses are in packets. Each pops a call, if there is one. */

static void return_by_addresses(struct fixture *fixture)
{
    tnt(fixture, "N");
    separate(fixture);
    tnt(fixture, "T");
    tip(fixture, "recursive_after_call");
    tip(fixture, "indirect_after_call");
    tip(fixture, "indirect_after_call");
    separate(fixture);
}

static void two_calls_are_there(struct fixture *fixture)
{
    tip(fixture, "recursive");
    return_by_addresses(fixture);
    tip(fixture, "indirect");
}

static void more_calls_are_there(struct fixture *fixture)
{
    tip(fixture, "caml_start_program");
    tip(fixture, "indirect");
    tip(fixture, "indirect");
    tip(fixture, "recursive");
    return_by_addresses(fixture);
    tnt(fixture, "TT"); /* after the call in caml_start_program, and out of it */
    tip(fixture, "indirect");
}

static void there_are_fewer_calls_or_more(void **state)
{
    check_right(two_calls_are_there, more_calls_are_there);
    check_right(more_calls_are_there, two_calls_are_there);
}

/* Four calls and four returns. */

static void call_and_return(struct fixture *fixture)
{
    separate(fixture);
    tnt(fixture, "NNNNT");
    tnt(fixture, "TTTT");
    separate(fixture);
}

static void calls_are_remembered(struct fixture *fixture)
{
    tip(fixture, "recursive");
    tnt(fixture, "N");
    call_and_return(fixture);
    tnt(fixture, "TT");
    tip(fixture, "indirect");
}

/* Of the 63 calls that there are at first, three are dropped, so the last return is wrong. */
static void calls_are_forgotten(struct fixture *fixture)
{
    tip(fixture, "recursive");
    for (unsigned i = 0; i < 62; i++)
        tnt(fixture, "N");
    call_and_return(fixture);
    for (unsigned i = 0; i < 61; i++)
        tnt(fixture, "T");
    packets_psb(&fixture->packets, 2000, at("indirect"));
}

static void the_oldest_calls_are_forgotten(void **state)
{
    uint64_t errors = check(calls_are_remembered, calls_are_forgotten);
    assert_int_equal(errors, 2 * OFTEN);
}

/* The part of the address before that TIP packets reuse. */

static void medium_tip(struct fixture *fixture, const char *place, bool in_copy)
{
    uint32_t low = (uint32_t)(at(place) + (in_copy ? PROGRAM_COPY_BASE - PROGRAM_BASE : 0));
    uint8_t packet[5] = {0x4d};
    memcpy(packet + 1, &low, sizeof(low));
    cyc(fixture);
    packets_raw(&fixture->packets, packet, sizeof(packet));
}

static void go_by_way_of(struct fixture *fixture, bool copy)
{
    medium_tip(fixture, "leaf", copy);
    tnt(fixture, "T");
    separate(fixture);
    tip(fixture, "indirect"); /* of the program or of the copy */
    separate(fixture);
    medium_tip(fixture, "leaf", false);
    tnt(fixture, "T");
    medium_tip(fixture, "indirect", false);
}

static void by_way_of_the_program(struct fixture *fixture)
{
    go_by_way_of(fixture, false);
}

static void by_way_of_the_copy(struct fixture *fixture)
{
    go_by_way_of(fixture, true);
}

static void the_address_before_is_another(void **state)
{
    check_right(by_way_of_the_program, by_way_of_the_copy);
    check_right(by_way_of_the_copy, by_way_of_the_program);
}

/* Time. */

static void call_leaf(struct fixture *fixture)
{
    separate(fixture);
    tip(fixture, "leaf");
    separate(fixture);
    tnt(fixture, "T");
    tip(fixture, "indirect");
}

static void call_leaf_at_a_time(struct fixture *fixture)
{
    separate(fixture);
    packets_tsc(&fixture->packets, 2000 + 10 * packets_size(&fixture->packets));
    tip(fixture, "leaf");
    separate(fixture);
    tnt(fixture, "T");
    tip(fixture, "indirect");
}

static void time_is_reported_before(void **state)
{
    check_right(call_leaf, call_leaf_at_a_time);
}

static void recurse_and_count_cycles(struct fixture *fixture)
{
    tip(fixture, "recursive");
    for (unsigned i = 0; i < 3; i++) {
        packets_cyc(&fixture->packets, 40);
        tnt(fixture, "NNNNNNNNNT");
        tnt(fixture, "TTTTTTTTT");
        packets_cyc(&fixture->packets, 3);
    }
    tnt(fixture, "T");
    tip(fixture, "indirect");
}

static void cycles_before_many_bits(void **state)
{
    check(recurse_and_count_cycles, call_leaf);
}

/* Where CYC packets stand. */

static void call_leaf_twice(struct fixture *fixture, bool cycles_first, bool cycles_second)
{
    if (cycles_first)
        packets_cyc(&fixture->packets, 5);
    tip(fixture, "leaf");
    tnt(fixture, "T");
    if (cycles_second)
        packets_cyc(&fixture->packets, 40);
    tip(fixture, "indirect");
    tip(fixture, "leaf");
    tnt(fixture, "T");
    tip(fixture, "indirect");
    separate(fixture);
}

static void cycles_first(struct fixture *fixture)
{
    call_leaf_twice(fixture, true, false);
}

static void cycles_second(struct fixture *fixture)
{
    call_leaf_twice(fixture, false, true);
}

static void cycles_stand_elsewhere(void **state)
{
    check_right(cycles_first, cycles_second);
    check_right(cycles_second, cycles_first);
}

/* More cycles than CYC packets of two bytes hold. */
static void wait_for_leaf(struct fixture *fixture)
{
    tip(fixture, "leaf");
    packets_cyc(&fixture->packets, 123456789);
    tnt(fixture, "T");
    tip(fixture, "indirect");
}

static void some_cycles_are_many(void **state)
{
    check_right(call_leaf, wait_for_leaf);
}

/* Other code is mapped at some moment, which may be between the packets of an entry. */

enum { PATCH_FIRST = 1010, PATCH_LAST = 2600, PATCH_STEP = 13 };

static void make_patched(struct fixture *fixture, const void *time)
{
    fixture_patch(fixture, *(const uint64_t *)time);
    begin(fixture);
    for (unsigned i = 0; i < 2 * OFTEN; i++) {
        packets_cyc(&fixture->packets, 30);
        tip(fixture, "leaf");
        packets_cyc(&fixture->packets, 40);
        tnt(fixture, "T");
        packets_cyc(&fixture->packets, 50);
        tip(fixture, "patched");
        packets_disable(&fixture->packets);
        packets_enable(&fixture->packets, at("indirect"));
    }
}

static void code_changes_in_between(void **state)
{
    for (uint64_t time = PATCH_FIRST; time < PATCH_LAST; time += PATCH_STEP)
        check_one(make_patched, &time);
}

/* Packets followed by one that does not fit. */

static void recurse_wrongly(struct fixture *fixture)
{
    tip(fixture, "recursive");
    separate(fixture);
    tnt(fixture, "N");
    tip(fixture, "leaf");
    packets_psb(&fixture->packets, 2000 + 20 * packets_size(&fixture->packets), at("indirect"));
}

static void a_packet_does_not_fit(void **state)
{
    assert_int_equal(check(recurse_wrongly, call_leaf), 2 * OFTEN);
}

/* The same bits in a short and in a long packet. */

static void recurse_and_return(struct fixture *fixture, const uint8_t *packet, size_t size)
{
    tip(fixture, "recursive");
    tnt(fixture, "NNN");
    separate(fixture);
    cyc(fixture);
    packets_raw(&fixture->packets, packet, size);
    separate(fixture);
    packets_psb(&fixture->packets, 2000 + 20 * packets_size(&fixture->packets), at("indirect"));
}

static void return_by_short_packet(struct fixture *fixture)
{
    static const uint8_t three[] = {0x1e};
    recurse_and_return(fixture, three, sizeof(three));
}

static void return_by_long_packet(struct fixture *fixture)
{
    static const uint8_t four[] = {0x02, 0xa3, 0x1e, 0, 0, 0, 0, 0};
    recurse_and_return(fixture, four, sizeof(four));
}

static void short_packets_and_long_ones(void **state)
{
    check(return_by_short_packet, return_by_long_packet);
    check(return_by_long_packet, return_by_short_packet);
}

/* The mode of what follows. */

static void change_mode(struct fixture *fixture, uint8_t bits)
{
    const uint8_t packet[2] = {0x99, bits};
    packets_raw(&fixture->packets, packet, sizeof(packet));
}

/* Instructions that have another meaning in 32-bit code. */
static void load_stack(struct fixture *fixture, uint8_t mode)
{
    separate(fixture);
    if (mode)
        change_mode(fixture, mode);
    tip(fixture, "stack_loader");
    separate(fixture);
    if (mode)
        change_mode(fixture, 1);
    tip(fixture, "stack_loader_target");
    tnt(fixture, "T");
    tip(fixture, "indirect");
}

static void load_stack_in_this_mode(struct fixture *fixture)
{
    load_stack(fixture, 0);
}

static void load_stack_in_another(struct fixture *fixture)
{
    load_stack(fixture, 2);
}

static void the_mode_changes(void **state)
{
    check_right(load_stack_in_this_mode, load_stack_in_another);
}

/* Packets that do not fit completely into the bytes of an entry. */

static void recurse(struct fixture *fixture, unsigned times)
{
    tip(fixture, "recursive");
    separate(fixture);
    for (unsigned i = 0; i < times; i++)
        tnt(fixture, "N");
}

static void return_across_the_end(struct fixture *fixture, const char *place)
{
    recurse(fixture, SEQUENCE_BYTES - 2);
    tnt(fixture, "T");
    tip(fixture, place);
    separate(fixture);
    tip(fixture, "indirect");
}

static void return_back(struct fixture *fixture)
{
    return_across_the_end(fixture, "recursive_after_call");
}

static void return_elsewhere(struct fixture *fixture)
{
    return_across_the_end(fixture, "handler");
}

static void an_address_is_not_in_the_key(void **state)
{
    check_right(return_back, return_elsewhere);
}

/* The 16 newest bits are the same. */
static void bits_across_the_end(struct fixture *fixture, const char *bits)
{
    recurse(fixture, SEQUENCE_BYTES - 4);
    tnt(fixture, bits);
    separate(fixture);
    tip(fixture, "indirect");
}

static void eight_calls(struct fixture *fixture)
{
    bits_across_the_end(fixture, "NNNNNNNNTTTTTTTTTTTTTTTTT");
}

static void seven_calls(struct fixture *fixture)
{
    bits_across_the_end(fixture, "NNNNNNNTTTTTTTTTTTTTTTTTT");
}

static void bits_are_not_in_the_key(void **state)
{
    check_right(eight_calls, seven_calls);
}

/* More than an entry holds. */
static void return_often(struct fixture *fixture)
{
    recurse(fixture, SEQUENCE_POPS + 4);
    separate(fixture);
    tnt(fixture, "TTTTTT");
    tnt(fixture, "TTTTTT");
    separate(fixture);
    tnt(fixture, "TT");
    tip(fixture, "indirect");
}

static void more_returns_than_a_packet_sequence_holds(void **state)
{
    check_right(return_often, return_from_recursive);
}

/* The table. */

static void a_packet_sequence_is_cached_the_second_time(void **state)
{
    struct packet_cache packet_cache;
    packet_cache_init(&packet_cache);
    struct packet_sequence *slot = packet_cache_slot(&packet_cache, 1);
    assert_false(packet_cache_miss(&packet_cache, slot, 1));
    assert_false(packet_cache_miss(&packet_cache, slot, 2));
    assert_true(packet_cache_miss(&packet_cache, slot, 2));
    assert_false(packet_cache_rest(&packet_cache));
    packet_cache_free(&packet_cache);
}

/* Misses until lookups pause; returns how long the pause is. */
static unsigned rest_after_misses(struct packet_cache *packet_cache)
{
    unsigned misses = 0;
    while (!packet_cache_rest(packet_cache)) {
        packet_cache_miss(packet_cache, packet_cache_slot(packet_cache, 0), misses);
        assert_true(++misses < 1 << 20);
    }
    unsigned rest = 1;
    while (packet_cache_rest(packet_cache))
        rest++;
    return rest;
}

static void lookups_pause_where_nothing_repeats(void **state)
{
    struct packet_cache packet_cache;
    packet_cache_init(&packet_cache);
    unsigned first = rest_after_misses(&packet_cache);
    assert_true(rest_after_misses(&packet_cache) > first);
    for (unsigned i = 0; i < 40; i++)
        rest_after_misses(&packet_cache);
    assert_int_equal(rest_after_misses(&packet_cache), rest_after_misses(&packet_cache));
    packet_cache_free(&packet_cache);
}

static void lookups_continue_where_packets_repeat(void **state)
{
    struct packet_cache packet_cache;
    packet_cache_init(&packet_cache);
    for (unsigned i = 0; i < 100000; i++) {
        packet_cache.hits += 10;
        packet_cache_miss(&packet_cache, packet_cache_slot(&packet_cache, 0), i);
        assert_false(packet_cache_rest(&packet_cache));
    }
    packet_cache_free(&packet_cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_call_is_another),
        cmocka_unit_test(the_call_before_is_another),
        cmocka_unit_test(there_are_fewer_calls_or_more),
        cmocka_unit_test(the_oldest_calls_are_forgotten),
        cmocka_unit_test(the_address_before_is_another),
        cmocka_unit_test(time_is_reported_before),
        cmocka_unit_test(cycles_before_many_bits),
        cmocka_unit_test(cycles_stand_elsewhere),
        cmocka_unit_test(some_cycles_are_many),
        cmocka_unit_test(code_changes_in_between),
        cmocka_unit_test(a_packet_does_not_fit),
        cmocka_unit_test(short_packets_and_long_ones),
        cmocka_unit_test(the_mode_changes),
        cmocka_unit_test(an_address_is_not_in_the_key),
        cmocka_unit_test(bits_are_not_in_the_key),
        cmocka_unit_test(more_returns_than_a_packet_sequence_holds),
        cmocka_unit_test(a_packet_sequence_is_cached_the_second_time),
        cmocka_unit_test(lookups_pause_where_nothing_repeats),
        cmocka_unit_test(lookups_continue_where_packets_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
