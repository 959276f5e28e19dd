/* The rule of C++ exceptions and Rust panics: landing pads.
 *
 * An exception continues in the innermost activation whose active call has its landing pad there,
 * by .gcc_except_table. All frames above it end at once.
 */
#ifndef MAGIC_TRACE_STACK_RULES_LANDING_PADS_H
#define MAGIC_TRACE_STACK_RULES_LANDING_PADS_H

#include "stack/thread_stack.h"

/* True if an active frame's call has its landing pad at event->to: the stack is then cut to that
 * frame. A landing pad can equal the return address of a call before it that never returns, so this
 * is checked before a return to an outer frame is accepted. */
bool landing_pads_land(struct thread_stack *stack, const struct flow_event *event);

#endif
