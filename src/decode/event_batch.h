/* Gives flow events their times and passes them on in batches.
 *
 * Packets give the time of some instructions only. Those are anchors: (position, time), where a
 * position counts the instructions that the decoder has executed. Events between two anchors are
 * held until the second is known, and then get times in proportion to the instructions executed. So
 * an event is neither earlier than the anchor before it nor later than the one after it.
 *
 * One batch per decoder; used from that decoder's thread only.
 */
#ifndef MAGIC_TRACE_DECODE_EVENT_BATCH_H
#define MAGIC_TRACE_DECODE_EVENT_BATCH_H

#include "decode/reorder_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_batch {
    struct reorder_buffer *reorder_buffer; /* borrowed; NULL only where `output` is */
    struct thread_sink *output;            /* NULL: the thread is unknown; its events are dropped */
    struct flow_event *chunk;              /* owned; it may hold kept events before `events` */
    size_t chunk_capacity;
    struct flow_event *events; /* `time` is a position while the time is unknown */
    size_t count, capacity;    /* `capacity`: up to the end of the chunk */
    size_t timed;              /* events before this index have their time */
    bool plain;                /* as in thread_output_add */
    uint64_t anchor_position;
    struct ticks anchor_time;
};

void event_batch_init(struct event_batch *batch);
void event_batch_free(struct event_batch *batch);

/* Adds an event that happened when `position` instructions had been executed; its time is computed
 * later. Positions never decrease. */
void event_batch_add(struct event_batch *batch, const struct flow_event *event, uint64_t position);

/* Makes room for `count` more events at batch->events + batch->count. */
void event_batch_make_room(struct event_batch *batch, size_t count);

static inline void event_batch_reserve(struct event_batch *batch, size_t count)
{
    if (__builtin_expect(batch->count + count > batch->capacity, 0))
        event_batch_make_room(batch, count);
}

/* As event_batch_add for plain events that are not at an anchor; their `time` is their position
 * relative to `position`. */
static inline void event_batch_add_relative(struct event_batch *batch,
                                            const struct flow_event *events, size_t count,
                                            uint64_t position)
{
    event_batch_reserve(batch, count);
    struct flow_event *added = batch->events + batch->count;
    for (size_t i = 0; i < count; i++) {
        added[i] = events[i];
        added[i].time.value += position;
    }
    batch->count += count;
}

/* Events between two anchors get time + elapsed * share, rounded to the nearest tick: rounded down,
 * all that lie between anchors would be half a tick early against those at one. Numbers are below 2^63, where processors
 * can convert them with one instruction. */
struct interpolation {
    uint64_t position, instructions; /* of the first anchor; from there to the second */
    uint64_t time, elapsed;          /* likewise */
    double share;
    double end; /* from here on a double would round to the second anchor's time */
};

static inline struct interpolation event_batch_interpolation(const struct event_batch *batch,
                                                             uint64_t position, struct ticks time)
{
    uint64_t instructions = position - batch->anchor_position;
    uint64_t elapsed = time.value - batch->anchor_time.value;
    double end = elapsed <= INT64_MAX ? (double)(int64_t)elapsed : 0;
    return (struct interpolation){
        .position = batch->anchor_position,
        .instructions = instructions,
        .time = batch->anchor_time.value,
        .elapsed = elapsed,
        .share = instructions ? end / (double)(int64_t)instructions : 0,
        .end = end,
    };
}

static inline uint64_t interpolation_time(const struct interpolation *between, uint64_t position)
{
    uint64_t executed = position - between->position;
    double since = (double)(int64_t)executed * between->share;
    bool at_end = executed >= between->instructions || since >= between->end;
    return between->time + (at_end ? between->elapsed : (uint64_t)(int64_t)(since + 0.5));
}

/* The time was `time` when `position` instructions had been executed. An anchor that is earlier
 * than the last one is moved to it. */
void event_batch_anchor(struct event_batch *batch, uint64_t position, struct ticks time);

/* Passes on the events that have their time, if they are enough to be worth a call. */
void event_batch_deliver_some(struct event_batch *batch);

/* As event_batch_add_relative, for the events from `event` up to `position`, where there is an
 * anchor; `after` is the end of the events. Returns the first that was not added. The caller has
 * reserved space for all of them, and calls event_batch_deliver_some later. */
static inline const struct flow_event *event_batch_add_to_anchor(struct event_batch *batch,
                                                                 const struct flow_event *event,
                                                                 const struct flow_event *after,
                                                                 uint64_t start, uint64_t position,
                                                                 struct ticks time)
{
    const struct flow_event *first = event;
    struct flow_event *added = batch->events + batch->count;
    if (__builtin_expect(batch->timed < batch->count || time.value < batch->anchor_time.value, 0)) {
        while (event < after && event->time.value <= position - start)
            event++;
        event_batch_add_relative(batch, first, (size_t)(event - first), start);
        event_batch_anchor(batch, position, time);
        return event;
    }
    if (event < after && event->time.value <= position - start) {
        struct interpolation between = event_batch_interpolation(batch, position, time);
        for (; event < after && event->time.value <= position - start; event++, added++) {
            *added = *event;
            added->time.value = interpolation_time(&between, start + event->time.value);
        }
        batch->count += (size_t)(event - first);
        batch->timed = batch->count;
    }
    batch->anchor_position = position;
    batch->anchor_time = time;
    return event;
}

/* As event_batch_anchor, but time may go back: what follows is independent of the anchors before.
 */
void event_batch_restart(struct event_batch *batch, uint64_t position, struct ticks time);

/* Passes on all events; those after the last anchor get its time. */
void event_batch_finish(struct event_batch *batch);

/* As event_batch_finish. The events that follow belong to `output`, and tracing of the former
 * output's thread has stopped. */
void event_batch_flush(struct event_batch *batch, struct thread_sink *output);

/* Drops all events and anchors. */
void event_batch_forget(struct event_batch *batch);

#endif
