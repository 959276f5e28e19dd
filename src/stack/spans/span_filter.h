/* Shows only what runs between a call of one function and the next call of another: -filter "(A
 * B)".
 *
 * A span source that wraps another. A region begins with a call of A, which belongs to it, and ends
 * with the next call of B, which does not; then the next call of A begins another. Calls in all
 * threads count, and all threads are cut to the same regions of time: spans open at the beginning
 * of a region are entered there (SPAN_START_INFERRED), spans open at its end are left there
 * (SPAN_END_FILTER); counters have their current values at its beginning. A call of A inside a
 * region, and of B outside, has no effect.
 *
 * Functions are named by their readable name or by their symbol. Works in one pass; keeps the open
 * spans and the counters.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_SPAN_FILTER_H
#define MAGIC_TRACE_STACK_SPANS_SPAN_FILTER_H

#include "stack/spans/span.h"

struct span_filter_names {
    char *from, *to; /* owned; NULL: no filter */
};

/* "(A B)": names with spaces are in double quotes. False if `text` is not two names. */
bool span_filter_names_parse(struct span_filter_names *names, const char *text);
void span_filter_names_free(struct span_filter_names *names);

/* `names` and `source` must outlive the filter, whose close() closes `source` too. */
struct span_source *span_filter(struct span_source *source, const struct span_filter_names *names);

/* Goes to the first region; must be called before the first next(). False if there are no regions; then
 * the error names functions with names similar to that of the first one. */
bool span_filter_begin(struct span_source *filter, struct error *error);

#endif
