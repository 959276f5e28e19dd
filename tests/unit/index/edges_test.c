/* Unusual traces: empty, of marks alone, very deep, very wide, very long, damaged; and the facts
 * that an index keeps.
 */
#include "base/memory.h"
#include "index/marks.h"
#include "index_test.h"
#include "oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A trace made by hand: events are added, then it is indexed. */
struct hand_made {
    struct made_trace trace; /* whose spans are not used */
    struct array tracks;     /* of struct span_track */
    struct array functions;  /* of struct span_function *; each owned */
};

static struct hand_made hand_made_new(size_t tracks, size_t functions)
{
    struct hand_made made = {
        .tracks = array_of(sizeof(struct span_track)),
        .functions = array_of(sizeof(struct span_function *)),
    };
    made.trace.events = array_of(sizeof(struct span_event));
    for (uint32_t i = 0; i < tracks; i++)
        *(struct span_track *)array_add(&made.tracks) =
            (struct span_track){i / 10, i, "process", "thread"};
    for (uint32_t i = 0; i < functions; i++) {
        struct span_function *function = memory_allocate_zeroed(sizeof *function);
        function->name = memory_format("function %u", i);
        function->index = i;
        array_add_all(&made.functions, &function, 1);
    }
    return made;
}

static void hand_made_free(struct hand_made *made)
{
    for (size_t i = 0; i < made->functions.count; i++) {
        struct span_function *function = *(struct span_function **)array_at(&made->functions, i);
        free((void *)function->name);
        free(function);
    }
    array_free(&made->functions);
    array_free(&made->tracks);
    array_free(&made->trace.events);
}

static struct span_event *add(struct hand_made *made, enum span_event_kind kind, uint32_t track,
                              uint64_t time)
{
    struct span_event *event = array_add(&made->trace.events);
    event->kind = kind;
    event->track = track;
    event->time.value = time;
    return event;
}

static struct span_event *enter(struct hand_made *made, uint32_t track, uint64_t time,
                                uint32_t function)
{
    struct span_event *event = add(made, SPAN_ENTER, track, time);
    event->function = *(struct span_function **)array_at(&made->functions, function);
    return event;
}

static struct span_event *leave(struct hand_made *made, uint32_t track, uint64_t time)
{
    return add(made, SPAN_LEAVE, track, time);
}

static struct span_source *source_of(struct hand_made *made)
{
    struct span_source *source = made_trace_source(&made->trace);
    source->tracks = made->tracks.elements;
    source->track_count = made->tracks.count;
    source->function_count = made->functions.count;
    return source;
}

static struct trace_index *index_of(struct hand_made *made)
{
    return index_source(source_of(made));
}

static const struct index_range WHOLE = {0, UINT64_MAX};
static const struct index_tracks ALL = {0};

static size_t count_tiles(const struct trace_index *index, uint32_t track, uint64_t resolution)
{
    const struct tiles_request request = {.track = track,
                                          .range = WHOLE,
                                          .resolution = resolution,
                                          .rows = UINT32_MAX,
                                          .limit = 10000000};
    struct array tiles = array_of(sizeof(struct index_tile));
    struct error error = {0};
    bool more;
    assert_true(index_tiles(index, &request, &tiles, &more, &error));
    assert_false(more);
    size_t count = tiles.count;
    array_free(&tiles);
    return count;
}

static size_t count_stack(const struct trace_index *index, uint32_t track, uint64_t time)
{
    struct array stack = array_of(sizeof(struct index_span));
    struct error error = {0};
    assert_true(index_stack_at(index, track, time, &stack, &error));
    size_t count = stack.count;
    array_free(&stack);
    return count;
}

static size_t count_rows(const struct trace_index *index)
{
    struct array rows = array_of(sizeof(struct function_row));
    struct error error = {0};
    assert_true(index_function_table(index, ALL, WHOLE, &rows, &error));
    size_t count = rows.count;
    array_free(&rows);
    return count;
}

static void test_empty_trace(void **state)
{
    struct hand_made made = hand_made_new(0, 0);
    struct trace_index *index = index_of(&made);
    const struct index_facts *facts = trace_index_facts(index);
    assert_int_equal(facts->spans, 0);
    assert_int_equal(facts->duration, 0);
    assert_int_equal(facts->tracks, 0);
    assert_null(facts->damage);
    assert_int_equal(count_rows(index), 0);
    struct array stack = array_of(sizeof(struct index_span));
    struct error error = {0};
    assert_false(index_stack_at(index, 0, 0, &stack, &error));
    assert_int_equal(error.code, ERROR_USAGE);
    trace_index_close(index);
    hand_made_free(&made);
}

static void test_marks_alone(void **state)
{
    struct hand_made made = hand_made_new(2, 0);
    add(&made, SPAN_INSTANT, 0, 1000)->text = "[lost]";
    add(&made, SPAN_INSTANT, 1, 3000)->text = "[decode error: no]";
    struct trace_index *index = index_of(&made);
    assert_int_equal(trace_index_facts(index)->duration, 2000);
    assert_int_equal(count_tiles(index, 1, 1), 0);
    assert_int_equal(count_stack(index, 0, 0), 0);
    struct array marks = array_of(sizeof(struct index_mark));
    bool more;
    assert_true(index_marks(index, WHOLE, 10, &marks, &more, NULL));
    assert_int_equal(marks.count, 2);
    const struct index_mark *first = array_at(&marks, 0), *second = array_at(&marks, 1);
    assert_int_equal(first->kind, MARK_GAP);
    assert_int_equal(second->kind, MARK_ERROR);
    assert_int_equal(second->time, 2000);
    array_free(&marks);
    trace_index_close(index);
    hand_made_free(&made);
}

static void test_deep_recursion(void **state)
{
    enum { DEPTH = 100000 };
    struct hand_made made = hand_made_new(1, 1);
    for (uint32_t i = 0; i < DEPTH; i++)
        enter(&made, 0, i, 0);
    for (uint32_t i = 0; i < DEPTH; i++)
        leave(&made, 0, DEPTH + i);
    struct trace_index *index = index_of(&made);
    assert_int_equal(trace_index_track(index, 0).depth, DEPTH);
    assert_int_equal(count_stack(index, 0, DEPTH - 1), DEPTH);
    assert_int_equal(count_stack(index, 0, 500), 501);
    assert_int_equal(count_stack(index, 0, 2 * DEPTH - 2), 1);
    assert_int_equal(count_tiles(index, 0, 1), DEPTH);
    assert_int_equal(count_rows(index), 1);
    struct array nodes = array_of(sizeof(struct flame_node));
    struct error error = {0};
    assert_true(index_flame_graph(index, &(struct flame_request){.range = WHOLE}, &nodes, &error));
    assert_int_equal(nodes.count, DEPTH + 1);
    array_free(&nodes);
    const struct index_span outermost = {.start = 0, .end = 2 * DEPTH - 1};
    uint64_t self, children;
    assert_true(index_span_self(index, 0, &outermost, &self, &children, &error));
    assert_int_equal(self, 2);
    assert_int_equal(children, 1);
    trace_index_close(index);
    hand_made_free(&made);
}

static void test_many_tracks_and_functions(void **state)
{
    enum { TRACKS = 3000, FUNCTIONS = 200000 };
    struct hand_made made = hand_made_new(TRACKS, FUNCTIONS);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        enter(&made, i % TRACKS, i, i);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        leave(&made, i % TRACKS, FUNCTIONS + i);
    struct trace_index *index = index_of(&made);
    assert_int_equal(trace_index_facts(index)->tracks, TRACKS);
    assert_int_equal(trace_index_facts(index)->functions, FUNCTIONS);
    assert_string_equal(trace_index_function(index, FUNCTIONS - 1).name, "function 199999");
    assert_int_equal(count_rows(index), FUNCTIONS);
    assert_int_equal(count_tiles(index, TRACKS - 1, 1), FUNCTIONS / TRACKS);
    trace_index_close(index);
    hand_made_free(&made);
}

static void make_special(const struct hand_made *made, uint32_t number, const char *name)
{
    struct span_function *function = *(struct span_function **)array_at(&made->functions, number);
    free((void *)function->name);
    function->name = memory_format("%s", name);
    function->special = true;
}

/* Off a processor in two threads, in a recursion, twice in one call, and one at the end. */
static struct trace_index *index_with_pauses(struct hand_made *made)
{
    *made = hand_made_new(2, 4);
    make_special(made, 2, "[not running]");
    make_special(made, 3, "[preempted]");
    enter(made, 0, 0, 0);
    enter(made, 0, 10, 1);
    enter(made, 0, 20, 2);
    enter(made, 1, 25, 1);
    leave(made, 0, 30);
    enter(made, 0, 40, 1);
    enter(made, 0, 40, 3);
    leave(made, 0, 45);
    leave(made, 0, 50);
    leave(made, 0, 60);
    leave(made, 0, 70);
    enter(made, 1, 80, 2);
    leave(made, 1, 100);
    leave(made, 1, 100);
    return index_of(made);
}

static void check_off_cpu_times(const struct trace_index *index)
{
    static const struct {
        uint32_t track;
        struct index_range range;
        uint64_t time;
    } EXPECTED[] = {
        {0, {0, 70}, 15},   {0, {10, 60}, 15}, {0, {20, 30}, 10}, {0, {25, 42}, 7},
        {0, {30, 40}, 0},   {0, {45, 70}, 0},  {0, {40, 50}, 5},  {1, {25, 100}, 20},
        {1, {90, 100}, 10}, {1, {0, 80}, 0},   {0, {50, 20}, 0},
    };
    struct off_cpu_times *times = off_cpu_times_new(index, OFF_CPU_ALL);
    struct error error = {0};
    assert_true(off_cpu_times_known(times));
    assert_true(off_cpu_times_read(times, &error));
    for (size_t i = 0; i < sizeof EXPECTED / sizeof *EXPECTED; i++)
        assert_int_equal(off_cpu_times_within(times, EXPECTED[i].track, EXPECTED[i].range),
                         EXPECTED[i].time);
    off_cpu_times_free(times);
}

/* In [syscall], or in the program, a thread does not run, and then calls so much that the caller is in another chunk. */
static uint64_t preempted_in(bool is_special, const char *off_cpu)
{
    enum { LATER = 10000 };
    struct hand_made made = hand_made_new(1, 3);
    struct error error = {0};
    struct span_function *const *functions = made.functions.elements;
    make_special(&made, 2, off_cpu);
    functions[0]->special = is_special;
    enter(&made, 0, 0, 0);
    enter(&made, 0, 10, 2);
    leave(&made, 0, 30);
    for (uint64_t time = 40; time < 40 + LATER; time++) {
        enter(&made, 0, time, 1);
        leave(&made, 0, time + 1);
    }
    enter(&made, 0, 41 + LATER, 2);
    leave(&made, 0, 42 + LATER);
    leave(&made, 0, 50 + LATER);
    struct trace_index *index = index_of(&made);
    struct off_cpu_times *times = off_cpu_times_new(index, OFF_CPU_PREEMPTED);
    assert_true(off_cpu_times_read(times, &error));
    uint64_t time = off_cpu_times_within(times, 0, (struct index_range){0, 50 + LATER});
    off_cpu_times_free(times);
    trace_index_close(index);
    hand_made_free(&made);
    return time;
}

static void test_preempted(void **state)
{
    assert_int_equal(preempted_in(false, "[not running]"), 21);
    assert_int_equal(preempted_in(true, "[not running]"), 0);
    assert_int_equal(preempted_in(false, "[preempted]"), 21);
    assert_int_equal(preempted_in(true, "[preempted]"), 21);
}

static void check_calls_on_cpu(const struct trace_index *index)
{
    struct off_cpu_times *times = off_cpu_times_new(index, OFF_CPU_ALL);
    struct error error = {0};
    struct call_statistics calls;
    struct calls_request request = {
        .range = WHOLE, .group = 1, .slowest = 2, .off_cpu = times, .by_on_cpu = true};
    assert_true(index_calls(index, &request, &calls, &error));
    assert_int_equal(calls.total, 75 + 50);
    assert_int_equal(calls.off_cpu, 20 + 15);
    assert_int_equal(calls.slowest.count, 2);
    const struct listed_call *first = array_at(&calls.slowest, 0);
    const struct listed_call *second = array_at(&calls.slowest, 1);
    assert_int_equal(first->place.track, 1);
    assert_int_equal(first->off_cpu, 20);
    assert_int_equal(second->place.span.start, 10);
    assert_int_equal(second->off_cpu, 15);
    call_statistics_free(&calls);
    off_cpu_times_free(times);
}

static void test_not_running(void **state)
{
    struct hand_made made;
    struct trace_index *index = index_with_pauses(&made);
    struct error error = {0};
    check_off_cpu_times(index);
    check_calls_on_cpu(index);
    struct array nodes = array_of(sizeof(struct flame_node));
    struct flame_request request = {.range = WHOLE};
    assert_true(index_flame_graph(index, &request, &nodes, &error));
    assert_int_equal(((struct flame_node *)array_at(&nodes, 0))->total, 70 + 75);
    array_free(&nodes);
    request.on_cpu = true;
    assert_true(index_flame_graph(index, &request, &nodes, &error));
    uint64_t self = 0;
    for (size_t i = 0; i < nodes.count; i++) {
        const struct flame_node *node = array_at(&nodes, i);
        assert_false(node->group == 2 || node->group == 3);
        self += node->self;
    }
    assert_int_equal(((struct flame_node *)array_at(&nodes, 0))->total, 55 + 55);
    assert_int_equal(self, 55 + 55);
    array_free(&nodes);
    trace_index_close(index);
    hand_made_free(&made);
}

/* 100,000 spans of no length at one moment, and then a span of ten hours. */
static void test_moments_and_hours(void **state)
{
    enum { MOMENTS = 100000 };
    const uint64_t hours = UINT64_C(36000000000000);
    struct hand_made made = hand_made_new(1, 2);
    for (uint32_t i = 0; i < MOMENTS; i++) {
        enter(&made, 0, 7, 0);
        leave(&made, 0, 7);
    }
    enter(&made, 0, 7, 1);
    leave(&made, 0, 7 + hours);
    struct trace_index *index = index_of(&made);
    assert_int_equal(trace_index_facts(index)->duration, hours);
    for (uint64_t resolution = 1; resolution <= UINT64_C(1) << 40; resolution *= 1024)
        assert_int_equal(count_tiles(index, 0, resolution), 2);
    assert_int_equal(count_stack(index, 0, 0), 1);
    assert_int_equal(count_stack(index, 0, hours - 1), 1);
    assert_int_equal(count_stack(index, 0, hours), 0);
    trace_index_close(index);
    hand_made_free(&made);
}

static void test_backward_and_distant_times(void **state)
{
    struct hand_made made = hand_made_new(1, 1);
    enter(&made, 0, 100, 0);
    enter(&made, 0, 50, 0); /* before the beginning */
    leave(&made, 0, 60);
    leave(&made, 0, UINT64_MAX);
    leave(&made, 0, UINT64_MAX);    /* no span is active */
    enter(&made, 5, UINT64_MAX, 0); /* no such track */
    enter(&made, 0, UINT64_MAX, 0); /* stays open */
    struct trace_index *index = index_of(&made);
    assert_int_equal(trace_index_facts(index)->spans, 3);
    assert_int_equal(count_tiles(index, 0, UINT64_C(1) << 63), 2);
    trace_index_close(index);
    hand_made_free(&made);
}

static void test_damage_and_clock(void **state)
{
    struct hand_made made = hand_made_new(1, 1);
    enter(&made, 0, 100, 0);
    leave(&made, 0, 150);
    struct span_source *source = source_of(&made);
    error_set(&made.trace.fails_with, ERROR_FORMAT, "it ends too early");
    source->wall_clock = 1000000;
    source->sampled = true;
    source->recorded = "Recorded by hand";
    struct trace_index *index = index_source(source);
    assert_string_equal(trace_index_facts(index)->recorded, "Recorded by hand");
    assert_true(trace_index_facts(index)->sampled);
    assert_string_equal(trace_index_facts(index)->damage, "it ends too early");
    assert_int_equal(trace_index_facts(index)->wall_clock, 1000100);
    assert_int_equal(trace_index_facts(index)->spans, 1);
    trace_index_close(index);
    hand_made_free(&made);
}

static void test_functions(void **state)
{
    struct hand_made made = hand_made_new(1, 3);
    struct span_function **functions = made.functions.elements;
    functions[1]->origin = SPAN_KERNEL;
    functions[1]->symbol = "symbol";
    functions[1]->file = "file.c";
    functions[1]->line = 12;
    functions[2]->special = true;
    for (uint32_t i = 0; i < 3; i++) {
        enter(&made, 0, i, i)->address = 0x100;
        enter(&made, 0, i, 0)->address = i < 2 ? 0x100 : 0x200; /* of another process */
        leave(&made, 0, i);
        leave(&made, 0, i);
    }
    enter(&made, 0, 9, 0); /* where it is not known which */
    leave(&made, 0, 9);
    struct trace_index *index = index_of(&made);
    assert_int_equal(trace_index_facts(index)->functions, 4);
    assert_int_equal(trace_index_group_calls(index, 0), 5);
    struct index_function kernel = trace_index_function(index, 1);
    assert_int_equal(kernel.colour, INDEX_KERNEL);
    assert_string_equal(kernel.symbol, "symbol");
    assert_string_equal(kernel.file, "file.c");
    assert_int_equal(kernel.line, 12);
    assert_int_equal(kernel.address, 0x100);
    assert_int_equal(trace_index_function(index, 2).colour, INDEX_SPECIAL);
    struct index_function other = trace_index_function(index, 3);
    assert_int_equal(other.group, 0);
    assert_int_equal(other.address, 0x200);
    trace_index_close(index);
    hand_made_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_trace),       cmocka_unit_test(test_marks_alone),
        cmocka_unit_test(test_deep_recursion),    cmocka_unit_test(test_many_tracks_and_functions),
        cmocka_unit_test(test_not_running),       cmocka_unit_test(test_preempted),
        cmocka_unit_test(test_moments_and_hours), cmocka_unit_test(test_backward_and_distant_times),
        cmocka_unit_test(test_damage_and_clock),  cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
