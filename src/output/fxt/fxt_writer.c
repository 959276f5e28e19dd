#include "output/fxt/fxt_writer.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/log.h"
#include "base/memory.h"
#include "output/block_writer.h"
#include "output/fxt/fxt_counter_text.h"
#include "output/fxt/fxt_format.h"
#include "output/fxt/fxt_strings.h"
#include "output/fxt/fxt_threads.h"
#include "output/fxt/wall_clock.h"
#include "output/output_file.h"
#include "output/stack_flows.h"
#include "stack/spans/off_cpu_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Times are written as they are, in nanoseconds. */
static const uint64_t TICKS_PER_SECOND = 1000000000;

/* Events between two looks at the progress line and at whether the disk is full. */
static const uint64_t EVENTS_PER_CHECK = 1 << 16;

/* Words of the longest records of each type. A call's beginning: header, time, address, symbol,
 * file, line, that it is inferred, and its stack. A hit: header, time, and its arguments. An end:
 * header, time, and four short arguments. */
enum { CALL_WORDS_MAX = 9, HIT_WORDS_MAX = 2 + 10, END_WORDS_MAX = 2 + 4 };

/* A record that is nearly the same whenever it is written: all but its thread and its time. */
struct call_template {
    uint64_t words[CALL_WORDS_MAX];
    uint64_t word_count; /* 0: it was not made yet */
    uint64_t address;    /* what it was made for */
    uint8_t flags;
    bool is_call; /* and not a time without a processor */
};

/* The records of a move between inlined functions, one after the other, without their thread and time. They are copied
 * in steps of MOVE_STEP words, so there is memory for whole steps. */
enum { MOVE_STEP = 8 };

struct move_template {
    uint64_t *words;     /* in `names`; NULL: it was not made yet */
    uint32_t word_count; /* of the records */
    uint32_t left, begun;
    int32_t growth; /* begun less left */
    bool is_shown;  /* once at least: most moves that are shown twice are shown often */
};

/* What is remembered of each function. */
struct function_cache {
    struct fxt_cached_string name, symbol, file;
    struct call_template call;
};

/* What is remembered of each counter. */
struct counter_cache {
    const char *text;
    struct fxt_counter_name parts;
    struct fxt_cached_string name, argument;
    UT_hash_handle hh;
};

struct writer_track {
    size_t depth;         /* open spans */
    struct array threads; /* of struct fxt_thread: its rows, each for FXT_DEPTH_MAX frames */
};

/* A row of a thread, and its number in the trace. */
struct row_reference {
    uint32_t track;
    size_t row;
    uint64_t number;
};

struct writer {
    struct block_writer blocks;
    struct fxt_strings strings;
    struct fxt_threads threads;
    const struct span_source *source;
    struct writer_track *tracks;   /* one for each of the source; owned */
    struct row_reference last_row; /* of the last event */
    struct function_cache *caches; /* by index of the function; owned */
    size_t cache_count;
    struct move_template *moves; /* by number; owned */
    size_t move_count;
    uint32_t next_synthetic_tid;
    struct counter_cache *counters; /* by text */
    struct stack_flows flows;
    struct fxt_cached_string flow_name, flow_category;
    struct arena names; /* of rows of deep frames, and counters */
    uint64_t event_count;
    struct fxt_summary summary;
};

/* ------------------------------------------------------------------ records without events */

static void write_beginning(struct writer *writer)
{
    uint64_t *record = block_writer_reserve(&writer->blocks, 3 * FXT_WORD);
    record[0] = FXT_MAGIC;
    record[1] = fxt_header(FXT_RECORD_INITIALIZATION, 2);
    record[2] = TICKS_PER_SECOND;
}

/* Under the last index, which is the last to get another text. */
/* A string to which no event refers. */
static void write_note(struct writer *writer, const char *text, uint64_t index)
{
    uint64_t size = strlen(text), words = 1 + fxt_words(size);
    uint64_t *record = block_writer_reserve(&writer->blocks, words * FXT_WORD);
    record[words - 1] = 0;
    record[0] = fxt_header(FXT_RECORD_STRING, words) | index << 16 | size << 32;
    memcpy(record + 1, text, size);
}

static void write_recorded(struct writer *writer, const char *recorded)
{
    char *text = memory_format("%s%.512s", FXT_RECORDED_MARK, recorded);
    write_note(writer, text, FXT_RECORDED_INDEX);
    free(text);
}

/* The format has no record for the wall clock that Perfetto reads: see wall_clock.h. */
static void write_wall_clock(struct writer *writer, uint64_t wall_clock)
{
    uint8_t blob[WALL_CLOCK_SIZE_MAX] = {0};
    size_t size = wall_clock_encode(blob, wall_clock);
    uint64_t words = 1 + fxt_words(size);
    uint64_t *record = block_writer_reserve(&writer->blocks, words * FXT_WORD);
    record[0] = fxt_header(FXT_RECORD_BLOB, words) | (uint64_t)size << 32 |
                (uint64_t)FXT_BLOB_PERFETTO << 48;
    memcpy(record + 1, blob, (words - 1) * FXT_WORD);
}

static void write_process_name(struct writer *writer, uint32_t pid, const char *name)
{
    uint64_t reference = fxt_strings_reference_once(&writer->strings, name);
    uint64_t *record = block_writer_reserve(&writer->blocks, 2 * FXT_WORD);
    record[0] =
        fxt_header(FXT_RECORD_KERNEL_OBJECT, 2) | FXT_OBJECT_PROCESS << 16 | reference << 24;
    record[1] = pid;
}

static void write_thread_name(struct writer *writer, uint32_t pid, uint32_t tid, const char *name)
{
    uint64_t reference = fxt_strings_reference_once(&writer->strings, name);
    uint64_t *record = block_writer_reserve(&writer->blocks, 4 * FXT_WORD);
    record[0] = fxt_header(FXT_RECORD_KERNEL_OBJECT, 4) | FXT_OBJECT_THREAD << 16 |
                reference << 24 | UINT64_C(1) << 40;
    record[1] = tid;
    record[2] = fxt_argument_header(FXT_ARGUMENT_KOID, 2, FXT_STRING_PROCESS);
    record[3] = pid;
}

static void write_names(struct writer *writer)
{
    for (size_t i = 0; i < writer->source->track_count; i++) {
        const struct span_track *track = &writer->source->tracks[i];
        write_process_name(writer, track->pid, track->process_name);
        write_thread_name(writer, track->pid, track->tid, track->thread_name);
    }
}

/* ------------------------------------------------------------------ rows of a thread */

static bool is_real_id(const struct writer *writer, uint32_t id)
{
    for (size_t i = 0; i < writer->source->track_count; i++)
        if (writer->source->tracks[i].tid == id || writer->source->tracks[i].pid == id)
            return true;
    return false;
}

static void add_row(struct writer *writer, struct writer_track *state,
                    const struct span_track *track)
{
    size_t row = state->threads.count;
    struct fxt_thread *thread = array_add(&state->threads);
    thread->pid = track->pid;
    thread->tid = track->tid;
    if (row == 0)
        return;
    while (is_real_id(writer, writer->next_synthetic_tid))
        writer->next_synthetic_tid++;
    thread->tid = writer->next_synthetic_tid++;
    char *name = memory_format("%s" FXT_DEEP_SUFFIX_FORMAT, track->thread_name,
                               (unsigned)(row * FXT_DEPTH_MAX),
                               (unsigned)(row * FXT_DEPTH_MAX + FXT_DEPTH_MAX - 1), track->tid);
    write_thread_name(writer, thread->pid, thread->tid, arena_copy_string(&writer->names, name));
    free(name);
}

static void add_rows(struct writer *writer, uint32_t track, size_t last)
{
    struct writer_track *state = &writer->tracks[track];
    while (last >= state->threads.count)
        add_row(writer, state, &writer->source->tracks[track]);
}

static uint64_t look_up_row(struct writer *writer, uint32_t track, size_t row)
{
    struct array *threads = &writer->tracks[track].threads;
    if (row >= threads->count)
        add_rows(writer, track, row);
    uint64_t reference =
        fxt_threads_reference(&writer->threads, (struct fxt_thread *)threads->elements + row);
    writer->last_row = (struct row_reference){track, row, reference};
    return reference;
}

/* The number of the row that shows the next span, inside of those that are open. */
static inline uint64_t reference_of_next(struct writer *writer, uint32_t track)
{
    const struct row_reference *last = &writer->last_row;
    size_t row = writer->tracks[track].depth / FXT_DEPTH_MAX;
    if (last->track == track && last->row == row && fxt_threads_all_hold(&writer->threads))
        return last->number;
    return look_up_row(writer, track, row);
}

/* ------------------------------------------------------------------ events */

static inline uint64_t event_header(enum fxt_event_type type, uint64_t words, uint64_t arguments,
                                    uint64_t thread)
{
    return fxt_header(FXT_RECORD_EVENT, words) | (uint64_t)type << 16 | arguments << 20 |
           thread << 24;
}

static inline uint64_t string_argument(uint64_t name, uint64_t value)
{
    return fxt_argument_header(FXT_ARGUMENT_STRING, 1, name) | value << 32;
}

static inline uint64_t stack_argument(uint32_t stack)
{
    return fxt_argument_header(FXT_ARGUMENT_UINT32, 1, FXT_STRING_STACK) | (uint64_t)stack << 32;
}

static void allocate_packet_sequences(struct writer *writer, uint32_t index)
{
    size_t count = index + index / 2 + 64;
    writer->caches = memory_resize(writer->caches, count * sizeof *writer->caches);
    memset(writer->caches + writer->cache_count, 0,
           (count - writer->cache_count) * sizeof *writer->caches);
    writer->cache_count = count;
}

static inline struct function_cache *cache_of(struct writer *writer,
                                              const struct span_function *function)
{
    if (function->index >= writer->cache_count)
        allocate_packet_sequences(writer, function->index);
    return &writer->caches[function->index];
}

/* An event record to which arguments are added. */
struct event_record {
    uint64_t *words;
    uint64_t word_count, argument_count;
};

static inline void add_short(struct event_record *record, uint64_t argument)
{
    record->words[record->word_count++] = argument;
    record->argument_count++;
}

static inline void add_long(struct event_record *record, enum fxt_argument_type type, uint64_t name,
                            uint64_t value)
{
    record->words[record->word_count++] = fxt_argument_header(type, 2, name);
    record->words[record->word_count++] = value;
    record->argument_count++;
}

/* Reserves the longest record and returns the unused part, so that records are made in place.
 * Meanwhile nothing else may be written: all references must be known before. */
static inline struct event_record reserve_record(struct writer *writer, size_t words_max)
{
    return (struct event_record){
        .words = block_writer_reserve(&writer->blocks, words_max * FXT_WORD), .word_count = 2};
}

static inline void give_back(struct writer *writer, size_t words_max, size_t words)
{
    block_writer_give_back(&writer->blocks, (words_max - words) * FXT_WORD);
}

/* As Jane Street's magic-trace has them, and the process. */
static void add_hit(struct event_record *record, const struct span_hit *hit)
{
    add_long(record, FXT_ARGUMENT_UINT64, FXT_STRING_TIMESTAMP, hit->time.value);
    add_short(record, fxt_argument_header(FXT_ARGUMENT_UINT32, 1, FXT_STRING_PID) |
                          (uint64_t)hit->pid << 32);
    add_short(record, fxt_argument_header(FXT_ARGUMENT_UINT32, 1, FXT_STRING_TID) |
                          (uint64_t)hit->tid << 32);
    add_long(record, FXT_ARGUMENT_POINTER, FXT_STRING_IP, hit->address);
    if (hit->has_passed)
        add_long(record, FXT_ARGUMENT_UINT64, FXT_STRING_PASSED, hit->passed.value);
    if (hit->has_argument)
        add_long(record, FXT_ARGUMENT_INT64, FXT_STRING_ARGUMENT, (uint64_t)hit->argument);
}

static uint64_t category_of(const struct span_function *function)
{
    static const uint16_t of_origins[] = {[SPAN_OWN] = 0,
                                          [SPAN_LIBRARY] = FXT_STRING_LIBRARY,
                                          [SPAN_KERNEL] = FXT_STRING_KERNEL,
                                          [SPAN_INLINED] = FXT_STRING_INLINED};
    return function->special ? FXT_STRING_SPECIAL : of_origins[function->origin];
}

static void write_hit(struct writer *writer, const struct span_event *event)
{
    const struct span_function *function = event->function;
    struct function_cache *cached = cache_of(writer, function);
    uint64_t name = fxt_strings_reference(&writer->strings, &cached->name, function->name);
    uint64_t thread = reference_of_next(writer, event->track);
    struct event_record record = reserve_record(writer, HIT_WORDS_MAX);
    add_hit(&record, event->hit);
    record.words[0] =
        event_header(FXT_EVENT_BEGIN, record.word_count, record.argument_count, thread) |
        category_of(function) << 32 | name << 48;
    record.words[1] = event->time.value;
    give_back(writer, HIT_WORDS_MAX, record.word_count);
}

/* The record without thread and time; `words` are CALL_WORDS_MAX. Returns its length. */
static uint64_t make_call(struct writer *writer, const struct span_event *event, uint64_t *words)
{
    const struct span_function *function = event->function;
    struct function_cache *cached = cache_of(writer, function);
    struct fxt_strings *strings = &writer->strings;
    struct event_record record = {.words = words, .word_count = 2};
    uint64_t name = fxt_strings_reference(strings, &cached->name, function->name);
    if (event->address)
        add_long(&record, FXT_ARGUMENT_POINTER, FXT_STRING_ADDRESS, event->address);
    if (function->symbol)
        add_short(&record,
                  string_argument(FXT_STRING_SYMBOL, fxt_strings_reference(strings, &cached->symbol,
                                                                           function->symbol)));
    if (function->file)
        add_short(&record,
                  string_argument(FXT_STRING_FILE,
                                  fxt_strings_reference(strings, &cached->file, function->file)));
    if (function->line)
        add_short(&record, fxt_argument_header(FXT_ARGUMENT_INT32, 1, FXT_STRING_LINE) |
                               (uint64_t)function->line << 32);
    if (event->flags & SPAN_START_INFERRED)
        add_short(&record, string_argument(FXT_STRING_START_INFERRED, FXT_STRING_TRUE));
    record.words[0] = event_header(FXT_EVENT_BEGIN, record.word_count, record.argument_count, 0) |
                      category_of(function) << 32 | name << 48;
    record.words[1] = 0;
    return record.word_count;
}

static void make_template(struct writer *writer, const struct span_event *event,
                          struct call_template *call)
{
    call->word_count = make_call(writer, event, call->words);
    call->address = event->address;
    call->flags = event->flags;
    call->is_call = !span_is_off_cpu(event->function);
}

/* The template must not outlive a reference that is in it. */
static inline bool is_made_for(const struct call_template *call, const struct span_event *event,
                               const struct fxt_strings *strings)
{
    return call->word_count > 0 && call->address == event->address && call->flags == event->flags &&
           fxt_strings_all_hold(strings);
}

/* What a short argument more adds to the header of an event. */
static const uint64_t ONE_SHORT_ARGUMENT = UINT64_C(1) << 4 | UINT64_C(1) << 20;

static inline void write_call(struct writer *writer, const struct span_event *event)
{
    struct function_cache *cached = cache_of(writer, event->function);
    if (!is_made_for(&cached->call, event, &writer->strings))
        make_template(writer, event, &cached->call);
    uint64_t thread = reference_of_next(writer, event->track);
    uint64_t *words = block_writer_reserve(&writer->blocks, sizeof cached->call.words);
    memcpy(words, cached->call.words, sizeof cached->call.words);
    words[0] |= thread << 24;
    words[1] = event->time.value;
    uint64_t word_count = cached->call.word_count;
    if (event->stack) {
        words[word_count++] = stack_argument(event->stack);
        words[0] += ONE_SHORT_ARGUMENT;
    }
    give_back(writer, CALL_WORDS_MAX, word_count);
}

/* In the row of the next span: when it is there already, or still, as flows bind to open spans. */
static void write_flow(struct writer *writer, enum fxt_event_type type,
                       const struct span_event *event, uint64_t number)
{
    uint64_t name = fxt_strings_reference(&writer->strings, &writer->flow_name, "goes on");
    uint64_t category = fxt_strings_reference(&writer->strings, &writer->flow_category, "stack");
    uint64_t thread = reference_of_next(writer, event->track);
    uint64_t *record = block_writer_reserve(&writer->blocks, 3 * FXT_WORD);
    record[0] = event_header(type, 3, 0, thread) | category << 32 | name << 48;
    record[1] = event->time.value;
    record[2] = number;
}

static inline void write_enter(struct writer *writer, const struct span_event *event)
{
    if (event->hit)
        write_hit(writer, event);
    else
        write_call(writer, event);
    uint64_t arrow = event->stack ? stack_flows_end(&writer->flows, event).arrow : 0;
    if (arrow)
        write_flow(writer, FXT_EVENT_FLOW_END, event, arrow);
    writer->tracks[event->track].depth++;
    writer->summary.spans++;
    writer->summary.calls += !event->hit && !span_is_off_cpu(event->function);
}

/* Why a span ended, as it is written unless it ended by a return. */
static const uint16_t end_texts[SPAN_END_LAST + 1] = {
    [SPAN_END_TAIL_CALL] = FXT_STRING_TAIL_CALL,
    [SPAN_END_UNWOUND] = FXT_STRING_UNWOUND,
    [SPAN_END_GAP] = FXT_STRING_GAP,
    [SPAN_END_OF_TRACE] = FXT_STRING_END_OF_TRACE,
    [SPAN_END_EXEC] = FXT_STRING_EXEC,
    [SPAN_END_FILTER] = FXT_STRING_FILTER,
    [SPAN_END_SWITCH] = FXT_STRING_SWITCH,
};

static uint64_t words_of_string(const char *text)
{
    size_t size = strlen(text);
    return fxt_words(size < FXT_STRING_INLINE ? size : FXT_STRING_INLINE - 1);
}

/* A string in the record itself; returns its reference. */
static uint64_t add_string(struct event_record *record, const char *text)
{
    size_t size = strlen(text);
    if (size >= FXT_STRING_INLINE)
        size = FXT_STRING_INLINE - 1;
    if (size == 0)
        return 0;
    uint64_t words = fxt_words(size);
    record->words[record->word_count + words - 1] = 0;
    memcpy(&record->words[record->word_count], text, size);
    record->word_count += words;
    return FXT_STRING_INLINE | size;
}

static bool is_decimal(const struct named_value *value)
{
    char digits[32];
    if (value->kind == NAMED_SIGNED)
        snprintf(digits, sizeof digits, "%" PRId64, value->signed_number);
    else
        snprintf(digits, sizeof digits, "%" PRIu64, value->unsigned_number);
    return strcmp(digits, value->text) == 0;
}

/* How a value is written; what is shown as something else than a number is a string. */
static enum fxt_argument_type type_of(const struct named_value *value)
{
    switch (value->kind) {
    case NAMED_SIGNED:
        return is_decimal(value) ? FXT_ARGUMENT_INT64 : FXT_ARGUMENT_STRING;
    case NAMED_UNSIGNED:
        if (strncmp(value->text, "0x", 2) == 0)
            return FXT_ARGUMENT_POINTER;
        /* Perfetto's importer leaves out numbers without a sign. */
        return is_decimal(value) && value->unsigned_number <= INT64_MAX ? FXT_ARGUMENT_INT64
                                                                        : FXT_ARGUMENT_STRING;
    case NAMED_FLOAT:
        return FXT_ARGUMENT_DOUBLE;
    case NAMED_TEXT:
        break;
    }
    return FXT_ARGUMENT_STRING;
}

static void add_value(struct event_record *record, const struct named_value *value,
                      const char *name)
{
    enum fxt_argument_type type = type_of(value);
    uint64_t header = record->word_count++, text = 0;
    uint64_t name_reference = add_string(record, name);
    if (type == FXT_ARGUMENT_STRING)
        text = add_string(record, value->text);
    else
        memcpy(&record->words[record->word_count++], &value->unsigned_number, FXT_WORD);
    record->words[header] =
        fxt_argument_header(type, record->word_count - header, name_reference) | text << 32;
    record->argument_count++;
}

/* An end with arguments and result, as many as a record can have. */
static void write_end_with_values(struct writer *writer, const struct span_event *event,
                                  struct event_record *record, uint64_t thread)
{
    const struct named_values *values = event->values;
    uint64_t words[END_WORDS_MAX], most = END_WORDS_MAX;
    memcpy(words, record->words, record->word_count * FXT_WORD);
    give_back(writer, END_WORDS_MAX, 0);
    size_t count = values->count;
    if (count > FXT_ARGUMENTS_MAX - record->argument_count)
        count = FXT_ARGUMENTS_MAX - record->argument_count;
    struct arena memory = {0};
    const char **names = arena_allocate(&memory, (count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        const char *name = values->values[i].name;
        bool is_result = values->has_result && i + 1 == values->count;
        size_t size = strlen(name) + sizeof FXT_VALUE_PREFIX;
        char *whole = arena_allocate(&memory, size);
        snprintf(whole, size, "%s%s", is_result ? "" : FXT_VALUE_PREFIX, name);
        names[i] = whole;
        most += 2 + words_of_string(whole) + words_of_string(values->values[i].text);
    }
    record->words = block_writer_reserve(&writer->blocks, most * FXT_WORD);
    memcpy(record->words, words, record->word_count * FXT_WORD);
    for (size_t i = 0; i < count; i++)
        add_value(record, &values->values[i], names[i]);
    arena_free(&memory);
    record->words[0] =
        event_header(FXT_EVENT_END, record->word_count, record->argument_count, thread);
    record->words[1] = event->time.value;
    give_back(writer, most, record->word_count);
}

static inline void write_leave(struct writer *writer, const struct span_event *event)
{
    struct writer_track *track = &writer->tracks[event->track];
    if (track->depth == 0)
        return; /* every reader ignores an end without a begin */
    track->depth--;
    uint64_t arrow = event->stack ? stack_flows_begin(&writer->flows, event) : 0;
    if (arrow)
        write_flow(writer, FXT_EVENT_FLOW_BEGIN, event, arrow);
    uint64_t thread = reference_of_next(writer, event->track);
    struct event_record record = reserve_record(writer, END_WORDS_MAX);
    if (event->end != SPAN_END_RETURN)
        add_short(&record, string_argument(FXT_STRING_END, end_texts[event->end]));
    if (event->flags & SPAN_END_INFERRED)
        add_short(&record, string_argument(FXT_STRING_END_INFERRED, FXT_STRING_TRUE));
    if (event->flags & SPAN_ACROSS_GAP)
        add_short(&record, string_argument(FXT_STRING_ACROSS_GAP, FXT_STRING_TRUE));
    if (event->stack)
        add_short(&record, stack_argument(event->stack));
    if (event->values) {
        write_end_with_values(writer, event, &record, thread);
        return;
    }
    record.words[0] = event_header(FXT_EVENT_END, record.word_count, record.argument_count, thread);
    record.words[1] = event->time.value;
    give_back(writer, END_WORDS_MAX, record.word_count);
}

/* An instant nests under the innermost open span and counts against the depth, so it is shown where
 * the next span would be. */
static void write_instant(struct writer *writer, const struct span_event *event)
{
    uint64_t name = fxt_strings_reference_once(&writer->strings, event->text);
    uint64_t thread = reference_of_next(writer, event->track);
    uint64_t *record = block_writer_reserve(&writer->blocks, 2 * FXT_WORD);
    record[0] = event_header(FXT_EVENT_INSTANT, 2, 0, thread) | (uint64_t)FXT_STRING_SPECIAL << 32 |
                name << 48;
    record[1] = event->time.value;
    writer->summary.instants++;
}

static struct counter_cache *cache_of_counter(struct writer *writer, const char *text)
{
    struct counter_cache *cached;
    HASH_FIND_STR(writer->counters, text, cached);
    if (cached)
        return cached;
    cached = arena_allocate(&writer->names, sizeof *cached);
    *cached = (struct counter_cache){.text = arena_copy_string(&writer->names, text),
                                     .parts = fxt_counter_split(text, &writer->names)};
    HASH_ADD_KEYPTR(hh, writer->counters, cached->text, strlen(cached->text), cached);
    return cached;
}

static void write_counter(struct writer *writer, const struct span_event *event)
{
    struct counter_cache *cached = cache_of_counter(writer, event->text);
    uint64_t name = fxt_strings_reference(&writer->strings, &cached->name, cached->parts.name);
    uint64_t argument =
        fxt_strings_reference(&writer->strings, &cached->argument, cached->parts.argument);
    uint64_t thread = reference_of_next(writer, event->track);
    uint64_t *record = block_writer_reserve(&writer->blocks, 5 * FXT_WORD);
    record[0] = event_header(FXT_EVENT_COUNTER, 5, 1, thread) | name << 48;
    record[1] = event->time.value;
    record[2] = fxt_argument_header(FXT_ARGUMENT_DOUBLE, 2, argument);
    memcpy(&record[3], &event->value, sizeof event->value);
    record[4] = 0;
}

static void write_event(struct writer *writer, const struct span_event *event);

/* The trace has all strings that the records refer to, and they hold. */
static void make_move(struct writer *writer, const struct span_move *move,
                      struct move_template *made)
{
    size_t room = 2 * (size_t)move->left + (size_t)move->begun * CALL_WORDS_MAX;
    uint64_t *words = memory_allocate_zeroed((room + MOVE_STEP) * sizeof *words);
    size_t count = 0;
    for (uint32_t i = 0; i < move->left; i++, count += 2)
        words[count] = event_header(FXT_EVENT_END, 2, 0, 0);
    for (uint32_t i = 0; i < move->begun; i++) {
        struct span_event begun = {.kind = SPAN_ENTER, .function = move->functions[move->left + i]};
        count += make_call(writer, &begun, &words[count]);
    }
    size_t whole_steps = (count + MOVE_STEP - 1) / MOVE_STEP * MOVE_STEP;
    made->words = arena_allocate(&writer->names, whole_steps * sizeof *words);
    memcpy(made->words, words, whole_steps * sizeof *words);
    made->word_count = (uint32_t)count;
    made->left = move->left;
    made->begun = move->begun;
    made->growth = (int32_t)(move->begun - move->left);
    free(words);
}

static struct move_template *template_of_move(struct writer *writer, const struct span_move *move)
{
    if (move->number >= writer->move_count) {
        size_t count = move->number + move->number / 2 + 64;
        writer->moves = memory_resize(writer->moves, count * sizeof *writer->moves);
        memset(writer->moves + writer->move_count, 0,
               (count - writer->move_count) * sizeof *writer->moves);
        writer->move_count = count;
    }
    return &writer->moves[move->number];
}

/* Function by function. */
static void write_move(struct writer *writer, const struct span_event *event)
{
    const struct span_move *move = event->move;
    struct span_event one = {.track = event->track, .time = event->time};
    for (uint32_t i = 0; i < move->left + move->begun; i++) {
        one.kind = i < move->left ? SPAN_LEAVE : SPAN_ENTER;
        one.function = move->functions[i];
        write_event(writer, &one);
    }
    struct move_template *template = template_of_move(writer, move);
    if (template->is_shown && template->words == NULL && fxt_strings_all_hold(&writer->strings))
        make_move(writer, move, template);
    template->is_shown = true;
}

static void write_event(struct writer *writer, const struct span_event *event)
{
    switch (event->kind) {
    case SPAN_ENTER:
        write_enter(writer, event);
        break;
    case SPAN_LEAVE:
        write_leave(writer, event);
        break;
    case SPAN_INSTANT:
        write_instant(writer, event);
        break;
    case SPAN_COUNTER:
        write_counter(writer, event);
        break;
    case SPAN_MOVE:
        write_move(writer, event);
        break;
    }
}

/* Where plain events are written: calls whose templates are made, and ends of which nothing more is
 * known than their reason, in one row. They are nearly all events of a trace. */
struct plain_run {
    const struct function_cache *caches; /* as in struct writer, like their number and the moves */
    size_t cache_count;
    const struct move_template *moves;
    size_t move_count;
    uint64_t thread;      /* the row, as headers of events have it */
    uint64_t *next, *end; /* where moves must end, so that there is space for all other events */
    size_t level;         /* of open spans in the row */
    uint64_t calls, spans, begun_by_moves; /* the last are not in the others */
};

/* A call of which nothing but the template is known. */
static inline void write_template(struct plain_run *run, const struct call_template *call,
                                  uint64_t time)
{
    memcpy(run->next, call->words, sizeof call->words);
    run->next[0] |= run->thread;
    run->next[1] = time;
    run->next += call->word_count;
    run->calls += call->is_call;
    run->spans++;
    run->level++;
}

static inline void write_end(struct plain_run *run, uint64_t time)
{
    run->next[0] = event_header(FXT_EVENT_END, 2, 0, 0) | run->thread;
    run->next[1] = time;
    run->next += 2;
    run->level--;
}

static inline bool write_plain_enter(struct plain_run *run, const struct span_event *event)
{
    uint32_t index = event->function->index;
    if (index >= run->cache_count || event->hit || event->stack)
        return false;
    const struct call_template *call = &run->caches[index].call;
    if (call->word_count == 0 || call->address != event->address || call->flags != event->flags)
        return false;
    write_template(run, call, event->time.value);
    return true;
}

static inline bool write_plain_leave(struct plain_run *run, const struct span_event *event)
{
    if ((event->flags | event->stack) != 0 || event->values != NULL)
        return false;
    write_end(run, event->time.value);
    if (event->end != SPAN_END_RETURN) {
        run->next[-2] += ONE_SHORT_ARGUMENT;
        *run->next++ = string_argument(FXT_STRING_END, end_texts[event->end]);
    }
    return true;
}

static inline void write_move_template(struct plain_run *run, const struct move_template *template,
                                       uint64_t time)
{
    const uint64_t *from = template->words, thread = run->thread;
    uint64_t *record = run->next, *to = record, *end = record + template->word_count;
    do {
        memcpy(to, from, MOVE_STEP * sizeof *to);
        to += MOVE_STEP;
        from += MOVE_STEP;
    } while (to < end);
    do {
        uint64_t header = record[0];
        record[0] = header | thread;
        record[1] = time;
        record += fxt_bits(header, 4, 15);
    } while (record < end);
    run->next = end;
}

/* Whether all spans that the move ends and begins are in the row, which the last event was in. */
static inline bool is_in_row(const struct plain_run *run, const struct move_template *template)
{
    return run->level >= template->left &&
           run->level + (size_t)(ptrdiff_t) template->growth <= FXT_DEPTH_MAX;
}

static inline bool write_plain_move(struct plain_run *run, const struct span_event *event)
{
    if (event->move->number >= run->move_count)
        return false;
    const struct move_template *template = &run->moves[event->move->number];
    if (template->words == NULL || !is_in_row(run, template) ||
        run->end - run->next < (ptrdiff_t) template->word_count)
        return false;
    run->level += (size_t)(ptrdiff_t) template->growth;
    run->begun_by_moves += template->begun;
    write_move_template(run, template, event->time.value);
    return true;
}

/* False: the event is not a plain one, or not in the row. */
static inline bool write_plain_event(struct plain_run *run, const struct span_event *event)
{
    if (event->kind == SPAN_MOVE)
        return write_plain_move(run, event);
    if (event->kind == SPAN_ENTER)
        return run->level < FXT_DEPTH_MAX && write_plain_enter(run, event);
    return event->kind == SPAN_LEAVE && run->level > 0 && write_plain_leave(run, event);
}

/* Writes plain events of `count`, at least one, up to the first other one; returns their number. All
 * are in the row of the last event, and in one block, so neither is looked at for each. */
static size_t write_plain(struct writer *writer, const struct span_event *events, size_t count)
{
    const struct row_reference *row = &writer->last_row;
    const struct span_event *event = events;
    const uint32_t track = events->track;
    if (row->track != track || !fxt_threads_all_hold(&writer->threads) ||
        !fxt_strings_all_hold(&writer->strings) ||
        !block_writer_holds(&writer->blocks, (count + 1) * sizeof writer->caches->call.words))
        return 0;
    size_t level = writer->tracks[track].depth - row->row * FXT_DEPTH_MAX;
    if (level > FXT_DEPTH_MAX) /* or the row begins at a greater depth */
        return 0;
    uint64_t *begin = block_writer_reserve(&writer->blocks, 0);
    size_t free_words = (size_t)(writer->blocks.end - writer->blocks.next) / FXT_WORD;
    struct plain_run run = {.caches = writer->caches,
                            .cache_count = writer->cache_count,
                            .moves = writer->moves,
                            .move_count = writer->move_count,
                            .thread = row->number << 24,
                            .next = begin,
                            .end = begin + free_words - (count + 1) * CALL_WORDS_MAX,
                            .level = level};
    while (event != events + count && event->track == track && write_plain_event(&run, event))
        event++;
    block_writer_reserve(&writer->blocks, (size_t)(run.next - begin) * FXT_WORD);
    writer->tracks[track].depth += run.level - level;
    writer->summary.spans += run.spans + run.begun_by_moves;
    writer->summary.calls += run.calls + run.begun_by_moves;
    return (size_t)(event - events);
}

static void write_batch(struct writer *writer, const struct span_event *events, size_t count)
{
    if (writer->event_count == 0)
        writer->summary.first = events[0].time;
    writer->summary.last = events[count - 1].time;
    const struct span_event *end = events + count;
    while (events != end) {
        events += write_plain(writer, events, (size_t)(end - events));
        if (events != end)
            write_event(writer, events++);
    }
    writer->event_count += count;
}

static bool write_events(struct writer *writer, struct span_source *source,
                         const struct fxt_options *options, struct error *error)
{
    source->takes_moves = true;
    struct error ended = {0};
    struct span_event room;
    const struct span_event *events;
    uint64_t next_check = 0;
    size_t count;
    while ((count = span_source_take(source, &room, &events, &ended)) > 0) {
        write_batch(writer, events, count);
        if (writer->event_count < next_check)
            continue;
        next_check = writer->event_count + EVENTS_PER_CHECK;
        if (block_writer_failed(&writer->blocks))
            break; /* block_writer_finish has the reason */
        log_progress("Writing the trace", writer->summary.spans, options->expected_spans);
    }
    log_progress_end();
    if (ended.code == ERROR_NONE)
        return true;
    if (error)
        *error = ended;
    return false;
}

/* ------------------------------------------------------------------ the whole */

static bool write_trace(struct writer *writer, struct span_source *source,
                        const struct fxt_options *options, struct error *error)
{
    writer->source = source;
    writer->next_synthetic_tid = FXT_SYNTHETIC_TID_BASE;
    writer->last_row.track = UINT32_MAX; /* none */
    writer->tracks = memory_allocate_zeroed((source->track_count + 1) * sizeof *writer->tracks);
    for (size_t i = 0; i < source->track_count; i++)
        writer->tracks[i].threads = array_of(sizeof(struct fxt_thread));
    write_beginning(writer);
    if (source->wall_clock)
        write_wall_clock(writer, source->wall_clock);
    if (source->sampled)
        write_note(writer, FXT_SAMPLES_MARK, FXT_STRING_INDEX_MAX);
    if (source->recorded)
        write_recorded(writer, source->recorded);
    fxt_strings_init(&writer->strings, &writer->blocks);
    fxt_threads_init(&writer->threads, &writer->blocks);
    write_names(writer);
    bool ok = write_events(writer, source, options, error);
    fxt_threads_free(&writer->threads);
    fxt_strings_free(&writer->strings);
    for (size_t i = 0; i < source->track_count; i++)
        array_free(&writer->tracks[i].threads);
    free(writer->tracks);
    free(writer->caches);
    free(writer->moves);
    HASH_CLEAR(hh, writer->counters);
    stack_flows_free(&writer->flows);
    arena_free(&writer->names);
    return ok;
}

static bool wants_gzip(const char *path, enum fxt_compression compression)
{
    size_t length = strlen(path);
    if (compression == FXT_COMPRESS_BY_SUFFIX)
        return length >= 3 && strcmp(path + length - 3, ".gz") == 0;
    return compression == FXT_COMPRESS_GZIP;
}

bool fxt_write(struct span_source *source, const char *path, const struct fxt_options *options,
               struct error *error)
{
    static const struct fxt_options DEFAULTS = {0};
    if (!options)
        options = &DEFAULTS;
    struct output_file file;
    if (!output_file_create(&file, path, error))
        return false;
    struct writer writer = {0};
    bool ok = block_writer_open(&writer.blocks, file.descriptor, path,
                                wants_gzip(path, options->compression), error);
    if (ok) {
        bool written = write_trace(&writer, source, options, error);
        ok = block_writer_finish(&writer.blocks, written ? error : NULL) && written;
    }
    if (!ok) {
        output_file_abandon(&file);
        return false;
    }
    if (options->summary)
        *options->summary = writer.summary;
    return output_file_commit(&file, error);
}
