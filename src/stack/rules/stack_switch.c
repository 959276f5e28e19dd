#include "stack/rules/stack_switch.h"

#include "stack/rules/stack_pointer.h"

/* The greatest number of suspended stacks; beyond it the oldest is dropped. All are examined when a
 * return fits nothing.
 */
enum { SUSPENDED_LIMIT = 1024 };

static frame_id suspended_at(const struct thread_stack *stack, size_t index)
{
    return ((const struct suspended_stack *)array_at(&stack->suspended, index))->leaf;
}

bool leaf_returns_to(const struct thread_stack *stack, frame_id leaf, uint64_t address)
{
    const struct frame *frame = thread_stack_frame(stack, leaf);
    return frame->kind == FRAME_FUNCTION && frame->return_address == address;
}

static void forget_oldest(struct thread_stack *stack)
{
    if (stack->suspended.count > SUSPENDED_LIMIT)
        thread_stack_forget_suspended(stack, 0);
}

void suspend_running(struct thread_stack *stack)
{
    thread_stack_suspend(stack, stack_pointer_move(stack).from);
    forget_oldest(stack);
}

/* Index of the first suspended stack from `first` on that continues at `address`; their number if
 * none does. */
static size_t find_suspended(const struct thread_stack *stack, size_t first, uint64_t address)
{
    size_t index = first;
    if (!suspended_addresses_may_hold(&stack->suspended_addresses, address))
        return stack->suspended.count;
    while (index < stack->suspended.count &&
           !leaf_returns_to(stack, suspended_at(stack, index), address))
        index++;
    return index;
}

static void begin_one_of_several(struct thread_stack *stack, const struct flow_event *event)
{
    stack->next.start = SEGMENT_SWITCH;
    stack->next.first_candidate = (uint32_t)stack->candidates.count;
    for (size_t i = 0; (i = find_suspended(stack, i, event->to)) < stack->suspended.count; i++)
        *(frame_id *)array_add(&stack->candidates) = suspended_at(stack, i);
    stack->next.candidate_count = (uint32_t)stack->candidates.count - stack->next.first_candidate;
    thread_stack_begin_at(stack, event, false);
}

bool is_suspended_at(const struct thread_stack *stack, uint64_t address)
{
    return find_suspended(stack, 0, address) < stack->suspended.count;
}

/* Removes it from the suspended stacks. */
static struct suspended_stack take_suspended(struct thread_stack *stack, size_t index)
{
    struct suspended_stack suspended =
        *(const struct suspended_stack *)array_at(&stack->suspended, index);
    thread_stack_forget_suspended(stack, index);
    return suspended;
}

static void go_on(struct thread_stack *stack, const struct suspended_stack *suspended,
                  frame_id frame, const struct flow_event *event)
{
    stack->top = suspended->top;
    thread_stack_resume(stack, frame, event->function, event->to);
}

void resume_suspended(struct thread_stack *stack, size_t index, frame_id frame,
                      const struct flow_event *event)
{
    struct suspended_stack suspended = take_suspended(stack, index);
    go_on(stack, &suspended, frame, event);
}

void switch_to(struct thread_stack *stack, size_t index, frame_id frame,
               const struct flow_event *event)
{
    struct suspended_stack suspended = take_suspended(stack, index);
    suspend_running(stack);
    go_on(stack, &suspended, frame, event);
}

bool go_on_in_suspended(struct thread_stack *stack, const struct flow_event *event)
{
    size_t index = find_suspended(stack, 0, event->to);
    if (index == stack->suspended.count)
        return false;
    if (find_suspended(stack, index + 1, event->to) < stack->suspended.count)
        begin_one_of_several(stack, event);
    else
        resume_suspended(stack, index, thread_stack_parent(stack, suspended_at(stack, index)),
                         event);
    return true;
}

bool switch_to_suspended(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack_pointer_moved(stack) || !is_suspended_at(stack, event->to))
        return false;
    thread_stack_suspend(stack, stack_pointer_move(stack).from);
    go_on_in_suspended(stack, event);
    forget_oldest(stack); /* only now: the oldest may have been the one that continues */
    return true;
}

void begin_new_stack(struct thread_stack *stack, const struct flow_event *event)
{
    thread_stack_begin_at(stack, event, thread_stack_is_start(stack, event->to));
}

void switch_to_new(struct thread_stack *stack, const struct flow_event *event)
{
    suspend_running(stack);
    begin_new_stack(stack, event);
}

bool is_first_of_new_stack(const struct thread_stack *stack)
{
    const struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    return segment->start == SEGMENT_NEW && thread_stack_is_root(stack, stack->leaf) &&
           thread_stack_parent(stack, frame_tree_root(&stack->tree, segment->leaf)) ==
               thread_stack_placeholder(stack);
}

static bool goes_on_in(const struct thread_stack *stack, frame_id suspended,
                       const struct flow_event *event)
{
    return leaf_returns_to(stack, suspended, event->to) ||
           (thread_stack_frame(stack, suspended)->function == event->function &&
            event->function != FUNCTION_UNKNOWN && !thread_stack_is_start(stack, event->to));
}

bool was_no_switch(struct thread_stack *stack, const struct flow_event *event)
{
    const struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    if (stack->top != 0 || !is_first_of_new_stack(stack) ||
        !goes_on_in(stack, segment->before, event))
        return false;
    size_t index = stack->suspended.count;
    while (index > 0 && suspended_at(stack, index - 1) != segment->before)
        index--;
    if (index == 0)
        return false;
    thread_stack_forget_suspended(stack, index - 1);
    thread_stack_gain_callers(stack, thread_stack_parent(stack, segment->before));
    return true;
}
