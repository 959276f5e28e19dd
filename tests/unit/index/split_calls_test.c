/* Calls whose stack was suspended and resumed: which spans are one call. */
#include "index/split_calls.h"

#include "index/file/index_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct call_place part(uint32_t track, uint64_t start, uint64_t end, uint8_t ending,
                              bool is_resumed)
{
    return (struct call_place){track,
                               {.start = start,
                                .end = end,
                                .depth = 2,
                                .flags = is_resumed ? SPAN_START_INFERRED : 0,
                                .ending = ending}};
}

static void assert_whole(const struct call_place *parts, size_t count,
                         const struct switch_record *switches, size_t switch_count)
{
    struct trace_index index = {.switches = switches, .facts.switches = switch_count};
    struct split_calls split = split_calls_new();
    struct call_place whole;
    for (size_t i = 0; i < count; i++)
        split_calls_add(&split, &parts[i], 0);
    split_calls_join(&split, &index);
    const struct call_part *first = split_calls_first(&split, &parts[0]);
    assert_non_null(first);
    assert_true(split_calls_whole(first, &whole));
    assert_int_equal(whole.span.start, parts[0].span.start);
    assert_int_equal(whole.span.end, parts[count - 1].span.end);
    split_calls_free(&split);
}

static void a_call_goes_on_where_its_stack_is_resumed(void **state)
{
    const struct call_place parts[] = {part(1, 10, 20, SPAN_END_SWITCH, false),
                                       part(2, 50, 70, SPAN_END_RETURN, true)};
    const struct switch_record switches[] = {
        {.from_time = 20, .to_time = 50, .from_track = 1, .to_track = 2, .was_seen = true}};
    assert_whole(parts, 2, switches, 1);
}

/* The goroutine is taken by another thread while its own one sleeps, and chosen again there. */
static void a_call_goes_on_at_the_moment_of_its_suspension(void **state)
{
    const struct call_place parts[] = {part(1, 10, 90, SPAN_END_OF_TRACE, false),
                                       part(2, 50, 60, SPAN_END_SWITCH, true),
                                       part(2, 60, 70, SPAN_END_RETURN, true)};
    const struct switch_record switches[] = {
        {.from_time = 50, .to_time = 50, .from_track = 1, .to_track = 2},
        {.from_time = 60, .to_time = 60, .from_track = 2, .to_track = 2, .was_seen = true}};
    assert_whole(parts, 3, switches, 2);
}

/* A goroutine that is resumed and suspended within a nanosecond has a part of no length. */
static void a_part_may_have_no_length(void **state)
{
    const struct call_place parts[] = {
        part(1, 10, 20, SPAN_END_SWITCH, false), part(1, 20, 20, SPAN_END_SWITCH, true),
        part(1, 20, 20, SPAN_END_SWITCH, true), part(1, 30, 70, SPAN_END_RETURN, true)};
    const struct switch_record switches[] = {
        {.from_time = 20, .to_time = 20, .from_track = 1, .to_track = 1, .was_seen = true},
        {.from_time = 20, .to_time = 20, .from_track = 1, .to_track = 1, .was_seen = true},
        {.from_time = 20, .to_time = 30, .from_track = 1, .to_track = 1, .was_seen = true}};
    assert_whole(parts, 4, switches, 3);
}

/* Calls without length that begin where a call goes on are calls of their own. */
static void a_call_without_length_is_not_taken_for_a_part(void **state)
{
    const struct call_place parts[] = {part(1, 10, 20, SPAN_END_SWITCH, false),
                                       part(1, 50, 50, SPAN_END_RETURN, true)};
    const struct call_place other = part(1, 50, 50, SPAN_END_RETURN, false);
    const struct switch_record switches[] = {
        {.from_time = 20, .to_time = 50, .from_track = 1, .to_track = 1, .was_seen = true}};
    struct trace_index index = {.switches = switches, .facts.switches = 1};
    struct split_calls split = split_calls_new();
    split_calls_add(&split, &parts[0], 0);
    split_calls_add(&split, &parts[1], 0);
    split_calls_join(&split, &index);
    assert_ptr_equal(split_calls_first(&split, &parts[1]), split_calls_first(&split, &parts[0]));
    assert_null(split_calls_first(&split, &other));
    split_calls_free(&split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_goes_on_where_its_stack_is_resumed),
        cmocka_unit_test(a_call_goes_on_at_the_moment_of_its_suspension),
        cmocka_unit_test(a_part_may_have_no_length),
        cmocka_unit_test(a_call_without_length_is_not_taken_for_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
