/* The rules of tracing that stops and starts: filters, the beginning of a recording, exec.
 *
 * If tracing stops for no reason in the program itself, a frame "[untraced]" is on the stack until
 * it continues: in the same function, or in one further out to which the program must have returned
 * meanwhile. Otherwise nothing connects the stack before with the one after: the segment ends, and
 * a new one begins.
 *
 * After exec a thread runs another program: its whole stack ends there (at the time at which the
 * new program begins, so that the exec system call keeps its length).
 */
#ifndef MAGIC_TRACE_STACK_RULES_TRACING_PAUSE_H
#define MAGIC_TRACE_STACK_RULES_TRACING_PAUSE_H

#include "stack/thread_stack.h"

struct tracing_pause {
    struct ticks stopped_at;  /* when `stopped` */
    uint32_t program_changes; /* up to which the stack is up to date */
    bool stopped; /* the event before was FLOW_STOP; shown only if tracing continues later */
};

/* An event other than FLOW_STOP has been followed. */
static inline void tracing_pause_continued(struct thread_stack *stack)
{
    stack->rules.tracing_pause->stopped = false;
}

/* Called before the event is followed. */
void tracing_pause_before(struct thread_stack *stack, const struct flow_event *event);

void rule_stop(struct thread_stack *stack, const struct flow_event *event);
void rule_resume(struct thread_stack *stack, const struct flow_event *event);

/* The control flow is unknown from here on: the segment ends. */
void rule_gap(struct thread_stack *stack, const struct flow_event *event);

#endif
