/* Allocating and freeing the memory of a thread's stack. */
#include "stack/thread_stack.h"

void thread_stack_init(struct thread_stack *stack, const struct code_view *code)
{
    *stack = (struct thread_stack){
        .gaps = array_of(sizeof(struct gap)),
        .segments = array_of(sizeof(struct segment)),
        .resumed = array_of(sizeof(frame_id)),
        .code = *code,
    };
    frame_tree_init(&stack->tree);
    history_init(&stack->history);
    active_functions_init(&stack->open);
    stack_rules_begin(stack, &stack->rules);
}

void thread_stack_free(struct thread_stack *stack)
{
    stack_rules_end(stack, &stack->rules);
    frame_tree_free(&stack->tree);
    history_free(&stack->history);
    active_functions_free(&stack->open);
    array_free(&stack->gaps);
    array_free(&stack->segments);
    array_free(&stack->resumed);
}
