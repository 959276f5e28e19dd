#include "output/report/window_spans.h"

#include "base/memory.h"
#include "output/report/trace_window.h"
#include "stack/spans/counter_values.h"
#include "stack/spans/open_spans.h"

#include <stdlib.h>

struct window {
    struct span_source source; /* first: what the consumer sees */
    struct span_source *wrapped;
    struct trace_window moments;
    struct open_spans open;
    struct counter_values counters;
    /* What is returned next: events of the source; the spans that are active at a border, and the
     * events that were read there; no more events. */
    enum { WINDOW_READS, WINDOW_ENTERS, WINDOW_LEAVES, WINDOW_ENDED } state;
    struct span_event held; /* the event that began the window */
    bool gives_held;        /* it belongs to it */
    bool ends_at_once;      /* the source is past the window */
    struct nanoseconds begin, end, last;
};

/* ------------------------------------------------------------------ borders */

static struct nanoseconds begin_of(const struct window *window, const struct span_event *event)
{
    const struct trace_moment *from = &window->moments.from;
    if (from->kind != MOMENT_TIME)
        return event->time;
    return (struct nanoseconds){window->moments.first + from->time};
}

static struct nanoseconds end_of(const struct window *window, const struct span_event *event)
{
    const struct trace_moment *to = &window->moments.to;
    if (to->kind != MOMENT_TIME)
        return event->time;
    return (struct nanoseconds){window->moments.first + to->time};
}

static void begin_window(struct window *window, const struct span_event *event,
                         enum window_state state)
{
    window->state = WINDOW_ENTERS;
    window->begin = begin_of(window, event);
    window->held = *event;
    window->gives_held = state == WINDOW_INSIDE;
    window->ends_at_once = window->moments.state == WINDOW_PAST;
    if (window->ends_at_once)
        window->end = end_of(window, event);
    open_spans_walk(&window->open);
}

static void end_window(struct window *window, struct nanoseconds time)
{
    window->state = WINDOW_LEAVES;
    window->end = time;
    open_spans_walk(&window->open);
}

/* What is open where the window begins, then what counters are, then the event that began it. */
static bool next_of_beginning(struct window *window, struct span_event *event)
{
    if (open_spans_enter(&window->open, window->begin, event))
        return true;
    if (counter_values_next(&window->counters, window->begin, event))
        return true;
    window->state = WINDOW_READS;
    if (window->gives_held) {
        *event = window->held;
        open_spans_keep(&window->open, event);
    }
    if (window->ends_at_once)
        end_window(window, window->end);
    return window->gives_held;
}

/* ------------------------------------------------------------------ as a source */

/* One event of the source; true when it is returned. */
static bool read_event(struct window *window, struct span_event *event)
{
    bool opened = window->moments.opened;
    enum window_state state = trace_window_meet(&window->moments, event);
    window->last = event->time;
    if (!opened && window->moments.opened) {
        begin_window(window, event, state);
        return false;
    }
    if (state == WINDOW_PAST) {
        end_window(window, end_of(window, event));
        return false;
    }
    open_spans_keep(&window->open, event);
    if (state == WINDOW_AHEAD) {
        counter_values_keep(&window->counters, event);
        return false;
    }
    if (window->moments.state == WINDOW_PAST) /* the call that ends it has ended */
        end_window(window, event->time);
    return true;
}

static bool end_source(struct window *window, const struct error *ended, struct error *error)
{
    struct error reason = *ended;
    if (reason.code == ERROR_NONE)
        trace_window_check(&window->moments, window->last, &reason);
    window->state = WINDOW_ENDED;
    if (error)
        *error = reason;
    return false;
}

static bool next(struct span_source *source, struct span_event *event, struct error *error)
{
    struct window *window = source->context;
    struct error ended = {0};
    window->wrapped->no_lines = source->no_lines;
    for (;;) {
        switch (window->state) {
        case WINDOW_READS:
            if (!window->wrapped->next(window->wrapped, event, &ended))
                return end_source(window, &ended, error);
            source->function_count = window->wrapped->function_count;
            if (read_event(window, event))
                return true;
            break;
        case WINDOW_ENTERS:
            if (next_of_beginning(window, event))
                return true;
            break;
        case WINDOW_LEAVES:
            if (open_spans_leave(&window->open, window->end, event))
                return true;
            return end_source(window, &ended, error);
        case WINDOW_ENDED:
            return end_source(window, &ended, error);
        }
    }
}

static void close_window(struct span_source *source)
{
    struct window *window = source->context;
    open_spans_free(&window->open);
    counter_values_free(&window->counters);
    window->wrapped->close(window->wrapped);
    free(window);
}

struct span_source *window_spans(struct span_source *source,
                                 const struct report_tree_options *moments, struct error *error)
{
    struct window *window = memory_allocate_zeroed(sizeof *window);
    if (!trace_window_init(&window->moments, moments, error)) {
        free(window);
        return NULL;
    }
    window->source = span_source_around(source, window, next, close_window);
    window->wrapped = source;
    counter_values_init(&window->counters, source);
    open_spans_init(&window->open, source->track_count);
    return &window->source;
}

struct nanoseconds window_spans_origin(const struct span_source *source)
{
    const struct window *window = source->context;
    return (struct nanoseconds){window->moments.first};
}
