/* A part of a trace, given by times or by calls of functions, and found while the trace is read.
 *
 * Used by the tree report. The notation is described at struct report_tree_options.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_TRACE_WINDOW_H
#define MAGIC_TRACE_OUTPUT_REPORT_TRACE_WINDOW_H

#include "base/error.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A moment is a time since the beginning of the trace ("1.5ms", "20us", "300", which is
 * nanoseconds; see output/duration.h) or the name of a function, "NAME" or "NAME#3" for its third
 * call. A name that looks like a time is meant as a time. */
struct report_tree_options {
    /* First moment shown; a function: when that call begins. NULL: the beginning. */
    const char *from;
    const char *to;     /* last moment shown; a function: when that call ends. NULL: the end */
    const char *around; /* a function: that call from beginning to end; a time: 10 us to either
                           side. Not together with from or to */
    bool short_names;   /* of functions in text, without template arguments and parameters */
    bool fold;          /* neighbours that look the same, callees included, as one line "x12" */
};

/* An end of the window. */
struct trace_moment {
    enum {
        MOMENT_OPEN, /* the window has no such end */
        MOMENT_TIME,
        MOMENT_CALL,
    } kind;
    uint64_t time;    /* ns since the beginning of the trace */
    const char *name; /* of the function, name_length bytes; not owned */
    size_t name_length;
    uint64_t call;  /* which call of it, from 1 */
    uint64_t calls; /* met so far */
};

enum window_state {
    WINDOW_AHEAD,
    WINDOW_INSIDE,
    WINDOW_PAST,
};

struct trace_window {
    struct trace_moment from, to;
    enum window_state state;
    bool began;          /* an event was seen */
    bool opened;         /* the beginning of the window was passed */
    uint64_t first;      /* ns: time of the first event of the trace */
    bool last_call_open; /* the call that ends the window has begun */
    uint32_t last_call_track;
    size_t last_call_depth; /* open spans inside it and itself */
};

/* The strings in `options` must outlive the window. */
bool trace_window_init(struct trace_window *window, const struct report_tree_options *options,
                       struct error *error);

/* Must be called with each event of the trace before it is processed. Returns the state that holds
 * for the event itself. A window between two events is passed without an event inside: then
 * `opened` is set with WINDOW_PAST, and it shows the spans that were active before the event. */
enum window_state trace_window_meet(struct trace_window *window, const struct span_event *event);

/* At the end of the trace, whose last event was at `last`: whether both ends of the window were
 * met. */
bool trace_window_check(const struct trace_window *window, struct nanoseconds last,
                        struct error *error);

#endif
