/* Gives flow events their times and hands them on in batches.
 *
 * Packets tell the time at some instructions only. Those are anchors: (position, time), where a
 * position counts the instructions that the decoder has executed. Events between two anchors are
 * held until the second is known, and then get times in proportion to the instructions executed. So
 * an event is never earlier than the anchor before it nor later than the one behind it.
 *
 * One batch per decoder; used from that decoder's thread only.
 */
#ifndef MAGIC_TRACE_FLOW_EVENT_BATCH_H
#define MAGIC_TRACE_FLOW_EVENT_BATCH_H

#include "flow/delivery.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_batch {
    struct delivery *delivery;    /* borrowed; NULL only where `output` is */
    struct thread_output *output; /* NULL: nobody knows whose events these are; they are dropped */
    struct event_chunk chunk;     /* owned; in front of `events` there may be kept ones in it */
    struct flow_event *events;    /* `time` is a position where it is not known yet */
    size_t count, capacity;       /* `capacity`: up to the end of the chunk */
    size_t timed;                 /* events before this index have their time */
    bool plain;                   /* as in thread_output_add */
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

/* It was `time` when `position` instructions had been executed. An anchor that contradicts an
 * earlier one is moved to it. */
void event_batch_anchor(struct event_batch *batch, uint64_t position, struct ticks time);

/* The same, and nothing is concluded for what follows from what was before. */
void event_batch_restart(struct event_batch *batch, uint64_t position, struct ticks time);

/* Delivers all events; those behind the last anchor get its time. */
void event_batch_finish(struct event_batch *batch);

/* The same. The events to come belong to
 * `output`, and tracing of the former output's thread has stopped. */
void event_batch_flush(struct event_batch *batch, struct thread_output *output);

/* Forgets all events, and that there ever were any. */
void event_batch_forget(struct event_batch *batch);

#endif
