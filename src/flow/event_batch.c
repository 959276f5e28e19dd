#include "flow/event_batch.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Events handed over at once: enough to make the call free, few enough to stay in the cache. */
    BATCH_EVENTS = 4096,
    /* Events held while their time is unknown. A recording with no timing packets but those at each
     * PSB has some ten thousand branches between them; what exceeds this gets the time of the last
     * anchor. */
    HELD_EVENTS_LIMIT = 65536,
    /* Text has one batch for each of its threads, most of them small. */
    FIRST_CAPACITY = 64,
};

void thread_output_begin(struct thread_output *output)
{
    if (!output->begun)
        output->object = output->sink->begin(output->sink->context, output->thread);
    output->begun = true;
}

void thread_output_end(struct thread_output *output)
{
    if (output->begun)
        output->sink->end(output->object);
    output->begun = false;
}

void event_batch_init(struct event_batch *batch)
{
    *batch = (struct event_batch){.output = NULL};
}

void event_batch_free(struct event_batch *batch)
{
    free(batch->events);
    free(batch->positions);
}

static void count_gap(struct event_batch *batch, const struct flow_event *event)
{
    if (event->kind != FLOW_GAP)
        return;
    if (event->gap == FLOW_GAP_OVERFLOW)
        batch->overflows++;
    else if (event->gap == FLOW_GAP_ERROR || event->gap == FLOW_GAP_NO_IMAGE)
        batch->errors++;
}

/* Hands the timed events to the sink and keeps the others. */
static void deliver_timed(struct event_batch *batch)
{
    struct thread_output *output = batch->output;
    size_t timed = batch->timed;
    if (output && timed) {
        for (size_t i = 0; i < timed; i++) {
            struct ticks *time = &batch->events[i].time;
            if (time->value < output->last_time.value)
                *time = output->last_time;
            output->last_time = *time;
        }
        thread_output_begin(output);
        output->sink->events(output->object, batch->events, timed);
        batch->delivered += timed;
    }
    size_t kept = batch->count - timed;
    if (kept > 0) {
        memmove(batch->events, batch->events + timed, kept * sizeof(*batch->events));
        memmove(batch->positions, batch->positions + timed, kept * sizeof(*batch->positions));
    }
    batch->count = kept;
    batch->timed = 0;
}

/* Times all events up to and including `position`: anchor time + elapsed * share. */
static void interpolate(struct event_batch *batch, uint64_t position, struct ticks time)
{
    uint64_t instructions = position - batch->anchor_position;
    uint64_t elapsed = time.value - batch->anchor_time.value;
    for (; batch->timed < batch->count; batch->timed++) {
        if (batch->positions[batch->timed] > position)
            break;
        uint64_t executed = batch->positions[batch->timed] - batch->anchor_position;
        struct ticks *event_time = &batch->events[batch->timed].time;
        if (executed == instructions)
            *event_time = time;
        else
            event_time->value = batch->anchor_time.value +
                                (uint64_t)((unsigned __int128)elapsed * executed / instructions);
    }
}

static void grow(struct event_batch *batch)
{
    batch->capacity = batch->capacity ? 2 * batch->capacity : FIRST_CAPACITY;
    batch->events = memory_resize(batch->events, batch->capacity * sizeof(*batch->events));
    batch->positions = memory_resize(batch->positions, batch->capacity * sizeof(*batch->positions));
}

void event_batch_add(struct event_batch *batch, const struct flow_event *event, uint64_t position)
{
    if (batch->output)
        count_gap(batch, event);
    if (batch->count == HELD_EVENTS_LIMIT) {
        interpolate(batch, UINT64_MAX, batch->anchor_time);
        deliver_timed(batch);
    }
    if (batch->count == batch->capacity)
        grow(batch);
    batch->events[batch->count] = *event;
    batch->positions[batch->count] = position;
    batch->count++;
    /* At the anchor itself nothing is left to find out. */
    if (position <= batch->anchor_position)
        interpolate(batch, batch->anchor_position, batch->anchor_time);
    if (batch->timed >= BATCH_EVENTS)
        deliver_timed(batch);
}

void event_batch_anchor(struct event_batch *batch, uint64_t position, struct ticks time)
{
    if (position < batch->anchor_position)
        position = batch->anchor_position;
    if (time.value < batch->anchor_time.value)
        time = batch->anchor_time;
    interpolate(batch, position, time);
    batch->anchor_position = position;
    batch->anchor_time = time;
    if (batch->timed >= BATCH_EVENTS)
        deliver_timed(batch);
}

void event_batch_flush(struct event_batch *batch, struct thread_output *output)
{
    interpolate(batch, UINT64_MAX, batch->anchor_time);
    deliver_timed(batch);
    batch->output = output;
}
