/* One thread of perf script's text: from its records to its flow events.
 *
 * The counterpart of control_flow.h, which has the instructions: the same program run gives the
 * same events. Branches inside a function are not events. Text without them (the dlfilter of Jane
 * Street's magic-trace removes them) gives the same events, except for their times: perf prints the
 * time of the last packet, so several branches share one, and get times in proportion to their
 * number up to the next.
 *
 * Used by text_flow.c, one per thread.
 */
#ifndef MAGIC_TRACE_DECODE_TEXT_TEXT_THREAD_H
#define MAGIC_TRACE_DECODE_TEXT_TEXT_THREAD_H

#include "decode/event_batch.h"
#include "decode/text/text_code.h"
#include "recording/perf_script/perf_text.h"

struct text_thread {
    struct text_code *code; /* borrowed */
    struct thread_sink output;
    struct event_batch batch;
    struct reorder_buffer reorder_buffer; /* direct */
    uint64_t position;                    /* branches so far */
    struct ticks time;                    /* the newest that was printed */
    bool timed;                           /* there was a time */
    bool exact;                           /* the newest record is the first with its time */

    bool running;                 /* traced code is being executed */
    struct text_location current; /* where control is now */
    bool after_syscall;           /* a system call stopped tracing */
    /* An INTERRUPT that stopped tracing: held back until tracing starts again, because at the end
     * of the text it was not an interrupt but the end of tracing. */
    bool interrupt_held;
    struct flow_event interrupt;
};

/* `thread`, `code` and `sink` are borrowed until text_thread_end. */
void text_thread_begin(struct text_thread *thread, const struct thread *described,
                       struct text_code *code, const struct flow_sink *sink);

/* Each takes a record of this thread: a BRANCH, a DECODE_ERROR. */
void text_thread_branch(struct text_thread *thread, const struct perf_text_record *record);
void text_thread_error(struct text_thread *thread, const struct perf_text_record *record);

/* Passes on the remaining events, ends the thread's sink and adds to the counts. */
void text_thread_end(struct text_thread *thread, struct flow_statistics *statistics);

/* For text_samples.h, which also changes the thread's stack: the time is now that of `record`. */
void text_thread_time(struct text_thread *thread, const struct perf_text_record *record);
void text_thread_emit(struct text_thread *thread, const struct flow_event *event);

#endif
