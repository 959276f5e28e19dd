/* Perfetto's own format: track events in protocol buffers.
 *
 *   tracks     of processes and threads by their real numbers; frames deeper than 512, which
 *              Perfetto would lose, on child tracks named "frames 512-1023"
 *   spans      with interned names and source locations (file, line, symbol), whose code it is as
 *              category, the address and what is known of beginning and end as annotations
 *   instants   on their thread
 *   counters   on tracks of their process
 *   stacks     that were suspended and resumed: a flow from the one span to the other
 *   clock      time 0 is time 0 of the trace, with a snapshot that says what the wall clock was
 *
 * All is one sequence in time order, and times are encoded as differences, exact to the nanosecond.
 *
 * Source: protos/perfetto/trace/ in https://github.com/google/perfetto (trace_packet.proto,
 * clock_snapshot.proto, interned_data.proto, track_event/). That it keeps 512 spans per track was
 * measured with its trace processor; that flows may start at ends of spans is in its
 * track_event_event_importer.h.
 */
#include "base/array.h"
#include "base/memory.h"
#include "output/export/export.h"
#include "output/export/export_events.h"
#include "output/fxt/fxt_format.h"
#include "output/protobuf.h"
#include "output/span_words.h"
#include "output/stack_flows.h"
#include "output/text_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Numbers of fields. */
enum {
    TRACE_PACKET = 1,

    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,

    DEFAULTS_CLOCK = 58,

    SNAPSHOT_CLOCK = 1,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    CLOCK_IS_INCREMENTAL = 3,

    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_NAME = 2,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_THREAD = 4,
    DESCRIPTOR_PARENT = 5,
    DESCRIPTOR_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,

    INTERNED_CATEGORIES = 1,
    INTERNED_EVENT_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_SOURCE_LOCATIONS = 4,
    INTERNED_ID = 1,
    INTERNED_NAME = 2,
    LOCATION_FILE = 2,
    LOCATION_FUNCTION = 3,
    LOCATION_LINE = 4,

    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_LOCATION = 34,
    EVENT_COUNTER = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,

    ANNOTATION_NAME_ID = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_NAME = 10,
};

enum event_type {
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,
};

enum {
    STATE_CLEARED = 1, /* of the sequence: what was interned before is forgotten */
    STATE_NEEDED = 2,

    THE_SEQUENCE = 1,

    CLOCK_REALTIME_ID = 1,
    CLOCK_BOOTTIME_ID = 6, /* the one in which Perfetto shows times */
    CLOCK_DELTA_ID = 64,   /* the first that a sequence may define for itself */
};

/* Annotations by their interned number. */
enum annotation {
    ANNOTATION_NONE,
    ANNOTATION_ADDRESS,
    ANNOTATION_START_INFERRED,
    ANNOTATION_END_INFERRED,
    ANNOTATION_ACROSS_GAP,
    ANNOTATION_END,
    ANNOTATION_TIMESTAMP,
    ANNOTATION_PID,
    ANNOTATION_TID,
    ANNOTATION_IP,
    ANNOTATION_PASSED,
    ANNOTATION_ARGUMENT,
    ANNOTATION_COUNT
};

static const char *const annotation_names[ANNOTATION_COUNT] = {
    [ANNOTATION_ADDRESS] = FXT_NAME_ADDRESS,
    [ANNOTATION_START_INFERRED] = FXT_NAME_START_INFERRED,
    [ANNOTATION_END_INFERRED] = FXT_NAME_END_INFERRED,
    [ANNOTATION_ACROSS_GAP] = FXT_NAME_ACROSS_GAP,
    [ANNOTATION_END] = FXT_NAME_END,
    [ANNOTATION_TIMESTAMP] = FXT_NAME_TIMESTAMP,
    [ANNOTATION_PID] = FXT_NAME_PID,
    [ANNOTATION_TID] = FXT_NAME_TID,
    [ANNOTATION_IP] = FXT_NAME_IP,
    [ANNOTATION_PASSED] = FXT_NAME_PASSED,
    [ANNOTATION_ARGUMENT] = FXT_NAME_ARGUMENT,
};

/* What is interned of a function when it is met first; its number is the index + 1. */
struct interned_function {
    bool known;
    bool has_location;
    uint8_t category; /* 0: none */
};

/* A quantity of a process. */
struct counter {
    char *key; /* the process and the name; owned */
    uint64_t uuid;
    UT_hash_handle hh;
};

struct perfetto_track {
    uint64_t depth;    /* open spans */
    struct array rows; /* of uint64_t: uuids of the track itself and of those of deeper frames */
};

struct perfetto {
    struct block_writer *out;
    const struct span_source *source;
    struct protobuf packet;
    struct perfetto_track *tracks; /* owned */
    struct array functions;        /* of struct interned_function, by index */
    struct counter *counters;
    struct stack_flows flows;
    uint64_t uuids; /* given so far, but those of processes */
    uint64_t time;  /* ns: of the newest packet that has one */
};

/* Those of the categories in which a function can be. */
static const char *const categories[] = {NULL, FXT_NAME_LIBRARY, FXT_NAME_KERNEL, FXT_NAME_INLINED,
                                         FXT_NAME_SPECIAL};
enum { CATEGORY_COUNT = sizeof categories / sizeof *categories };

/* ------------------------------------------------------------------ packets */

static size_t begin_packet(struct perfetto *perfetto)
{
    size_t mark = protobuf_begin(&perfetto->packet, TRACE_PACKET);
    protobuf_number(&perfetto->packet, PACKET_SEQUENCE, THE_SEQUENCE);
    return mark;
}

static void end_packet(struct perfetto *perfetto, size_t mark)
{
    protobuf_end(&perfetto->packet, mark);
    text_put_bytes(perfetto->out, perfetto->packet.bytes, perfetto->packet.count);
    perfetto->packet.count = 0;
}

static void put_clock(struct protobuf *packet, uint64_t id, uint64_t time, bool incremental)
{
    size_t mark = protobuf_begin(packet, SNAPSHOT_CLOCK);
    protobuf_number(packet, CLOCK_ID, id);
    protobuf_number(packet, CLOCK_TIMESTAMP, time);
    if (incremental)
        protobuf_number(packet, CLOCK_IS_INCREMENTAL, 1);
    protobuf_end(packet, mark);
}

static void put_interned(struct protobuf *packet, uint32_t field, uint64_t id, const char *name)
{
    size_t mark = protobuf_begin(packet, field);
    protobuf_number(packet, INTERNED_ID, id);
    protobuf_string(packet, INTERNED_NAME, name);
    protobuf_end(packet, mark);
}

/* The first packet: what the clocks are at time 0, and the names that are known beforehand. */
static void put_beginning(struct perfetto *perfetto)
{
    struct protobuf *packet = &perfetto->packet;
    size_t mark = begin_packet(perfetto);
    protobuf_number(packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED | STATE_NEEDED);
    size_t inner = protobuf_begin(packet, PACKET_DEFAULTS);
    protobuf_number(packet, DEFAULTS_CLOCK, CLOCK_DELTA_ID);
    protobuf_end(packet, inner);
    inner = protobuf_begin(packet, PACKET_CLOCK_SNAPSHOT);
    put_clock(packet, CLOCK_BOOTTIME_ID, 0, false);
    put_clock(packet, CLOCK_DELTA_ID, 0, true);
    if (perfetto->source->wall_clock)
        put_clock(packet, CLOCK_REALTIME_ID, perfetto->source->wall_clock, false);
    protobuf_end(packet, inner);
    inner = protobuf_begin(packet, PACKET_INTERNED_DATA);
    for (uint64_t id = 1; id < CATEGORY_COUNT; id++)
        put_interned(packet, INTERNED_CATEGORIES, id, categories[id]);
    for (uint64_t id = 1; id < ANNOTATION_COUNT; id++)
        put_interned(packet, INTERNED_ANNOTATION_NAMES, id, annotation_names[id]);
    protobuf_end(packet, inner);
    end_packet(perfetto, mark);
}

/* ------------------------------------------------------------------ tracks */

/* Above all others, and the same for all threads of a process. */
static uint64_t process_uuid(uint32_t pid)
{
    return (UINT64_C(1) << 32) + pid;
}

static size_t begin_descriptor(struct perfetto *perfetto, size_t *packet_mark, uint64_t uuid,
                               uint64_t parent, const char *name)
{
    *packet_mark = begin_packet(perfetto);
    size_t mark = protobuf_begin(&perfetto->packet, PACKET_TRACK_DESCRIPTOR);
    protobuf_number(&perfetto->packet, DESCRIPTOR_UUID, uuid);
    if (parent)
        protobuf_number(&perfetto->packet, DESCRIPTOR_PARENT, parent);
    if (name)
        protobuf_string(&perfetto->packet, DESCRIPTOR_NAME, name);
    return mark;
}

static void end_descriptor(struct perfetto *perfetto, size_t packet_mark, size_t mark)
{
    protobuf_end(&perfetto->packet, mark);
    end_packet(perfetto, packet_mark);
}

static void put_process(struct perfetto *perfetto, const struct span_track *track)
{
    struct protobuf *packet = &perfetto->packet;
    size_t outer;
    size_t mark = begin_descriptor(perfetto, &outer, process_uuid(track->pid), 0, NULL);
    size_t inner = protobuf_begin(packet, DESCRIPTOR_PROCESS);
    protobuf_signed(packet, PROCESS_PID, (int32_t)track->pid);
    protobuf_string(packet, PROCESS_NAME, track->process_name);
    protobuf_end(packet, inner);
    end_descriptor(perfetto, outer, mark);
}

static void put_thread(struct perfetto *perfetto, const struct span_track *track, uint64_t uuid)
{
    struct protobuf *packet = &perfetto->packet;
    size_t outer;
    size_t mark = begin_descriptor(perfetto, &outer, uuid, process_uuid(track->pid), NULL);
    size_t inner = protobuf_begin(packet, DESCRIPTOR_THREAD);
    protobuf_signed(packet, THREAD_PID, (int32_t)track->pid);
    protobuf_signed(packet, THREAD_TID, (int32_t)track->tid);
    protobuf_string(packet, THREAD_NAME, track->thread_name);
    protobuf_end(packet, inner);
    end_descriptor(perfetto, outer, mark);
}

static void put_tracks(struct perfetto *perfetto)
{
    for (size_t i = 0; i < perfetto->source->track_count; i++) {
        const struct span_track *track = &perfetto->source->tracks[i];
        struct perfetto_track *state = &perfetto->tracks[i];
        state->rows = array_of(sizeof(uint64_t));
        uint64_t uuid = ++perfetto->uuids;
        array_add_all(&state->rows, &uuid, 1);
        put_process(perfetto, track);
        put_thread(perfetto, track, uuid);
    }
}

static void add_row(struct perfetto *perfetto, struct perfetto_track *track)
{
    uint64_t first = track->rows.count * FXT_DEPTH_MAX;
    uint64_t uuid = ++perfetto->uuids;
    char *name = memory_format("frames %" PRIu64 "-%" PRIu64, first, first + FXT_DEPTH_MAX - 1);
    size_t outer;
    size_t mark = begin_descriptor(perfetto, &outer, uuid, *(uint64_t *)track->rows.elements, name);
    end_descriptor(perfetto, outer, mark);
    array_add_all(&track->rows, &uuid, 1);
    free(name);
}

/* The row that shows the next span of the track, inside of those that are open. */
static uint64_t row_of_next(struct perfetto *perfetto, uint32_t track)
{
    struct perfetto_track *state = &perfetto->tracks[track];
    size_t row = state->depth / FXT_DEPTH_MAX;
    while (state->rows.count <= row)
        add_row(perfetto, state);
    return *(uint64_t *)array_at(&state->rows, row);
}

static uint64_t counter_uuid(struct perfetto *perfetto, const struct span_event *event)
{
    uint32_t pid = perfetto->source->tracks[event->track].pid;
    char *key = memory_format("%" PRIu32 " %s", pid, event->text);
    struct counter *counter;
    HASH_FIND_STR(perfetto->counters, key, counter);
    if (counter) {
        free(key);
        return counter->uuid;
    }
    counter = memory_allocate_zeroed(sizeof *counter);
    counter->key = key;
    counter->uuid = ++perfetto->uuids;
    HASH_ADD_KEYPTR(hh, perfetto->counters, key, strlen(key), counter);
    size_t outer;
    size_t mark = begin_descriptor(perfetto, &outer, counter->uuid, process_uuid(pid), event->text);
    protobuf_bytes(&perfetto->packet, DESCRIPTOR_COUNTER, NULL, 0);
    end_descriptor(perfetto, outer, mark);
    return counter->uuid;
}

/* ------------------------------------------------------------------ functions */

static uint8_t category_of(const struct span_function *function)
{
    const char *word = span_origin_word(function);
    for (int id = 1; id < CATEGORY_COUNT; id++)
        if (strcmp(categories[id], word) == 0)
            return (uint8_t)id;
    return 0;
}

static void intern_function(struct perfetto *perfetto, const struct span_function *function,
                            struct interned_function *interned)
{
    struct protobuf *packet = &perfetto->packet;
    uint64_t id = (uint64_t)function->index + 1;
    interned->known = true;
    interned->category = category_of(function);
    interned->has_location = function->file || function->symbol;
    size_t mark = protobuf_begin(packet, PACKET_INTERNED_DATA);
    put_interned(packet, INTERNED_EVENT_NAMES, id, function->name);
    if (interned->has_location) {
        size_t inner = protobuf_begin(packet, INTERNED_SOURCE_LOCATIONS);
        protobuf_number(packet, INTERNED_ID, id);
        if (function->file)
            protobuf_string(packet, LOCATION_FILE, function->file);
        protobuf_string(packet, LOCATION_FUNCTION,
                        function->symbol ? function->symbol : function->name);
        if (function->line)
            protobuf_number(packet, LOCATION_LINE, function->line);
        protobuf_end(packet, inner);
    }
    protobuf_end(packet, mark);
}

static struct interned_function *interned_at(struct perfetto *perfetto,
                                             const struct span_function *function)
{
    while (perfetto->functions.count <= function->index)
        array_add(&perfetto->functions);
    return array_at(&perfetto->functions, function->index);
}

/* ------------------------------------------------------------------ events */

/* A packet with an event: the packet, then the event in it. */
struct event_marks {
    size_t packet, event;
};

/* `function`: its interned data are written before the event; NULL: none are. */
static struct event_marks begin_event(struct perfetto *perfetto, const struct span_event *event,
                                      const struct span_function *function, enum event_type type,
                                      uint64_t track)
{
    struct protobuf *packet = &perfetto->packet;
    struct event_marks marks = {.packet = begin_packet(perfetto)};
    protobuf_number(packet, PACKET_SEQUENCE_FLAGS, STATE_NEEDED);
    protobuf_number(packet, PACKET_TIMESTAMP, event->time.value - perfetto->time);
    perfetto->time = event->time.value;
    if (function && !interned_at(perfetto, function)->known)
        intern_function(perfetto, function, interned_at(perfetto, function));
    marks.event = protobuf_begin(packet, PACKET_TRACK_EVENT);
    protobuf_number(packet, EVENT_TYPE, type);
    protobuf_number(packet, EVENT_TRACK, track);
    return marks;
}

static void end_event(struct perfetto *perfetto, struct event_marks marks)
{
    protobuf_end(&perfetto->packet, marks.event);
    end_packet(perfetto, marks.packet);
}

static void annotate(struct perfetto *perfetto, enum annotation name, uint32_t type, uint64_t value)
{
    struct protobuf *packet = &perfetto->packet;
    size_t mark = protobuf_begin(packet, EVENT_ANNOTATION);
    protobuf_number(packet, ANNOTATION_NAME_ID, name);
    protobuf_number(packet, type, value);
    protobuf_end(packet, mark);
}

static void annotate_word(struct perfetto *perfetto, enum annotation name, const char *word)
{
    struct protobuf *packet = &perfetto->packet;
    size_t mark = protobuf_begin(packet, EVENT_ANNOTATION);
    protobuf_number(packet, ANNOTATION_NAME_ID, name);
    protobuf_bytes(packet, ANNOTATION_STRING, word, strlen(word));
    protobuf_end(packet, mark);
}

static void put_value(struct protobuf *packet, const struct named_value *value)
{
    switch (value->kind) {
    case NAMED_SIGNED:
        protobuf_number(packet, ANNOTATION_INT, value->unsigned_number);
        break;
    case NAMED_UNSIGNED:
        protobuf_number(packet,
                        strncmp(value->text, "0x", 2) == 0 ? ANNOTATION_POINTER : ANNOTATION_UINT,
                        value->unsigned_number);
        break;
    case NAMED_FLOAT:
        protobuf_double(packet, ANNOTATION_DOUBLE, value->real);
        break;
    case NAMED_TEXT:
        protobuf_string(packet, ANNOTATION_STRING, value->text);
        break;
    }
}

/* Recorded arguments and the result of a call. */
static void annotate_values(struct perfetto *perfetto, const struct named_values *values)
{
    struct protobuf *packet = &perfetto->packet;
    for (size_t i = 0; i < values->count; i++) {
        bool is_result = values->has_result && i + 1 == values->count;
        char *name =
            memory_format("%s%s", is_result ? "" : FXT_VALUE_PREFIX, values->values[i].name);
        size_t mark = protobuf_begin(packet, EVENT_ANNOTATION);
        protobuf_string(packet, ANNOTATION_NAME, name);
        put_value(packet, &values->values[i]);
        protobuf_end(packet, mark);
        free(name);
    }
}

static void annotate_hit(struct perfetto *perfetto, const struct span_hit *hit)
{
    annotate(perfetto, ANNOTATION_TIMESTAMP, ANNOTATION_UINT, hit->time.value);
    annotate(perfetto, ANNOTATION_PID, ANNOTATION_UINT, hit->pid);
    annotate(perfetto, ANNOTATION_TID, ANNOTATION_UINT, hit->tid);
    annotate(perfetto, ANNOTATION_IP, ANNOTATION_POINTER, hit->address);
    if (hit->has_passed)
        annotate(perfetto, ANNOTATION_PASSED, ANNOTATION_UINT, hit->passed.value);
    if (hit->has_argument)
        annotate(perfetto, ANNOTATION_ARGUMENT, ANNOTATION_INT, (uint64_t)hit->argument);
}

static void put_enter(struct perfetto *perfetto, const struct span_event *event)
{
    struct protobuf *packet = &perfetto->packet;
    const struct span_function *function = event->function;
    uint64_t row = row_of_next(perfetto, event->track);
    struct event_marks marks = begin_event(perfetto, event, function, TYPE_BEGIN, row);
    const struct interned_function *interned = interned_at(perfetto, function);
    protobuf_number(packet, EVENT_NAME_ID, (uint64_t)function->index + 1);
    if (interned->category)
        protobuf_number(packet, EVENT_CATEGORY, interned->category);
    if (interned->has_location)
        protobuf_number(packet, EVENT_LOCATION, (uint64_t)function->index + 1);
    if (event->address)
        annotate(perfetto, ANNOTATION_ADDRESS, ANNOTATION_POINTER, event->address);
    if (event->flags & SPAN_START_INFERRED)
        annotate(perfetto, ANNOTATION_START_INFERRED, ANNOTATION_BOOL, 1);
    if (event->hit)
        annotate_hit(perfetto, event->hit);
    uint64_t flow = stack_flows_end(&perfetto->flows, event).arrow;
    if (flow)
        protobuf_fixed64(packet, EVENT_FLOW_END, flow);
    end_event(perfetto, marks);
    perfetto->tracks[event->track].depth++;
}

static void put_leave(struct perfetto *perfetto, const struct span_event *event)
{
    struct perfetto_track *track = &perfetto->tracks[event->track];
    if (track->depth == 0)
        return;
    track->depth--;
    uint64_t row = row_of_next(perfetto, event->track);
    struct event_marks marks = begin_event(perfetto, event, NULL, TYPE_END, row);
    if (event->end != SPAN_END_RETURN)
        annotate_word(perfetto, ANNOTATION_END, span_end_word(event->end));
    if (event->flags & SPAN_END_INFERRED)
        annotate(perfetto, ANNOTATION_END_INFERRED, ANNOTATION_BOOL, 1);
    if (event->flags & SPAN_ACROSS_GAP)
        annotate(perfetto, ANNOTATION_ACROSS_GAP, ANNOTATION_BOOL, 1);
    if (event->values)
        annotate_values(perfetto, event->values);
    uint64_t flow = stack_flows_begin(&perfetto->flows, event);
    if (flow)
        protobuf_fixed64(&perfetto->packet, EVENT_FLOW, flow);
    end_event(perfetto, marks);
}

static void put_instant(struct perfetto *perfetto, const struct span_event *event)
{
    uint64_t row = row_of_next(perfetto, event->track);
    struct event_marks marks = begin_event(perfetto, event, NULL, TYPE_INSTANT, row);
    protobuf_number(&perfetto->packet, EVENT_CATEGORY, CATEGORY_COUNT - 1);
    protobuf_string(&perfetto->packet, EVENT_NAME, event->text);
    end_event(perfetto, marks);
}

static void put_counter(struct perfetto *perfetto, const struct span_event *event)
{
    uint64_t track = counter_uuid(perfetto, event);
    struct event_marks marks = begin_event(perfetto, event, NULL, TYPE_COUNTER, track);
    protobuf_double(&perfetto->packet, EVENT_COUNTER, event->value);
    end_event(perfetto, marks);
}

static void put_event(struct perfetto *perfetto, const struct span_event *event)
{
    switch (event->kind) {
    case SPAN_ENTER:
        put_enter(perfetto, event);
        break;
    case SPAN_LEAVE:
        put_leave(perfetto, event);
        break;
    case SPAN_INSTANT:
        put_instant(perfetto, event);
        break;
    case SPAN_COUNTER:
        put_counter(perfetto, event);
        break;
    case SPAN_MOVE:
        break; /* only for those who ask for it */
    }
}

/* ------------------------------------------------------------------ the whole */

static void free_perfetto(struct perfetto *perfetto)
{
    struct counter *counter, *next;
    HASH_ITER(hh, perfetto->counters, counter, next)
    {
        HASH_DEL(perfetto->counters, counter);
        free(counter->key);
        free(counter);
    }
    for (size_t i = 0; i < perfetto->source->track_count; i++)
        array_free(&perfetto->tracks[i].rows);
    free(perfetto->tracks);
    array_free(&perfetto->functions);
    stack_flows_free(&perfetto->flows);
    protobuf_free(&perfetto->packet);
}

static bool write_perfetto(const struct export_trace *trace, struct block_writer *out,
                           struct export_summary *summary, struct error *error)
{
    struct span_source *source = trace->source;
    struct perfetto perfetto = {
        .out = out,
        .source = source,
        .tracks = memory_allocate_zeroed((source->track_count + 1) * sizeof *perfetto.tracks),
        .functions = array_of(sizeof(struct interned_function)),
    };
    struct export_events events;
    export_events_init(&events, source, out, summary);
    put_beginning(&perfetto);
    put_tracks(&perfetto);
    const struct span_event *event;
    while ((event = export_events_next(&events)))
        put_event(&perfetto, event);
    free_perfetto(&perfetto);
    return export_events_finish(&events, error);
}

const struct export_format export_perfetto = {
    .name = "perfetto",
    .suffix = ".perfetto-trace",
    .summary = "Perfetto's own, for traces that its page cannot hold as FXT",
    .manual = "Perfetto's own track events in protocol buffers. Perfetto's page takes "
              "less than half of the memory for it that it takes for a Fuchsia trace, "
              "so that larger ones can be opened, but two to three times as long. Holds "
              "all that `chrome` holds, and the time of day; whose code a span is "
              "(library, kernel, inlined) is its category; frames deeper than 512 are "
              "on tracks of their own below the thread.",
    .write = write_perfetto,
};
