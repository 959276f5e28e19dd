/* span_filter against a slow reference: all spans, cut to the regions one by one. In this folder
 * for the sake of span_script.h. */
#include "span_script.h"
#include "stack/spans/span_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACKS = 3, STEPS = 400, SPANS_MAX = 64 * STEPS };

struct plain_span {
    const char *name;
    uint32_t track;
    uint64_t begin, end;
};

struct span_set {
    struct plain_span spans[SPANS_MAX];
    size_t count;
};

/* Reads a source to its end; every enter must have its leave, and times must not go back. */
static void read_spans(struct span_set *set, struct span_source *source)
{
    size_t open[TRACKS][STEPS], depth[TRACKS] = {0};
    struct span_event event;
    struct error error;
    uint64_t last = 0;
    set->count = 0;
    while (source->next(source, &event, &error)) {
        assert_true(event.time.value >= last);
        last = event.time.value;
        if (event.kind == SPAN_ENTER) {
            open[event.track][depth[event.track]++] = set->count;
            set->spans[set->count++] = (struct plain_span){event.function->name, event.track,
                                                           event.time.value, UINT64_MAX};
        } else if (event.kind == SPAN_LEAVE) {
            assert_true(depth[event.track] > 0);
            struct plain_span *span = &set->spans[open[event.track][--depth[event.track]]];
            assert_string_equal(span->name, event.function->name);
            span->end = event.time.value;
        }
    }
    for (size_t i = 0; i < TRACKS; i++)
        assert_int_equal(depth[i], 0);
}

static int by_everything(const void *left, const void *right)
{
    const struct plain_span *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void cut(struct span_set *set, const struct span_set *whole, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < whole->count; i++) {
        struct plain_span span = whole->spans[i];
        if (span.begin >= end || span.end <= begin)
            continue;
        span.begin = span.begin > begin ? span.begin : begin;
        span.end = span.end < end ? span.end : end;
        set->spans[set->count++] = span;
    }
}

/* Times in a script are distinct, so regions are plain intervals. */
static void reference(struct span_set *set, const struct span_set *whole)
{
    bool inside = false;
    uint64_t begin = 0;
    set->count = 0;
    for (size_t i = 0; i < whole->count; i++) {
        const struct plain_span *span = &whole->spans[i];
        if (!inside && strcmp(span->name, "a") == 0) {
            inside = true;
            begin = span->begin;
        } else if (inside && strcmp(span->name, "b") == 0) {
            inside = false;
            cut(set, whole, begin, span->begin);
        }
    }
    if (inside)
        cut(set, whole, begin, UINT64_MAX);
}

static void make_random(struct span_script *script)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    size_t depth[TRACKS] = {0};
    uint64_t time = 10;
    for (uint32_t i = 0; i < TRACKS; i++)
        span_script_track(script, 1, 1 + i, "prog", "thread");
    for (int i = 0; i < STEPS; i++, time += 1 + (uint64_t)rand() % 9) {
        uint32_t track = (uint32_t)rand() % TRACKS;
        if (depth[track] > 0 && rand() % 2) {
            span_script_leave(script, track, time);
            depth[track]--;
        } else if (depth[track] < 20) {
            span_script_enter(script, track, time, names[rand() % 4]);
            depth[track]++;
        }
    }
    for (uint32_t i = 0; i < TRACKS; i++)
        for (; depth[i] > 0; depth[i]--, time++)
            span_script_leave(script, i, time);
}

static void regions_are_cut_out_of_the_whole(void **state)
{
    (void)state;
    static struct span_set whole, expected, found;
    for (unsigned seed = 0; seed < 200; seed++) {
        srand(seed);
        struct span_script *script = span_script_new();
        make_random(script);
        read_spans(&whole, span_script_source(script));
        reference(&expected, &whole);
        struct span_filter_names names = {0};
        assert_true(span_filter_names_parse(&names, "(a b)"));
        struct span_source *filter = span_filter(span_script_source(script), &names);
        read_spans(&found, filter);
        filter->close(filter);
        qsort(expected.spans, expected.count, sizeof *expected.spans, by_everything);
        qsort(found.spans, found.count, sizeof *found.spans, by_everything);
        assert_int_equal(found.count, expected.count);
        for (size_t i = 0; i < found.count; i++)
            assert_int_equal(by_everything(&found.spans[i], &expected.spans[i]), 0);
        span_filter_names_free(&names);
        span_script_free(script);
    }
}

static struct span_script *trace_that_calls_late(void)
{
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 10, 10, "prog", "main");
    span_script_enter(script, track, 0, "main");
    span_script_enter(script, track, 5, "beginn")->flags = SPAN_START_INFERRED;
    span_script_enter(script, track, 10, "begin");
    span_script_leave(script, track, 20);
    span_script_leave(script, track, 30);
    span_script_leave(script, track, 40);
    return script;
}

static void the_first_region_is_gone_to(void **state)
{
    (void)state;
    struct span_script *script = trace_that_calls_late();
    struct span_filter_names names = {0};
    assert_true(span_filter_names_parse(&names, "(begin end)"));
    struct span_source *filter = span_filter(span_script_source(script), &names);
    struct error error = {0};
    assert_true(span_filter_begin(filter, &error));
    static struct span_set found;
    read_spans(&found, filter);
    filter->close(filter);
    assert_int_equal(found.count, 3);
    assert_int_equal(found.spans[0].begin, 10);
    assert_int_equal(found.spans[0].end, 40);
    assert_string_equal(found.spans[2].name, "begin");
    span_filter_names_free(&names);
    span_script_free(script);
}

/* Other threads begin and end calls in the very nanosecond of a region's border. */
static void borders_change_no_time(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t one = span_script_track(script, 10, 10, "prog", "main");
    uint32_t other = span_script_track(script, 10, 11, "prog", "other");
    span_script_enter(script, other, 1, "y");
    span_script_enter(script, one, 10, "a");
    span_script_leave(script, other, 10);
    span_script_enter(script, other, 20, "x");
    span_script_enter(script, one, 20, "b");
    span_script_leave(script, one, 30);
    span_script_leave(script, other, 30);
    span_script_leave(script, one, 40);
    struct span_filter_names names = {0};
    assert_true(span_filter_names_parse(&names, "(a b)"));
    struct span_source *filter = span_filter(span_script_source(script), &names);
    static struct span_set found;
    read_spans(&found, filter);
    filter->close(filter);
    assert_int_equal(found.count, 3); /* y, a, x */
    assert_int_equal(found.spans[0].begin, 10);
    assert_int_equal(found.spans[0].end, 10);
    assert_int_equal(found.spans[1].begin, 10);
    assert_int_equal(found.spans[1].end, 20);
    assert_int_equal(found.spans[2].begin, 20);
    assert_int_equal(found.spans[2].end, 20);
    span_filter_names_free(&names);
    span_script_free(script);
}

static void a_region_begins_with_what_counters_were(void **state)
{
    (void)state;
    static const char COUNTER[] = "queue", OTHER[] = "other (s)";
    static const struct {
        const char *text;
        uint64_t time;
        double value;
    } EXPECTED[] = {{COUNTER, 10, 2}, {COUNTER, 15, 3}, {COUNTER, 30, 4}, {OTHER, 30, 7}};
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 10, 10, "prog", "main");
    span_script_counter(script, track, 1, COUNTER, 1)->text = COUNTER;
    span_script_counter(script, track, 2, COUNTER, 2)->text = COUNTER;
    for (uint64_t time = 10; time <= 30; time += 20) {
        span_script_enter(script, track, time, "a");
        if (time == 10)
            span_script_counter(script, track, 15, COUNTER, 3)->text = COUNTER;
        span_script_leave(script, track, time + 6);
        span_script_enter(script, track, time + 7, "b");
        span_script_counter(script, track, time + 8, COUNTER, 4)->text = COUNTER;
        span_script_counter(script, track, time + 8, OTHER, 7)->text = OTHER;
        span_script_leave(script, track, time + 9);
    }
    struct span_filter_names names = {0};
    assert_true(span_filter_names_parse(&names, "(a b)"));
    for (int begun = 0; begun < 2; begun++) {
        struct span_source *filter = span_filter(span_script_source(script), &names);
        struct span_event event;
        struct error error = {0};
        size_t count = 0;
        assert_true(!begun || span_filter_begin(filter, &error));
        while (filter->next(filter, &event, &error)) {
            if (event.kind != SPAN_COUNTER)
                continue;
            assert_ptr_equal(event.text, EXPECTED[count].text);
            assert_int_equal(event.time.value, EXPECTED[count].time);
            assert_true(event.value == EXPECTED[count].value);
            count++;
        }
        assert_int_equal(count, sizeof EXPECTED / sizeof *EXPECTED);
        filter->close(filter);
    }
    span_filter_names_free(&names);
    span_script_free(script);
}

static void a_filter_that_nothing_passes_is_an_error(void **state)
{
    (void)state;
    struct span_script *script = trace_that_calls_late();
    struct span_filter_names names = {0};
    /* What was open already when tracing began was not called. */
    assert_true(span_filter_names_parse(&names, "(beginn end)"));
    struct span_source *filter = span_filter(span_script_source(script), &names);
    struct error error = {0};
    assert_false(span_filter_begin(filter, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.text, "no call of beginn "));
    assert_non_null(strstr(error.text, "Did you mean "));
    filter->close(filter);

    error_set(&script->fails_with, ERROR_IO, "the disk is gone");
    error = (struct error){0};
    filter = span_filter(span_script_source(script), &names);
    assert_false(span_filter_begin(filter, &error));
    assert_int_equal(error.code, ERROR_IO);
    filter->close(filter);
    span_filter_names_free(&names);
    span_script_free(script);
}

static void names_are_read(void **state)
{
    (void)state;
    struct span_filter_names names = {0};
    assert_true(span_filter_names_parse(&names, "(main std::sort)"));
    assert_string_equal(names.from, "main");
    assert_string_equal(names.to, "std::sort");
    assert_true(span_filter_names_parse(&names, "  ( \"f(int, char)\" g ) "));
    assert_string_equal(names.from, "f(int, char)");
    assert_string_equal(names.to, "g");
    span_filter_names_free(&names);
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "a b", "(a)", "(a b", "(a b c)", "(a b) c", "(\"a b)"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct span_filter_names names = {0};
        assert_false(span_filter_names_parse(&names, wrong[i]));
        assert_null(names.from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_cut_out_of_the_whole),
        cmocka_unit_test(the_first_region_is_gone_to),
        cmocka_unit_test(borders_change_no_time),
        cmocka_unit_test(a_region_begins_with_what_counters_were),
        cmocka_unit_test(a_filter_that_nothing_passes_is_an_error),
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
