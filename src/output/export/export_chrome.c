/* Chrome's trace events as JSON: for chrome://tracing, Perfetto, speedscope and other readers.
 *
 *   spans      B and E, with address, symbol, file, line and what is known of beginning and end as
 *              arguments; whose code it is as category; at the end what was recorded of the call's own
 *              arguments (args.size) and of its result
 *   instants   i, of the thread
 *   counters   C, of the process
 *   stacks     that were suspended and resumed: flow arrows (s, f) between the two spans
 *   names      M; the wall clock in otherData
 *
 * Times are microseconds with three decimals, and so exact. Perfetto holds 512 open spans in a row and
 * drops deeper ones, whose ends then close others: so deeper frames have rows of their own, named as in
 * FXT, and ends name what they end.
 *
 * Source: "Trace Event Format", https://docs.google.com/document/d/
 * 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 */
#include "base/array.h"
#include "base/memory.h"
#include "output/export/export.h"
#include "output/export/export_events.h"
#include "output/fxt/fxt_format.h"
#include "output/json_quoted.h"
#include "output/span_words.h"
#include "output/stack_flows.h"
#include "output/text_writer.h"

#include <inttypes.h>
#include <stdlib.h>

/* The text of a function that is the same for all its calls. */
struct function_text {
    char *name;  /* name and category, each after a comma; NULL: not made yet. Owned */
    char *known; /* as arguments: its symbol, file and line; may be empty. Owned */
};

/* Where the events of a track go. */
struct chrome_track {
    struct array
        rows; /* of char *, one for each FXT_DEPTH_MAX levels: the process and the thread, and
                          the name of the time; owned */
    struct array open; /* of const struct span_function *: the open spans, outermost first */
};

struct chrome {
    struct block_writer *out;
    const struct span_source *source;
    struct array functions;      /* of struct function_text, by index of the function */
    struct chrome_track *tracks; /* owned */
    uint32_t deep_rows;
    struct stack_flows flows;
    bool began; /* there is an event already */
};

/* ------------------------------------------------------------------ names */

static void put_name(struct chrome *chrome, uint32_t pid, uint32_t tid, const char *what,
                     const char *name)
{
    char *text = json_quoted(name);
    char *line = memory_format("%s{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
                               ",\"name\":\"%s\",\"args\":{\"name\":%s}}",
                               chrome->began ? ",\n" : "", pid, tid, what, text);
    text_put(chrome->out, line);
    chrome->began = true;
    free(line);
    free(text);
}

static void add_row(struct chrome *chrome, uint32_t track, uint32_t tid)
{
    uint32_t pid = chrome->source->tracks[track].pid;
    *(char **)array_add(&chrome->tracks[track].rows) =
        memory_format("\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":", pid, tid);
}

static void add_deep_row(struct chrome *chrome, uint32_t number)
{
    const struct span_track *track = &chrome->source->tracks[number];
    unsigned first = (unsigned)chrome->tracks[number].rows.count * FXT_DEPTH_MAX;
    uint32_t tid = FXT_SYNTHETIC_TID_BASE + chrome->deep_rows++;
    char *name = memory_format("%s" FXT_DEEP_SUFFIX_FORMAT, track->thread_name, first,
                               first + FXT_DEPTH_MAX - 1, track->tid);
    put_name(chrome, track->pid, tid, "thread_name", name);
    add_row(chrome, number, tid);
    free(name);
}

static void put_names(struct chrome *chrome)
{
    for (uint32_t i = 0; i < chrome->source->track_count; i++) {
        const struct span_track *track = &chrome->source->tracks[i];
        put_name(chrome, track->pid, track->tid, "process_name", track->process_name);
        put_name(chrome, track->pid, track->tid, "thread_name", track->thread_name);
        chrome->tracks[i].rows = array_of(sizeof(char *));
        add_row(chrome, i, track->tid);
        chrome->tracks[i].open = array_of(sizeof(const struct span_function *));
    }
}

/* Appends `"key":"value"` to `before`, which it frees. */
static char *add_pair(char *before, const char *key, const char *value)
{
    if (!value)
        return before;
    char *text = json_quoted(value);
    char *after = memory_format("%s%s\"%s\":%s", before, *before ? "," : "", key, text);
    free(text);
    free(before);
    return after;
}

static void make_texts(struct function_text *texts, const struct span_function *function)
{
    char *name = json_quoted(function->name);
    bool plain = !function->special && function->origin == SPAN_OWN;
    texts->name = memory_format(",\"name\":%s%s%s%s", name, plain ? "" : ",\"cat\":\"",
                                plain ? "" : span_origin_word(function), plain ? "" : "\"");
    free(name);
    char *known = add_pair(memory_copy_string(""), FXT_NAME_SYMBOL, function->symbol);
    known = add_pair(known, FXT_NAME_FILE, function->file);
    texts->known = known;
    if (function->line) {
        texts->known = memory_format("%s%s\"" FXT_NAME_LINE "\":%" PRIu32, known, *known ? "," : "",
                                     function->line);
        free(known);
    }
}

static const struct function_text *texts_of(struct chrome *chrome,
                                            const struct span_function *function)
{
    while (chrome->functions.count <= function->index)
        array_add(&chrome->functions);
    struct function_text *texts = array_at(&chrome->functions, function->index);
    if (!texts->name)
        make_texts(texts, function);
    return texts;
}

/* ------------------------------------------------------------------ events */

/* An event of the span at `depth` up to its time; further fields may follow; the caller ends it by
 * "}". */
static void begin_event_at(struct chrome *chrome, const char *phase, const struct span_event *event,
                           size_t depth)
{
    struct chrome_track *track = &chrome->tracks[event->track];
    while (track->rows.count <= depth / FXT_DEPTH_MAX)
        add_deep_row(chrome, event->track);
    text_put(chrome->out, chrome->began ? ",\n{\"ph\":\"" : "{\"ph\":\"");
    chrome->began = true;
    text_put(chrome->out, phase);
    text_put(chrome->out, *(char **)array_at(&track->rows, depth / FXT_DEPTH_MAX));
    text_put_microseconds(chrome->out, event->time.value);
}

static void begin_event(struct chrome *chrome, const char *phase, const struct span_event *event)
{
    begin_event_at(chrome, phase, event, 0);
}

/* The arguments of an event, written one after the other. */
struct arguments {
    struct block_writer *out;
    bool any;
};

static void put_key(struct arguments *arguments, const char *key)
{
    text_put(arguments->out, arguments->any ? ",\"" : ",\"args\":{\"");
    text_put(arguments->out, key);
    text_put(arguments->out, "\":");
    arguments->any = true;
}

static void put_word(struct arguments *arguments, const char *key, const char *word)
{
    put_key(arguments, key);
    text_put(arguments->out, "\"");
    text_put(arguments->out, word);
    text_put(arguments->out, "\"");
}

static void put_uint(struct arguments *arguments, const char *key, uint64_t number)
{
    put_key(arguments, key);
    text_put_number(arguments->out, number);
}

/* As text: a reader's numbers may be doubles, which do not hold it. */
static void put_address(struct arguments *arguments, const char *key, uint64_t address)
{
    put_key(arguments, key);
    text_put(arguments->out, "\"");
    text_put_hexadecimal(arguments->out, address);
    text_put(arguments->out, "\"");
}

static void put_flag(struct arguments *arguments, const char *key)
{
    put_key(arguments, key);
    text_put(arguments->out, "true");
}

static void put_known(struct arguments *arguments, const char *known)
{
    if (!*known)
        return;
    text_put(arguments->out, arguments->any ? "," : ",\"args\":{");
    text_put(arguments->out, known);
    arguments->any = true;
}

/* Recorded arguments and the result of a call. */
static void put_values(struct arguments *arguments, const struct named_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        bool is_result = values->has_result && i + 1 == values->count;
        char *name =
            memory_format("%s%s", is_result ? "" : FXT_VALUE_PREFIX, values->values[i].name);
        char *key = json_quoted(name), *value = json_named_value(&values->values[i]);
        text_put(arguments->out, arguments->any ? "," : ",\"args\":{");
        text_put(arguments->out, key);
        text_put(arguments->out, ":");
        text_put(arguments->out, value);
        arguments->any = true;
        free(name);
        free(key);
        free(value);
    }
}

static void end_event(const struct arguments *arguments)
{
    text_put(arguments->out, arguments->any ? "}}" : "}");
}

static void put_hit(struct arguments *arguments, const struct span_hit *hit)
{
    put_uint(arguments, FXT_NAME_TIMESTAMP, hit->time.value);
    put_uint(arguments, FXT_NAME_PID, hit->pid);
    put_uint(arguments, FXT_NAME_TID, hit->tid);
    put_address(arguments, FXT_NAME_IP, hit->address);
    if (hit->has_passed)
        put_uint(arguments, FXT_NAME_PASSED, hit->passed.value);
    if (hit->has_argument) {
        put_key(arguments, FXT_NAME_ARGUMENT);
        text_put_signed(arguments->out, hit->argument);
    }
}

static void put_flow(struct chrome *chrome, const char *phase, const struct span_event *event,
                     size_t depth, uint64_t number)
{
    begin_event_at(chrome, phase, event, depth);
    text_put(chrome->out, ",\"name\":\"goes on\",\"cat\":\"stack\",\"bp\":\"e\",\"id\":");
    text_put_number(chrome->out, number);
    text_put(chrome->out, "}");
}

static void put_enter(struct chrome *chrome, const struct span_event *event)
{
    const struct function_text *texts = texts_of(chrome, event->function);
    struct arguments arguments = {.out = chrome->out};
    struct array *open = &chrome->tracks[event->track].open;
    size_t depth = open->count;
    array_add_all(open, &event->function, 1);
    begin_event_at(chrome, "B", event, depth);
    text_put(chrome->out, texts->name);
    if (event->address)
        put_address(&arguments, FXT_NAME_ADDRESS, event->address);
    put_known(&arguments, texts->known);
    if (event->flags & SPAN_START_INFERRED)
        put_flag(&arguments, FXT_NAME_START_INFERRED);
    if (event->hit)
        put_hit(&arguments, event->hit);
    end_event(&arguments);
    uint64_t arrow = stack_flows_end(&chrome->flows, event).arrow;
    if (arrow)
        put_flow(chrome, "f", event, depth, arrow);
}

static void put_leave(struct chrome *chrome, const struct span_event *event)
{
    struct array *open = &chrome->tracks[event->track].open;
    if (open->count == 0)
        return;
    size_t depth = --open->count;
    const struct span_function *ended = *(const struct span_function **)array_at(open, depth);
    uint64_t arrow = stack_flows_begin(&chrome->flows, event);
    if (arrow)
        put_flow(chrome, "s", event, depth, arrow);
    struct arguments arguments = {.out = chrome->out};
    begin_event_at(chrome, "E", event, depth);
    text_put(chrome->out, texts_of(chrome, ended)->name);
    if (event->end != SPAN_END_RETURN)
        put_word(&arguments, FXT_NAME_END, span_end_word(event->end));
    if (event->flags & SPAN_END_INFERRED)
        put_flag(&arguments, FXT_NAME_END_INFERRED);
    if (event->flags & SPAN_ACROSS_GAP)
        put_flag(&arguments, FXT_NAME_ACROSS_GAP);
    if (event->values)
        put_values(&arguments, event->values);
    end_event(&arguments);
}

static void put_instant(struct chrome *chrome, const struct span_event *event)
{
    char *text = json_quoted(event->text);
    begin_event(chrome, "i", event);
    text_put(chrome->out, ",\"s\":\"t\",\"cat\":\"" FXT_NAME_SPECIAL "\",\"name\":");
    text_put(chrome->out, text);
    text_put(chrome->out, "}");
    free(text);
}

static void put_counter(struct chrome *chrome, const struct span_event *event)
{
    char *text = json_quoted(event->text);
    begin_event(chrome, "C", event);
    text_put(chrome->out, ",\"name\":");
    text_put(chrome->out, text);
    text_put(chrome->out, ",\"args\":{\"value\":");
    text_put_double(chrome->out, event->value);
    text_put(chrome->out, "}}");
    free(text);
}

static void put_event(struct chrome *chrome, const struct span_event *event)
{
    switch (event->kind) {
    case SPAN_ENTER:
        put_enter(chrome, event);
        break;
    case SPAN_LEAVE:
        put_leave(chrome, event);
        break;
    case SPAN_INSTANT:
        put_instant(chrome, event);
        break;
    case SPAN_COUNTER:
        put_counter(chrome, event);
        break;
    case SPAN_MOVE:
        break; /* only for those who ask for it */
    }
}

/* ------------------------------------------------------------------ the whole */

static void put_quoted_member(struct chrome *chrome, const char *key, const char *value)
{
    char *text = json_quoted(value);
    text_put(chrome->out, ",\"");
    text_put(chrome->out, key);
    text_put(chrome->out, "\":");
    text_put(chrome->out, text);
    free(text);
}

static void put_end(struct chrome *chrome, const char *name)
{
    char *text = json_quoted(name);
    text_put(chrome->out, "\n],\n\"otherData\":{\"trace\":");
    text_put(chrome->out, text);
    if (chrome->source->wall_clock) {
        text_put(chrome->out, ",\"unix_time_ns_at_0\":\"");
        text_put_number(chrome->out, chrome->source->wall_clock);
        text_put(chrome->out, "\"");
    }
    if (chrome->source->recorded)
        put_quoted_member(chrome, "recorded", chrome->source->recorded);
    if (chrome->source->sampled)
        put_quoted_member(chrome, "spans", "of samples, not calls");
    text_put(chrome->out, "}}\n");
    free(text);
}

static void free_chrome(struct chrome *chrome)
{
    for (size_t i = 0; i < chrome->functions.count; i++) {
        struct function_text *texts = array_at(&chrome->functions, i);
        free(texts->name);
        free(texts->known);
    }
    array_free(&chrome->functions);
    for (size_t i = 0; i < chrome->source->track_count; i++) {
        struct chrome_track *track = &chrome->tracks[i];
        for (size_t j = 0; j < track->rows.count; j++)
            free(*(char **)array_at(&track->rows, j));
        array_free(&track->rows);
        array_free(&track->open);
    }
    free(chrome->tracks);
    stack_flows_free(&chrome->flows);
}

static bool write_chrome(const struct export_trace *trace, struct block_writer *out,
                         struct export_summary *summary, struct error *error)
{
    struct span_source *source = trace->source;
    struct chrome chrome = {
        .out = out,
        .source = source,
        .functions = array_of(sizeof(struct function_text)),
        .tracks = memory_allocate_zeroed((source->track_count + 1) * sizeof(struct chrome_track)),
    };
    struct export_events events;
    export_events_init(&events, source, out, summary);
    text_put(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    put_names(&chrome);
    const struct span_event *event;
    while ((event = export_events_next(&events)))
        put_event(&chrome, event);
    put_end(&chrome, trace->name);
    free_chrome(&chrome);
    return export_events_finish(&events, error);
}

const struct export_format export_chrome = {
    .name = "chrome",
    .suffix = ".json",
    .summary = "Chrome's trace events (JSON), for chrome://tracing and many others",
    .manual = "Chrome's trace events as JSON, for chrome://tracing, Perfetto, "
              "speedscope and many others: begin and end of each span with its address, "
              "symbol, file and line, recorded arguments and results, gaps and other instants, "
              "counters, hits of the "
              "trigger, and flow arrows from where a stack (of a goroutine or a fiber) "
              "is suspended to where it resumes. Frames deeper than 512 are on rows of "
              "their own, since Perfetto holds no more in one.",
    .write = write_chrome,
};
