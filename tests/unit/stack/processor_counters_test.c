/* The processor's frequency and sleep as counters: which track has them, and the values at the
 * beginning of the trace.
 */
#include "stack/spans/processor_counters.h"

#include "decode/trace_marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct span_track tracks[] = {
    {.pid = 10, .tid = 10, .process_name = "prog", .thread_name = "main"},
    {.pid = 10, .tid = 11, .process_name = "prog", .thread_name = "worker"},
};
static const struct span_source source = {.tracks = tracks, .track_count = 2};

static struct trace_mark of_thread(uint64_t time, uint32_t tid, uint64_t value)
{
    return (struct trace_mark){TRACE_MARK_FREQUENCY, {time}, tid, UINT32_MAX, value};
}

static struct trace_mark of_core(uint64_t time, uint32_t cpu, uint64_t value)
{
    return (struct trace_mark){TRACE_MARK_FREQUENCY, {time}, UINT32_MAX, cpu, value};
}

static struct span_overlay make(const struct span_source *of, struct trace_mark *marks,
                                size_t count)
{
    struct span_overlay overlay = span_overlay_new();
    const struct array list = {.elements = marks, .count = count, .element_size = sizeof *marks};
    processor_counters_add(&overlay, of, &list, (struct nanoseconds){1000});
    return overlay;
}

static void free_overlay(struct span_overlay *overlay)
{
    array_free(&overlay->tracks);
    array_free(&overlay->events);
    arena_free(&overlay->memory);
}

static void expect(const struct span_overlay *overlay, size_t index, uint32_t track, uint64_t time,
                   const char *text, double value)
{
    assert_true(index < overlay->events.count);
    const struct span_event *event = array_at(&overlay->events, index);
    assert_int_equal(event->kind, SPAN_COUNTER);
    assert_int_equal(event->track, track);
    assert_int_equal(event->time.value, time);
    assert_string_equal(event->text, text);
    assert_true(event->value == value);
}

static void threads_and_cores_have_counters_of_their_own(void **state)
{
    (void)state;
    struct trace_mark marks[] = {
        of_thread(1100, 11, 2000), {TRACE_MARK_VALUE, {1150}, 11, UINT32_MAX, 42},
        of_thread(1200, 11, 3000), of_thread(1200, 12, 1000), /* was not traced */
        of_thread(1300, 12, 2000), of_core(1050, 3, 2600),
        of_core(1060, 2, 800),
    };
    struct span_overlay overlay = make(&source, marks, sizeof marks / sizeof *marks);
    assert_int_equal(overlay.events.count, 4);
    expect(&overlay, 0, 1, 100, "frequency of worker 11 (MHz)", 2000);
    expect(&overlay, 1, 1, 200, "frequency of worker 11 (MHz)", 3000);
    expect(&overlay, 2, 0, 50, "frequency of CPU 3 (MHz)", 2600);
    expect(&overlay, 3, 0, 60, "frequency of CPU 2 (MHz)", 800);
    free_overlay(&overlay);
}

static void sleep_is_a_counter_beside_the_frequency(void **state)
{
    (void)state;
    struct trace_mark marks[] = {
        of_core(1050, 3, 2600),
        {TRACE_MARK_SLEEP, {1100}, UINT32_MAX, 3, 6},
        of_core(1150, 3, 800),
        {TRACE_MARK_SLEEP, {1200}, UINT32_MAX, 3, 0},
    };
    struct span_overlay overlay = make(&source, marks, sizeof marks / sizeof *marks);
    assert_int_equal(overlay.events.count, 4);
    expect(&overlay, 0, 0, 50, "frequency of CPU 3 (MHz)", 2600);
    expect(&overlay, 1, 0, 150, "frequency of CPU 3 (MHz)", 800);
    expect(&overlay, 2, 0, 100, "sleep of CPU 3 (C-state)", 6);
    expect(&overlay, 3, 0, 200, "sleep of CPU 3 (C-state)", 0);
    free_overlay(&overlay);
}

static void the_last_value_before_the_trace_holds_at_its_beginning(void **state)
{
    (void)state;
    struct trace_mark marks[] = {
        of_core(100, 0, 1000), of_core(900, 0, 2000),  of_core(1000, 0, 3000),
        of_core(400, 1, 700),  of_core(1001, 1, 4000), of_core(1002, 1, 800),
    };
    struct span_overlay overlay = make(&source, marks, sizeof marks / sizeof *marks);
    assert_int_equal(overlay.events.count, 4);
    expect(&overlay, 0, 0, 0, "frequency of CPU 0 (MHz)", 3000);
    expect(&overlay, 1, 0, 0, "frequency of CPU 1 (MHz)", 700);
    expect(&overlay, 2, 0, 1, "frequency of CPU 1 (MHz)", 4000);
    expect(&overlay, 3, 0, 2, "frequency of CPU 1 (MHz)", 800);
    free_overlay(&overlay);
}

static void without_threads_there_are_none(void **state)
{
    (void)state;
    static const struct span_source nothing = {0};
    struct trace_mark mark = of_core(2000, 0, 1000);
    struct span_overlay overlay = make(&nothing, &mark, 1);
    assert_int_equal(overlay.events.count, 0);
    free_overlay(&overlay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_cores_have_counters_of_their_own),
        cmocka_unit_test(sleep_is_a_counter_beside_the_frequency),
        cmocka_unit_test(the_last_value_before_the_trace_holds_at_its_beginning),
        cmocka_unit_test(without_threads_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
