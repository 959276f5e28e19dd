/* How far from where its pointer was recorded a stack continues: that depends on the code alone which left it, and which continues
 * it. At another distance, the stack has run elsewhere since: in another thread. */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H

#include "base/array.h"
#include "stack/thread_stack.h"

struct stack_pointer_switch {
    struct array
        distances; /* of usual_numbers.h: from the function that left a stack to the one that continues it */
    bool copies; /* stacks are copied away from memory that they share */
};

/* A direct jump. True if it goes to the first instruction of a function, with a loaded stack pointer, and has been followed: in
 * that function another stack continues, or the running one goes on. */
bool stack_pointer_switch_to_function(struct thread_stack *stack, const struct flow_event *event);

#endif
