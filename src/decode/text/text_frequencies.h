/* Changes of the processor's frequency, as perf script's text reports them for each thread.
 *
 * Filled and read by text_flow.c.
 */
#ifndef MAGIC_TRACE_DECODE_TEXT_TEXT_FREQUENCIES_H
#define MAGIC_TRACE_DECODE_TEXT_TEXT_FREQUENCIES_H

#include "base/array.h"
#include "recording/perf_script/perf_text.h"

struct text_frequencies {
    struct text_frequency *by_thread; /* owned */
};

void text_frequencies_free(struct text_frequencies *frequencies);

/* `record` is of the kind PERF_TEXT_FREQUENCY. */
void text_frequencies_note(struct text_frequencies *frequencies,
                           const struct perf_text_record *record);

/* Appends the marks of all threads, as trace_marks_find does. */
void text_frequencies_report(const struct text_frequencies *frequencies, struct array *marks);

#endif
