/* The table of rules: the ways in which control moves, each in a file of this folder.
 *
 * A new rule is a file NAME.c that defines `const struct stack_rule NAME_rule`, and a line in the
 * table below. What a rule remembers of a thread is its own `struct NAME`, which no other file
 * touches (tools/check-layers checks that): others call the functions of NAME.h.
 *
 * Called by thread_stack.c, which makes the state and ends it, and by follow.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_RULES_H
#define MAGIC_TRACE_STACK_RULES_RULES_H

#include <stddef.h>

struct thread_stack;
struct segment;

#define STACK_RULES(RULE)                                                                          \
    RULE(ocaml_traps)            /* OCaml exceptions */                                            \
    RULE(goroutines)             /* Go's scheduler chooses who continues */                        \
    RULE(stack_pointer)          /* the stack pointer, where it is recorded */                     \
    RULE(stack_switch)           /* another stack continues: fibers, coroutines */                 \
    RULE(context_rewrites)       /* sigreturn continues elsewhere than in the interrupted code */  \
    RULE(calls_on_other_stack)   /* functions that call others on another stack, and return */     \
    RULE(tracing_pause)          /* tracing stops and starts; exec */                              \
    RULE(recorded_callers)       /* callers that the recording names */                            \
    RULE(transactions)           /* TSX transactions that fail */                                  \
    RULE(forced_unwinding)       /* pthread_exit, pthread_cancel */                                \
    RULE(setjmp_calls)           /* where longjmp can continue: by the call in progress, */        \
    RULE(unwind_targets)         /* by the calls that have returned there, */                      \
    RULE(unwind_target_pointers) /* by the stack pointer */

/* What a rule defines; all else is 0. */
struct stack_rule {
    size_t state_size; /* of its struct NAME */
    /* For what its state, which is all zeros, needs besides; and to free that. */
    void (*begin)(struct thread_stack *stack);
    void (*end)(struct thread_stack *stack);
    /* The segment has ended, and no other has begun. */
    void (*segment_ended)(struct thread_stack *stack, struct segment *segment);
    /* The process has executed another program. */
    void (*program_changed)(struct thread_stack *stack);
};

/* What the rules remember of a thread: a struct NAME * for each, owned; NULL if it remembers
 * nothing. */
#define STACK_RULE_STATE(name) struct name *name;
struct stack_rule_states {
    STACK_RULES(STACK_RULE_STATE)
};
#undef STACK_RULE_STATE

/* Makes and frees the states. `stack` is the one that has them, otherwise ready. */
void stack_rules_begin(struct thread_stack *stack, struct stack_rule_states *states);
void stack_rules_end(struct thread_stack *stack, struct stack_rule_states *states);

/* Call the functions of these names of all rules. */
void stack_rules_segment_ended(struct thread_stack *stack, struct segment *segment);
void stack_rules_program_changed(struct thread_stack *stack);

#endif
