/* A whole timeline of a made-up recording: small replacements at the top of this file stand for the
 * modules below.
 */
#include "stack/timeline.h"

#include "decode/trace_marks.h"
#include "symbol/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* The recording: two processes of one and two threads; given to the timeline in this order. */
enum { MAIN_FUNCTION = FUNCTION_FIRST, WORK_FUNCTION, FUNCTION_SIZE = 0x1000 };

struct made_up_thread {
    struct thread thread;
    const struct flow_event *events;
    size_t event_count;
};

struct flow {
    struct session session;
    const struct made_up_thread *threads;
    size_t thread_count;
    struct perf_data perf_data;
    struct address_spaces spaces;
    const struct session_death *death; /* NULL: no thread was killed */
    uint64_t wall_clock_offset;        /* of the wall clock against the recording's */
    unsigned lines_asked;
    bool fails;
};

/* Set by each test; what flow_open "finds" at a path. */
static struct flow *recording;

static uint64_t start_of(function_id function)
{
    return (uint64_t)function * FUNCTION_SIZE;
}

struct flow *flow_open(const char *path, const struct flow_options *options, struct error *error)
{
    if (recording == NULL)
        error_set(error, ERROR_NOT_FOUND, "%s is not there", path);
    return recording;
}

bool flow_decode(struct flow *flow, const struct flow_sink *sink, struct error *error)
{
    if (flow->fails)
        return error_set(error, ERROR_FORMAT, "made-up failure");
    for (size_t i = 0; i < flow->thread_count; i++) {
        const struct made_up_thread *thread = &flow->threads[i];
        void *object = sink->begin(sink->context, &thread->thread);
        sink->events(object, thread->events, thread->event_count);
        sink->end(object);
    }
    return true;
}

uint64_t flow_wall_clock(const struct flow *flow, struct nanoseconds time)
{
    return flow->wall_clock_offset + time.value;
}

bool flow_read_call_values(const struct flow *flow, struct recorded_group arguments,
                           struct recorded_group result, struct arena *memory,
                           struct named_values *read)
{
    return false;
}

const struct session *flow_session(const struct flow *flow)
{
    return &flow->session;
}

bool flow_death(const struct flow *flow, uint32_t pid, uint32_t tid, struct session_death *death)
{
    if (flow->death == NULL || flow->death->pid != pid || flow->death->tid != tid)
        return false;
    *death = *flow->death;
    return true;
}

void flow_close(struct flow *flow)
{
}

bool flow_finds_inlined(const struct flow *flow)
{
    return false;
}

bool symbols_inlined_in(struct symbols *symbols, function_id function, uint64_t start,
                        uint64_t address, inlined_id *inlined)
{
    return false;
}

const char *symbols_damaged_debug_information(const struct symbols *symbols)
{
    return NULL;
}

const struct inlined_table *symbols_inlined_calls(const struct symbols *symbols)
{
    return NULL;
}

struct symbols *flow_symbols(const struct flow *flow)
{
    return (struct symbols *)flow;
}

const struct address_spaces *flow_address_spaces(const struct flow *flow)
{
    return &flow->spaces;
}

const struct text_code *flow_text_code(const struct flow *flow, uint32_t pid)
{
    return NULL;
}

uint64_t text_code_function_start(const struct text_code *code, uint64_t address)
{
    return 0;
}

uint32_t text_code_program_changes(const struct text_code *code, struct ticks time)
{
    return 0;
}

const struct perf_data *flow_perf_data(const struct flow *flow)
{
    return &flow->perf_data;
}

void flow_marks(const struct flow *flow, struct array *marks)
{
}

bool flow_has_coarse_times(const struct flow *flow)
{
    return false;
}

bool flow_is_sampled(const struct flow *flow)
{
    return false;
}

bool flow_is_snapshot(const struct flow *flow)
{
    return false;
}

bool flow_follows_event(const struct flow *flow, uint32_t event)
{
    return false;
}

struct flow_statistics flow_statistics(const struct flow *flow)
{
    return (struct flow_statistics){.events = 42};
}

const struct error *flow_damage(const struct flow *flow)
{
    return NULL;
}

const char *flow_error_text(uint8_t error)
{
    return error == 7 ? "made-up error" : "another error";
}

const struct process *address_spaces_process(const struct address_spaces *spaces, uint32_t pid)
{
    for (size_t i = 0; i < spaces->process_count; i++)
        if (spaces->processes[i].pid == pid)
            return &spaces->processes[i];
    return NULL;
}

void address_space_cursor_init(struct address_space_cursor *cursor, const struct process *process)
{
}

void address_space_cursor_free(struct address_space_cursor *cursor)
{
}

bool address_space_cursor_advance(struct address_space_cursor *cursor, struct ticks time)
{
    return false;
}

const struct mapping *address_space_find(const struct address_space_cursor *cursor,
                                         uint64_t address)
{
    static const struct mapping program = {.start = FUNCTION_SIZE, .end = 0x100000};
    return address >= program.start && address < program.end ? &program : NULL;
}

struct function_bounds symbols_find(struct symbols *symbols, const struct mapping *mapping,
                                    uint64_t address)
{
    function_id function = (function_id)(address / FUNCTION_SIZE);
    return (struct function_bounds){
        .function = function, .start = start_of(function), .end = start_of(function + 1)};
}

const struct function *symbols_function(const struct symbols *symbols, function_id function)
{
    static const struct function functions[] = {
        [FUNCTION_UNKNOWN] = {.name = "[unknown]"},
        [FUNCTION_UNTRACED] = {.name = "[untraced]"},
        [FUNCTION_SYSCALL] = {.name = "[syscall]"},
        [FUNCTION_INTERRUPT] = {.name = "[interrupt]"},
        [MAIN_FUNCTION] = {.name = "main", .symbol = "main"},
        [WORK_FUNCTION] = {.name = "work()", .symbol = "_Z4workv", .owner = CODE_OF_LIBRARY},
    };
    return &functions[function];
}

uint64_t symbols_landing_pad(struct symbols *symbols, const struct mapping *mapping,
                             uint64_t return_address)
{
    return 0;
}

struct source_line symbols_line(struct symbols *symbols, function_id function)
{
    recording->lines_asked++;
    return (struct source_line){"made-up.c", 10 * function};
}

struct source_line symbols_line_at(struct symbols *symbols, const struct mapping *mapping,
                                   uint64_t address)
{
    return (struct source_line){"made-up.c", (uint32_t)(address % FUNCTION_SIZE)};
}

/* The tests. */

static struct flow_event call_event(uint64_t time)
{
    return (struct flow_event){.kind = FLOW_CALL,
                               .time = {time},
                               .from = start_of(MAIN_FUNCTION) + 0x10,
                               .to = start_of(WORK_FUNCTION),
                               .next = start_of(MAIN_FUNCTION) + 0x15,
                               .function = WORK_FUNCTION};
}

static struct flow_event return_event(uint64_t time)
{
    return (struct flow_event){.kind = FLOW_RETURN,
                               .time = {time},
                               .to = start_of(MAIN_FUNCTION) + 0x15,
                               .function = MAIN_FUNCTION};
}

static struct flow_event resume_event(uint64_t time)
{
    return (struct flow_event){.kind = FLOW_RESUME,
                               .time = {time},
                               .to = start_of(MAIN_FUNCTION),
                               .function = MAIN_FUNCTION};
}

static struct flow_event syscall_event(uint64_t time)
{
    return (struct flow_event){.kind = FLOW_SYSCALL,
                               .time = {time},
                               .from = start_of(MAIN_FUNCTION) + 0x20,
                               .next = start_of(MAIN_FUNCTION) + 0x22,
                               .function = MAIN_FUNCTION};
}

static struct flow_event gap_event(uint64_t time)
{
    return (struct flow_event){.kind = FLOW_GAP,
                               .time = {time},
                               .from = 0x1234,
                               .flags = FLOW_TIME_LOST,
                               .gap = FLOW_GAP_ERROR,
                               .error = 7};
}

static struct timeline *decode(struct flow *flow, const struct made_up_thread *threads,
                               size_t count)
{
    struct error error = {0};
    flow->threads = threads;
    flow->thread_count = count;
    recording = flow;
    struct timeline *timeline = timeline_decode("made-up", &(struct flow_options){0}, &error);
    assert_non_null(timeline);
    return timeline;
}

static void expect(struct span_source *source, enum span_event_kind kind, uint32_t track,
                   uint64_t time, const char *name)
{
    struct span_event event;
    struct error error = {0};
    assert_true(source->next(source, &event, &error));
    assert_int_equal(event.kind, kind);
    assert_int_equal(event.track, track);
    assert_int_equal(event.time.value, time);
    if (kind == SPAN_INSTANT)
        assert_string_equal(event.text, name);
    else
        assert_string_equal(event.function->name, name);
    if (kind == SPAN_ENTER)
        assert_int_equal(event.function->origin,
                         strcmp(name, "work()") == 0 ? SPAN_LIBRARY : SPAN_OWN);
}

static void expect_end(struct span_source *source)
{
    struct span_event event;
    struct error error = {.code = ERROR_IO};
    assert_false(source->next(source, &event, &error));
    assert_int_equal(error.code, ERROR_NONE);
}

static struct process processes[] = {{.pid = 10, .name = "program"}, {.pid = 20, .name = "child"}};

static void threads_are_merged_by_time_then_by_track(void **state)
{
    const struct flow_event first[] = {resume_event(2000), call_event(2030), return_event(2050)};
    const struct flow_event second[] = {resume_event(1990), call_event(2030)};
    const struct made_up_thread threads[] = {
        {{.pid = 20, .tid = 21, .name = "late"}, NULL, 0},
        {{.pid = 10, .tid = 11, .name = "helper"}, second, 2},
        {{.pid = 10, .tid = 10, .name = "main"}, first, 3},
    };
    struct flow flow = {.spaces = {.processes = processes, .process_count = 2}};
    struct timeline *timeline = decode(&flow, threads, 3);
    for (int pass = 0; pass < 2; pass++) {
        struct span_source *source = timeline_spans(timeline, NULL);
        assert_int_equal(source->track_count, 2);
        assert_int_equal(source->tracks[0].tid, 10);
        assert_string_equal(source->tracks[0].thread_name, "main");
        assert_string_equal(source->tracks[0].process_name, "program");
        assert_int_equal(source->tracks[1].tid, 11);
        expect(source, SPAN_ENTER, 1, 0, "main");
        expect(source, SPAN_ENTER, 0, 10, "main");
        expect(source, SPAN_ENTER, 0, 40, "work()");
        expect(source, SPAN_ENTER, 1, 40, "work()");
        expect(source, SPAN_LEAVE, 1, 40, "work()"); /* the last moment of its thread */
        expect(source, SPAN_LEAVE, 1, 40, "main");
        expect(source, SPAN_LEAVE, 0, 60, "work()");
        expect(source, SPAN_LEAVE, 0, 60, "main");
        expect_end(source);
        assert_int_equal(source->function_count, 2);
        source->close(source);
    }
    assert_int_equal(timeline_statistics(timeline).spans, 4);
    assert_int_equal(timeline_statistics(timeline).flow.events, 42);
    assert_int_equal(timeline_origin(timeline).value, 1990);
    timeline_free(timeline);
}

static void ticks_become_nanoseconds_of_the_recordings_clock(void **state)
{
    const struct flow_event events[] = {resume_event(1000), call_event(1001), return_event(1003)};
    const struct made_up_thread threads[] = {{{.pid = 10, .tid = 10, .name = "main"}, events, 3}};
    struct flow flow = {
        .spaces = {.processes = processes, .process_count = 2},
        .perf_data = {.setup = {.has_clock = true,
                                .clock = {.zero = 500, .mult = 6, .shift = 1}}}, /* 3 ns per tick */
        .wall_clock_offset = 1790000000000000000,
    };
    struct timeline *timeline = decode(&flow, threads, 1);
    struct span_source *source = timeline_spans(timeline, NULL);
    expect(source, SPAN_ENTER, 0, 0, "main");
    expect(source, SPAN_ENTER, 0, 3, "work()");
    expect(source, SPAN_LEAVE, 0, 9, "work()");
    assert_int_equal(timeline_origin(timeline).value, 3500);
    assert_int_equal(source->wall_clock, 1790000000000003500);
    source->close(source);
    timeline_free(timeline);
}

static void functions_are_shared_and_say_where_they_are(void **state)
{
    const struct flow_event events[] = {resume_event(1000),  call_event(1001), return_event(1003),
                                        syscall_event(1004), call_event(1005), return_event(1006)};
    const struct made_up_thread threads[] = {{{.pid = 10, .tid = 10, .name = "main"}, events, 6}};
    struct flow flow = {.spaces = {.processes = processes, .process_count = 2}};
    struct timeline *timeline = decode(&flow, threads, 1);
    struct span_source *source = timeline_spans(timeline, NULL);
    struct span_event event, again;
    expect(source, SPAN_ENTER, 0, 0, "main");
    assert_true(source->next(source, &event, NULL));
    assert_int_equal(event.address, start_of(WORK_FUNCTION));
    assert_int_equal(event.function->line, 10 * WORK_FUNCTION);
    assert_string_equal(event.function->file, "made-up.c");
    assert_string_equal(event.function->symbol, "_Z4workv");
    assert_false(event.function->special);
    expect(source, SPAN_LEAVE, 0, 3, "work()");
    assert_true(source->next(source, &again, NULL));
    assert_true(again.function->special);
    assert_string_equal(again.function->name, "[syscall]");
    assert_int_equal(again.function->line, 0);
    expect(source, SPAN_LEAVE, 0, 5, "[syscall]");
    assert_true(source->next(source, &again, NULL));
    assert_ptr_equal(again.function, event.function);
    assert_int_equal(recording->lines_asked, 2);
    source->close(source);
    timeline_free(timeline);
}

static void lines_are_not_read_if_they_are_not_shown(void **state)
{
    const struct flow_event events[] = {resume_event(1000), call_event(1001)};
    const struct made_up_thread threads[] = {{{.pid = 10, .tid = 10, .name = "main"}, events, 2}};
    struct flow flow = {.spaces = {.processes = processes, .process_count = 2}};
    struct timeline *timeline = decode(&flow, threads, 1);
    struct span_source *source = timeline_spans(timeline, NULL);
    source->no_lines = true;
    expect(source, SPAN_ENTER, 0, 0, "main");
    expect(source, SPAN_ENTER, 0, 1, "work()");
    assert_int_equal(recording->lines_asked, 0);
    source->close(source);
    timeline_free(timeline);
}

static void a_gap_is_a_mark_and_a_span_of_its_length(void **state)
{
    const struct flow_event events[] = {resume_event(1000), gap_event(1010), resume_event(1500),
                                        gap_event(1600), resume_event(1700)};
    const struct made_up_thread threads[] = {{{.pid = 99, .tid = 99, .name = "orphan"}, events, 5}};
    struct flow flow = {0};
    struct timeline *timeline = decode(&flow, threads, 1);
    struct span_source *source = timeline_spans(timeline, NULL);
    const char *name = "[decode error: made-up error]";
    const char *text = "[decode error: made-up error] at 0x1234";
    assert_string_equal(source->tracks[0].process_name, "orphan");
    expect(source, SPAN_ENTER, 0, 0, "main");
    expect(source, SPAN_INSTANT, 0, 10, text);
    expect(source, SPAN_ENTER, 0, 10, name);
    expect(source, SPAN_LEAVE, 0, 500, name);
    expect(source, SPAN_INSTANT, 0, 600, text);
    expect(source, SPAN_ENTER, 0, 600, name);
    expect(source, SPAN_LEAVE, 0, 700, name);
    expect(source, SPAN_LEAVE, 0, 700, "main");
    expect_end(source);
    assert_int_equal(source->function_count, 2);
    assert_int_equal(timeline_statistics(timeline).gaps, 2);
    source->close(source);
    timeline_free(timeline);
}

static void what_is_open_ends_with_its_thread(void **state)
{
    const struct flow_event events[] = {resume_event(1000), call_event(1010), syscall_event(1020)};
    const struct made_up_thread threads[] = {
        {{.pid = 10, .tid = 10, .name = "main", .ended = {5000}}, events, 3},
        {{.pid = 10, .tid = 11, .name = "other", .ended = {1015}}, events, 3},
    };
    struct flow flow = {.spaces = {.processes = processes, .process_count = 1}};
    struct timeline *timeline = decode(&flow, threads, 2);
    struct span_source *source = timeline_spans(timeline, NULL);
    struct span_event event;
    for (int i = 0; i < 3 * 2; i++)
        assert_true(source->next(source, &event, NULL)); /* both threads enter all three */
    expect(source, SPAN_LEAVE, 1, 20, "[syscall]");      /* the packets are more exact */
    expect(source, SPAN_LEAVE, 1, 20, "work()");
    expect(source, SPAN_LEAVE, 1, 20, "main");
    assert_true(source->next(source, &event, NULL));
    assert_int_equal(event.time.value, 4000);
    assert_int_equal(event.end, SPAN_END_OF_TRACE);
    assert_int_equal(event.flags, SPAN_END_INFERRED);
    expect(source, SPAN_LEAVE, 0, 4000, "work()");
    expect(source, SPAN_LEAVE, 0, 4000, "main");
    expect_end(source);
    source->close(source);
    timeline_free(timeline);
}

/* Two threads whose events alternate, some at the same time. */
static void events_in_batches_equal_single_events(void **state)
{
    const struct flow_event first[] = {resume_event(1000), call_event(1010), return_event(1020),
                                       call_event(1020), return_event(1030)};
    const struct flow_event second[] = {resume_event(1000), call_event(1010), call_event(1015),
                                        return_event(1025), return_event(1030)};
    const struct made_up_thread threads[] = {
        {{.pid = 10, .tid = 10, .name = "main"}, first, 5},
        {{.pid = 10, .tid = 11, .name = "other"}, second, 5},
    };
    struct flow flow = {.spaces = {.processes = processes, .process_count = 1}};
    struct timeline *timeline = decode(&flow, threads, 2);
    struct span_source *single = timeline_spans(timeline, NULL);
    struct span_source *batches = timeline_spans(timeline, NULL);
    struct error error = {.code = ERROR_IO};
    const struct span_event *taken;
    struct span_event event, room;
    size_t count;
    while ((count = span_source_take(batches, &room, &taken, &error)) > 0) {
        for (size_t i = 0; i < count; i++) {
            assert_true(single->next(single, &event, NULL));
            assert_memory_equal(&event.time, &taken[i].time, sizeof event.time);
            assert_int_equal(event.kind, taken[i].kind);
            assert_int_equal(event.track, taken[i].track);
            assert_ptr_equal(event.function, taken[i].function);
        }
        if (batches->next(batches, &event, NULL)) /* between two batches */
            expect(single, event.kind, event.track, event.time.value, event.function->name);
    }
    assert_int_equal(error.code, ERROR_NONE);
    expect_end(single);
    single->close(single);
    batches->close(batches);
    timeline_free(timeline);
}

static void a_gap_that_nothing_follows_ends_with_its_thread(void **state)
{
    const struct flow_event events[] = {resume_event(1000), gap_event(1010)};
    const struct made_up_thread threads[] = {
        {{.pid = 10, .tid = 10, .name = "main", .ended = {5000}}, events, 2},
    };
    struct flow flow = {.spaces = {.processes = processes, .process_count = 1}};
    struct timeline *timeline = decode(&flow, threads, 1);
    struct span_source *source = timeline_spans(timeline, NULL);
    expect(source, SPAN_ENTER, 0, 0, "main");
    expect(source, SPAN_LEAVE, 0, 10, "main");
    expect(source, SPAN_INSTANT, 0, 10, "[decode error: made-up error] at 0x1234");
    expect(source, SPAN_ENTER, 0, 10, "[decode error: made-up error]");
    expect(source, SPAN_LEAVE, 0, 4000, "[decode error: made-up error]");
    expect_end(source);
    source->close(source);
    timeline_free(timeline);
}

static void a_hit_is_shown_at_its_time(void **state)
{
    const struct flow_event events[] = {resume_event(1000), call_event(1010), return_event(1010),
                                        call_event(1010), return_event(1040)};
    const struct made_up_thread threads[] = {{{.pid = 10, .tid = 10, .name = "main"}, events, 5}};
    struct session_hit hits[] = {
        {.time = 1012, .pid = 10, .tid = 10}, /* in the middle of the second call */
        {.time = 1010, .pid = 10, .tid = 10, .address = start_of(WORK_FUNCTION)},
        {.time = 1010, .pid = 10, .tid = 10, .address = start_of(WORK_FUNCTION)},
        {.time = 1020, .pid = 77, .tid = 77}, /* of a thread that was not recorded */
    };
    struct flow flow = {.spaces = {.processes = processes, .process_count = 1},
                        .session = {.trigger = "work", .hits = hits, .hit_count = 4}};
    struct timeline *timeline = decode(&flow, threads, 1);
    struct span_source *source = timeline_spans(timeline, NULL);
    uint64_t shown[4] = {0};
    size_t count = 0;
    struct span_event event;
    while (source->next(source, &event, NULL))
        if (event.kind == SPAN_ENTER && event.hit != NULL)
            shown[count++] = event.time.value;
    assert_int_equal(count, 4);
    assert_int_equal(shown[0], 10); /* the first call, from 10 to 10, and the second, from 10 */
    assert_int_equal(shown[1], 10);
    assert_int_equal(shown[2], 12);
    assert_int_equal(shown[3], 20);
    source->close(source);
    timeline_free(timeline);
}

static void expect_death(const struct session_death *death, const char *text)
{
    const struct flow_event events[] = {resume_event(1000), call_event(1010)};
    const struct made_up_thread threads[] = {
        {{.pid = 10, .tid = 10, .name = "main", .ended = {1040}}, events, 2}};
    struct flow flow = {.spaces = {.processes = processes, .process_count = 1}, .death = death};
    struct timeline *timeline = decode(&flow, threads, 1);
    struct span_source *source = timeline_spans(timeline, NULL);
    expect(source, SPAN_ENTER, 0, 0, "main");
    expect(source, SPAN_ENTER, 0, 10, "work()");
    expect(source, SPAN_INSTANT, 0, 40, text);
    expect(source, SPAN_LEAVE, 0, 40, "work()");
    expect(source, SPAN_LEAVE, 0, 40, "main");
    expect_end(source);
    source->close(source);
    timeline_free(timeline);
}

static void a_death_is_a_mark_that_says_where(void **state)
{
    struct session_death death = {
        .signal = 11, .pid = 10, .tid = 10, .has_address = true, .address = 0x500c};
    expect_death(&death, "killed by SIGSEGV at 0x500c in work() (made-up.c:12)");
    death.address = 0; /* a call through a null pointer */
    death.signal = 4;
    expect_death(&death, "killed by SIGILL at 0x0");
    death.address = 0x12345678;
    expect_death(&death, "killed by SIGILL at 0x12345678");
    death.has_address = false;
    death.signal = 77;
    expect_death(&death, "killed by signal 77");
}

static void exec_is_seen_in_the_address_space(void **state)
{
    struct address_space_change changes[] = {
        {.time = {0}, .kind = ADDRESS_SPACE_CLEAR},
        {.time = {1500}, .kind = ADDRESS_SPACE_CLEAR},
        {.time = {1501}, .kind = ADDRESS_SPACE_MAP},
    };
    struct process process = {.pid = 10, .name = "p", .changes = changes, .change_count = 3};
    const struct flow_event events[] = {resume_event(1000), syscall_event(1010), resume_event(1600),
                                        syscall_event(1610), resume_event(1700)};
    const struct made_up_thread threads[] = {{{.pid = 10, .tid = 10, .name = "main"}, events, 5}};
    struct flow flow = {.spaces = {.processes = &process, .process_count = 1}};
    struct timeline *timeline = decode(&flow, threads, 1);
    struct span_source *source = timeline_spans(timeline, NULL);
    struct span_event event;
    expect(source, SPAN_ENTER, 0, 0, "main");
    expect(source, SPAN_ENTER, 0, 10, "[syscall]");
    expect(source, SPAN_LEAVE, 0, 600, "[syscall]");
    assert_true(source->next(source, &event, NULL));
    assert_int_equal(event.kind, SPAN_LEAVE);
    assert_int_equal(event.end, SPAN_END_EXEC);
    expect(source, SPAN_ENTER, 0, 600, "main");
    expect(source, SPAN_ENTER, 0, 610, "[syscall]");
    source->close(source);
    timeline_free(timeline);
}

static void a_recording_without_events_has_no_tracks(void **state)
{
    struct flow flow = {0};
    struct timeline *timeline = decode(&flow, NULL, 0);
    struct span_source *source = timeline_spans(timeline, NULL);
    assert_int_equal(source->track_count, 0);
    expect_end(source);
    source->close(source);
    timeline_free(timeline);
}

static void failures_of_the_decoder_are_passed_on(void **state)
{
    struct error error = {0};
    struct flow flow = {.fails = true};
    recording = NULL;
    assert_null(timeline_decode("missing", &(struct flow_options){0}, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    recording = &flow;
    assert_null(timeline_decode("broken", &(struct flow_options){0}, &error));
    assert_int_equal(error.code, ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_merged_by_time_then_by_track),
        cmocka_unit_test(ticks_become_nanoseconds_of_the_recordings_clock),
        cmocka_unit_test(functions_are_shared_and_say_where_they_are),
        cmocka_unit_test(lines_are_not_read_if_they_are_not_shown),
        cmocka_unit_test(a_gap_is_a_mark_and_a_span_of_its_length),
        cmocka_unit_test(what_is_open_ends_with_its_thread),
        cmocka_unit_test(a_gap_that_nothing_follows_ends_with_its_thread),
        cmocka_unit_test(a_hit_is_shown_at_its_time),
        cmocka_unit_test(a_death_is_a_mark_that_says_where),
        cmocka_unit_test(exec_is_seen_in_the_address_space),
        cmocka_unit_test(events_in_batches_equal_single_events),
        cmocka_unit_test(a_recording_without_events_has_no_tracks),
        cmocka_unit_test(failures_of_the_decoder_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
