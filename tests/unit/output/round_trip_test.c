/* What is written as a trace and read back is the same. */
#include "output/fxt/fxt_format.h"
#include "output/fxt/fxt_reader.h"
#include "output/fxt/fxt_writer.h"
#include "span_script.h"
#include "temporary_folder.h"

#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void assert_same_hit(const struct span_hit *got, const struct span_hit *expected)
{
    assert_int_equal(got != NULL, expected != NULL);
    if (!expected)
        return;
    assert_int_equal(got->time.value, expected->time.value);
    assert_int_equal(got->has_passed, expected->has_passed);
    assert_int_equal(got->passed.value, expected->passed.value);
    assert_int_equal(got->has_argument, expected->has_argument);
    assert_int_equal(got->argument, expected->argument);
    assert_int_equal(got->address, expected->address);
    assert_int_equal(got->pid, expected->pid);
    assert_int_equal(got->tid, expected->tid);
}

static void assert_same_event(const struct span_source *written, const struct span_event *expected,
                              const struct span_source *read, const struct span_event *got)
{
    assert_int_equal(got->kind, expected->kind);
    assert_int_equal(got->time.value, expected->time.value);
    assert_true(got->track < read->track_count);
    assert_int_equal(read->tracks[got->track].pid, written->tracks[expected->track].pid);
    assert_int_equal(read->tracks[got->track].tid, written->tracks[expected->track].tid);
    if (expected->kind == SPAN_INSTANT) {
        assert_string_equal(got->text, expected->text);
        return;
    }
    if (expected->kind == SPAN_COUNTER) {
        assert_string_equal(got->text, expected->text);
        assert_true(got->value == expected->value);
        return;
    }
    assert_int_equal(got->flags, expected->flags);
    assert_int_equal(got->end, expected->end);
    assert_int_equal(got->stack, expected->stack);
    assert_int_equal(got->address, expected->address);
    assert_same_hit(got->hit, expected->hit);
    assert_string_equal(got->function->name, expected->function->name);
    assert_true(same_text(got->function->symbol, expected->function->symbol));
    assert_true(same_text(got->function->file, expected->function->file));
    assert_int_equal(got->function->line, expected->function->line);
    assert_int_equal(got->function->special, expected->function->special);
    assert_int_equal(got->function->origin, expected->function->origin);
}

static void assert_names(const struct span_source *written, const struct span_source *read)
{
    for (size_t i = 0; i < read->track_count; i++) {
        const struct span_track *got = &read->tracks[i];
        size_t j = 0;
        while (j < written->track_count && written->tracks[j].tid != got->tid)
            j++;
        assert_true(j < written->track_count);
        assert_string_equal(got->thread_name, written->tracks[j].thread_name);
        assert_string_equal(got->process_name, written->tracks[j].process_name);
    }
}

/* Reads the script again, one event and a batch in turns. */
static void assert_batches(struct span_script *script, const char *path)
{
    struct error error = {0};
    struct span_source *source = span_script_source(script), *read = fxt_read(path, &error);
    struct span_event one, expected;
    const struct span_event *events;
    for (size_t count = 1; count > 0;) {
        if (read->next(read, &one, &error)) {
            assert_true(source->next(source, &expected, &error));
            assert_same_event(source, &expected, read, &one);
        }
        count = read->take(read, &events, &error);
        for (size_t i = 0; i < count; i++) {
            assert_true(source->next(source, &expected, &error));
            assert_same_event(source, &expected, read, &events[i]);
        }
    }
    assert_int_equal(error.code, ERROR_NONE);
    assert_false(source->next(source, &expected, &error));
    read->close(read);
}

/* The trace at `path` was written from single events. */
static void assert_same_from_batches(struct span_script *script, const char *path)
{
    static const size_t sizes[] = {1, 3, 64};
    char *other =
        memory_format("%s-batches%s", path, strrchr(path, '.')); /* both as gzip, or none */
    struct error error = {0};
    size_t expected_size, size;
    char *expected = file_read(path, &expected_size, &error);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        span_script_in_batches(script, sizes[i]);
        if (!fxt_write(span_script_source(script), other, NULL, &error))
            fail_msg("%s", error.text);
        char *bytes = file_read(other, &size, &error);
        assert_int_equal(size, expected_size);
        assert_memory_equal(bytes, expected, size);
        free(bytes);
    }
    span_script_in_batches(script, 0);
    free(expected);
    free(other);
}

/* Writes the script, reads it back and compares everything. */
static void assert_round_trip(struct span_script *script, const char *name)
{
    char *path = temporary_folder_path(name);
    struct error error = {0};
    struct span_source *source = span_script_source(script);
    if (!fxt_write(source, path, NULL, &error))
        fail_msg("%s", error.text);
    struct span_source *read = fxt_read(path, &error);
    if (!read)
        fail_msg("%s", error.text);
    assert_int_equal(read->wall_clock, source->wall_clock);
    assert_names(source, read);
    source = span_script_source(script);
    struct span_event expected, got;
    while (source->next(source, &expected, &error)) {
        if (!read->next(read, &got, &error))
            fail_msg("the trace ends early: %s", error.text);
        assert_same_event(source, &expected, read, &got);
        if (got.function)
            assert_true(got.function->index < read->function_count);
    }
    assert_false(read->next(read, &got, &error));
    assert_int_equal(error.code, ERROR_NONE);
    read->close(read);
    assert_batches(script, path);
    assert_same_from_batches(script, path);
    free(path);
}

static void empty_trace(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    assert_round_trip(script, "empty.fxt");
    assert_round_trip(script, "empty.fxt.gz");
    span_script_free(script);
}

static void everything_a_span_can_say(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 4000000, 4000001, "prog -x [pid]", "worker");
    struct span_function *function = span_script_function(script, "ns::f(int)");
    function->symbol = "_ZN2ns1fEi";
    function->file = "/src/f.cc";
    function->line = 4000000000u;
    function->origin = SPAN_KERNEL;
    span_script_function(script, "[syscall]")->special = true;

    span_script_enter(script, track, 5, "main")->flags = SPAN_START_INFERRED;
    static const enum span_end ENDS[] = {SPAN_END_RETURN, SPAN_END_TAIL_CALL, SPAN_END_UNWOUND,
                                         SPAN_END_GAP,    SPAN_END_OF_TRACE,  SPAN_END_EXEC,
                                         SPAN_END_FILTER};
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        span_script_enter(script, track, 10 + i, "ns::f(int)")->address = 0xffffffff81000000;
        span_script_enter(script, track, 10 + i, "[syscall]");
        span_script_leave(script, track, 10 + i)->end = ENDS[i];
        span_script_instant(script, track, 10 + i, "gap: overflow");
        struct span_event *leave = span_script_leave(script, track, 11 + i);
        leave->end = ENDS[i];
        leave->flags = (i % 2 ? SPAN_END_INFERRED : 0) | (i % 3 ? SPAN_ACROSS_GAP : 0);
    }
    span_script_leave(script, track, UINT64_C(1) << 62)->end = SPAN_END_OF_TRACE;
    static const char *const OF_ORIGINS[] = {"own", "library", "kernel", "inlined"};
    for (enum span_origin origin = SPAN_OWN; origin <= SPAN_INLINED; origin++) {
        span_script_function(script, OF_ORIGINS[origin])->origin = origin;
        span_script_enter(script, track, UINT64_C(1) << 62, OF_ORIGINS[origin]);
        span_script_leave(script, track, UINT64_C(1) << 62);
    }
    script->source.wall_clock = UINT64_C(1790000000123456789);
    assert_round_trip(script, "everything.fxt");
    assert_round_trip(script, "everything.fxt.gz");
    span_script_free(script);
}

static void stacks_that_wait_and_go_on(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    struct span_function *function = span_script_function(script, "fiber");
    function->symbol = "fiber";
    function->file = "fiber.c";
    function->line = 7;
    for (uint64_t i = 0; i < 3; i++) {
        struct span_event *enter = span_script_enter(script, track, 10 * i, "fiber");
        enter->address = 0x1000;
        enter->flags = SPAN_START_INFERRED;
        enter->stack = i == 1 ? 0 : 4000000000u;
        struct span_event *leave = span_script_leave(script, track, 10 * i + 5);
        leave->end = SPAN_END_SWITCH;
        leave->flags = SPAN_END_INFERRED | SPAN_ACROSS_GAP;
        leave->stack = i == 1 ? 0 : 4000000000u;
    }
    assert_round_trip(script, "stacks.fxt");
    span_script_free(script);
}

static void counters(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t a = span_script_track(script, 10, 10, "prog", "main");
    uint32_t b = span_script_track(script, 20, 20, "other", "main");
    static const char *const TEXTS[] = {"frequency of CPU 3 (MHz)",
                                        "queue",
                                        "two words",
                                        "open (",
                                        "(unit)",
                                        "nothing ()",
                                        "a (b) c",
                                        "a (b (c))"};
    span_script_enter(script, a, 1, "f");
    for (uint64_t i = 0; i < 100; i++) {
        const char *text = TEXTS[i % (sizeof TEXTS / sizeof TEXTS[0])];
        span_script_counter(script, i % 3 ? a : b, 2 + i, text, 1e300 / (double)(i + 1));
        span_script_counter(script, a, 2 + i, text, -0.1 * (double)i);
    }
    span_script_leave(script, a, 200);
    assert_round_trip(script, "counters.fxt");
    assert_round_trip(script, "counters.fxt.gz");
    span_script_free(script);
}

static void everything_a_hit_can_say(void **state)
{
    (void)state;
    static const struct span_hit HITS[] = {
        {.time = {9}, .address = 0x1000, .pid = 1, .tid = 2},
        {.time = {9}, .address = 0x1000, .pid = 1, .tid = 2},
        {.time = {UINT64_C(1) << 61},
         .passed = {0},
         .has_passed = true,
         .has_argument = true,
         .argument = INT64_MIN,
         .address = UINT64_C(0xffffffffff600000),
         .pid = 4000000,
         .tid = 4000001},
        {.time = {12}, .has_argument = true, .argument = 0, .address = 1, .pid = 1, .tid = 1},
    };
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 5, 6, "Snapshot symbol hits", "hits");
    span_script_function(script, "hit f(int)")->special = true;
    for (size_t i = 0; i < sizeof HITS / sizeof HITS[0]; i++) {
        span_script_enter(script, track, 10 + i, "hit f(int)")->hit = &HITS[i];
        span_script_leave(script, track, 10 + i);
    }
    assert_round_trip(script, "hits.fxt");
    span_script_free(script);
}

static void more_strings_than_the_format_has_numbers(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_enter(script, track, 0, "main");
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < 100000; i++) {
            char *name = memory_format("function number %u", i);
            span_script_enter(script, track, 1 + i + 100000 * (unsigned)round, name);
            span_script_leave(script, track, 1 + i + 100000 * (unsigned)round);
            free(name);
        }
    span_script_leave(script, track, 200001);
    assert_round_trip(script, "strings.fxt");
    assert_round_trip(script, "strings.fxt.gz");
    span_script_free(script);
}

static void more_threads_than_the_format_has_numbers(void **state)
{
    (void)state;
    enum { THREADS = 1000 };
    struct span_script *script = span_script_new();
    for (uint32_t i = 0; i < THREADS; i++) {
        char *name = memory_format("thread %u", i);
        span_script_track(script, 100 + i / 300, 1000 + i, "prog", name);
        free(name);
    }
    uint64_t time = 0;
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < THREADS; i++)
            span_script_enter(script, i, time++, "work");
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < THREADS; i++)
            span_script_leave(script, i, time++);
    assert_round_trip(script, "threads.fxt");
    span_script_free(script);
}

static void deeper_than_perfetto_keeps(void **state)
{
    (void)state;
    enum { DEPTH = 2000 };
    struct span_script *script = span_script_new();
    /* A real thread has an id that would be given to the rows of deep frames. */
    uint32_t a = span_script_track(script, 7, 7, "prog", "main (of a sort)");
    uint32_t b = span_script_track(script, 7, FXT_SYNTHETIC_TID_BASE, "prog", "main (of a sort)");
    for (uint64_t i = 0; i < DEPTH; i++) {
        span_script_enter(script, a, i, i % 2 ? "even" : "odd");
        span_script_instant(script, a, i, "mark");
        if (i < 600)
            span_script_enter(script, b, i, "b");
    }
    for (uint64_t i = 0; i < DEPTH; i++) {
        span_script_leave(script, a, DEPTH + i);
        if (i < 600)
            span_script_leave(script, b, DEPTH + i);
    }
    assert_round_trip(script, "depth.fxt");
    span_script_free(script);
}

/* Most events of a trace are calls of functions met before, and their returns; here they go on
 * through several rows of a thread, and from one thread to another. */
/* A walk of one thread between calls of `functions` functions, each of which has a symbol. */
struct moving {
    struct span_script *moves, *single; /* the same, with moves and without */
    uint32_t tracks[2];
    struct array known; /* of struct span_move *: those that were made */
    uint32_t functions;
    uint64_t random;
};

static uint32_t draw(struct moving *moving, uint32_t below)
{
    moving->random = moving->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(moving->random >> 33) % below;
}

static const char *draw_function(struct moving *moving)
{
    static char name[32];
    snprintf(name, sizeof name, "function %u", draw(moving, moving->functions));
    struct span_script *scripts[] = {moving->moves, moving->single};
    for (size_t i = 0; i < 2; i++) {
        struct span_function *function = span_script_function(scripts[i], name);
        function->symbol =
            function->symbol ? function->symbol : arena_copy_string(&scripts[i]->arena, name + 2);
        function->origin = SPAN_INLINED;
    }
    return name;
}

static const struct span_move *new_move(struct moving *moving, uint32_t begun_most)
{
    struct arena *arena = &moving->moves->arena;
    struct span_move *move = arena_allocate(arena, sizeof *move);
    *move = (struct span_move){.left = draw(moving, 3), .begun = draw(moving, begun_most)};
    move->begun += move->left == 0; /* each move changes something */
    size_t count = move->left + move->begun;
    move->functions = arena_allocate(arena, (count + 1) * sizeof *move->functions);
    for (size_t i = 0; i < count; i++)
        move->functions[i] = span_script_function(moving->moves, draw_function(moving));
    move->number = (uint32_t)moving->known.count;
    *(struct span_move **)array_add(&moving->known) = move;
    return move;
}

static size_t depth_of(struct moving *moving, uint32_t track)
{
    return ((struct array *)array_at(&moving->single->stacks, track))->count;
}

static void move(struct moving *moving, uint32_t track, uint64_t time, uint32_t begun_most)
{
    const struct span_move *made =
        moving->known.count > 0 && draw(moving, 4) > 0
            ? *(struct span_move **)array_at(&moving->known,
                                             draw(moving, (uint32_t)moving->known.count))
            : new_move(moving, begun_most);
    if (made->left >= depth_of(moving, track))
        return;
    struct span_event *event = array_add(&moving->moves->events);
    *event = (struct span_event){.kind = SPAN_MOVE, .track = track, .time = {time}, .move = made};
    for (uint32_t i = 0; i < made->left; i++)
        span_script_leave(moving->single, track, time);
    for (uint32_t i = made->left; i < made->left + made->begun; i++)
        span_script_enter(moving->single, track, time, made->functions[i]->name);
}

static void call_or_return(struct moving *moving, uint32_t track, uint64_t time)
{
    bool enters = depth_of(moving, track) == 0 || draw(moving, 2) == 0;
    const char *name = draw_function(moving);
    struct span_script *scripts[] = {moving->moves, moving->single};
    for (size_t i = 0; i < 2; i++) {
        struct array *stack = array_at(&scripts[i]->stacks, track);
        if (enters) {
            span_script_enter(scripts[i], track, time, name);
        } else {
            if (i == 0) /* which moves have changed in the other one alone */
                *(const struct span_function **)array_add(stack) =
                    span_script_function(scripts[i], name);
            span_script_leave(scripts[i], track, time);
        }
    }
}

static char *written(struct span_script *script, const char *name, size_t batch, size_t *size)
{
    char *path = temporary_folder_path(name);
    struct error error = {0};
    struct fxt_summary summary;
    span_script_in_batches(script, batch);
    if (!fxt_write(span_script_source(script), path, &(struct fxt_options){.summary = &summary},
                   &error))
        fail_msg("%s", error.text);
    char *bytes = file_read(path, size, &error);
    char *all = memory_format("%llu %llu", (unsigned long long)summary.spans,
                              (unsigned long long)summary.calls);
    bytes = memory_resize(bytes, *size + strlen(all));
    memcpy(bytes + *size, all, strlen(all));
    *size += strlen(all);
    free(all);
    free(path);
    return bytes;
}

static void assert_moves_are_written(uint32_t functions, uint32_t begun_most)
{
    enum { EVENTS = 20000 };
    struct moving moving = {.moves = span_script_new(),
                            .single = span_script_new(),
                            .known = array_of(sizeof(struct span_move *)),
                            .functions = functions,
                            .random = functions};
    struct span_script *scripts[] = {moving.moves, moving.single};
    for (uint32_t track = 0; track < 2; track++)
        for (size_t i = 0; i < 2; i++)
            moving.tracks[track] = span_script_track(scripts[i], 7, 7 + track, "prog", "a");
    for (uint64_t i = 0; i < EVENTS; i++) {
        uint32_t track = moving.tracks[i / 1000 % 2];
        if (draw(&moving, 4) == 0)
            call_or_return(&moving, track, i / 3);
        else
            move(&moving, track, i / 3, begun_most);
    }
    for (size_t batch = 0; batch <= 64; batch += 16) {
        size_t expected_size, size;
        char *expected = written(moving.single, "single.fxt", batch, &expected_size);
        char *bytes = written(moving.moves, "moves.fxt", batch, &size);
        assert_int_equal(size, expected_size);
        assert_memory_equal(bytes, expected, size);
        free(expected);
        free(bytes);
    }
    array_free(&moving.known);
    span_script_free(moving.moves);
    span_script_free(moving.single);
}

/* The trace is the same as with an event for each function that ends or begins: in one row and across rows, with all
 * strings in use at once and without. */
static void moves_between_inlined_functions(void **state)
{
    (void)state;
    assert_moves_are_written(20, 3);
    assert_moves_are_written(300, 4);
    assert_moves_are_written(5000, 3);
    assert_moves_are_written(100, 90);
}

static void long_runs_of_calls(void **state)
{
    (void)state;
    enum { EVENTS = 20000 };
    static const char *const functions[] = {"f", "g", "h"};
    struct span_script *script = span_script_new();
    uint32_t tracks[] = {span_script_track(script, 7, 7, "prog", "a"),
                         span_script_track(script, 7, 8, "prog", "b")};
    size_t depths[2] = {0};
    uint64_t random = 1, time = 0;
    for (int i = 0; i < EVENTS; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t drawn = (uint32_t)(random >> 33), track = i / 1000 % 2;
        bool climbs = i < EVENTS / 2;
        if ((drawn % 8 < 5) == climbs || depths[track] == 0) {
            struct span_event *entered =
                span_script_enter(script, tracks[track], time, functions[drawn / 8 % 3]);
            entered->address = drawn % 50 == 0 ? 0x1000 : 0x2000;
            depths[track]++;
        } else {
            struct span_event *left = span_script_leave(script, tracks[track], time);
            left->end = drawn % 50 == 0 ? SPAN_END_TAIL_CALL : SPAN_END_RETURN;
            left->flags = drawn % 90 == 0 ? SPAN_END_INFERRED : 0;
            depths[track]--;
        }
        time += drawn % 3;
    }
    for (uint32_t track = 0; track < 2; track++)
        for (; depths[track] > 0; depths[track]--)
            span_script_leave(script, tracks[track], time);
    assert_round_trip(script, "runs.fxt");
    span_script_free(script);
}

static void equal_timestamps_keep_their_order(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t a = span_script_track(script, 1, 1, "prog", "a");
    uint32_t b = span_script_track(script, 1, 2, "prog", "b");
    span_script_enter(script, a, 50, "f");
    span_script_enter(script, a, 50, "g");
    span_script_enter(script, b, 50, "h");
    span_script_leave(script, a, 50);
    span_script_enter(script, a, 50, "g");
    span_script_leave(script, a, 50);
    span_script_leave(script, b, 50);
    span_script_leave(script, a, 50);
    assert_round_trip(script, "equal.fxt");
    span_script_free(script);
}

static void unusual_names(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "", "\xe6\xbc\xa2\xe5\xad\x97 \"quoted\"");
    static const char *const NAMES[] = {"",
                                        "\xce\xbb",
                                        "12345678", /* one word exactly */
                                        "123456789",
                                        "\xff\xfe not UTF-8",
                                        "semicolon; \xc2\xa0space",
                                        "operator()<>"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        span_script_enter(script, track, i, NAMES[i]);
        span_script_leave(script, track, i);
    }
    assert_round_trip(script, "names.fxt");
    span_script_free(script);
}

/* Writes one span with a name of `length` bytes, made of `unit`, and returns the name that is read
 * back. */
static char *name_read_back(const char *unit, size_t length)
{
    char *name = memory_allocate(length + 1);
    for (size_t i = 0; i < length; i++)
        name[i] = unit[i % strlen(unit)];
    name[length] = 0;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, name, "main");
    span_script_enter(script, track, 0, name);
    span_script_leave(script, track, 1);
    free(name);
    char *path = temporary_folder_path("long.fxt");
    struct error error = {0};
    if (!fxt_write(span_script_source(script), path, NULL, &error))
        fail_msg("%s", error.text);
    span_script_free(script);
    struct span_source *source = fxt_read(path, &error);
    if (!source)
        fail_msg("%s", error.text);
    struct span_event event;
    assert_true(source->next(source, &event, &error));
    char *got = memory_copy_string(event.function->name);
    source->close(source);
    free(path);
    return got;
}

static void longest_names(void **state)
{
    (void)state;
    char *name = name_read_back("x", FXT_STRING_LENGTH_MAX);
    assert_int_equal(strlen(name), FXT_STRING_LENGTH_MAX);
    free(name);
    name = name_read_back("x", 800000);
    assert_int_equal(strlen(name), FXT_STRING_LENGTH_MAX);
    assert_string_equal(name + strlen(name) - 4, "x\xe2\x80\xa6");
    free(name);
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    /* Of a name of two-byte characters after one to four single bytes, whole characters must
     * remain. */
    for (size_t lead = 0; lead < 4; lead++) {
        char *unit =
            memory_format("%.*s%s", (int)lead, "aaaa", "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80");
        char *name = name_read_back(unit, 40000 - 40000 % strlen(unit));
        size_t length = strlen(name);
        assert_true(length <= FXT_STRING_LENGTH_MAX && length > FXT_STRING_LENGTH_MAX - 7);
        assert_true(mbstowcs(NULL, name, 0) != (size_t)-1);
        free(name);
        free(unit);
    }
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_trace),
        cmocka_unit_test(everything_a_span_can_say),
        cmocka_unit_test(stacks_that_wait_and_go_on),
        cmocka_unit_test(counters),
        cmocka_unit_test(everything_a_hit_can_say),
        cmocka_unit_test(more_strings_than_the_format_has_numbers),
        cmocka_unit_test(more_threads_than_the_format_has_numbers),
        cmocka_unit_test(deeper_than_perfetto_keeps),
        cmocka_unit_test(long_runs_of_calls),
        cmocka_unit_test(moves_between_inlined_functions),
        cmocka_unit_test(equal_timestamps_keep_their_order),
        cmocka_unit_test(unusual_names),
        cmocka_unit_test(longest_names),
        cmocka_unit_test(long_names_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, temporary_folder_make, temporary_folder_remove);
}
