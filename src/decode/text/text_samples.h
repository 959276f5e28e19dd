/* Call stacks that perf sampled, as flow events: calls and returns that lead from one to the next.
 *
 * Two samples are compared from the root on. A frame stays as long as it is the same function,
 * called from the same place; the rest of the older stack returns, and the rest of the newer one is
 * called. What happened between two samples is unknown: the times are those of the samples. The
 * root of all stacks of a thread is a frame "[samples]", which says so.
 *
 * Used by text_flow.c for text of samples, one per thread, with that thread's text_thread.
 */
#ifndef MAGIC_TRACE_DECODE_TEXT_TEXT_SAMPLES_H
#define MAGIC_TRACE_DECODE_TEXT_TEXT_SAMPLES_H

#include "decode/text/text_thread.h"

struct text_samples {
    struct array frames; /* struct text_location, outermost first */
    function_id samples; /* "[samples]" */
    bool begun;
};

void text_samples_init(struct text_samples *stack, function_id samples);
void text_samples_free(struct text_samples *stack);

/* The record is a SAMPLE. */
void text_samples_change(struct text_samples *stack, struct text_thread *thread,
                         const struct perf_text_record *record);

#endif
