#include "output/span_nesting.h"

struct open_frame {
    const struct span_function *function;
    uint64_t limit; /* when it ends at the latest: its own end, if known, or an ancestor's; or
                       NO_LIMIT */
    bool complete;  /* from a complete event, which no end event belongs to */
    uint8_t flags;  /* of its leave */
    uint8_t end;
};

struct deadline {
    uint64_t time;
    uint32_t track;
};

static const uint64_t NO_LIMIT = UINT64_MAX;

void span_nesting_init(struct span_nesting *nesting)
{
    *nesting = (struct span_nesting){
        .stacks = array_of(sizeof(struct array)),
        .deadlines = array_of(sizeof(struct deadline)),
        .ready = array_of(sizeof(struct span_event)),
    };
}

void span_nesting_free(struct span_nesting *nesting)
{
    for (size_t i = 0; i < nesting->stacks.count; i++)
        array_free(array_at(&nesting->stacks, i));
    array_free(&nesting->stacks);
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

static struct array *stack_of(struct span_nesting *nesting, uint32_t track)
{
    while (nesting->stacks.count <= track)
        *(struct array *)array_add(&nesting->stacks) = array_of(sizeof(struct open_frame));
    return array_at(&nesting->stacks, track);
}

static struct open_frame *top_of(const struct array *stack)
{
    return stack->count ? array_at(stack, stack->count - 1) : NULL;
}

static struct span_event *make_ready(struct span_nesting *nesting, enum span_event_kind kind,
                                     uint32_t track, uint64_t time)
{
    struct span_event *event = array_add(&nesting->ready);
    event->kind = kind;
    event->track = track;
    event->time.value = time;
    nesting->last_time = time;
    return event;
}

/* Gives the leave, for more to be said of it. */
static struct span_event *pop(struct span_nesting *nesting, uint32_t track, struct array *stack,
                              uint64_t time)
{
    const struct open_frame *frame = top_of(stack);
    struct span_event *leave = make_ready(nesting, SPAN_LEAVE, track, time);
    leave->function = frame->function;
    leave->flags = frame->flags;
    leave->end = frame->end;
    stack->count--;
    return leave;
}

/* Closes what must have ended by `time`. */
static void expire(struct span_nesting *nesting, uint32_t track, uint64_t time)
{
    struct array *stack = stack_of(nesting, track);
    for (struct open_frame *top; (top = top_of(stack)) && top->limit <= time;)
        pop(nesting, track, stack, top->limit);
}

static void expire_until(struct span_nesting *nesting, uint64_t time)
{
    while (nesting->deadlines.count > 0 && deadline_at(nesting, 0)->time <= time) {
        struct deadline due = pop_deadline(nesting);
        expire(nesting, due.track, due.time);
    }
}

/* ------------------------------------------------------------------ events */

/* A span that is open until its end event comes: that it does not is what the leave says until
 * then. */
static struct open_frame begun(const struct fxt_raw_event *event)
{
    return (struct open_frame){
        .function = event->function,
        .limit = NO_LIMIT,
        .flags = SPAN_END_INFERRED,
        .end = SPAN_END_OF_TRACE,
    };
}

static void enter(struct span_nesting *nesting, const struct fxt_raw_event *event,
                  struct open_frame frame)
{
    struct array *stack = stack_of(nesting, event->track);
    const struct open_frame *parent = top_of(stack);
    if (parent && parent->limit < frame.limit) {
        frame.limit = parent->limit;
        frame.flags |= SPAN_END_INFERRED;
    }
    array_add_all(stack, &frame, 1);
    struct span_event *enter = make_ready(nesting, SPAN_ENTER, event->track, event->time);
    enter->function = event->function;
    enter->address = event->address;
    enter->flags = event->flags & SPAN_START_INFERRED;
    enter->hit = event->hit;
    enter->stack = event->stack;
}

static void enter_complete(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    enter(nesting, event,
          (struct open_frame){
              .function = event->function,
              .limit = event->end_time,
              .complete = true,
              .flags = event->flags & (SPAN_END_INFERRED | SPAN_ACROSS_GAP),
              .end = event->end,
          });
    push_deadline(nesting, (struct deadline){event->end_time, event->track});
}

static void leave(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    struct array *stack = stack_of(nesting, event->track);
    size_t begun_count = stack->count;
    while (begun_count > 0 && ((struct open_frame *)array_at(stack, begun_count - 1))->complete)
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
    pop(nesting, event->track, stack, event->time)->stack = event->stack;
}

void span_nesting_feed(struct span_nesting *nesting, const struct fxt_raw_event *event)
{
    if (nesting->taken == nesting->ready.count)
        nesting->taken = nesting->ready.count = 0;
    expire_until(nesting, event->time);
    switch (event->type) {
    case FXT_EVENT_BEGIN:
        enter(nesting, event, begun(event));
        break;
    case FXT_EVENT_END:
        leave(nesting, event);
        break;
    case FXT_EVENT_COMPLETE:
        enter_complete(nesting, event);
        break;
    case FXT_EVENT_INSTANT:
        make_ready(nesting, SPAN_INSTANT, event->track, event->time)->text = event->function->name;
        break;
    }
}

void span_nesting_finish(struct span_nesting *nesting)
{
    expire_until(nesting, UINT64_MAX);
    for (size_t track = 0; track < nesting->stacks.count; track++) {
        struct array *stack = array_at(&nesting->stacks, track);
        while (stack->count > 0)
            pop(nesting, (uint32_t)track, stack, nesting->last_time);
    }
}
