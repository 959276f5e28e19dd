/* The tracks of hits: what was given in is all there, in time order, and nests. In this folder for
 * the sake of span_script.h. */
#include "span_script.h"
#include "stack/spans/hit_spans.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t ORIGIN = 1000000;

/* A thread 10 with main from 0 to 1000. */
static struct span_script *plain_trace(void)
{
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 10, 12, "prog", "main");
    span_script_enter(script, track, 0, "main");
    span_script_leave(script, track, 1000);
    return script;
}

static struct session_hit hit_at(uint64_t time, uint64_t passed)
{
    return (struct session_hit){.time = ORIGIN + time,
                                .passed = passed ? ORIGIN + passed : 0,
                                .address = 0x1000,
                                .pid = 10,
                                .tid = 12};
}

struct seen {
    size_t hits, rows, others;
    uint64_t begin[256], end[256]; /* of the hits, in the order of their beginnings */
    uint32_t row[256];
    struct span_hit hit[256];
};

/* Reads all, and fails the test where times decrease or a row holds two hits at once. */
static struct seen *read_all(struct span_script *script, struct session_hit *hits, size_t count)
{
    struct session session = {.trigger = "f", .hits = hits, .hit_count = count};
    struct span_functions functions;
    span_functions_init(&functions, NULL);
    struct span_source *plain = span_script_source(script);
    struct span_source *source =
        hit_spans(plain, &session, (struct nanoseconds){ORIGIN}, &functions);
    struct seen *seen = memory_allocate_zeroed(sizeof *seen);
    size_t *open = memory_allocate_zeroed((source->track_count + 1) * sizeof *open);
    struct span_event event;
    struct error error = {0};
    uint64_t last = 0;
    while (source->next(source, &event, &error)) {
        assert_true(event.time.value >= last);
        last = event.time.value;
        assert_true(event.track < source->track_count);
        if (event.track == 0) {
            seen->others++;
        } else if (event.kind == SPAN_ENTER) {
            assert_int_equal(open[event.track], 0);
            assert_string_equal(event.function->name, "hit f");
            open[event.track] = ++seen->hits;
            seen->begin[seen->hits - 1] = event.time.value;
            seen->row[seen->hits - 1] = event.track;
            seen->hit[seen->hits - 1] = *event.hit;
        } else {
            assert_true(open[event.track] > 0);
            seen->end[open[event.track] - 1] = event.time.value;
            open[event.track] = 0;
        }
    }
    assert_int_equal(error.code, script->fails_with.code);
    seen->rows = source->track_count - 1;
    for (size_t i = 1; i < source->track_count; i++) {
        assert_string_equal(source->tracks[i].process_name, "Snapshot symbol hits");
        assert_true(source->tracks[i].pid > 12 && source->tracks[i].tid > 12);
        for (size_t j = 1; j < i; j++)
            assert_int_not_equal(source->tracks[i].tid, source->tracks[j].tid);
    }
    free(open);
    source->close(source);
    span_functions_free(&functions);
    return seen;
}

static void hits_are_drawn_from_what_they_passed(void **state)
{
    (void)state;
    struct span_script *script = plain_trace();
    struct session_hit hits[] = {hit_at(100, 40), hit_at(300, 0), hit_at(2000, 400)};
    hits[0].has_argument = true;
    hits[0].argument = -5;
    struct seen *seen = read_all(script, hits, 3);
    assert_int_equal(seen->others, 2);
    assert_int_equal(seen->rows, 1);
    assert_int_equal(seen->hits, 3);
    static const uint64_t begins[] = {40, 300, 400}, ends[] = {100, 300, 2000};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(seen->begin[i], begins[i]);
        assert_int_equal(seen->end[i], ends[i]);
        assert_int_equal(seen->hit[i].time.value, ends[i]);
        assert_int_equal(seen->hit[i].has_passed, begins[i] != ends[i]);
        assert_int_equal(seen->hit[i].tid, 12);
        assert_int_equal(seen->hit[i].has_argument, i == 0);
    }
    assert_int_equal(seen->hit[0].argument, -5);
    free(seen);
    span_script_free(script);
}

static void what_lies_before_the_recording_has_no_beginning(void **state)
{
    (void)state;
    struct span_script *script = plain_trace();
    struct session_hit hits[] = {hit_at(0, 0), hit_at(100, 0), hit_at(200, 500)};
    hits[0].time = ORIGIN - 500000;
    hits[1].passed = ORIGIN - 1;
    struct seen *seen = read_all(script, hits, 3);
    assert_int_equal(seen->hits, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(seen->begin[i], seen->end[i]);
        assert_false(seen->hit[i].has_passed);
    }
    free(seen);
    span_script_free(script);
}

static void hits_that_overlap_lie_in_rows_of_their_own(void **state)
{
    (void)state;
    struct span_script *script = plain_trace();
    struct session_hit hits[] = {hit_at(100, 50), hit_at(120, 60), hit_at(130, 125),
                                 hit_at(140, 70), hit_at(900, 140)};
    struct seen *seen = read_all(script, hits, 5);
    assert_int_equal(seen->hits, 5);
    assert_int_equal(seen->rows, 3);
    assert_int_equal(seen->row[3], seen->row[0]); /* the third hit of the list, from 125 on */
    free(seen);
    span_script_free(script);
}

/* More than there are rows for: none is lost, each is at or after its time. */
static void very_many_hits_at_once_are_all_shown(void **state)
{
    (void)state;
    enum { HITS = 200 };
    struct span_script *script = plain_trace();
    struct session_hit hits[HITS];
    for (uint64_t i = 0; i < HITS; i++)
        hits[i] = hit_at(500 + i, 1 + i);
    struct seen *seen = read_all(script, hits, HITS);
    assert_int_equal(seen->hits, HITS);
    for (size_t i = 0; i < HITS; i++)
        assert_true(seen->end[i] >= seen->hit[i].time.value);
    free(seen);
    span_script_free(script);
}

static void an_error_of_the_source_is_reported(void **state)
{
    (void)state;
    struct span_script *script = plain_trace();
    error_set(&script->fails_with, ERROR_IO, "the disk is gone");
    struct session_hit hits[] = {hit_at(100, 0)};
    struct seen *seen = read_all(script, hits, 1);
    assert_int_equal(seen->others, 2);
    assert_int_equal(seen->hits, 1);
    free(seen);
    span_script_free(script);
}

static void without_hits_nothing_is_added(void **state)
{
    (void)state;
    struct span_script *script = plain_trace();
    struct session session = {.trigger = "f"};
    struct span_source *source = span_script_source(script);
    assert_ptr_equal(hit_spans(source, &session, (struct nanoseconds){ORIGIN}, NULL), source);
    span_script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_are_drawn_from_what_they_passed),
        cmocka_unit_test(what_lies_before_the_recording_has_no_beginning),
        cmocka_unit_test(hits_that_overlap_lie_in_rows_of_their_own),
        cmocka_unit_test(very_many_hits_at_once_are_all_shown),
        cmocka_unit_test(an_error_of_the_source_is_reported),
        cmocka_unit_test(without_hits_nothing_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
