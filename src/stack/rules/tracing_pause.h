/* The rules of tracing that stops and starts: filters, the beginning of a recording, exec.
 *
 * Where tracing stops for no reason seen in the program itself, a frame "[untraced]" lies on the
 * stack until it goes on: in the same function, or in one further out to which the program must
 * have returned meanwhile. Otherwise nothing connects the stack before with the one after: the
 * segment ends, and a new one begins.
 *
 * A thread goes on in another program after exec: its whole stack ends there (with the time at
 * which the new program begins, so that the exec system call keeps its length).
 */
#ifndef MAGIC_TRACE_STACK_RULES_TRACING_PAUSE_H
#define MAGIC_TRACE_STACK_RULES_TRACING_PAUSE_H

#include "stack/thread_stack.h"

void rule_stop(struct thread_stack *stack, const struct flow_event *event);
void rule_resume(struct thread_stack *stack, const struct flow_event *event);

/* Control flow is not known any more: the segment ends. */
void rule_gap(struct thread_stack *stack, const struct flow_event *event);

/* Told of what a RESUME has begun in the middle of: ignored where the callers are known. */
void rule_caller(struct thread_stack *stack, const struct flow_event *event);

#endif
