/* What has been decoded of a slice, on its way to the threads whose events these are.
 *
 * Slices are decoded in any order, but a thread wants its events in theirs. So a decoder hands its
 * events to a delivery: it passes them on at once when everything before the slice has been passed
 * on, and keeps them otherwise. What it keeps is divided into runs: events of one thread, between
 * two switches.
 *
 * Used by one decoding thread, through event_batch.c, and when that is done by decode_jobs.c.
 */
#ifndef MAGIC_TRACE_FLOW_DELIVERY_H
#define MAGIC_TRACE_FLOW_DELIVERY_H

#include "base/array.h"
#include "flow/thread_output.h"

struct delivery_run {
    struct thread_output *output;
    size_t first, count; /* events */
    bool plain;          /* as in thread_output_add */
    bool stops;          /* the thread's tracing stops behind them */
};

struct delivery {
    bool direct;         /* nothing is kept */
    struct array events; /* struct flow_event */
    struct array runs;   /* struct delivery_run */
    size_t next_run;     /* the first that has not been passed on */
};

void delivery_init(struct delivery *delivery, bool direct);
/* The same for one that has been used: keeps its memory. */
void delivery_reuse(struct delivery *delivery, bool direct);
void delivery_free(struct delivery *delivery);

/* As thread_output_add and thread_output_stop. */
void delivery_add(struct delivery *delivery, struct thread_output *output,
                  struct flow_event *events, size_t count, bool plain);
void delivery_stop(struct delivery *delivery, struct thread_output *output);

/* The time of the next run's first event; false when all have been passed on. */
bool delivery_time(const struct delivery *delivery, struct ticks *time);

/* Passes the next run on. */
void delivery_pass_on(struct delivery *delivery);

#endif
