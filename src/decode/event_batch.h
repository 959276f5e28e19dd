/* Gives flow events their times and hands them on in batches.
 *
 * Packets tell the time at some instructions only. Those are anchors: (position, time), where a
 * position counts the instructions that the decoder has executed. Events between two anchors are
 * held until the second is known, and then get times in proportion to the instructions executed. So
 * an event is never earlier than the anchor before it nor later than the one behind it.
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
    struct thread_sink *output; /* NULL: nobody knows whose events these are; they are dropped */
    struct event_chunk chunk;   /* owned; in front of `events` there may be kept ones in it */
    struct flow_event *events;  /* `time` is a position where it is not known yet */
    size_t count, capacity;     /* `capacity`: up to the end of the chunk */
    size_t timed;               /* events before this index have their time */
    bool plain;                 /* as in thread_output_add */
    uint64_t anchor_position;
    struct ticks anchor_time;
};

void event_batch_init(struct event_batch *batch);
void event_batch_free(struct event_batch *batch);

/* Adds an event that happened when `position` instructions had been executed; its time is found
 * later. Positions never decrease. */
void event_batch_add(struct event_batch *batch, const struct flow_event *event, uint64_t position);

/* Makes room for `count` more events at batch->events + batch->count. */
void event_batch_make_room(struct event_batch *batch, size_t count);

static inline void event_batch_reserve(struct event_batch *batch, size_t count)
{
    if (__builtin_expect(batch->count + count > batch->capacity, 0))
        event_batch_make_room(batch, count);
}

/* The same as event_batch_add for plain events whose `time` is how far their positions are behind
 * `position`, and which are not at an anchor. */
static inline void event_batch_add_path(struct event_batch *batch, const struct flow_event *events,
                                        size_t count, uint64_t position)
{
    event_batch_reserve(batch, count);
    struct flow_event *added = batch->events + batch->count;
    for (size_t i = 0; i < count; i++) {
        added[i] = events[i];
        added[i].time.value += position;
    }
    batch->count += count;
}

/* Events between two anchors get time + elapsed * share. Numbers are below 2^63, where processors
 * can convert them at once. */
struct interpolation {
    uint64_t position, instructions; /* of the first anchor; from there to the second */
    uint64_t time, elapsed;          /* in the same way */
    double share;
    double end; /* from here on a double cannot tell times apart from the second anchor's */
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
    return between->time + (at_end ? between->elapsed : (uint64_t)(int64_t)since);
}

/* It was `time` when `position` instructions had been executed. An anchor that contradicts an
 * earlier one is moved to it. */
void event_batch_anchor(struct event_batch *batch, uint64_t position, struct ticks time);

/* Delivers what has its time, if that is worth while by now. */
void event_batch_deliver_some(struct event_batch *batch);

/* Adds events as event_batch_add_path does, those up to `position` (the last one is before
 * `behind`), where there is an anchor. Returns the first that was not added. Room has been reserved
 * for all, and event_batch_deliver_some is to be called some time. */
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
        event_batch_add_path(batch, first, (size_t)(event - first), start);
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

/* As event_batch_anchor, and nothing is concluded for what follows from what was before. */
void event_batch_restart(struct event_batch *batch, uint64_t position, struct ticks time);

/* Delivers all events; those behind the last anchor get its time. */
void event_batch_finish(struct event_batch *batch);

/* The same. The events to come belong to `output`, and tracing of the former output's thread has
 * stopped. */
void event_batch_flush(struct event_batch *batch, struct thread_sink *output);

/* Forgets all events, and that there ever were any. */
void event_batch_forget(struct event_batch *batch);

#endif
