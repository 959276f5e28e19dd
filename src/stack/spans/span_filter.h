/* Only what runs between a call of one function and the next call of another: -filter "(A B)".
 *
 * A span source that wraps another. A region begins with a call of A, which belongs to it, and ends
 * with the next call of B, which does not; then the next call of A begins another. Calls are
 * looked for in all threads, and all threads are cut to the same regions of time: what is open when
 * a region begins is entered there (SPAN_START_INFERRED), what is open when it ends is left there
 * (SPAN_END_FILTER); counters begin it with what they were. A call of A inside of a region, and of
 * B outside, mean nothing.
 *
 * Functions are meant by their readable name or by their symbol. In one pass; what it keeps is the
 * open spans and the counters.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_SPAN_FILTER_H
#define MAGIC_TRACE_STACK_SPANS_SPAN_FILTER_H

#include "stack/spans/span.h"

struct span_filter_names {
    char *from, *to; /* owned; NULL: no filter */
};

/* "(A B)": names that hold spaces stand in double quotes. False when it is not two names. */
bool span_filter_names_parse(struct span_filter_names *names, const char *text);
void span_filter_names_free(struct span_filter_names *names);

/* `names` and `source` must outlive the filter, whose close() closes `source` too. */
struct span_source *span_filter(struct span_source *source, const struct span_filter_names *names);

/* Goes to the first region; to be called before the first next(). False when there is none; the
 * error then says which names come near to that of the first function. */
bool span_filter_begin(struct span_source *filter, struct error *error);

#endif
