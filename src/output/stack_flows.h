/* Suspended stacks, from their suspension until they are resumed (span_event.stack): each time an
 * arrow between two spans.
 *
 * Used by the exporters of formats that have arrows, and by the index.
 */
#ifndef MAGIC_TRACE_OUTPUT_STACK_FLOWS_H
#define MAGIC_TRACE_OUTPUT_STACK_FLOWS_H

#include "stack/spans/span.h"

#include <stdint.h>

/* All zero: none waits. */
struct stack_flows {
    struct stack_flow *stacks;
    uint64_t count;
};

/* Where a stack was that is resumed. */
struct stack_origin {
    bool known;
    uint64_t arrow; /* its number; 0: none, because its suspension was not seen */
    uint32_t track;
    struct nanoseconds time; /* of its suspension; else when it is resumed */
};

void stack_flows_free(struct stack_flows *flows);

/* The number of the arrow that begins where this event leaves a span; 0: no arrow does. A stack that has
 * continued in another track is not suspended any more where it was before. */
uint64_t stack_flows_begin(struct stack_flows *flows, const struct span_event *leave);

/* Where the stack comes from that this event resumes. */
struct stack_origin stack_flows_end(struct stack_flows *flows, const struct span_event *enter);

#endif
