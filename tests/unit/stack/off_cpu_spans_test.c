/* "[not running]" and "[preempted]": where they are drawn, and how what a thread does within its period cuts them.
 */
#include "stack/spans/off_cpu_spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ORIGIN = 1000 };

static struct span_track tracks[] = {
    {.pid = 10, .tid = 10, .process_name = "prog", .thread_name = "main"},
    {.pid = 10, .tid = 11, .process_name = "prog", .thread_name = "worker"},
};

/* Spans that lie in an array; in batches, or one by one. */
struct made_source {
    struct span_source source;
    struct span_function function;
    struct span_event events[16];
    size_t count, given;
};

static bool next_made(struct span_source *source, struct span_event *event, struct error *error)
{
    struct made_source *made = source->context;
    if (error)
        error->code = ERROR_NONE;
    if (made->given == made->count)
        return false;
    *event = made->events[made->given++];
    return true;
}

static size_t take_made(struct span_source *source, const struct span_event **events,
                        struct error *error)
{
    struct made_source *made = source->context;
    if (error)
        error->code = ERROR_NONE;
    size_t count = made->count - made->given;
    *events = made->events + made->given;
    made->given = made->count;
    return count;
}

static void close_made(struct span_source *source)
{
}

static void make(struct made_source *made, bool batches)
{
    *made = (struct made_source){
        .source = {.tracks = tracks,
                   .track_count = 2,
                   .next = next_made,
                   .take = batches ? take_made : NULL,
                   .close = close_made},
        .function = {.name = "f"},
    };
    made->source.context = made;
}

/* `what`: '(' enters, ')' leaves, '!' is an instant, '+', '-' and '~' are moves that begin, end, and do both. */
static void add(struct made_source *made, char what, uint32_t track, uint64_t time)
{
    static const struct span_move moves[] = {{.begun = 2}, {.left = 2}, {.left = 1, .begun = 1}};
    static const char kinds[] = "()!?~+-";
    size_t kind = (size_t)(strchr(kinds, what) - kinds);
    made->events[made->count++] = (struct span_event){
        .kind = kind < SPAN_MOVE ? (enum span_event_kind)kind : SPAN_MOVE,
        .move = what == '+'   ? &moves[0]
                : what == '-' ? &moves[1]
                              : &moves[2],
        .track = track,
        .time = {time},
        .function = &made->function,
        .text = "mark",
    };
}

static struct sideband_record switched(uint64_t time, uint32_t tid, bool out)
{
    return (struct sideband_record){.kind = SIDEBAND_CONTEXT_SWITCH,
                                    .time = {ORIGIN + time},
                                    .pid = 10,
                                    .tid = tid,
                                    .context_switch.out = out};
}

static struct sideband_record preempted(uint64_t time, uint32_t tid)
{
    struct sideband_record record = switched(time, tid, true);
    record.context_switch.preempted = true;
    return record;
}

static const char *signs_of(const struct made_source *made, const struct span_event *event)
{
    if (event->function == &made->function)
        return "()!?~";
    assert_true(span_is_off_cpu(event->function));
    return strcmp(event->function->name, PREEMPTED_NAME) == 0 ? "{}" : "[]";
}

/* As text: "(0 [1 ]2 )3", square brackets are "[not running]", curly ones "[preempted]"; those of the worker with a
 * "w" after them. */
static void expect(struct made_source *made, const struct sideband_record *records, size_t count,
                   bool batches, const char *expected)
{
    char text[512] = "";
    struct span_functions functions;
    span_functions_init(&functions, NULL);
    struct span_source *source =
        off_cpu_spans(&made->source, records, count, (struct nanoseconds){ORIGIN}, &functions);
    struct span_event room;
    const struct span_event *events;
    size_t taken;
    while ((taken = batches ? span_source_take(source, &room, &events, NULL)
                            : source->next(source, &room, NULL)) > 0)
        for (size_t i = 0; i < taken; i++) {
            const struct span_event *event = batches ? &events[i] : &room;
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%c%llu%s", used ? " " : "",
                     signs_of(made, event)[event->kind], (unsigned long long)event->time.value,
                     event->track ? "w" : "");
        }
    assert_string_equal(text, expected);
    source->close(source);
    span_functions_free(&functions);
}

struct scene_event {
    char what;
    uint32_t track;
    uint64_t time;
};

static void expect_all(const struct scene_event *scene, size_t scene_count,
                       const struct sideband_record *records, size_t count, const char *expected)
{
    for (unsigned batches = 0; batches < 2; batches++)
        for (unsigned single = 0; single < 2; single++) {
            struct made_source made;
            make(&made, batches);
            for (size_t i = 0; i < scene_count; i++)
                add(&made, scene[i].what, scene[i].track, scene[i].time);
            expect(&made, records, count, !single, expected);
        }
}

#define EXPECT(scene, records, expected)                                                           \
    expect_all((scene), sizeof(scene) / sizeof *(scene), (records),                                \
               sizeof(records) / sizeof *(records), expected)

static void is_drawn_in_the_innermost_span(void **state)
{
    const struct scene_event scene[] = {{'(', 0, 0},  {'(', 0, 10}, {'(', 1, 12},
                                        {')', 1, 18}, {')', 0, 30}, {')', 0, 40}};
    const struct sideband_record records[] = {switched(15, 10, true), switched(25, 10, false),
                                              switched(30, 10, true), switched(35, 10, false)};
    EXPECT(scene, records, "(0 (10 (12w [15 )18w ]25 )30 [30 ]35 )40");
}

static void a_thread_that_could_have_run_on_is_preempted(void **state)
{
    const struct scene_event scene[] = {{'(', 0, 0},  {'(', 1, 0},  {')', 0, 25},
                                        {'(', 0, 27}, {')', 0, 50}, {')', 1, 60}};
    const struct sideband_record records[] = {preempted(10, 10),       switched(15, 11, true),
                                              switched(15, 11, false), switched(16, 11, true),
                                              switched(30, 10, false), switched(40, 11, false),
                                              switched(41, 10, true),  switched(45, 10, false),
                                              preempted(50, 11),       switched(55, 11, false)};
    EXPECT(scene, records, "(0 (0w {10 [16w }25 )25 (27 {28 }30 ]40w [41 ]45 )50 {50w }55w )60w");
}

static void what_happens_within_cuts_it(void **state)
{
    const struct scene_event scene[] = {{'(', 0, 0},  {'(', 0, 20}, {'(', 0, 20}, {')', 0, 20},
                                        {')', 0, 22}, {'!', 0, 25}, {')', 0, 60}};
    const struct sideband_record records[] = {switched(10, 10, true), switched(30, 10, false)};
    EXPECT(scene, records, "(0 [10 ]20 (20 (20 )20 [21 ]22 )22 [23 !25 ]30 )60");
}

static void never_begins_with_its_caller(void **state)
{
    const struct scene_event scene[] = {{'(', 0, 10}, {')', 0, 40}};
    const struct sideband_record records[] = {switched(10, 10, true), switched(20, 10, false)};
    EXPECT(scene, records, "(10 [11 ]20 )40");
}

static void is_drawn_only_while_the_thread_is_traced(void **state)
{
    const struct scene_event scene[] = {{'(', 0, 20}, {')', 0, 40}, {'(', 1, 41}, {')', 1, 45}};
    const struct sideband_record records[] = {switched(10, 10, true), switched(30, 10, false),
                                              switched(35, 10, true), switched(42, 99, true)};
    EXPECT(scene, records, "(20 [21 ]30 [35 ]40 )40 (41w )45w");
}

static void a_period_without_its_end_is_not_certain(void **state)
{
    const struct scene_event scene[] = {{'(', 0, 0}, {')', 0, 60}};
    const struct sideband_record records[] = {switched(5, 10, false), switched(10, 10, true),
                                              switched(30, 10, true), switched(40, 10, false),
                                              switched(50, 10, false)};
    EXPECT(scene, records, "(0 [30 ]40 )60");
}

static void several_threads_at_a_time(void **state)
{
    const struct scene_event scene[] = {{'(', 0, 0}, {'(', 1, 0}, {')', 1, 50}, {')', 0, 60}};
    const struct sideband_record records[] = {switched(10, 10, true), switched(20, 11, true),
                                              switched(30, 11, false), switched(40, 10, false)};
    EXPECT(scene, records, "(0 (0w [10 [20w ]30w ]40 )50w )60");
}

static void moves_begin_and_end_spans(void **state)
{
    const struct scene_event scene[] = {
        {'(', 0, 0}, {'+', 0, 10}, {'~', 0, 25}, {'-', 0, 50}, {')', 0, 60}};
    const struct sideband_record when_it_begins[] = {switched(10, 10, true),
                                                     switched(20, 10, false)};
    const struct sideband_record around[] = {switched(20, 10, true), switched(30, 10, false)};
    const struct sideband_record when_it_ends[] = {switched(50, 10, true), switched(55, 10, false)};
    EXPECT(scene, when_it_begins, "(0 ~10 [11 ]20 ~25 ~50 )60");
    EXPECT(scene, around, "(0 ~10 [20 ]25 ~25 [26 ]30 ~50 )60");
    EXPECT(scene, when_it_ends, "(0 ~10 ~25 ~50 [50 ]55 )60");
}

static void moves_are_counted(void **state)
{
    const struct scene_event scene[] = {{'+', 0, 0}, {'~', 0, 10}, {'-', 0, 20}, {'!', 0, 60}};
    const struct sideband_record within[] = {switched(12, 10, true), switched(15, 10, false)};
    const struct sideband_record after[] = {switched(30, 10, true), switched(40, 10, false)};
    EXPECT(scene, within, "~0 ~10 [12 ]15 ~20 !60");
    EXPECT(scene, after, "~0 ~10 ~20 !60");
}

static void without_switches_the_source_stays(void **state)
{
    struct made_source made;
    struct span_functions functions;
    make(&made, true);
    span_functions_init(&functions, NULL);
    const struct sideband_record record = {.kind = SIDEBAND_NAME};
    assert_ptr_equal(off_cpu_spans(&made.source, &record, 1, (struct nanoseconds){0}, &functions),
                     &made.source);
    span_functions_free(&functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_drawn_in_the_innermost_span),
        cmocka_unit_test(a_thread_that_could_have_run_on_is_preempted),
        cmocka_unit_test(what_happens_within_cuts_it),
        cmocka_unit_test(never_begins_with_its_caller),
        cmocka_unit_test(is_drawn_only_while_the_thread_is_traced),
        cmocka_unit_test(a_period_without_its_end_is_not_certain),
        cmocka_unit_test(several_threads_at_a_time),
        cmocka_unit_test(moves_begin_and_end_spans),
        cmocka_unit_test(moves_are_counted),
        cmocka_unit_test(without_switches_the_source_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
