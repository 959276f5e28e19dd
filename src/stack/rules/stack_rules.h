/* The table of rules: the ways in which control moves, each in a file of this folder.
 *
 * A new rule is a file NAME.c that defines `const struct stack_rule NAME_rule`, and a line in the
 * table below. What a rule remembers of a thread is its own `struct NAME`, which no other file
 * touches (tools/check-stack-rules checks that): others call the functions of NAME.h.
 *
 * Called by thread_stack.c, which makes the state and ends it, and by follow.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_RULES_H
#define MAGIC_TRACE_STACK_RULES_STACK_RULES_H

#include "decode/flow_event.h"

#include <stdbool.h>
#include <stddef.h>

struct thread_stack;
struct segment;

/* In the order in which they are asked what an event means. It matters for returns and jumps, which
 * are those of the rules up to unwinding. */
#define STACK_RULES(RULE)                                                                          \
    RULE(ocaml_traps)            /* OCaml exceptions */                                            \
    RULE(goroutines)             /* Go's scheduler chooses who continues */                        \
    RULE(calls_on_other_stack)   /* calls with a loaded stack pointer */                           \
    RULE(stack_pointer)          /* the stack pointer is recorded */                               \
    RULE(called_fibers)          /* fibers on top of who resumed them */                           \
    RULE(stack_pointer_switch)   /* another stack continues, by that */                            \
    RULE(copied_stacks)          /* another stack is copied to where the running one was */        \
    RULE(tail_calls)             /* jumps that stay in the activation */                           \
    RULE(landing_pads)           /* C++ exceptions, Rust panics */                                 \
    RULE(context_rewrites)       /* calls that a signal handler injects */                         \
    RULE(pushed_calls)           /* JIT code that calls without CALL */                            \
    RULE(calls)                  /* calls; to where a call returns */                              \
    RULE(signals)                /* signal handlers return */                                      \
    RULE(suspended_stacks)       /* those that are not running */                                  \
    RULE(stack_switch)           /* another stack continues, by its address */                     \
    RULE(handed_over)            /* fibers go away, without recorded pointers */                   \
    RULE(captured_stacks)        /* longjmp to an activation that has ended, copied back */        \
    RULE(unwinding)              /* longjmp, and whatever is left */                               \
    RULE(sigreturn_switch)       /* signal handlers return to another stack */                     \
    RULE(kernel_entry)           /* system calls, interrupts, faults */                            \
    RULE(recorded_callers)       /* callers that the recording names */                            \
    RULE(tracing_pause)          /* tracing stops and starts; exec; gaps */                        \
    RULE(transactions)           /* TSX transactions that fail */                                  \
    RULE(forced_unwinding)       /* pthread_exit, pthread_cancel */                                \
    RULE(setjmp_calls)           /* where longjmp continues: by calls in progress, */              \
    RULE(unwind_targets)         /* by calls that have returned there, */                          \
    RULE(unwind_target_pointers) /* by the stack pointer */

/* Follows an event: makes the stack's moves. False if it is for the rules after this one. Of a call,
 * return or jump, the leaf is not a special frame (kernel_frames.h); of a return or jump, it is not
 * FRAME_NONE, and a jump is not direct. */
typedef bool stack_rule_follow(struct thread_stack *stack, const struct flow_event *event);
/* Takes note of an event, whichever rule follows it. */
typedef void stack_rule_note(struct thread_stack *stack, const struct flow_event *event);

/* What a rule defines; all else is NULL. */
struct stack_rule {
    stack_rule_follow *follow[FLOW_KIND_COUNT]; /* for events of these kinds */
    stack_rule_note *before_event, *after_event;
    /* The first event comes; stack->now is its time. */
    void (*begin_events)(struct thread_stack *stack);
    /* The segment has ended, and no other has begun. */
    void (*segment_ended)(struct thread_stack *stack, struct segment *segment);
    /* All events have come; `leaf` was the leaf at the end. No segment is open. */
    void (*events_ended)(struct thread_stack *stack, uint32_t leaf);
    /* The process has executed another program. */
    void (*program_changed)(struct thread_stack *stack);
    size_t state_size; /* of its struct NAME, which begins as zeros */
    /* Makes what its state needs besides, and frees that. */
    void (*begin)(struct thread_stack *stack);
    void (*end)(struct thread_stack *stack);
};

#define STACK_RULE_INDEX(name) STACK_RULE_##name,
#define STACK_RULE_STATE(name) struct name *name;
enum { STACK_RULES(STACK_RULE_INDEX) STACK_RULE_COUNT };

/* The rules of one thread. */
struct stack_rules {
    /* What they remember: a struct NAME * for each, owned; NULL if it remembers nothing. */
    STACK_RULES(STACK_RULE_STATE)
    /* Their functions, in the order of the table; each list ends with NULL. */
    stack_rule_follow *follow[FLOW_KIND_COUNT][STACK_RULE_COUNT + 1];
    stack_rule_note *before_event[STACK_RULE_COUNT + 1], *after_event[STACK_RULE_COUNT + 1];
};

/* `stack` is the one that has them, otherwise ready. */
void stack_rules_begin(struct thread_stack *stack, struct stack_rules *rules);
void stack_rules_end(struct thread_stack *stack, struct stack_rules *rules);

/* Asks the rules to follow the event. */
static inline void stack_rules_follow(struct thread_stack *stack, const struct stack_rules *rules,
                                      const struct flow_event *event)
{
    stack_rule_follow *const *follow = rules->follow[event->kind];
    while (*follow != NULL && !(*follow)(stack, event))
        follow++;
}

/* Of rules->before_event or rules->after_event. */
static inline void stack_rules_note(struct thread_stack *stack, stack_rule_note *const *notes,
                                    const struct flow_event *event)
{
    for (; *notes != NULL; notes++)
        (*notes)(stack, event);
}

/* Call the functions of these names of all rules. */
void stack_rules_begin_events(struct thread_stack *stack);
void stack_rules_segment_ended(struct thread_stack *stack, struct segment *segment);
void stack_rules_events_ended(struct thread_stack *stack, uint32_t leaf);
void stack_rules_program_changed(struct thread_stack *stack);

#endif
