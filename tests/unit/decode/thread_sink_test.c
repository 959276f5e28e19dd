/* The last stage of a thread's events on their way to the sink. */
#include "decode/thread_sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct sink {
    struct flow_sink sink;
    struct thread thread;
    struct thread_sink output;
    struct array events; /* struct flow_event */
    unsigned begun, ended;
};

static void *sink_begin(void *context, const struct thread *thread)
{
    struct sink *sink = context;
    assert_ptr_equal(thread, &sink->thread);
    sink->begun++;
    return sink;
}

static void sink_events(void *object, const struct flow_event *events, size_t count)
{
    struct sink *sink = object;
    assert_int_equal(sink->ended, 0);
    assert_true(count > 0);
    array_add_all(&sink->events, events, count);
}

static void sink_end(void *object)
{
    ((struct sink *)object)->ended++;
}

static int begin(void **state)
{
    static struct sink sink;
    sink = (struct sink){
        .sink = {.context = &sink, .begin = sink_begin, .events = sink_events, .end = sink_end},
        .events = array_of(sizeof(struct flow_event))};
    sink.output = (struct thread_sink){.thread = &sink.thread, .sink = &sink.sink};
    *state = &sink;
    return 0;
}

static int end(void **state)
{
    struct sink *sink = *state;
    thread_output_end(&sink->output);
    array_free(&sink->events);
    return 0;
}

static struct flow_event event(uint64_t time, enum flow_kind kind)
{
    return (struct flow_event){.time = {time}, .kind = (uint8_t)kind, .from = time};
}

static struct flow_event gap(uint64_t time, enum flow_gap why)
{
    struct flow_event gap = event(time, FLOW_GAP);
    gap.gap = (uint8_t)why;
    return gap;
}

static void add(struct sink *sink, const struct flow_event *events, size_t count)
{
    struct flow_event copy[16];
    bool plain = true;
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++) {
        copy[i] = events[i];
        plain &= !thread_output_must_see(events[i].kind);
    }
    thread_output_add(&sink->output, copy, count, plain);
}

/* `from` of events is the time that they had when they were added. */
static void expect(const struct sink *sink, size_t index, enum flow_kind kind, uint64_t from)
{
    assert_true(index < sink->events.count);
    const struct flow_event *found = array_at(&sink->events, index);
    assert_int_equal(found->kind, kind);
    assert_int_equal(found->from, from);
}

static void expect_kinds(const struct sink *sink, const enum flow_kind *kinds, size_t count)
{
    for (size_t i = 0; i < count && i < sink->events.count; i++)
        assert_int_equal(((struct flow_event *)array_at(&sink->events, i))->kind, kinds[i]);
    assert_int_equal(sink->events.count, count);
}

#define ADD(sink, ...)                                                                             \
    add(sink, (struct flow_event[]){__VA_ARGS__},                                                  \
        sizeof((struct flow_event[]){__VA_ARGS__}) / sizeof(struct flow_event))
#define EXPECT_KINDS(sink, ...)                                                                    \
    expect_kinds(sink, (enum flow_kind[]){__VA_ARGS__},                                            \
                 sizeof((enum flow_kind[]){__VA_ARGS__}) / sizeof(enum flow_kind))

/* The sink. */

static void the_sink_learns_of_a_thread_once(void **state)
{
    struct sink *s = *state;
    thread_output_begin(&s->output);
    ADD(s, event(1, FLOW_CALL));
    ADD(s, event(2, FLOW_CALL));
    assert_int_equal(s->begun, 1);
    thread_output_end(&s->output);
    thread_output_end(&s->output);
    assert_int_equal(s->ended, 1);
}

static void a_thread_without_events_is_not_reported(void **state)
{
    struct sink *s = *state;
    thread_output_stop(&s->output);
    thread_output_end(&s->output);
    assert_int_equal(s->begun, 0);
    assert_int_equal(s->ended, 0);
}

/* Times. */

static void times_never_go_back(void **state)
{
    static const uint64_t times[] = {5, 7, 7, 7, 9};
    struct sink *s = *state;
    ADD(s, event(5, FLOW_CALL), event(7, FLOW_CALL));
    ADD(s, event(4, FLOW_CALL), event(6, FLOW_RETURN), event(9, FLOW_CALL));
    assert_int_equal(s->events.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(((struct flow_event *)array_at(&s->events, i))->time.value, times[i]);
}

static void times_do_not_go_back_after_what_was_held(void **state)
{
    struct sink *s = *state;
    ADD(s, event(8, FLOW_INTERRUPT));
    ADD(s, event(5, FLOW_RESUME));
    assert_int_equal(((struct flow_event *)array_at(&s->events, 1))->time.value, 8);
}

/* Gaps. */

static void gaps_in_a_row_are_one(void **state)
{
    struct sink *s = *state;
    ADD(s, event(1, FLOW_CALL), gap(2, FLOW_GAP_ERROR), gap(3, FLOW_GAP_ERROR));
    ADD(s, gap(4, FLOW_GAP_OVERFLOW), event(5, FLOW_CALL));
    EXPECT_KINDS(s, FLOW_CALL, FLOW_GAP, FLOW_CALL);
    expect(s, 1, FLOW_GAP, 2);
}

static void resumes_and_callers_between_gaps_are_dropped(void **state)
{
    struct sink *s = *state;
    ADD(s, gap(1, FLOW_GAP_ERROR), event(2, FLOW_RESUME), event(3, FLOW_CALLER),
        event(4, FLOW_CALLER), gap(5, FLOW_GAP_ERROR), event(6, FLOW_RESUME));
    ADD(s, gap(7, FLOW_GAP_NO_IMAGE), event(8, FLOW_RESUME), event(9, FLOW_CALLER));
    ADD(s, event(10, FLOW_CALL));
    EXPECT_KINDS(s, FLOW_GAP, FLOW_RESUME, FLOW_CALLER, FLOW_CALL);
    expect(s, 0, FLOW_GAP, 1);
    expect(s, 1, FLOW_RESUME, 8);
    expect(s, 2, FLOW_CALLER, 9);
}

static void gaps_with_something_known_between_them_are_two(void **state)
{
    struct sink *s = *state;
    ADD(s, gap(1, FLOW_GAP_ERROR), event(2, FLOW_RESUME), event(3, FLOW_CALL),
        gap(4, FLOW_GAP_ERROR));
    ADD(s, event(5, FLOW_JUMP));
    EXPECT_KINDS(s, FLOW_GAP, FLOW_RESUME, FLOW_CALL, FLOW_GAP, FLOW_JUMP);
}

static void a_stop_is_something_known(void **state)
{
    struct sink *s = *state;
    ADD(s, gap(1, FLOW_GAP_ERROR), event(2, FLOW_RESUME), event(3, FLOW_STOP),
        gap(4, FLOW_GAP_ERROR), event(5, FLOW_CALL));
    EXPECT_KINDS(s, FLOW_GAP, FLOW_RESUME, FLOW_STOP, FLOW_GAP, FLOW_CALL);
}

static void an_interrupt_between_gaps_is_something_known(void **state)
{
    struct sink *s = *state;
    ADD(s, gap(1, FLOW_GAP_ERROR), event(2, FLOW_RESUME), event(3, FLOW_INTERRUPT),
        gap(4, FLOW_GAP_ERROR), event(5, FLOW_CALL));
    EXPECT_KINDS(s, FLOW_GAP, FLOW_RESUME, FLOW_INTERRUPT, FLOW_GAP, FLOW_CALL);
}

static void a_resume_after_the_last_gap_is_kept(void **state)
{
    struct sink *s = *state;
    ADD(s, gap(1, FLOW_GAP_ERROR), event(2, FLOW_RESUME));
    EXPECT_KINDS(s, FLOW_GAP);
    thread_output_end(&s->output);
    EXPECT_KINDS(s, FLOW_GAP, FLOW_RESUME);
}

/* Otherwise the second gap would be dropped, and the first RESUME would seem to continue at the
 * call. */
static void a_switch_between_gaps_changes_nothing(void **state)
{
    struct sink *s = *state;
    ADD(s, gap(1, FLOW_GAP_ERROR), event(2, FLOW_RESUME));
    thread_output_stop(&s->output);
    ADD(s, gap(3, FLOW_GAP_ERROR), event(4, FLOW_RESUME), event(5, FLOW_CALL));
    EXPECT_KINDS(s, FLOW_GAP, FLOW_RESUME, FLOW_CALL);
    expect(s, 1, FLOW_RESUME, 4);
}

static void gaps_are_counted_as_they_come_out(void **state)
{
    struct sink *s = *state;
    struct flow_statistics statistics = {.events = 100, .errors = 10, .overflows = 1};
    ADD(s, gap(1, FLOW_GAP_ERROR), gap(2, FLOW_GAP_OVERFLOW), event(3, FLOW_CALL));
    ADD(s, gap(4, FLOW_GAP_OVERFLOW), gap(5, FLOW_GAP_ERROR), event(6, FLOW_CALL));
    ADD(s, gap(7, FLOW_GAP_NO_IMAGE), event(8, FLOW_CALL));
    ADD(s, gap(9, FLOW_GAP_LOST), event(10, FLOW_CALL)); /* neither */
    thread_output_end(&s->output);
    thread_output_add_statistics(&s->output, &statistics);
    assert_int_equal(statistics.events, 108);
    assert_int_equal(statistics.errors, 12);
    assert_int_equal(statistics.overflows, 2);
}

/* Interrupts. */

static void an_interrupt_at_the_end_is_a_stop(void **state)
{
    struct sink *s = *state;
    ADD(s, event(1, FLOW_CALL), event(2, FLOW_INTERRUPT));
    EXPECT_KINDS(s, FLOW_CALL);
    thread_output_end(&s->output);
    EXPECT_KINDS(s, FLOW_CALL, FLOW_STOP);
}

static void an_interrupt_before_a_switch_is_a_stop(void **state)
{
    struct sink *s = *state;
    ADD(s, event(1, FLOW_INTERRUPT));
    thread_output_stop(&s->output);
    ADD(s, event(2, FLOW_RESUME));
    EXPECT_KINDS(s, FLOW_STOP, FLOW_RESUME);
}

static void an_interrupt_with_something_after_it_is_one(void **state)
{
    struct sink *s = *state;
    ADD(s, event(1, FLOW_INTERRUPT));
    ADD(s, event(2, FLOW_RESUME), event(3, FLOW_INTERRUPT), event(4, FLOW_RESUME));
    EXPECT_KINDS(s, FLOW_INTERRUPT, FLOW_RESUME, FLOW_INTERRUPT, FLOW_RESUME);
}

static void an_interrupt_before_plain_events_is_one(void **state)
{
    struct sink *s = *state;
    ADD(s, event(1, FLOW_INTERRUPT));
    ADD(s, event(2, FLOW_CALL), event(3, FLOW_RETURN));
    EXPECT_KINDS(s, FLOW_INTERRUPT, FLOW_CALL, FLOW_RETURN);
}

static void an_interrupt_whose_handler_is_traced_is_one_at_once(void **state)
{
    struct sink *s = *state;
    struct flow_event interrupt = event(1, FLOW_INTERRUPT);
    interrupt.to = 0x1000;
    ADD(s, interrupt);
    EXPECT_KINDS(s, FLOW_INTERRUPT);
    thread_output_end(&s->output);
    EXPECT_KINDS(s, FLOW_INTERRUPT);
}

/* Plain events. */

static void plain_events_after_a_gap_end_it(void **state)
{
    struct sink *s = *state;
    ADD(s, gap(1, FLOW_GAP_ERROR));
    ADD(s, event(2, FLOW_CALL), event(3, FLOW_RETURN));
    ADD(s, gap(4, FLOW_GAP_ERROR));
    EXPECT_KINDS(s, FLOW_GAP, FLOW_CALL, FLOW_RETURN, FLOW_GAP);
}

static void callers_without_a_gap_are_passed_on(void **state)
{
    struct sink *s = *state;
    ADD(s, event(1, FLOW_RESUME), event(2, FLOW_CALLER), event(3, FLOW_CALL));
    EXPECT_KINDS(s, FLOW_RESUME, FLOW_CALLER, FLOW_CALL);
}

/* Holes. */

/* What comes before the first event, and within a gap, needs no gap; several without an event
 * between them are one. */
static void where_a_hole_was_there_is_a_gap(void **state)
{
    struct sink *s = *state;
    static const uint64_t holes[] = {30, 5, 33, 60, 100};
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++)
        thread_output_add_hole(&s->output, (struct ticks){holes[i]});
    ADD(s, event(10, FLOW_RESUME), event(20, FLOW_CALL), event(30, FLOW_SYSCALL));
    ADD(s, event(30, FLOW_RESUME), event(30, FLOW_RETURN));
    ADD(s, event(40, FLOW_RESUME), event(50, FLOW_CALL));
    ADD(s, gap(55, FLOW_GAP_ERROR), event(70, FLOW_RESUME), event(80, FLOW_CALL));
    ADD(s, event(90, FLOW_SYSCALL), event(95, FLOW_RESUME));
    thread_output_end(&s->output);
    EXPECT_KINDS(s, FLOW_RESUME, FLOW_CALL, FLOW_SYSCALL, FLOW_RESUME, FLOW_RETURN, FLOW_GAP,
                 FLOW_RESUME, FLOW_CALL, FLOW_GAP, FLOW_RESUME, FLOW_CALL, FLOW_SYSCALL,
                 FLOW_RESUME);
    const struct flow_event *found = array_at(&s->events, 5);
    assert_int_equal(found->gap, FLOW_GAP_LOST);
    assert_int_equal(found->time.value, 33);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sink_learns_of_a_thread_once),
        TEST(a_thread_without_events_is_not_reported),
        TEST(times_never_go_back),
        TEST(times_do_not_go_back_after_what_was_held),
        TEST(gaps_in_a_row_are_one),
        TEST(resumes_and_callers_between_gaps_are_dropped),
        TEST(gaps_with_something_known_between_them_are_two),
        TEST(a_stop_is_something_known),
        TEST(an_interrupt_between_gaps_is_something_known),
        TEST(a_resume_after_the_last_gap_is_kept),
        TEST(a_switch_between_gaps_changes_nothing),
        TEST(gaps_are_counted_as_they_come_out),
        TEST(an_interrupt_at_the_end_is_a_stop),
        TEST(an_interrupt_before_a_switch_is_a_stop),
        TEST(an_interrupt_with_something_after_it_is_one),
        TEST(an_interrupt_before_plain_events_is_one),
        TEST(an_interrupt_whose_handler_is_traced_is_one_at_once),
        TEST(plain_events_after_a_gap_end_it),
        TEST(callers_without_a_gap_are_passed_on),
        TEST(where_a_hole_was_there_is_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
