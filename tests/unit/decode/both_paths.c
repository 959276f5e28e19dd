#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "both_paths.h"

#include <stdlib.h>
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

/* ---- Counts ---- */

struct counted_step {
    uint64_t kind, from, to; /* sorted by these */
    uint64_t count;
};

struct counting {
    struct array steps; /* struct counted_step */
    uint64_t turn;      /* ticks that are counted, as many that are not, and so on; 0: all are */
};

/* Another thread's turn is when this one's is not. */
static bool counts(void *context, const struct thread *thread, struct ticks time,
                   struct ticks *until)
{
    const struct counting *counting = context;
    if (counting->turn == 0) {
        until->value = UINT64_MAX;
        return true;
    }
    uint64_t turns = time.value / counting->turn;
    until->value = (turns + 1) * counting->turn;
    return (turns + (thread ? thread->tid : 0)) % 2 == 0;
}

static void count_repeated(void *context, const struct flow_step *step, uint64_t count)
{
    struct counting *counting = context;
    *(struct counted_step *)array_add(&counting->steps) =
        (struct counted_step){step->kind, step->from, step->to, count};
}

static void count_step(void *context, const struct flow_step *step)
{
    struct ticks until;
    if (counts(context, step->thread, step->time, &until))
        count_repeated(context, step, 1);
}

static int compare_steps(const void *left, const void *right)
{
    const struct counted_step *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static void merge_steps(struct array *steps)
{
    size_t kept = 0;
    if (steps->count > 0)
        qsort(steps->elements, steps->count, steps->element_size, compare_steps);
    for (size_t i = 0; i < steps->count; i++) {
        const struct counted_step *next = array_at(steps, i);
        struct counted_step *last = kept > 0 ? array_at(steps, kept - 1) : NULL;
        if (last && compare_steps(last, next) == 0)
            last->count += next->count;
        else
            *(struct counted_step *)array_at(steps, kept++) = *next;
    }
    steps->count = kept;
}

/* Sorted; the caller frees it. */
static struct array count_steps(make_recording *make, const void *choices, uint64_t turn,
                                bool repeated)
{
    struct fixture fixture;
    struct counting counting = {array_of(sizeof(struct counted_step)), turn};
    const struct flow_observer counter = {.context = &counting,
                                          .blocks = true,
                                          .step = count_step,
                                          .repeated = repeated ? count_repeated : NULL,
                                          .counts = counts};
    fixture_begin(&fixture);
    make(&fixture, choices);
    fixture.observer = &counter;
    fixture_decode(&fixture);
    fixture_free(&fixture);
    merge_steps(&counting.steps);
    return counting.steps;
}

static void expect_same_counts(make_recording *make, const void *choices, uint64_t turn)
{
    struct array expected = count_steps(make, choices, turn, false);
    struct array found = count_steps(make, choices, turn, true);
    assert_true(turn > 0 || expected.count > 0);
    for (size_t i = 0; i < expected.count && i < found.count; i++) {
        const struct counted_step *left = array_at(&found, i), *right = array_at(&expected, i);
        if (memcmp(left, right, sizeof *left) != 0)
            fail_msg("%s %#lx -> %#lx: %lu times; expected was %s %#lx -> %#lx: %lu times",
                     flow_step_name(left->kind), left->from, left->to, left->count,
                     flow_step_name(right->kind), right->from, right->to, right->count);
    }
    assert_int_equal(found.count, expected.count);
    array_free(&expected);
    array_free(&found);
}

void both_ways_expect_same_counts(make_recording *make, const void *choices)
{
    expect_same_counts(make, choices, 0);
    expect_same_counts(make, choices, 1);
    expect_same_counts(make, choices, 40);
}
