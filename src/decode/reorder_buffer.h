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
struct delivery_piece {
    struct flow_event *events;
    size_t count;
    bool plain; /* as in thread_output_add */
};

struct delivery_run {
    struct thread_output *output;
    size_t first, count; /* pieces */
    bool stops;          /* the thread's tracing stops behind them */
};

struct delivery {
    struct event_pool *pool; /* borrowed; NULL only where nothing is ever kept */
    bool direct;             /* nothing is kept */
    struct array chunks;     /* struct event_chunk: with kept events */
    struct array pieces;     /* struct delivery_piece */
    struct array runs;       /* struct delivery_run */
    size_t next_run;         /* the first that has not been passed on */
    uint64_t events;         /* kept */
};

void delivery_init(struct delivery *delivery, struct event_pool *pool, bool direct);
void delivery_free(struct delivery *delivery);

/* Forgets what was kept: the chunks go back to the pool. */
void delivery_forget(struct delivery *delivery);

/* Keeps the chunk, in which there are kept events, until delivery_forget. */
void delivery_take_chunk(struct delivery *delivery, struct event_chunk chunk);

/* As thread_output_add. Unless the delivery is direct the events are not to be touched any more. */
void delivery_add(struct delivery *delivery, struct thread_output *output,
                  struct flow_event *events, size_t count, bool plain);
/* As thread_output_stop. */
void delivery_stop(struct delivery *delivery, struct thread_output *output);

/* The time of the next run's first event; false when all have been passed on. */
bool delivery_time(const struct delivery *delivery, struct ticks *time);

/* Passes the next run on. */
void delivery_pass_on(struct delivery *delivery);

#endif
