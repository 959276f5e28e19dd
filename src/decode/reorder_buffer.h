/* The decoded events of a PSB segment, on their way to their threads.
 *
 * PSB segments are decoded in any order, but a thread gets its events in the order of the
 * recording. So a decoder adds its events to a reorder buffer. It passes them on at once if
 * everything before the PSB segment has been passed on, and otherwise keeps them, in the memory
 * that they were written to. Kept events are divided into runs: events of one thread, between two
 * switches.
 *
 * Used by one decoding thread, through event_batch.c, and afterwards by decode_jobs.c.
 */
#ifndef MAGIC_TRACE_DECODE_REORDER_BUFFER_H
#define MAGIC_TRACE_DECODE_REORDER_BUFFER_H

#include "base/array.h"
#include "decode/flow_event.h"
#include "decode/thread_sink.h"

/* Events that were added together. */
struct reorder_buffer_part {
    struct flow_event *events;
    size_t count;
    bool plain; /* as in thread_output_add */
};

struct reorder_buffer_run {
    struct thread_sink *output;
    size_t first, count; /* parts */
    bool stops;          /* the thread's tracing stops after them */
};

struct reorder_buffer {
    bool direct;         /* passes events on at once */
    struct array chunks; /* struct flow_event *: memory that holds kept events. Owned */
    struct array parts;  /* struct reorder_buffer_part */
    struct array runs;   /* struct reorder_buffer_run */
    size_t next_run;     /* the first that has not been passed on */
    uint64_t events;     /* the number of kept events */
};

void reorder_buffer_init(struct reorder_buffer *reorder_buffer, bool direct);
void reorder_buffer_free(struct reorder_buffer *reorder_buffer);

/* Drops what was kept: frees the chunks. */
void reorder_buffer_forget(struct reorder_buffer *reorder_buffer);

/* Takes over the chunk, from malloc, that holds kept events. */
void reorder_buffer_take_chunk(struct reorder_buffer *reorder_buffer, struct flow_event *chunk);

/* As thread_output_add. Unless the reorder buffer is direct, the events must not be changed
 * afterwards. */
void reorder_buffer_add(struct reorder_buffer *reorder_buffer, struct thread_sink *output,
                        struct flow_event *events, size_t count, bool plain);
/* As thread_output_stop. */
void reorder_buffer_stop(struct reorder_buffer *reorder_buffer, struct thread_sink *output);

/* The time of the next run's first event; false when all have been passed on. */
bool reorder_buffer_time(const struct reorder_buffer *reorder_buffer, struct ticks *time);

/* Passes on the next run. */
void reorder_buffer_pass_on(struct reorder_buffer *reorder_buffer);

#endif
