#include "stack/plain_moves.h"

#include "stack/goroutines.h"
#include "stack/kernel_entry.h"
#include "stack/told_switch.h"
#include "stack/unwinding.h"

/* True when the stack is in no state that any rule asks about before it makes a plain move. */
static bool is_at_ease(const struct thread_stack *stack)
{
    return stack->started && stack->leaf != FRAME_NONE && stack->transaction == FRAME_NONE &&
           !is_told_move(stack) && !frame_tree_full(&stack->tree) &&
           !is_outside_frame(thread_stack_leaf(stack));
}

/* As the rules leave it behind a move. */
static void be_at_ease(struct thread_stack *stack)
{
    stack->stopped = false;
    stack->uncalled = FRAME_NONE;
}

static inline bool is_ordinary(const struct flow_event *event)
{
    return !(event->flags & FLOW_TRANSACTION) && !is_special_function(event->function);
}

static inline void go_to(struct thread_stack *stack, struct ticks time)
{
    if (time.value > stack->now.value)
        stack->now = time;
}

/* The pointer that was told last is that of the code before. */
static inline void leave_pointer(struct thread_stack *stack)
{
    stack->pointer_fresh = false;
    stack->move = (struct stack_move){0};
}

/* Not in the leaf's own function: that may be a local call. */
static inline bool call_plainly(struct thread_stack *stack, const struct flow_event *event)
{
    if (thread_stack_leaf(stack)->function == event->function)
        return false;
    struct activation called = {
        .function = event->function, .kind = FRAME_FUNCTION, .return_address = event->next};
    go_to(stack, event->time);
    thread_stack_enter(stack, &called, event->to);
    leave_pointer(stack);
    return true;
}

/* To the caller that the leaf was called by. */
static inline bool return_plainly(struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    bool called = leaf->kind == FRAME_FUNCTION || leaf->kind == FRAME_LOCAL;
    if (leaf->return_address != event->to || !called || event->next != 0 ||
        stack->traps.count > 0 || parked_places_may_hold(&stack->parked_places, event->to))
        return false;
    frame_id caller = thread_stack_parent(stack, stack->leaf);
    const struct frame *frame = thread_stack_frame(stack, caller);
    if (frame->function != event->function || frame->kind == FRAME_PLACEHOLDER)
        return false;
    go_to(stack, event->time);
    thread_stack_return(stack, caller);
    leave_pointer(stack);
    return true;
}

/* An indirect jump: through a table of the linker, a thunk, a pointer at the end of a function. */
static bool stays_plainly(const struct thread_stack *stack, const struct flow_event *event)
{
    return stack->traps.count == 0 && stays_in_leaf(stack, event) && !runs_gogo(stack);
}

static inline bool jump_plainly(struct thread_stack *stack, const struct flow_event *event)
{
    bool is_direct = event->flags & FLOW_DIRECT;
    go_to(stack, event->time); /* which code there is depends on it */
    if (event->next != 0 || (!is_direct && !stays_plainly(stack, event)))
        return false;
    if (thread_stack_leaf(stack)->function != event->function)
        thread_stack_replace(stack, event->function, event->to);
    if (!is_direct) /* as end_move_by has it */
        leave_pointer(stack);
    return true;
}

static inline bool move_plainly(struct thread_stack *stack, const struct flow_event *event)
{
    if (!is_ordinary(event))
        return false;
    if (event->kind == FLOW_CALL)
        return call_plainly(stack, event);
    if (event->kind == FLOW_RETURN)
        return return_plainly(stack, event);
    return event->kind == FLOW_JUMP && jump_plainly(stack, event);
}

size_t follow_plain_moves(struct thread_stack *stack, const struct flow_event *events, size_t count)
{
    size_t done = 0;
    if (!is_at_ease(stack))
        return 0;
    while (done < count && !frame_tree_full(&stack->tree) && move_plainly(stack, &events[done]))
        done++;
    if (done > 0)
        be_at_ease(stack);
    return done;
}
