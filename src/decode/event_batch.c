#include "decode/event_batch.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Events passed on at once: enough that the call costs nothing, few enough to stay in the
     * cache. */
    BATCH_EVENTS = 512,
    /* Events held while their time is unknown. A recording whose only timing packets are those at
     * each PSB has some ten thousand branches between them; events beyond this limit get the time
     * of the last anchor. */
    HELD_EVENTS_LIMIT = 65536,
    /* Events that fit a chunk whose events are kept: enough for those that usually wait for their
     * time, few enough to stay in the processor's cache. */
    CHUNK_CAPACITY = 4096,
    /* A batch for text begins this small: there is one per thread, most of them with few events. */
    FIRST_CAPACITY = 64,
};

void event_batch_init(struct event_batch *batch)
{
    *batch = (struct event_batch){.plain = true};
}

/* Whether events that have been passed on stay in the batch's chunk. */
static bool is_kept(const struct event_batch *batch)
{
    return batch->reorder_buffer && !batch->reorder_buffer->direct;
}

void event_batch_free(struct event_batch *batch)
{
    if (is_kept(batch) && batch->chunk)
        reorder_buffer_take_chunk(batch->reorder_buffer, batch->chunk);
    else
        free(batch->chunk);
}

void event_batch_forget(struct event_batch *batch)
{
    batch->count = batch->timed = 0;
    batch->anchor_position = 0;
    batch->anchor_time.value = 0;
    batch->plain = true;
}

/* Moves the events that have not been passed on to the beginning of `chunk`, which may be the one
 * that holds them. */
static void begin_chunk(struct event_batch *batch, struct flow_event *chunk, size_t capacity)
{
    if (batch->count && batch->events != chunk)
        memmove(chunk, batch->events, batch->count * sizeof(*batch->events));
    batch->chunk = batch->events = chunk;
    batch->chunk_capacity = batch->capacity = capacity;
}

/* Passes on the events that have their time and keeps the others. Events that the reorder buffer
 * keeps are not moved. */
static void deliver_timed(struct event_batch *batch)
{
    size_t timed = batch->timed;
    if (batch->output && timed)
        reorder_buffer_add(batch->reorder_buffer, batch->output, batch->events, timed,
                           batch->plain);
    if (timed) /* else there may be no chunk yet */
        batch->events += timed;
    batch->capacity -= timed;
    batch->count -= timed;
    batch->timed = 0;
    if (!is_kept(batch))
        begin_chunk(batch, batch->chunk, batch->chunk_capacity);
    if (!batch->count)
        batch->plain = true;
}

/* Gives all events up to and including `position` their time. */
static void interpolate(struct event_batch *batch, uint64_t position, struct ticks time)
{
    if (!batch->count)
        return;
    struct interpolation between = event_batch_interpolation(batch, position, time);
    struct flow_event *event = batch->events + batch->timed;
    struct flow_event *after = batch->events + batch->count;
    for (; event < after && event->time.value <= position; event++)
        event->time.value = interpolation_time(&between, event->time.value);
    batch->timed = (size_t)(event - batch->events);
}

/* Called when the chunk holds no kept events. */
static void grow(struct event_batch *batch, size_t capacity)
{
    size_t larger = batch->chunk_capacity ? batch->chunk_capacity : FIRST_CAPACITY;
    while (larger < capacity)
        larger *= 2;
    begin_chunk(batch, batch->chunk, batch->chunk_capacity);
    batch->chunk = batch->events = memory_resize(batch->chunk, larger * sizeof(*batch->chunk));
    batch->chunk_capacity = batch->capacity = larger;
}

static void replace(struct event_batch *batch, size_t capacity)
{
    struct flow_event *used = batch->chunk;
    if (capacity < CHUNK_CAPACITY)
        capacity = CHUNK_CAPACITY;
    begin_chunk(batch, memory_allocate(capacity * sizeof(*batch->chunk)), capacity);
    if (used)
        reorder_buffer_take_chunk(batch->reorder_buffer, used);
}

void event_batch_make_room(struct event_batch *batch, size_t count)
{
    if (batch->count + count > HELD_EVENTS_LIMIT) {
        interpolate(batch, UINT64_MAX, batch->anchor_time);
        deliver_timed(batch);
    }
    size_t capacity = batch->count + count;
    if (capacity <= batch->capacity)
        return;
    bool is_used = batch->events != batch->chunk || !batch->chunk;
    if (is_kept(batch) && is_used)
        replace(batch, capacity);
    else
        grow(batch, capacity);
}

/* An event at the anchor itself gets the anchor's time at once. */
static void time_at_anchor(struct event_batch *batch, uint64_t position)
{
    if (position <= batch->anchor_position)
        interpolate(batch, batch->anchor_position, batch->anchor_time);
    if (batch->timed >= BATCH_EVENTS)
        deliver_timed(batch);
}

void event_batch_deliver_some(struct event_batch *batch)
{
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
    if (time.value < batch->anchor_time.value)
        deliver_timed(batch); /* times never decrease within one call */
    batch->anchor_time = time;
}

void event_batch_finish(struct event_batch *batch)
{
    interpolate(batch, UINT64_MAX, batch->anchor_time);
    deliver_timed(batch);
}

void event_batch_flush(struct event_batch *batch, struct thread_sink *output)
{
    event_batch_finish(batch);
    if (batch->output)
        reorder_buffer_stop(batch->reorder_buffer, batch->output);
    batch->output = output;
}
