#include "flow/event_batch.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Events handed over at once: enough to make the call free, few enough to stay in the cache. */
    BATCH_EVENTS = 512,
    /* Events held while their time is unknown. A recording with no timing packets but those at each
     * PSB has some ten thousand branches between them; what exceeds this gets the time of the last
     * anchor. */
    HELD_EVENTS_LIMIT = 65536,
    /* Text has one batch for each of its threads, most of them small. */
    FIRST_CAPACITY = 64,
};

void event_batch_init(struct event_batch *batch)
{
    *batch = (struct event_batch){.plain = true};
}

void event_batch_free(struct event_batch *batch)
{
    free(batch->events);
}

void event_batch_forget(struct event_batch *batch)
{
    batch->count = batch->timed = 0;
    batch->anchor_position = 0;
    batch->anchor_time.value = 0;
    batch->plain = true;
}

/* Hands the timed events to the receiver and keeps the others. */
static void deliver_timed(struct event_batch *batch)
{
    size_t timed = batch->timed;
    if (batch->output && timed)
        delivery_add(batch->delivery, batch->output, batch->events, timed, batch->plain);
    size_t kept = batch->count - timed;
    if (kept > 0)
        memmove(batch->events, batch->events + timed, kept * sizeof(*batch->events));
    else
        batch->plain = true;
    batch->count = kept;
    batch->timed = 0;
}

/* Times all events up to and including `position`: anchor time + elapsed * share. Numbers are below
 * 2^63, where processors can convert them at once. */
static void interpolate(struct event_batch *batch, uint64_t position, struct ticks time)
{
    uint64_t first = batch->anchor_position, began = batch->anchor_time.value;
    uint64_t instructions = position - first;
    uint64_t elapsed = time.value - began;
    double share = instructions ? (double)elapsed / (double)instructions : 0;
    /* From here on all is at the second anchor: so is what a double cannot tell apart from it. */
    double end = elapsed <= INT64_MAX ? (double)(int64_t)elapsed : 0;
    struct flow_event *event = batch->events + batch->timed;
    struct flow_event *behind = batch->events + batch->count;
    for (; event < behind && event->time.value <= position; event++) {
        uint64_t executed = event->time.value - first;
        double since = (double)(int64_t)executed * share;
        bool at_end = executed >= instructions || since >= end;
        event->time.value = began + (at_end ? elapsed : (uint64_t)(int64_t)since);
    }
    batch->timed = (size_t)(event - batch->events);
}

void event_batch_make_room(struct event_batch *batch, size_t count)
{
    if (batch->count + count > HELD_EVENTS_LIMIT) {
        interpolate(batch, UINT64_MAX, batch->anchor_time);
        deliver_timed(batch);
    }
    if (batch->count + count <= batch->capacity)
        return;
    while (batch->count + count > batch->capacity)
        batch->capacity = batch->capacity ? 2 * batch->capacity : FIRST_CAPACITY;
    batch->events = memory_resize(batch->events, batch->capacity * sizeof(*batch->events));
}

/* At the anchor itself nothing is left to find out. */
static void time_at_anchor(struct event_batch *batch, uint64_t position)
{
    if (position <= batch->anchor_position)
        interpolate(batch, batch->anchor_position, batch->anchor_time);
    if (batch->timed >= BATCH_EVENTS)
        deliver_timed(batch);
}

void event_batch_add(struct event_batch *batch, const struct flow_event *event, uint64_t position)
{
    event_batch_reserve(batch, 1);
    struct flow_event *added = &batch->events[batch->count++];
    *added = *event;
    added->time.value = position;
    if (thread_output_must_see(event->kind))
        batch->plain = false;
    time_at_anchor(batch, position);
}

void event_batch_anchor(struct event_batch *batch, uint64_t position, struct ticks time)
{
    if (position < batch->anchor_position)
        position = batch->anchor_position;
    if (time.value < batch->anchor_time.value)
        time = batch->anchor_time;
    if (batch->timed < batch->count)
        interpolate(batch, position, time);
    batch->anchor_position = position;
    batch->anchor_time = time;
    if (batch->timed >= BATCH_EVENTS)
        deliver_timed(batch);
}

void event_batch_restart(struct event_batch *batch, uint64_t position, struct ticks time)
{
    event_batch_anchor(batch, position, time);
    batch->anchor_time = time;
}

void event_batch_finish(struct event_batch *batch)
{
    interpolate(batch, UINT64_MAX, batch->anchor_time);
    deliver_timed(batch);
}

void event_batch_flush(struct event_batch *batch, struct thread_output *output)
{
    event_batch_finish(batch);
    if (batch->output)
        delivery_stop(batch->delivery, batch->output);
    batch->output = output;
}
