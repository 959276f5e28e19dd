#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "both_paths.h"

#include <string.h>

static void look_away(void *context, const struct flow_step *step)
{
}

static const struct flow_observer observer = {.step = look_away};

void both_ways_decode(struct fixture *fixture, make_recording *make, const void *choices,
                      unsigned cores, bool at_length)
{
    fixture_begin(fixture);
    make(fixture, choices);
    fixture->cores = cores;
    fixture->observer = at_length ? &observer : NULL;
    fixture_decode(fixture);
}

/* Ids are assigned in the order in which the workers find functions. */
static const char *function_of(struct fixture *fixture, const struct flow_event *event)
{
    return symbols_function(fixture->symbols, event->function)->name;
}

static void expect_same_event(struct fixture *left, struct fixture *right, size_t index)
{
    const struct flow_event *found = fixture_event(left, index);
    struct flow_event expected = *fixture_event(right, index);
    assert_string_equal(function_of(left, found), function_of(right, &expected));
    expected.function = found->function;
    if (memcmp(found, &expected, sizeof(expected)) != 0)
        fail_msg("event %zu is %lu: %u %#lx -> %#lx, %#lx, flags %#x; expected was "
                 "%lu: %u %#lx -> %#lx, %#lx, flags %#x",
                 index, found->time.value, found->kind, found->from, found->to, found->next,
                 found->flags, expected.time.value, expected.kind, expected.from, expected.to,
                 expected.next, expected.flags);
}

void both_ways_expect_same(struct fixture *fixture, struct fixture *expected)
{
    size_t count = fixture_event_count(fixture), expected_count = fixture_event_count(expected);
    for (size_t i = 0; i < count && i < expected_count; i++)
        expect_same_event(fixture, expected, i);
    assert_int_equal(count, expected_count);
    assert_int_equal(fixture->statistics.instructions, expected->statistics.instructions);
}
