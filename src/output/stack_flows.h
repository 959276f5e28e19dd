/* Suspended stacks, from their suspension until they are resumed (span_event.stack): each time an
 * arrow between two spans.
 *
 * Used by the exporters of formats that have arrows.
 */
#ifndef MAGIC_TRACE_OUTPUT_STACK_FLOWS_H
#define MAGIC_TRACE_OUTPUT_STACK_FLOWS_H

#include "stack/spans/span.h"

#include <stdint.h>

/* All zero: none waits. */
struct stack_flows {
    struct stack_flow *waiting;
    uint64_t count;
};

void stack_flows_free(struct stack_flows *flows);

/* The number of the arrow that begins where this event leaves a span; 0: none does. */
uint64_t stack_flows_begin(struct stack_flows *flows, const struct span_event *leave);

/* The number of the arrow that ends at the span that this event enters; 0: none does. */
uint64_t stack_flows_end(struct stack_flows *flows, const struct span_event *enter);

#endif
