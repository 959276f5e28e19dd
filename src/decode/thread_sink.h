/* One thread of the recording as a receiver of events.
 *
 * Everything that a thread's events go through last, in their order, whoever has decoded them:
 * times never go back, and what only the next event decides is held until then:
 *   - stretches that cannot be decoded one after the other are one GAP, however often tracing
 *     starts and stops in between;
 *   - behind a hole, which no packet tells of, there is a GAP;
 *   - an INTERRUPT that stopped tracing, with nothing behind it, was no interrupt but the end of
 *     tracing: a STOP.
 *
 * Used by event_batch.c and decode_jobs.c; by one decoding thread at a time.
 */
#ifndef MAGIC_TRACE_DECODE_THREAD_SINK_H
#define MAGIC_TRACE_DECODE_THREAD_SINK_H

#include "base/array.h"
#include "decode/flow_sink.h"

struct thread_sink {
    const struct thread *thread;
    const struct flow_sink *sink;
    bool begun;                 /* the sink knows the thread, ... */
    void *object;               /* ... by this */
    struct ticks last_time;     /* of the events delivered */
    bool in_gap;                /* the newest event is a GAP, with nothing known behind it */
    struct array held;          /* struct flow_event */
    uint64_t delivered;         /* events */
    uint64_t errors, overflows; /* gaps of those kinds */
    struct array holes;         /* struct ticks: see thread_output_add_hole; ascending */
    size_t next_hole;           /* the first that the events have not come to */
};

/* From `begin` on, until tracing of it starts again, what the thread did is missing: the ring of
 * the processor that it ran on has been overwritten. In any order, before its events. */
void thread_output_add_hole(struct thread_sink *output, struct ticks begin);

/* Tells the sink of the thread, unless it knows already. */
void thread_output_begin(struct thread_sink *output);
void thread_output_end(struct thread_sink *output);

/* The thread's next events, in their order and that of their times, which may be changed where they
 * are earlier than those of the call before. `plain`: there are no gaps, resumes, callers or
 * interrupts among them. */
void thread_output_add(struct thread_sink *output, struct flow_event *events, size_t count,
                       bool plain);

/* Tracing of the thread has stopped here, for now or for ever. */
void thread_output_stop(struct thread_sink *output);

/* Adds what has been counted; behind thread_output_end. */
void thread_output_add_statistics(const struct thread_sink *output,
                                  struct flow_statistics *statistics);

/* Whether an event of this kind is not plain. */
static inline bool thread_output_must_see(uint8_t kind)
{
    return kind == FLOW_GAP || kind == FLOW_RESUME || kind == FLOW_CALLER || kind == FLOW_INTERRUPT;
}

#endif
