#include "stack/spans/called_spans.h"

#include "base/memory.h"

#include <stdlib.h>

struct called_spans {
    struct span_source source;
    struct span_source *wrapped; /* owned */
    struct span_event room;
    const struct span_event *events; /* taken from it, and not given yet */
    size_t count;
    uint32_t suspended; /* the stack of the newest event left out, on ... */
    uint32_t track;     /* ... this track */
};

static bool is_inlined(const struct span_event *event)
{
    return (event->kind == SPAN_ENTER || event->kind == SPAN_LEAVE) &&
           event->function->origin == SPAN_INLINED;
}

/* A stack is suspended where its innermost span is left, which may be an inlined one. */
static void leave_out(struct called_spans *called, const struct span_event *event)
{
    if (event->stack == 0)
        return;
    called->suspended = event->stack;
    called->track = event->track;
}

static bool give(struct called_spans *called, const struct span_event *given,
                 struct span_event *event)
{
    *event = *given;
    if (called->suspended != 0 && event->track == called->track) {
        if (event->kind == SPAN_LEAVE)
            event->stack = called->suspended;
        called->suspended = 0;
    }
    return true;
}

static bool next(struct span_source *source, struct span_event *event, struct error *error)
{
    struct called_spans *called = source->context;
    for (;;) {
        for (; called->count > 0; called->events++) {
            called->count--;
            if (!is_inlined(called->events))
                return give(called, called->events++, event);
            leave_out(called, called->events);
        }
        called->wrapped->no_lines = source->no_lines;
        called->count = span_source_take(called->wrapped, &called->room, &called->events, error);
        source->function_count = called->wrapped->function_count;
        if (called->count == 0)
            return false;
    }
}

static void close_called(struct span_source *source)
{
    struct called_spans *called = source->context;
    called->wrapped->close(called->wrapped);
    free(called);
}

struct span_source *called_spans(struct span_source *source)
{
    struct called_spans *called = memory_allocate_zeroed(sizeof *called);
    called->source = span_source_around(source, called, next, close_called);
    called->wrapped = source;
    return &called->source;
}
