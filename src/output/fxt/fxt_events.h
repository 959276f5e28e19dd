/* Parses the event records of a trace file.
 *
 * Used by the trace parser. Nearly every event is, but for its thread and its time, the same words
 * as one before. So the meaning of records is cached by their words, and most need no parsing: only
 * two words are hashed, and no argument is read.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_EVENTS_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_EVENTS_H

#include "base/named_values.h"
#include "output/fxt/fxt_definitions.h"

/* An event as it is in the file. */
struct fxt_raw_event {
    uint64_t time; /* ns */
    union {
        uint64_t end_time; /* of FXT_EVENT_COMPLETE; ns */
        double value;      /* of FXT_EVENT_COUNTER */
    };
    uint64_t address; /* 0: not given */
    union {
        const struct span_function *function; /* NULL for an end; of an instant its name is the
                                                 text */
        const char *counter;                  /* of FXT_EVENT_COUNTER: as in struct span_event */
    };
    const struct span_hit *hit;        /* of a hit's beginning, else NULL; lives as names do */
    const struct named_values *values; /* of an end, or NULL; until fxt_events_forget_values */
    uint32_t track;
    uint32_t stack; /* as in span_event */
    uint8_t type;   /* enum fxt_event_type: instant, counter, begin, end or complete */
    uint8_t flags;  /* enum span_flag */
    uint8_t end;    /* enum span_end; of ends and complete events */
};

/* A record can be several events: a counter's values. */
enum { FXT_EVENTS_PER_RECORD = FXT_ARGUMENTS_MAX };

/* Events of other kinds, asynchronous ones and flows, are passed over. */
static inline bool fxt_event_is_for_us(uint64_t header)
{
    return fxt_bits(header, 16, 19) <= FXT_EVENT_COMPLETE;
}

struct fxt_events;

/* `definitions` is borrowed. */
struct fxt_events *fxt_events_new(struct fxt_definitions *definitions);
void fxt_events_free(struct fxt_events *events);

/* The values of all events parsed so far may go. */
void fxt_events_forget_values(struct fxt_events *events);

/* To be called when the definitions are restarted. */
void fxt_events_restart(struct fxt_events *events);

/* Parses the record of an event into `parsed`, which has room for FXT_EVENTS_PER_RECORD: returns
 * their number, 0 for a kind that we ignore, or -1 when the record is inconsistent or has undefined
 * references. */
int fxt_events_parse(struct fxt_events *events, struct fxt_record record,
                     struct fxt_raw_event *parsed);

#endif
