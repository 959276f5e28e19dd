#include "stack/unwinding.h"

bool land_in_open_function(struct thread_stack *stack, function_id function)
{
    frame_id frame = thread_stack_find(stack, function);
    if (frame == FRAME_NONE)
        return false;
    if (frame != stack->leaf)
        stack->statistics.unwound++;
    thread_stack_unwind(stack, frame);
    return true;
}

/* A jump to a function's first instruction calls it anew, and one back to the function that was
 * called in this frame returns from its cold part, even when the same function is open further out.
 */
static bool takes_over_leaf(const struct thread_stack *stack, function_id function,
                            uint64_t address)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (leaf->function == function || open_functions_count(&stack->open, function) == 0)
        return true;
    if (leaf->origin == function && function != FUNCTION_UNKNOWN)
        return true;
    return thread_stack_is_start(stack, address);
}

void take_over(struct thread_stack *stack, function_id function, uint64_t address)
{
    if (thread_stack_leaf(stack)->function != function)
        thread_stack_replace(stack, function, address);
}

void land(struct thread_stack *stack, function_id function, uint64_t address)
{
    if (takes_over_leaf(stack, function, address))
        take_over(stack, function, address);
    else
        land_in_open_function(stack, function);
}
