/* Gives flow events their times and hands them on in batches.
 *
 * Packets tell the time at some instructions only. Those are anchors: (position, time), where a
 * position counts the instructions that the stream has executed. Events between two anchors are
 * held until the second is known, and then get times in proportion to the instructions executed. So
 * an event is never earlier than the anchor before it nor later than the one behind it, and the
 * times of one thread never go back.
 *
 * One batch per decoder; used from that decoder's thread only.
 */
#ifndef MAGIC_TRACE_FLOW_EVENT_BATCH_H
#define MAGIC_TRACE_FLOW_EVENT_BATCH_H

#include "flow/flow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thread of the recording as a receiver of events. */
struct thread_output {
    const struct thread *thread;
    const struct flow_sink *sink;
    bool begun;             /* the sink knows the thread, ... */
    void *object;           /* ... by this */
    struct ticks last_time; /* of the events delivered */
    bool in_gap;            /* the newest event is a GAP, with nothing known after it */
};

/* Tells the sink of the thread, unless it knows already. */
void thread_output_begin(struct thread_output *output);
void thread_output_end(struct thread_output *output);

struct event_batch {
    struct thread_output *output; /* NULL: nobody knows whose events these are; they are dropped */
    struct flow_event *events;    /* owned */
    uint64_t *positions;          /* of the events; owned */
    size_t count, capacity;
    size_t timed; /* events before this index have their final time */
    uint64_t anchor_position;
    struct ticks anchor_time;
    uint64_t delivered;         /* events */
    uint64_t errors, overflows; /* gaps of those kinds */
};

void event_batch_init(struct event_batch *batch);
void event_batch_free(struct event_batch *batch);

/* Adds an event that happened when `position` instructions had been executed; its time is found
 * later. Positions never decrease. */
void event_batch_add(struct event_batch *batch, const struct flow_event *event, uint64_t position);

/* It was `time` when `position` instructions had been executed. An anchor that contradicts an
 * earlier one is moved to it. */
void event_batch_anchor(struct event_batch *batch, uint64_t position, struct ticks time);

/* Delivers all events; those behind the last anchor get its time. The events to come belong to
 * `output`. */
void event_batch_flush(struct event_batch *batch, struct thread_output *output);

#endif
