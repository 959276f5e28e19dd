/* The last stage of one thread's events, in their order, for all decoders.
 *
 * Times never decrease, and an event is held as long as the next event may change it:
 *   - consecutive periods that cannot be decoded become one GAP, however often tracing starts and
 *     stops in between;
 *   - after a hole, for which there is no packet, comes a GAP;
 *   - an INTERRUPT that stopped tracing, with nothing after it, was not an interrupt but the end of
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
    struct ticks last_time;     /* of the events passed on */
    bool in_gap;                /* the newest event is a GAP, and nothing after it is known */
    struct array held;          /* struct flow_event */
    uint64_t delivered;         /* events */
    uint64_t errors, overflows; /* gaps of these kinds */
    struct array holes;         /* struct ticks: see thread_output_add_hole; ascending */
    size_t next_hole;           /* the first that is later than all events so far */
};

/* The thread's events are missing from `begin` until its tracing starts again: the ring of the
 * processor that it ran on was overwritten. Called in any order, before its events are added. */
void thread_output_add_hole(struct thread_sink *output, struct ticks begin);

/* Announces the thread to the sink, once. */
void thread_output_begin(struct thread_sink *output);
void thread_output_end(struct thread_sink *output);

/* Adds the thread's next events, in their order and that of their times. Changes times that are
 * earlier than those of the call before. `plain`: there are no gaps, resumes, callers or interrupts
 * among them. */
void thread_output_add(struct thread_sink *output, struct flow_event *events, size_t count,
                       bool plain);

/* Tracing of the thread stops here, for now or for good. */
void thread_output_stop(struct thread_sink *output);

/* Adds the thread's counts; after thread_output_end. */
void thread_output_add_statistics(const struct thread_sink *output,
                                  struct flow_statistics *statistics);

/* Whether an event of this kind is not plain. */
static inline bool thread_output_must_see(uint8_t kind)
{
    return kind == FLOW_GAP || kind == FLOW_RESUME || kind == FLOW_CALLER || kind == FLOW_INTERRUPT;
}

#endif
