#include "stack/spans/processor_counters.h"

#include "base/memory.h"
#include "decode/trace_marks.h"

#include <inttypes.h>
#include <stdlib.h>

/* A quantity of a processor, and the name of its counter. */
struct quantity {
    enum trace_mark_kind kind;
    const char *name, *unit;
};

struct counter {
    uint32_t tid, cpu; /* as in struct trace_mark */
    uint32_t track;    /* of the source; NO_TRACK: the thread is not shown */
    const char *name;
    bool began; /* it has a value from time 0 on */
};

static const uint32_t NO_TRACK = UINT32_MAX;

static uint32_t track_of(const struct span_source *source, const struct trace_mark *mark)
{
    if (mark->tid == UINT32_MAX)
        return source->track_count > 0 ? 0 : NO_TRACK;
    for (size_t i = 0; i < source->track_count; i++)
        if (source->tracks[i].tid == mark->tid)
            return (uint32_t)i;
    return NO_TRACK;
}

static struct counter counter_of(struct span_overlay *overlay, const struct span_source *source,
                                 const struct quantity *quantity, const struct trace_mark *mark)
{
    struct counter counter = {.tid = mark->tid, .cpu = mark->cpu, .track = track_of(source, mark)};
    if (counter.track == NO_TRACK)
        return counter;
    bool of_processor = mark->tid == UINT32_MAX;
    char *name = memory_format("%s of %s %" PRIu32 " (%s)", quantity->name,
                               of_processor ? "CPU" : source->tracks[counter.track].thread_name,
                               of_processor ? mark->cpu : mark->tid, quantity->unit);
    counter.name = arena_copy_string(&overlay->memory, name);
    free(name);
    return counter;
}

static void add_value(struct span_overlay *overlay, struct counter *counter,
                      const struct trace_mark *mark, struct nanoseconds origin)
{
    bool before = mark->time.value <= origin.value;
    /* Of several values before the trace's beginning, the last one holds. */
    struct span_event *event = before && counter->began
                                   ? array_at(&overlay->events, overlay->events.count - 1)
                                   : array_add(&overlay->events);
    *event = (struct span_event){
        .kind = SPAN_COUNTER,
        .track = counter->track,
        .time = {before ? 0 : mark->time.value - origin.value},
        .text = counter->name,
        .value = (double)mark->value,
    };
    counter->began = before;
}

static void add_counters(struct span_overlay *overlay, const struct span_source *source,
                         const struct quantity *quantity, const struct array *marks,
                         struct nanoseconds origin)
{
    struct counter counter = {.tid = UINT32_MAX, .cpu = UINT32_MAX, .track = NO_TRACK};
    for (size_t i = 0; i < marks->count; i++) {
        const struct trace_mark *mark = array_at(marks, i);
        if (mark->kind != quantity->kind)
            continue;
        if (counter.tid != mark->tid || counter.cpu != mark->cpu)
            counter = counter_of(overlay, source, quantity, mark);
        if (counter.track != NO_TRACK)
            add_value(overlay, &counter, mark, origin);
    }
}

void processor_counters_add(struct span_overlay *overlay, const struct span_source *source,
                            const struct array *marks, struct nanoseconds origin)
{
    static const struct quantity quantities[] = {
        {TRACE_MARK_FREQUENCY, "frequency", "MHz"},
        {TRACE_MARK_SLEEP, "sleep", "C-state"},
    };
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        add_counters(overlay, source, &quantities[i], marks, origin);
}
