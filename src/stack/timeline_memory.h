/* The data of a timeline, shared by its two passes: decoding (timeline.c) and replaying
 * (timeline_spans.c).
 */
#ifndef MAGIC_TRACE_STACK_TIMELINE_MEMORY_H
#define MAGIC_TRACE_STACK_TIMELINE_MEMORY_H

#include "base/array.h"
#include "decode/flow.h"
#include "stack/process_code.h"
#include "stack/rules/sampled_stacks.h"
#include "stack/spans/span_functions.h"
#include "stack/spans/timestamp_disambiguation.h"
#include "stack/thread_stack.h"

#include <pthread.h>

struct timeline_thread {
    struct timeline *timeline;
    struct thread thread;
    struct thread_stack stack;
    struct sampled_stacks sampled; /* empty unless the recording is one of samples */
    struct process_code *code;     /* while it is being decoded; else NULL */
    char *death;                   /* as text; NULL: no signal ended it */
};

struct timeline {
    struct flow *flow;
    pthread_mutex_t lock;   /* for `threads` while decoding */
    struct array threads;   /* struct timeline_thread *; once decoded, by pid and tid, and none
                             without events */
    uint32_t shared_stacks; /* numbers of migrated_stacks.h that are in use */
    struct array tracks;    /* struct span_track, one per thread */
    struct ticks origin;    /* of the first event of the recording */
    struct span_functions functions;
    struct inlined_moves *
        moves; /* owned; NULL: inlined functions are not found, or moves have to be recorded step by step */
};

/* The recording's clock; NULL if it has none: then ticks are nanoseconds. */
const struct clock_conversion *timeline_clock(const struct timeline *timeline);
/* The same for the second pass. */
struct history_clock timeline_history_clock(const struct timeline *timeline);
struct nanoseconds timeline_nanoseconds(const struct timeline *timeline, struct ticks ticks);

#endif
