/* The rule of JIT code that calls without CALL: it pushes the address at which its callee shall return, and jumps.
 *
 * HotSpot's interpreter calls Java methods so: the address is one of its own entries for results
 * (templateTable_x86.cpp, prepare_invoke). A compiled callee goes there by a RET, an interpreted one by a JMP after it has
 * loaded the stack pointer (templateInterpreterGenerator_x86.cpp, remove_activation). The callee has taken over the frame of
 * the interpreter, as by a tail call, and here the interpreter takes it over again.
 *
 * Such an address is known by the code before it: the instruction that ends there is no CALL. So no frame has it as its return
 * address, and a return to it says nothing of the callers. Where the code before is unknown, the other rules decide.
 */
#include "stack/stack_moves.h"

static bool is_jit_code(const struct thread_stack *stack, function_id function)
{
    return stack->code.is_jit_code(stack->code.context, function);
}

/* From JIT code to JIT code. */
static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    bool called = leaf->kind == FRAME_FUNCTION || leaf->kind == FRAME_LOCAL;
    if (!called || !is_jit_code(stack, event->function) || !is_jit_code(stack, leaf->function) ||
        stack->code.call_may_end_at(stack->code.context, stack->now, event->to))
        return false;
    stack_moves_replace(stack, event->function, event->to);
    return true;
}

static bool follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    return event->flags & FLOW_LOADS_STACK && follow_return(stack, event);
}

const struct stack_rule pushed_calls_rule = {
    .follow = {[FLOW_RETURN] = follow_return, [FLOW_JUMP] = follow_jump},
};
