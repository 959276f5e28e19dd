#include "server/page_trace.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/base64.h"
#include "base/memory.h"
#include "index/marks.h"
#include "output/fxt/fxt_counter_text.h"
#include "output/json_quoted.h"
#include "output/protobuf.h"
#include "output/span_words.h"
#include "output/stack_flows.h"
#include "output/stack_parts.h"
#include "output/text_writer.h"

#include <math.h>
#include <stdlib.h>

/* Of the form; web/data/embedded_trace.js refuses others. */
enum { VERSION = 1 };

/* Bits of a span's flags, above which stands why it ended. */
enum { START_INFERRED_BIT = 1, END_INFERRED_BIT = 2, ACROSS_GAP_BIT = 4, END_SHIFT = 8 };

struct page_span {
    uint64_t start, end; /* ns of the source */
    uint32_t depth, function;
    uint32_t flags;
    const struct span_hit *hit;        /* or NULL */
    const struct named_values *values; /* the same, of a call; the trace's */
};

struct page_track {
    struct array spans; /* of struct page_span, in the order in which they begin */
    struct array open;  /* of size_t: indices of those that have not ended, outermost first */
    bool has_hits;
};

/* A function at an address. */
struct page_function {
    const struct span_function *function;
    uint64_t address;
    uint32_t next; /* the same function at another address: its id + 1; 0: none */
};

struct page_counter {
    const char *text;
    uint32_t pid;
    struct array samples; /* of struct page_sample */
};

struct page_sample {
    uint64_t time;
    double value;
};

/* A suspended stack is resumed. */
struct page_switch {
    uint64_t from, to; /* ns of the source */
    uint32_t from_track, to_track;
};

struct page_trace {
    const struct span_source *source;
    struct page_track *tracks; /* owned */
    struct array functions;    /* of struct page_function, by id */
    struct array first_ids;    /* of uint32_t, by index of the function: its first id + 1 */
    struct array marks;        /* of struct span_event */
    struct array counters;     /* of struct page_counter */
    struct array switches;     /* of struct page_switch */
    struct array parts;        /* of struct stack_part */
    struct stack_parts stacks;
    struct stack_flows flows;
    struct arena memory;  /* for values */
    uint64_t first, last; /* ns of the source */
    bool began;
};

struct page_trace *page_trace_new(const struct span_source *source)
{
    struct page_trace *trace = memory_allocate_zeroed(sizeof *trace);
    *trace = (struct page_trace){
        .source = source,
        .tracks = memory_allocate_zeroed((source->track_count + 1) * sizeof *trace->tracks),
        .functions = array_of(sizeof(struct page_function)),
        .first_ids = array_of(sizeof(uint32_t)),
        .marks = array_of(sizeof(struct span_event)),
        .counters = array_of(sizeof(struct page_counter)),
        .switches = array_of(sizeof(struct page_switch)),
        .parts = array_of(sizeof(struct stack_part)),
        .stacks = stack_parts_new(source->track_count),
    };
    for (size_t i = 0; i < source->track_count; i++) {
        trace->tracks[i].spans = array_of(sizeof(struct page_span));
        trace->tracks[i].open = array_of(sizeof(size_t));
    }
    return trace;
}

void page_trace_free(struct page_trace *trace)
{
    for (size_t i = 0; i < trace->source->track_count; i++) {
        array_free(&trace->tracks[i].spans);
        array_free(&trace->tracks[i].open);
    }
    free(trace->tracks);
    for (size_t i = 0; i < trace->counters.count; i++)
        array_free(&((struct page_counter *)array_at(&trace->counters, i))->samples);
    array_free(&trace->functions);
    array_free(&trace->first_ids);
    array_free(&trace->marks);
    array_free(&trace->counters);
    array_free(&trace->switches);
    array_free(&trace->parts);
    stack_parts_free(&trace->stacks);
    stack_flows_free(&trace->flows);
    arena_free(&trace->memory);
    free(trace);
}

/* ------------------------------------------------------------------ reading */

static uint32_t add_function(struct page_trace *trace, const struct span_function *function,
                             uint64_t address)
{
    *(struct page_function *)array_add(&trace->functions) =
        (struct page_function){.function = function, .address = address};
    return (uint32_t)trace->functions.count;
}

static uint32_t id_of(struct page_trace *trace, const struct span_function *function,
                      uint64_t address)
{
    while (trace->first_ids.count <= function->index)
        array_add(&trace->first_ids);
    uint32_t *first = array_at(&trace->first_ids, function->index);
    if (*first == 0)
        *first = add_function(trace, function, address);
    for (uint32_t id = *first - 1;;) {
        struct page_function *known = array_at(&trace->functions, id);
        if (known->address == address)
            return id;
        if (known->next == 0) {
            uint32_t next = add_function(trace, function, address);
            ((struct page_function *)array_at(&trace->functions, id))->next = next;
            return next - 1;
        }
        id = known->next - 1;
    }
}

static void enter(struct page_trace *trace, const struct span_event *event)
{
    struct page_track *track = &trace->tracks[event->track];
    *(size_t *)array_add(&track->open) = track->spans.count;
    *(struct page_span *)array_add(&track->spans) = (struct page_span){
        .start = event->time.value,
        .end = event->time.value,
        .depth = (uint32_t)track->open.count - 1,
        .function = id_of(trace, event->function, event->address),
        .flags = event->flags & SPAN_START_INFERRED ? START_INFERRED_BIT : 0,
        .hit = event->hit,
    };
    track->has_hits = track->has_hits || event->hit;
}

static void leave(struct page_trace *trace, const struct span_event *event)
{
    struct page_track *track = &trace->tracks[event->track];
    if (track->open.count == 0)
        return;
    size_t index = *(size_t *)array_at(&track->open, --track->open.count);
    struct page_span *span = array_at(&track->spans, index);
    span->end = event->time.value;
    span->values = named_values_copy(&trace->memory, event->values);
    span->flags |= (event->flags & SPAN_END_INFERRED ? END_INFERRED_BIT : 0) |
                   (event->flags & SPAN_ACROSS_GAP ? ACROSS_GAP_BIT : 0) |
                   (uint32_t)event->end << END_SHIFT;
}

static void resume(struct page_trace *trace, const struct span_event *event)
{
    const struct stack_origin from = stack_flows_end(&trace->flows, event);
    if (from.known)
        *(struct page_switch *)array_add(&trace->switches) =
            (struct page_switch){from.time.value, event->time.value, from.track, event->track};
}

static void take_part(struct page_trace *trace, const struct span_event *event)
{
    struct stack_part part;
    if (stack_parts_take(&trace->stacks, event, event->time.value, &part))
        *(struct stack_part *)array_add(&trace->parts) = part;
}

static struct page_counter *counter_of(struct page_trace *trace, const struct span_event *event)
{
    uint32_t pid = trace->source->tracks[event->track].pid;
    for (size_t i = 0; i < trace->counters.count; i++) {
        struct page_counter *counter = array_at(&trace->counters, i);
        if (counter->pid == pid && strcmp(counter->text, event->text) == 0)
            return counter;
    }
    struct page_counter *counter = array_add(&trace->counters);
    *counter = (struct page_counter){event->text, pid, array_of(sizeof(struct page_sample))};
    return counter;
}

void page_trace_add(struct page_trace *trace, const struct span_event *event)
{
    if (!trace->began)
        trace->first = event->time.value;
    trace->began = true;
    trace->last = event->time.value;
    switch (event->kind) {
    case SPAN_ENTER:
        enter(trace, event);
        resume(trace, event);
        take_part(trace, event);
        break;
    case SPAN_LEAVE:
        leave(trace, event);
        stack_flows_begin(&trace->flows, event);
        take_part(trace, event);
        break;
    case SPAN_INSTANT:
        *(struct span_event *)array_add(&trace->marks) = *event;
        break;
    case SPAN_COUNTER:
        if (isfinite(event->value))
            *(struct page_sample *)array_add(&counter_of(trace, event)->samples) =
                (struct page_sample){event->time.value, event->value};
        break;
    case SPAN_MOVE:
        break; /* only for those who ask for it */
    }
}

/* ------------------------------------------------------------------ writing */

/* Before all but the first of a list. */
static void put_comma(struct block_writer *out, size_t index)
{
    if (index > 0)
        text_put(out, ",\n");
}

static void put_string(struct block_writer *out, const char *string)
{
    char *quoted = string ? json_quoted(string) : memory_copy_string("null");
    for (const char *next = quoted; *next;) {
        size_t plain = strcspn(next, "<");
        text_put_bytes(out, next, plain);
        next += plain;
        if (*next) {
            text_put(out, "\\u003c");
            next++;
        }
    }
    free(quoted);
}

/* An address does not fit the page's numbers. */
static void put_address(struct block_writer *out, uint64_t address)
{
    if (address == 0) {
        text_put(out, "null");
        return;
    }
    text_put(out, "\"");
    text_put_hexadecimal(out, address);
    text_put(out, "\"");
}

static void put_functions(const struct page_trace *trace, struct block_writer *out)
{
    text_put(out, ",\n\"functions\":[");
    for (size_t i = 0; i < trace->functions.count; i++) {
        const struct page_function *known = array_at(&trace->functions, i);
        put_comma(out, i);
        text_put(out, "[");
        put_string(out, known->function->name);
        text_put(out, ",");
        put_string(out, known->function->symbol);
        text_put(out, ",");
        put_string(out, known->function->file);
        text_put(out, ",");
        text_put_number(out, known->function->line);
        text_put(out, ",");
        put_address(out, known->address);
        text_put(out, ",\"");
        text_put(out, span_origin_word(known->function));
        text_put(out, "\"]");
    }
    text_put(out, "]");
}

static void put_columns(const struct page_trace *trace, const struct page_track *track,
                        struct block_writer *out)
{
    struct protobuf columns = {0}; /* its varints are LEB128 numbers */
    uint64_t before = trace->first;
    for (size_t i = 0; i < track->spans.count; i++) {
        const struct page_span *span = array_at(&track->spans, i);
        protobuf_varint(&columns, span->depth);
        protobuf_varint(&columns, span->start - before);
        protobuf_varint(&columns, span->end - span->start);
        protobuf_varint(&columns, span->function);
        protobuf_varint(&columns, span->flags);
        before = span->start;
    }
    char *text = base64_encode(columns.bytes, columns.count);
    text_put(out, "\"");
    text_put(out, text);
    text_put(out, "\"");
    free(text);
    protobuf_free(&columns);
}

/* The known arguments of hits, in the form of the server's answer. */
static void put_arguments(const struct page_track *track, struct block_writer *out)
{
    bool any = false;
    for (size_t i = 0; i < track->spans.count; i++) {
        const struct span_hit *hit = ((const struct page_span *)array_at(&track->spans, i))->hit;
        if (!hit)
            continue;
        text_put(out, any ? ",\"" : ",\"arguments\":{\"");
        text_put_number(out, i);
        text_put(out, "\":{\"pid\":");
        text_put_number(out, hit->pid);
        text_put(out, ",\"tid\":");
        text_put_number(out, hit->tid);
        if (hit->has_argument) {
            text_put(out, ",\"argument\":\"");
            text_put_signed(out, hit->argument);
            text_put(out, "\"");
        }
        text_put(out, "}");
        any = true;
    }
    text_put(out, any ? "}" : "");
}

/* Recorded arguments and results, in the form of the server's answer. */
static void put_values(const struct named_values *values, struct block_writer *out)
{
    size_t arguments = values->count - values->has_result;
    text_put(out, "{\"values\":[");
    for (size_t i = 0; i < arguments; i++) {
        text_put(out, i ? ",[" : "[");
        put_string(out, values->values[i].name);
        text_put(out, ",");
        put_string(out, values->values[i].text);
        text_put(out, "]");
    }
    text_put(out, "],\"result\":");
    put_string(out, values->has_result ? values->values[arguments].text : NULL);
    text_put(out, "}");
}

static void put_all_values(const struct page_track *track, struct block_writer *out)
{
    bool any = false;
    for (size_t i = 0; i < track->spans.count; i++) {
        const struct page_span *span = array_at(&track->spans, i);
        if (!span->values)
            continue;
        text_put(out, any ? ",\"" : ",\"values\":{\"");
        text_put_number(out, i);
        text_put(out, "\":");
        put_values(span->values, out);
        any = true;
    }
    text_put(out, any ? "}" : "");
}

static void put_tracks(const struct page_trace *trace, struct block_writer *out)
{
    text_put(out, ",\n\"tracks\":[");
    for (size_t i = 0; i < trace->source->track_count; i++) {
        const struct span_track *track = &trace->source->tracks[i];
        const struct page_track *kept = &trace->tracks[i];
        put_comma(out, i);
        text_put(out, "{\"pid\":");
        text_put_number(out, track->pid);
        text_put(out, ",\"tid\":");
        text_put_number(out, track->tid);
        text_put(out, ",\"process\":");
        put_string(out, track->process_name);
        text_put(out, ",\"thread\":");
        put_string(out, track->thread_name);
        text_put(out, kept->has_hits ? ",\"kind\":\"hits\",\"spans\":"
                                     : ",\"kind\":\"thread\",\"spans\":");
        text_put_number(out, kept->spans.count);
        text_put(out, ",\"columns\":");
        put_columns(trace, kept, out);
        put_arguments(kept, out);
        put_all_values(kept, out);
        text_put(out, "}");
    }
    text_put(out, "]");
}

static void put_counter(const struct page_trace *trace, const struct page_counter *counter,
                        struct block_writer *out)
{
    struct arena memory = {0};
    struct fxt_counter_name parts = fxt_counter_split(counter->text, &memory);
    size_t length = strlen(parts.argument);
    bool has_unit = length > 2 && parts.argument[0] == '(';
    char *unit = has_unit ? strndup(parts.argument + 1, length - 2) : memory_copy_string("");
    text_put(out, "{\"name\":");
    put_string(out, parts.name);
    text_put(out, ",\"pid\":");
    text_put_number(out, counter->pid);
    text_put(out, ",\"unit\":");
    put_string(out, unit);
    text_put(out, ",\"samples\":[");
    for (size_t i = 0; i < counter->samples.count; i++) {
        const struct page_sample *sample = array_at(&counter->samples, i);
        text_put(out, i ? ",[" : "[");
        text_put_number(out, sample->time - trace->first);
        text_put(out, ",");
        text_put_double(out, sample->value);
        text_put(out, "]");
    }
    text_put(out, "]}");
    free(unit);
    arena_free(&memory);
}

static void put_counters(const struct page_trace *trace, struct block_writer *out)
{
    text_put(out, ",\n\"counters\":[");
    for (size_t i = 0; i < trace->counters.count; i++) {
        put_comma(out, i);
        put_counter(trace, array_at(&trace->counters, i), out);
    }
    text_put(out, "]");
}

static void put_marks(const struct page_trace *trace, struct block_writer *out)
{
    static const char *const kinds[] = {
        [MARK_GAP] = "gap", [MARK_ERROR] = "error", [MARK_NOTE] = "note"};
    text_put(out, ",\n\"marks\":[");
    for (size_t i = 0; i < trace->marks.count; i++) {
        const struct span_event *mark = array_at(&trace->marks, i);
        put_comma(out, i);
        text_put(out, "{\"track\":");
        text_put_number(out, mark->track);
        text_put(out, ",\"time\":");
        text_put_number(out, mark->time.value - trace->first);
        text_put(out, ",\"text\":");
        put_string(out, mark->text);
        text_put(out, ",\"kind\":\"");
        text_put(out, kinds[mark_kind_of(mark->text)]);
        text_put(out, "\"}");
    }
    text_put(out, "]");
}

static void put_switches(const struct page_trace *trace, struct block_writer *out)
{
    text_put(out, ",\n\"switches\":[");
    for (size_t i = 0; i < trace->switches.count; i++) {
        const struct page_switch *at = array_at(&trace->switches, i);
        put_comma(out, i);
        text_put(out, "[");
        text_put_number(out, at->from_track);
        text_put(out, ",");
        text_put_number(out, at->from - trace->first);
        text_put(out, ",");
        text_put_number(out, at->to_track);
        text_put(out, ",");
        text_put_number(out, at->to - trace->first);
        text_put(out, "]");
    }
    text_put(out, "]");
}

static void put_hit(const struct page_trace *trace, uint32_t track, const struct page_span *span,
                    struct block_writer *out)
{
    const struct page_function *known = array_at(&trace->functions, span->function);
    text_put(out, "{\"track\":");
    text_put_number(out, track);
    text_put(out, ",\"start\":");
    text_put_number(out, span->start - trace->first);
    text_put(out, ",\"end\":");
    text_put_number(out, span->end - trace->first);
    text_put(out, ",\"name\":");
    put_string(out, known->function->name);
    text_put(out, ",\"argument\":");
    if (span->hit->has_argument) {
        text_put(out, "\"");
        text_put_signed(out, span->hit->argument);
        text_put(out, "\"");
    } else {
        text_put(out, "null");
    }
    text_put(out, ",\"address\":");
    put_address(out, span->hit->address);
    text_put(out, "}");
}

struct placed_hit {
    uint32_t track;
    const struct page_span *span;
};

static int by_start(const void *left, const void *right)
{
    const struct placed_hit *a = left, *b = right;
    if (a->span->start != b->span->start)
        return a->span->start < b->span->start ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

static void put_hits(const struct page_trace *trace, struct block_writer *out)
{
    struct array hits = array_of(sizeof(struct placed_hit));
    for (uint32_t i = 0; i < trace->source->track_count; i++)
        for (size_t j = 0; trace->tracks[i].has_hits && j < trace->tracks[i].spans.count; j++) {
            const struct page_span *span = array_at(&trace->tracks[i].spans, j);
            if (span->hit)
                *(struct placed_hit *)array_add(&hits) = (struct placed_hit){i, span};
        }
    if (hits.count > 0)
        qsort(hits.elements, hits.count, sizeof(struct placed_hit), by_start);
    text_put(out, ",\n\"hits\":[");
    for (size_t i = 0; i < hits.count; i++) {
        const struct placed_hit *hit = array_at(&hits, i);
        put_comma(out, i);
        put_hit(trace, hit->track, hit->span, out);
    }
    text_put(out, "]");
    array_free(&hits);
}

/* "stacks" by number and "parts" of them. */
static void put_stacks(const struct page_trace *trace, struct block_writer *out)
{
    text_put(out, ",\n\"stacks\":[");
    for (size_t i = 0; i < trace->stacks.stacks.count; i++) {
        const struct known_stack *stack = array_at(&trace->stacks.stacks, i);
        put_comma(out, i);
        text_put(out, "{\"name\":");
        put_string(out, stack->name);
        text_put(out, ",\"pid\":");
        text_put_number(out, trace->source->tracks[stack->track].pid);
        text_put(out, ",\"depth\":");
        text_put_number(out, stack->depth);
        text_put(out, "}");
    }
    text_put(out, "],\n\"parts\":[");
    for (size_t i = 0; i < trace->parts.count; i++) {
        const struct stack_part *part = array_at(&trace->parts, i);
        put_comma(out, i);
        text_put(out, "[");
        text_put_number(out, part->stack);
        text_put(out, ",");
        text_put_number(out, part->track);
        text_put(out, ",");
        text_put_number(out, part->from - trace->first);
        text_put(out, ",");
        text_put_number(out, part->to - trace->first);
        text_put(out, "]");
    }
    text_put(out, "]");
}

void page_trace_write(struct page_trace *trace, const char *name, const char *damage,
                      struct block_writer *out)
{
    text_put(out, "{\"version\":");
    text_put_number(out, VERSION);
    text_put(out, ",\"id\":\"export\",\"name\":");
    put_string(out, name);
    text_put(out, ",\"duration\":");
    text_put_number(out, trace->last - trace->first);
    text_put(out, ",\"wallClock\":");
    if (trace->source->wall_clock) {
        text_put(out, "\"");
        text_put_number(out, trace->source->wall_clock + trace->first);
        text_put(out, "\"");
    } else {
        text_put(out, "null");
    }
    text_put(out, trace->source->sampled ? ",\"sampled\":true" : ",\"sampled\":false");
    text_put(out, ",\"recorded\":");
    put_string(out, trace->source->recorded);
    text_put(out, ",\"damage\":");
    put_string(out, damage);
    put_functions(trace, out);
    put_tracks(trace, out);
    put_counters(trace, out);
    put_marks(trace, out);
    put_hits(trace, out);
    put_switches(trace, out);
    stack_parts_finish(&trace->stacks, trace->parts.elements, trace->parts.count);
    put_stacks(trace, out);
    text_put(out, "}");
}
