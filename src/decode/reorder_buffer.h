/* What has been decoded of a slice, on its way to the threads whose events these are.
 *
 * Slices are decoded in any order, but a thread wants its events in theirs. So a decoder hands its
 * events to a delivery: it passes them on at once when everything before the slice has been passed
 * on, and keeps them otherwise, in the memory that they were written to. What is kept is divided
 * into runs: events of one thread, between two switches.
 *
 * Used by one decoding thread, through event_batch.c, and when that is done by decode_jobs.c.
 */
#ifndef MAGIC_TRACE_DECODE_REORDER_BUFFER_H
#define MAGIC_TRACE_DECODE_REORDER_BUFFER_H

#include "decode/event_pool.h"
#include "decode/thread_sink.h"

/* Events that were added together. */
struct reorder_buffer_piece {
    struct flow_event *events;
    size_t count;
    bool plain; /* as in thread_output_add */
};

struct reorder_buffer_run {
    struct thread_sink *output;
    size_t first, count; /* pieces */
    bool stops;          /* the thread's tracing stops behind them */
};

struct reorder_buffer {
    struct event_pool *pool; /* borrowed; NULL only where nothing is ever kept */
    bool direct;             /* nothing is kept */
    struct array chunks;     /* struct event_chunk: with kept events */
    struct array pieces;     /* struct reorder_buffer_piece */
    struct array runs;       /* struct reorder_buffer_run */
    size_t next_run;         /* the first that has not been passed on */
    uint64_t events;         /* kept */
};

void reorder_buffer_init(struct reorder_buffer *reorder_buffer, struct event_pool *pool,
                         bool direct);
void reorder_buffer_free(struct reorder_buffer *reorder_buffer);

/* Forgets what was kept: the chunks go back to the pool. */
void reorder_buffer_forget(struct reorder_buffer *reorder_buffer);

/* Keeps the chunk, in which there are kept events, until reorder_buffer_forget. */
void reorder_buffer_take_chunk(struct reorder_buffer *reorder_buffer, struct event_chunk chunk);

/* As thread_output_add. Unless the delivery is direct the events are not to be touched any more. */
void reorder_buffer_add(struct reorder_buffer *reorder_buffer, struct thread_sink *output,
                        struct flow_event *events, size_t count, bool plain);
/* As thread_output_stop. */
void reorder_buffer_stop(struct reorder_buffer *reorder_buffer, struct thread_sink *output);

/* The time of the next run's first event; false when all have been passed on. */
bool reorder_buffer_time(const struct reorder_buffer *reorder_buffer, struct ticks *time);

/* Passes the next run on. */
void reorder_buffer_pass_on(struct reorder_buffer *reorder_buffer);

#endif
