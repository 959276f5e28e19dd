/* Spans: the calls that the trace shows. The interface between stack/ and output/: from here on
 * times are nanoseconds.
 *
 * A span source is pulled: next() gives events in time order, and per track every ENTER has its
 * LEAVE, properly nested. Sources: the timeline of a recording, and a trace file read back
 * (output/fxt_reader). Consumers of millions of events take them in batches, by span_source_take().
 */
#ifndef MAGIC_TRACE_STACK_SPANS_SPAN_H
#define MAGIC_TRACE_STACK_SPANS_SPAN_H

#include "base/clock.h"
#include "base/error.h"
#include "base/named_values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of the display: one thread. */
struct span_track {
    uint32_t pid, tid;
    const char *process_name; /* never NULL */
    const char *thread_name;  /* never NULL */
};

/* Whose code a function is. */
enum span_origin {
    SPAN_OWN, /* the program's own; also if the origin is unknown */
    SPAN_LIBRARY,
    SPAN_KERNEL,
    SPAN_INLINED, /* a function that the compiler put into another: it was not called */
};

/* The function of a span. Spans of the same function share one object, so pointers can be compared.
 */
struct span_function {
    const char *name;   /* readable; never NULL */
    const char *symbol; /* as in the symbol table; NULL: none, or it equals the name */
    const char *file;   /* source file; may be NULL */
    uint32_t line;      /* of the function's beginning; 0: unknown */
    bool special;       /* "[syscall]" or the like, not a function of the program */
    enum span_origin origin;
    uint32_t index; /* from 0, without holes, unique in the source: for tables by function */
};

enum span_event_kind {
    SPAN_ENTER,
    SPAN_LEAVE,   /* of the innermost open span of the track */
    SPAN_INSTANT, /* a mark without length: a gap, a decode error; see text */
    SPAN_COUNTER, /* from here on the quantity named by text has this value. The unit, if it has
                   * one, ends the text in parentheses: "frequency of CPU 3 (MHz)" */
    SPAN_MOVE, /* inlined functions end, by SPAN_END_RETURN, and others begin, all at one time: the same as a LEAVE or an
                * ENTER for each. Only for a consumer that has set takes_moves */
};

/* The functions of a MOVE, at least one. Moves between the same functions share one object, valid until the source is closed. */
struct span_move {
    uint32_t left, begun;
    uint32_t from, to; /* numbers of what is innermost before and after */
    uint32_t number;   /* from 0, without holes, unique in the source: for tables by move */
    /* Those that end, the innermost first, then those that begin, the outermost first. */
    const struct span_function **functions;
};

/* Why a span ended. */
enum span_end {
    SPAN_END_RETURN,
    SPAN_END_TAIL_CALL, /* the next function took over its frame */
    SPAN_END_UNWOUND,   /* an exception or longjmp unwound it */
    SPAN_END_GAP,       /* ended at some time in a gap */
    SPAN_END_OF_TRACE,  /* still open at the end of the trace */
    SPAN_END_EXEC,      /* the process executed another program */
    SPAN_END_FILTER,    /* the filter's region ends (span_filter.h) */
    SPAN_END_SWITCH, /* another stack continues (a fiber, a goroutine); this one may do so later */
    SPAN_END_LAST = SPAN_END_SWITCH
};

enum span_flag {
    SPAN_START_INFERRED = 1, /* it was already open when tracing began, or began in a gap */
    SPAN_END_INFERRED = 2,
    SPAN_ACROSS_GAP = 4, /* of LEAVE: it was open before a gap and after it; see stitching.h */
};

/* A trigger hit: shown on a track of its own, from the time that the program passed to the hit. */
struct span_hit {
    struct nanoseconds time;   /* of the source, like all times here */
    struct nanoseconds passed; /* valid if has_passed */
    bool has_passed;
    bool has_argument;
    int64_t argument;
    uint64_t address;
    uint32_t pid, tid;
};

/* Nanoseconds from the time that the program passed to the hit; 0 when it passed none. A filter may
 * cut its span, not this. */
static inline uint64_t span_hit_length(const struct span_hit *hit)
{
    if (!hit->has_passed || hit->time.value < hit->passed.value)
        return 0;
    return hit->time.value - hit->passed.value;
}

struct span_event {
    enum span_event_kind kind;
    uint32_t track; /* index into the source's tracks */
    struct nanoseconds time;
    const struct span_function *function; /* of ENTER and LEAVE */
    const struct span_move *move;         /* of MOVE, which has only this, the track and the time */
    uint64_t address;  /* of ENTER: where the function begins in the process; 0: unknown */
    uint8_t flags;     /* enum span_flag */
    enum span_end end; /* of LEAVE */
    /* The number of one of its track's stacks (fibers, goroutines), which is suspended (LEAVE of
     * its innermost span, SPAN_END_SWITCH) or resumed (ENTER of its outermost). 0: neither, or it
     * is unknown which. Numbers from SHARED_STACKS on are the same in all tracks. */
    uint32_t stack;
    const char *text;           /* of INSTANT and COUNTER; valid until the source is closed */
    double value;               /* of COUNTER, which belongs to the track's process */
    const struct span_hit *hit; /* of the ENTER of a hit; else NULL. Valid like text */
    /* Of the LEAVE of a call whose arguments or result were recorded; else NULL. Valid until the next event is asked for.
     */
    const struct named_values *values;
};

struct span_source {
    void *context;
    const struct span_track *tracks;
    size_t track_count;
    size_t function_count; /* one more than the greatest span_function.index; grows while a file
                            * is read */
    /* False at the end, or on error; error->code distinguishes them. */
    bool (*next)(struct span_source *source, struct span_event *event, struct error *error);
    /* As next(), but all events that are ready: returns their number, 0 where next() returns false.
     * They are valid until the next call. NULL: the source supplies single events only. */
    size_t (*take)(struct span_source *source, const struct span_event **events,
                   struct error *error);
    void (*close)(struct span_source *source);
    /* The wall clock (Unix nanoseconds) at time 0 of the source; 0: unknown. */
    uint64_t wall_clock;
    /* The spans are what samples of call stacks have in common, not calls. */
    bool sampled;
    /* A sentence without its full stop about how the trace was recorded and what its times mean
     * (stack/recorded_words.h); NULL: not known. */
    const char *recorded;
    /* Set before the first next() by a consumer that shows no source lines: avoids reading debug
     * information. */
    bool no_lines;
    /* Set likewise by a consumer that knows SPAN_MOVE, which is for those of millions of events. */
    bool takes_moves;
};

/* What `wrapped` is, as a source of single events that another one makes of its events: the caller's
 * functions get `context`. `wrapped` stays the caller's to close. */
static inline struct span_source span_source_around(
    const struct span_source *wrapped, void *context,
    bool (*next)(struct span_source *source, struct span_event *event, struct error *error),
    void (*close)(struct span_source *source))
{
    struct span_source source = *wrapped;
    source.context = context;
    source.next = next;
    source.take = NULL;
    source.close = close;
    return source;
}

/* The track of the thread in which a hit happened; `fallback`, that of the hits, when it has none. */
static inline uint32_t span_track_of_hit(const struct span_source *source, uint32_t pid,
                                         uint32_t tid, uint32_t fallback)
{
    for (size_t i = 0; i < source->track_count; i++) {
        const struct span_track *track = &source->tracks[i];
        /* Jane Street's magic-trace does not say which process it was. */
        if (track->tid == tid && (track->pid == pid || pid == 0) && i != fallback)
            return (uint32_t)i;
    }
    return fallback;
}

/* The next events of a source of either kind: returns their number, 0 at the end or on error, as
 * next() does. They are valid until the next call, and may be in `room`. */
static inline size_t span_source_take(struct span_source *source, struct span_event *room,
                                      const struct span_event **events, struct error *error)
{
    if (source->take != NULL)
        return source->take(source, events, error);
    *events = room;
    return source->next(source, room, error);
}

#endif
