/* A profile for pprof, Speedscope, Grafana, Parca and other readers of its protocol buffers.
 *
 * One sample per distinct stack and thread, with the number of calls of its innermost function and
 * the nanoseconds spent in that function itself; labels say process and thread. The format cannot
 * represent single calls and their times, instants, counters and hits of the trigger.
 *
 * Source: https://github.com/google/pprof/blob/main/proto/profile.proto
 */
#include "base/array.h"
#include "base/memory.h"
#include "output/export/export.h"
#include "output/export/export_events.h"
#include "output/protobuf.h"
#include "output/report/stack_sums.h"
#include "output/text_writer.h"

#include <stdlib.h>
#include <uthash.h>

/* Numbers of fields. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,

    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,

    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,

    LABEL_KEY = 1,
    LABEL_STRING = 2,
    LABEL_NUMBER = 3,

    MAPPING_ID = 1,
    MAPPING_FILE_NAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILE_NAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,

    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,

    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,

    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE_NAME = 4,
    FUNCTION_START_LINE = 5,
};

/* The only mapping: it says that functions are named already, so readers need not look them up. */
enum { THE_MAPPING = 1 };

struct pprof_string {
    char *text; /* owned */
    uint64_t index;
    UT_hash_handle hh;
};

struct pprof_function {
    const struct span_function *function; /* NULL: not called */
    uint64_t address;
};

struct pprof {
    struct block_writer *out;
    struct protobuf message;
    struct pprof_string *strings; /* in the order of their index */
    struct array functions;       /* of struct pprof_function, by index */
    struct array hit_tracks;      /* of bool, by track: it holds hits, not calls */
    struct stack_sums sums;
    struct {
        struct span_function function;
        bool used;
    } left_out; /* represents the omitted frames */
};

/* ------------------------------------------------------------------ strings */

static uint64_t string_index(struct pprof *pprof, const char *text)
{
    struct pprof_string *found;
    HASH_FIND_STR(pprof->strings, text, found);
    if (!found) {
        found = memory_allocate_zeroed(sizeof *found);
        found->text = memory_copy_string(text);
        found->index = HASH_COUNT(pprof->strings);
        HASH_ADD_KEYPTR(hh, pprof->strings, found->text, strlen(found->text), found);
    }
    return found->index;
}

static void put_string(struct pprof *pprof, uint32_t field, const char *text)
{
    protobuf_number(&pprof->message, field, string_index(pprof, text ? text : ""));
}

/* ------------------------------------------------------------------ messages */

static void flush(struct pprof *pprof)
{
    text_put_bytes(pprof->out, pprof->message.bytes, pprof->message.count);
    pprof->message.count = 0;
}

static void put_type(struct pprof *pprof, uint32_t field, const char *type, const char *unit)
{
    size_t mark = protobuf_begin(&pprof->message, field);
    put_string(pprof, VALUE_TYPE_TYPE, type);
    put_string(pprof, VALUE_TYPE_UNIT, unit);
    protobuf_end(&pprof->message, mark);
}

static void put_head(struct pprof *pprof, const char *name, bool sampled)
{
    string_index(pprof, ""); /* has to be the first */
    put_type(pprof, PROFILE_SAMPLE_TYPE, sampled ? "spans of samples" : "calls", "count");
    put_type(pprof, PROFILE_SAMPLE_TYPE, "self", "nanoseconds");
    put_type(pprof, PROFILE_PERIOD_TYPE, "self", "nanoseconds");
    protobuf_number(&pprof->message, PROFILE_PERIOD, 1);
    put_string(pprof, PROFILE_DEFAULT_SAMPLE_TYPE, "self");
    size_t mark = protobuf_begin(&pprof->message, PROFILE_MAPPING);
    protobuf_number(&pprof->message, MAPPING_ID, THE_MAPPING);
    put_string(pprof, MAPPING_FILE_NAME, name);
    protobuf_number(&pprof->message, MAPPING_HAS_FUNCTIONS, 1);
    protobuf_number(&pprof->message, MAPPING_HAS_FILE_NAMES, 1);
    protobuf_number(&pprof->message, MAPPING_HAS_LINE_NUMBERS, 1);
    protobuf_end(&pprof->message, mark);
    flush(pprof);
}

static void put_label(struct pprof *pprof, const char *key, const char *text, uint64_t number)
{
    size_t mark = protobuf_begin(&pprof->message, SAMPLE_LABEL);
    put_string(pprof, LABEL_KEY, key);
    if (text)
        put_string(pprof, LABEL_STRING, text);
    else
        protobuf_number(&pprof->message, LABEL_NUMBER, number);
    protobuf_end(&pprof->message, mark);
}

/* 0 means none. */
static uint64_t id_of(const struct span_function *function)
{
    return (uint64_t)function->index + 1;
}

static void put_sample(struct pprof *pprof, const struct summed_stack *node)
{
    struct protobuf *message = &pprof->message;
    size_t mark = protobuf_begin(message, PROFILE_SAMPLE);
    size_t inner = protobuf_begin(message, SAMPLE_LOCATION_ID);
    const struct summed_stack *stack = node;
    while (stack->key.caller) {
        bool left_out;
        protobuf_varint(message, id_of(stack->key.what));
        stack = stack_sums_caller(node, stack, &left_out);
        if (left_out)
            protobuf_varint(message, id_of(&pprof->left_out.function));
        pprof->left_out.used = pprof->left_out.used || left_out;
    }
    protobuf_end(message, inner);
    inner = protobuf_begin(message, SAMPLE_VALUE);
    protobuf_varint(message, node->calls);
    protobuf_varint(message, node->self);
    protobuf_end(message, inner);
    const struct span_track *track = stack->key.what;
    put_label(pprof, "process", track->process_name, 0);
    put_label(pprof, "thread", track->thread_name, 0);
    put_label(pprof, "pid", NULL, track->pid);
    put_label(pprof, "tid", NULL, track->tid);
    protobuf_end(message, mark);
    flush(pprof);
}

static void put_location(struct pprof *pprof, const struct pprof_function *known)
{
    struct protobuf *message = &pprof->message;
    size_t mark = protobuf_begin(message, PROFILE_LOCATION);
    protobuf_number(message, LOCATION_ID, id_of(known->function));
    protobuf_number(message, LOCATION_MAPPING_ID, THE_MAPPING);
    protobuf_number(message, LOCATION_ADDRESS, known->address);
    size_t inner = protobuf_begin(message, LOCATION_LINE);
    protobuf_number(message, LINE_FUNCTION_ID, id_of(known->function));
    protobuf_number(message, LINE_LINE, known->function->line);
    protobuf_end(message, inner);
    protobuf_end(message, mark);
}

static void put_function(struct pprof *pprof, const struct span_function *function)
{
    struct protobuf *message = &pprof->message;
    size_t mark = protobuf_begin(message, PROFILE_FUNCTION);
    protobuf_number(message, FUNCTION_ID, id_of(function));
    put_string(pprof, FUNCTION_NAME, function->name);
    put_string(pprof, FUNCTION_SYSTEM_NAME, function->symbol ? function->symbol : function->name);
    put_string(pprof, FUNCTION_FILE_NAME, function->file);
    protobuf_number(message, FUNCTION_START_LINE, function->line);
    protobuf_end(message, mark);
}

static void put_profile(struct pprof *pprof, const struct export_events *events)
{
    pprof->left_out.function = (struct span_function){
        .name = STACK_LEFT_OUT,
        .special = true,
        .index = (uint32_t)pprof->functions.count,
    };
    for (const struct summed_stack *node = pprof->sums.nodes; node; node = node->hh.next)
        if (node->key.caller)
            put_sample(pprof, node);
    if (pprof->left_out.used)
        *(struct pprof_function *)array_add(&pprof->functions) =
            (struct pprof_function){.function = &pprof->left_out.function};
    for (size_t i = 0; i < pprof->functions.count; i++) {
        const struct pprof_function *known = array_at(&pprof->functions, i);
        if (!known->function)
            continue;
        put_location(pprof, known);
        put_function(pprof, known->function);
        flush(pprof);
    }
    struct protobuf *message = &pprof->message;
    if (events->source->wall_clock)
        protobuf_number(message, PROFILE_TIME_NANOS,
                        events->source->wall_clock + events->first.value);
    protobuf_number(message, PROFILE_DURATION_NANOS, events->last.value - events->first.value);
    for (const struct pprof_string *string = pprof->strings; string; string = string->hh.next)
        protobuf_string(message, PROFILE_STRING_TABLE, string->text);
    flush(pprof);
}

/* ------------------------------------------------------------------ reading */

static bool is_of_hits(struct pprof *pprof, const struct span_event *event)
{
    while (pprof->hit_tracks.count <= event->track)
        array_add(&pprof->hit_tracks);
    bool *has_hits = array_at(&pprof->hit_tracks, event->track);
    *has_hits = *has_hits || event->hit;
    return *has_hits;
}

static void read_event(struct pprof *pprof, const struct span_source *source,
                       const struct span_event *event)
{
    if (is_of_hits(pprof, event) || event->kind == SPAN_COUNTER)
        return;
    stack_sums_read(&pprof->sums, source, event);
    if (event->kind != SPAN_ENTER)
        return;
    while (pprof->functions.count <= event->function->index)
        array_add(&pprof->functions);
    struct pprof_function *known = array_at(&pprof->functions, event->function->index);
    known->function = event->function;
    if (!known->address)
        known->address = event->address;
}

static void free_pprof(struct pprof *pprof)
{
    struct pprof_string *string, *next;
    HASH_ITER(hh, pprof->strings, string, next)
    {
        HASH_DEL(pprof->strings, string);
        free(string->text);
        free(string);
    }
    array_free(&pprof->functions);
    array_free(&pprof->hit_tracks);
    stack_sums_free(&pprof->sums);
    protobuf_free(&pprof->message);
}

static bool write_pprof(const struct export_trace *trace, struct block_writer *out,
                        struct export_summary *summary, struct error *error)
{
    struct span_source *source = trace->source;
    struct pprof pprof = {
        .out = out,
        .functions = array_of(sizeof(struct pprof_function)),
        .hit_tracks = array_of(sizeof(bool)),
    };
    stack_sums_init(&pprof.sums);
    struct export_events events;
    export_events_init(&events, source, out, summary);
    const struct span_event *event;
    while ((event = export_events_next(&events)))
        read_event(&pprof, source, event);
    put_head(&pprof, trace->name, source->sampled);
    put_profile(&pprof, &events);
    free_pprof(&pprof);
    return export_events_finish(&events, error);
}

const struct export_format export_pprof = {
    .name = "pprof",
    .suffix = ".pb.gz",
    .summary = "calls and time by stack, for `go tool pprof` and its kin",
    .manual = "A compressed profile for `go tool pprof` and its kin: the calls of each "
              "stack and the nanoseconds spent in its innermost function, by process "
              "and thread.",
    .gzip = true,
    .write = write_pprof,
};
