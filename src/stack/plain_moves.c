#include "stack/plain_moves.h"

#include "stack/goroutines.h"
#include "stack/kernel_entry.h"
#include "stack/stack_moves.h"
#include "stack/stitching.h"
#include "stack/told_switch.h"
#include "stack/unwinding.h"

/* True when the stack is in no state that any rule asks about before it makes a plain move. */
static bool is_at_ease(const struct thread_stack *stack)
{
    return stack->started && stack->leaf != FRAME_NONE && stack->transaction == FRAME_NONE &&
           !is_told_move(stack) && !frame_tree_full(&stack->tree) &&
           !is_outside_frame(thread_stack_leaf(stack));
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

/* Not in the leaf's own function: that may be a local call. */
static inline bool call_plainly(struct thread_stack *stack, const struct flow_event *event)
{
    if (thread_stack_leaf(stack)->function == event->function)
        return false;
    struct activation called = {
        .function = event->function, .kind = FRAME_FUNCTION, .return_address = event->next};
    go_to(stack, event->time);
    move_into(stack, &called, event->to);
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
    open_functions_remove(&stack->open, leaf->function);
    stack->leaf = caller;
    record_step(stack, HISTORY_RETURN, caller);
    return true;
}

/* True when a jump cannot lead to a frame further out: nobody runs that function. */
static inline bool is_open_nowhere(const struct thread_stack *stack, const struct flow_event *event)
{
    return !(event->flags & FLOW_LOADS_STACK) && stack->parked.count == 0 &&
           open_functions_count(&stack->open, event->function) == 0 && !may_be_open_before(stack);
}

/* An indirect jump: through a table of the linker, a thunk, a pointer at the end of a function. */
static inline bool stays_plainly(const struct thread_stack *stack, const struct flow_event *event)
{
    return stack->traps.count == 0 && !runs_gogo(stack) &&
           (is_open_nowhere(stack, event) || stays_in_leaf(stack, event));
}

static inline bool jump_plainly(struct thread_stack *stack, const struct flow_event *event)
{
    go_to(stack, event->time); /* which code there is depends on it */
    if (event->next != 0 || (!(event->flags & FLOW_DIRECT) && !stays_plainly(stack, event)))
        return false;
    if (thread_stack_leaf(stack)->function != event->function)
        move_aside(stack, event->function, event->to);
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

/* As many events as there are ids for the frames that they may add. */
static size_t count_with_room(const struct thread_stack *stack, size_t count)
{
    uint32_t room = stack->tree.limit - FRAMES_PER_EVENT - stack->tree.count + 1;
    return count < room ? count : room;
}

/* As the rules leave it behind moves. A pointer that was told is that of the code before; direct
 * jumps leave it as it is (end_move_by). */
static void be_at_ease(struct thread_stack *stack, bool all_jump_directly)
{
    stack->stopped = false;
    stack->uncalled = FRAME_NONE;
    if (all_jump_directly)
        return;
    stack->pointer_fresh = false;
    stack->move = (struct stack_move){0};
}

size_t follow_plain_moves(struct thread_stack *stack, const struct flow_event *events, size_t count)
{
    size_t done = 0;
    bool all_jump_directly = true;
    if (!is_at_ease(stack))
        return 0;
    count = count_with_room(stack, count);
    while (done < count && move_plainly(stack, &events[done])) {
        all_jump_directly =
            all_jump_directly && events[done].kind == FLOW_JUMP && events[done].flags & FLOW_DIRECT;
        done++;
    }
    if (done > 0)
        be_at_ease(stack, all_jump_directly);
    return done;
}
