/* A whole recording, decoded: the call stacks of all its threads over time.
 *
 * The two passes of the design: timeline_decode builds every thread's history in memory (8 bytes
 * per flow event, and the distinct call stacks); timeline_spans then replays it, any number of
 * times, merged into time order.
 */
#ifndef MAGIC_TRACE_STACK_TIMELINE_H
#define MAGIC_TRACE_STACK_TIMELINE_H

#include "base/error.h"
#include "decode/flow.h"
#include "stack/spans/span.h"

struct timeline;

/* NULL on error: nothing could be decoded. */
struct timeline *timeline_decode(const char *path, const struct flow_options *options,
                                 struct error *error);
void timeline_free(struct timeline *timeline);

/* A new source, at the beginning. Times start near 0 (the first event of the recording is at 0).
 * Must be closed by its close(), before timeline_free. */
struct span_source *timeline_spans(struct timeline *timeline, struct error *error);

/* Facts for the summary. */
struct timeline_statistics {
    struct flow_statistics flow;
    uint64_t threads; /* those with events */
    uint64_t spans;
    uint64_t gaps;
    uint64_t unwound;  /* events that ended several frames at once: longjmp, exceptions */
    uint64_t repaired; /* events that did not fit the stack and were repaired */
    /* Events after a thread had more distinct stacks than ids (2^32). */
    uint64_t ignored;
    const char *damaged_debug; /* an object with damaged debug information; NULL: all are whole */
};
struct timeline_statistics timeline_statistics(const struct timeline *timeline);
/* The time 0 of the spans, on the clock of perf's records. */
struct nanoseconds timeline_origin(const struct timeline *timeline);
/* The decoded recording; lives as long as the timeline. */
const struct flow *timeline_flow(const struct timeline *timeline);
/* NULL if the recording is complete. */
const struct error *timeline_damage(const struct timeline *timeline);

#endif
