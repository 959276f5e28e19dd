#include "output/fxt/span_nesting.h"

#include "base/memory.h"

#include <stdlib.h>

struct open_frame {
    const struct span_function *function;
    uint64_t limit; /* when it ends at the latest: its own end, if known, or an ancestor's; or
                       NO_LIMIT */
    bool complete;  /* from a complete event, which no end event belongs to */
    const struct named_values *values; /* of its leave, or NULL */
    uint32_t stack;                    /* of its leave */
    uint8_t flags;                     /* of its leave */
    uint8_t end;
};

struct deadline {
    uint64_t time;
    uint32_t track;
};

static const uint64_t NO_LIMIT = UINT64_MAX;

void span_nesting_init(struct span_nesting *nesting, size_t track_count)
{
    *nesting = (struct span_nesting){
        .stacks = memory_allocate_zeroed((track_count + 1) * sizeof *nesting->stacks),
        .track_count = track_count,
        .deadlines = array_of(sizeof(struct deadline)),
        .ready = array_of(sizeof(struct span_event)),
    };
    for (size_t i = 0; i < track_count; i++)
        nesting->stacks[i] = array_of(sizeof(struct open_frame));
}

void span_nesting_free(struct span_nesting *nesting)
{
    for (size_t i = 0; i < nesting->track_count; i++)
        array_free(&nesting->stacks[i]);
    free(nesting->stacks);
    array_free(&nesting->deadlines);
    array_free(&nesting->ready);
}

/* ------------------------------------------------------------------ deadlines */

/* A binary heap, earliest first. */

static struct deadline *deadline_at(struct span_nesting *nesting, size_t index)
{
    return array_at(&nesting->deadlines, index);
}

static void swap_deadlines(struct span_nesting *nesting, size_t a, size_t b)
{
    struct deadline kept = *deadline_at(nesting, a);
    *deadline_at(nesting, a) = *deadline_at(nesting, b);
    *deadline_at(nesting, b) = kept;
}

static void push_deadline(struct span_nesting *nesting, struct deadline deadline)
{
    array_add_all(&nesting->deadlines, &deadline, 1);
    for (size_t i = nesting->deadlines.count - 1; i > 0; i = (i - 1) / 2) {
        if (deadline_at(nesting, (i - 1) / 2)->time <= deadline_at(nesting, i)->time)
            return;
        swap_deadlines(nesting, i, (i - 1) / 2);
    }
}

static struct deadline pop_deadline(struct span_nesting *nesting)
{
    struct deadline earliest = *deadline_at(nesting, 0);
    size_t count = --nesting->deadlines.count;
    *deadline_at(nesting, 0) = *deadline_at(nesting, count);
    for (size_t i = 0;;) {
        size_t least = 2 * i + 1;
        if (least >= count)
            return earliest;
        if (least + 1 < count &&
            deadline_at(nesting, least + 1)->time < deadline_at(nesting, least)->time)
            least++;
        if (deadline_at(nesting, i)->time <= deadline_at(nesting, least)->time)
            return earliest;
        swap_deadlines(nesting, i, least);
        i = least;
    }
}

/* ------------------------------------------------------------------ stacks */

static inline struct open_frame *top_of(const struct array *stack)
{
    return stack->count ? (struct open_frame *)stack->elements + stack->count - 1 : NULL;
}

/* The caller fills in the result of push() and add_ready() in place: copying a struct that was just
 * written has to wait for all its stores. */
static inline struct open_frame *push(struct array *stack)
{
    return stack->count < stack->capacity ? (struct open_frame *)stack->elements + stack->count++
                                          : array_add(stack);
}

static inline struct span_event *add_ready(struct span_nesting *nesting, uint64_t time)
{
    struct array *ready = &nesting->ready;
    nesting->last_time = time;
    return ready->count < ready->capacity ? (struct span_event *)ready->elements + ready->count++
                                          : array_add(ready);
}

static inline void pop(struct span_nesting *nesting, uint32_t track, struct array *stack,
                       uint64_t time)
{
    const struct open_frame *frame = top_of(stack);
    *add_ready(nesting, time) = (struct span_event){
        .kind = SPAN_LEAVE,
        .track = track,
        .time = {time},
        .function = frame->function,
        .flags = frame->flags,
        .end = frame->end,
        .stack = frame->stack,
        .values = frame->values,
    };
    stack->count--;
}

/* Closes what must have ended by `time`. */
static void expire(struct span_nesting *nesting, uint32_t track, uint64_t time)
{
    struct array *stack = &nesting->stacks[track];
    for (struct open_frame *top; (top = top_of(stack)) && top->limit <= time;)
        pop(nesting, track, stack, top->limit);
}

static inline void expire_until(struct span_nesting *nesting, uint64_t time)
{
    while (nesting->deadlines.count > 0 && deadline_at(nesting, 0)->time <= time) {
        struct deadline due = pop_deadline(nesting);
        expire(nesting, due.track, due.time);
    }
}

/* ------------------------------------------------------------------ events */

/* A span that is open until its end event comes: that it does not is what the leave says until
 * then. */
static inline void enter(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    struct array *stack = &nesting->stacks[event->track];
    const struct open_frame *parent = top_of(stack);
    uint64_t limit = parent ? parent->limit : NO_LIMIT;
    *push(stack) = (struct open_frame){
        .function = event->function,
        .limit = limit,
        .flags = SPAN_END_INFERRED,
        .end = SPAN_END_OF_TRACE,
    };
    *add_ready(nesting, event->time) = (struct span_event){
        .kind = SPAN_ENTER,
        .track = event->track,
        .time = {event->time},
        .function = event->function,
        .address = event->address,
        .flags = event->flags & SPAN_START_INFERRED,
        .hit = event->hit,
        .stack = event->stack,
    };
}

static void enter_complete(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    enter(nesting, event);
    struct open_frame *frame = top_of(&nesting->stacks[event->track]);
    frame->complete = true;
    frame->end = event->end;
    frame->flags = event->flags & (SPAN_END_INFERRED | SPAN_ACROSS_GAP);
    if (frame->limit < event->end_time)
        frame->flags |= SPAN_END_INFERRED; /* cut where its parent ends */
    else
        frame->limit = event->end_time;
    push_deadline(nesting, (struct deadline){event->end_time, event->track});
}

static inline void leave(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    struct array *stack = &nesting->stacks[event->track];
    const struct open_frame *frames = stack->elements;
    size_t begun_count = stack->count;
    while (begun_count > 0 && frames[begun_count - 1].complete)
        begun_count--;
    if (begun_count == 0)
        return; /* an end without a begin */
    while (stack->count > begun_count) {
        top_of(stack)->flags |= SPAN_END_INFERRED;
        pop(nesting, event->track, stack, event->time);
    }
    struct open_frame *top = top_of(stack);
    top->flags = event->flags & (SPAN_END_INFERRED | SPAN_ACROSS_GAP);
    top->end = event->end;
    top->stack = event->stack;
    top->values = event->values;
    pop(nesting, event->track, stack, event->time);
}

static void mark(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    *add_ready(nesting, event->time) = (struct span_event){
        .kind = SPAN_INSTANT,
        .track = event->track,
        .time = {event->time},
        .text = event->function->name,
    };
}

static void take_value(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    *add_ready(nesting, event->time) = (struct span_event){
        .kind = SPAN_COUNTER,
        .track = event->track,
        .time = {event->time},
        .text = event->counter,
        .value = event->value,
    };
}

static inline void feed(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    expire_until(nesting, event->time);
    switch (event->type) {
    case FXT_EVENT_BEGIN:
        enter(nesting, event);
        break;
    case FXT_EVENT_END:
        leave(nesting, event);
        break;
    case FXT_EVENT_COMPLETE:
        enter_complete(nesting, event);
        break;
    case FXT_EVENT_INSTANT:
        mark(nesting, event);
        break;
    case FXT_EVENT_COUNTER:
        take_value(nesting, event);
        break;
    }
}

void span_nesting_feed(struct span_nesting *nesting, const struct fxt_raw_event *events,
                       size_t count)
{
    nesting->ready.count = 0;
    for (size_t i = 0; i < count; i++)
        feed(nesting, &events[i]);
}

void span_nesting_finish(struct span_nesting *nesting)
{
    nesting->ready.count = 0;
    expire_until(nesting, UINT64_MAX);
    for (size_t track = 0; track < nesting->track_count; track++) {
        struct array *stack = &nesting->stacks[track];
        while (stack->count > 0)
            pop(nesting, (uint32_t)track, stack, nesting->last_time);
    }
}
