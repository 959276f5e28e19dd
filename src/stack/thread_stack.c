#include "stack/thread_stack.h"

#include "stack/stack_moves.h"

static uint64_t function_start(const struct thread_stack *stack, uint64_t address)
{
    if (address == 0)
        return 0;
    return stack->code.function_start(stack->code.context, stack->now, address);
}

void thread_stack_set_start(struct thread_stack *stack, frame_id frame, uint64_t address)
{
    frame_tree_set_start(&stack->tree, frame, function_start(stack, address));
}

static void end_gap(struct thread_stack *stack)
{
    struct gap *gap = array_at(&stack->gaps, stack->gaps.count - 1);
    if (gap->time_lost)
        gap->end = stack->now;
    if (gap->end.value > gap->begin.value)
        stack->statistics.spans++;
    record_step(stack, HISTORY_GAP_END, (uint32_t)(stack->gaps.count - 1));
    stack->in_gap = false;
}

void thread_stack_begin(struct thread_stack *stack, const struct activation *activation,
                        uint64_t address, bool seen)
{
    if (stack->in_gap)
        end_gap(stack);
    frame_id placeholder = frame_tree_add_placeholder(&stack->tree);
    open_frame(stack, placeholder, activation, address);
    stack->root_return_address = activation->return_address;
    record_step(stack, seen ? HISTORY_BEGIN_SEEN : HISTORY_BEGIN, stack->leaf);
    stack->next.leaf = stack->leaf;
    *(struct segment *)array_add(&stack->segments) = stack->next;
    stack->next = (struct segment){.start = SEGMENT_FIRST};
}

void thread_stack_begin_at(struct thread_stack *stack, const struct flow_event *event, bool seen)
{
    struct activation root = {.function = event->function, .kind = FRAME_FUNCTION};
    thread_stack_begin(stack, &root, event->to, seen);
}

/* The segment ends; the next one will begin for the reason `start`. */
static void end_segment(struct thread_stack *stack, enum history_kind reason,
                        enum segment_start start)
{
    struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    frame_id leaf = stack->leaf;
    record_step(stack, reason, FRAME_NONE);
    close_frames_above(stack, thread_stack_placeholder(stack));
    stack->leaf = FRAME_NONE;
    stack->next = (struct segment){.start = (uint8_t)start};
    if (start != SEGMENT_FIRST)
        stack->next.before = leaf;
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (stack_rules[i]->segment_ended != NULL)
            stack_rules[i]->segment_ended(stack, segment);
}

void thread_stack_end(struct thread_stack *stack, enum history_kind reason)
{
    if (stack->in_gap)
        end_gap(stack);
    if (stack->leaf == FRAME_NONE) {
        if (reason != HISTORY_END_GAP)
            stack->next = (struct segment){.start = SEGMENT_FIRST};
        return;
    }
    end_segment(stack, reason, reason == HISTORY_END_GAP ? SEGMENT_GAP : SEGMENT_FIRST);
}

void thread_stack_land(struct thread_stack *stack, const struct flow_event *event, uint64_t pointer,
                       frame_id fallback, bool called)
{
    end_segment(stack, HISTORY_END_UNWIND, SEGMENT_UNWIND);
    stack->next.fallback = fallback;
    stack->next.landed = (struct unwind_place){event->to, pointer};
    stack->next.called = called;
    thread_stack_begin_at(stack, event, false);
}

void thread_stack_leave(struct thread_stack *stack)
{
    end_segment(stack, HISTORY_END_SWITCH, SEGMENT_NEW);
}

void thread_stack_begin_in_one_of(struct thread_stack *stack, const struct flow_event *event)
{
    stack->next.start = SEGMENT_SWITCH;
    thread_stack_begin_at(stack, event, false);
}

/* Counts `frame` and its callers as active. */
static void open_chain(struct thread_stack *stack, frame_id frame)
{
    for (; thread_stack_frame(stack, frame)->kind != FRAME_PLACEHOLDER;
         frame = thread_stack_parent(stack, frame))
        count_active_function(stack, thread_stack_frame(stack, frame)->function);
}

void thread_stack_resume(struct thread_stack *stack, frame_id leaf, function_id function,
                         uint64_t address)
{
    if (thread_stack_frame(stack, leaf)->kind == FRAME_PLACEHOLDER)
        frame_tree_discover(&stack->tree, leaf, function, address, function_start(stack, address));
    open_chain(stack, leaf);
    stack->leaf = leaf;
    frame_id root = frame_tree_root(&stack->tree, leaf);
    stack->root_return_address = thread_stack_frame(stack, root)->return_address;
    stack->next = (struct segment){.start = SEGMENT_FIRST};
    *(frame_id *)array_add(&stack->resumed) = leaf;
    record_step(stack, HISTORY_RESUME, leaf);
}

void thread_stack_gain_callers(struct thread_stack *stack, frame_id caller)
{
    struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    frame_tree_link(&stack->tree, thread_stack_placeholder(stack), caller);
    open_chain(stack, caller);
    if (thread_stack_frame(stack, caller)->kind != FRAME_PLACEHOLDER)
        segment->kept = segment->kept_as = caller;
    frame_id root = frame_tree_root(&stack->tree, stack->leaf);
    stack->root_return_address = thread_stack_frame(stack, root)->return_address;
}

void thread_stack_change_program(struct thread_stack *stack)
{
    for (size_t i = 0; i < STACK_RULE_COUNT; i++)
        if (stack_rules[i]->program_changed != NULL)
            stack_rules[i]->program_changed(stack);
}

void thread_stack_die(struct thread_stack *stack, const char *words)
{
    stack->death = words;
    record_step(stack, HISTORY_DEATH, FRAME_NONE);
}

void thread_stack_begin_gap(struct thread_stack *stack, const struct gap *gap)
{
    thread_stack_end(stack, HISTORY_END_GAP);
    struct gap *added = array_add(&stack->gaps);
    *added = *gap;
    added->begin = added->end = stack->now;
    record_step(stack, HISTORY_GAP, (uint32_t)(stack->gaps.count - 1));
    stack->in_gap = true;
}

void thread_stack_enter(struct thread_stack *stack, const struct activation *activation,
                        uint64_t address)
{
    move_into(stack, activation, address);
}

void thread_stack_enter_again(struct thread_stack *stack, frame_id frame)
{
    close_frames_above(stack, thread_stack_parent(stack, frame));
    count_active_function(stack, thread_stack_frame(stack, frame)->function);
    stack->leaf = frame;
    stack->statistics.spans++;
    record_step(stack, HISTORY_ENTER_MOVABLE, frame);
}

frame_id thread_stack_enter_movable(struct thread_stack *stack, const struct activation *activation,
                                    uint64_t address)
{
    frame_id link = frame_tree_add_placeholder(&stack->tree);
    frame_tree_link(&stack->tree, link, stack->leaf);
    open_frame(stack, link, activation, address);
    stack->statistics.spans++;
    record_step(stack, HISTORY_ENTER_MOVABLE, stack->leaf);
    return link;
}

void thread_stack_move(struct thread_stack *stack, frame_id link)
{
    const struct frame *left = frame_tree_at(&stack->tree, frame_tree_resolve(&stack->tree, link));
    active_functions_remove(&stack->open, left->function);
    frame_tree_link(&stack->tree, link, left->parent);
}

void thread_stack_return(struct thread_stack *stack, frame_id frame)
{
    move_back(stack, frame);
}

void thread_stack_unwind(struct thread_stack *stack, frame_id frame)
{
    if (stack->leaf == frame)
        return;
    close_frames_above(stack, frame);
    record_step(stack, HISTORY_UNWIND, frame);
}

void thread_stack_replace(struct thread_stack *stack, function_id function, uint64_t address)
{
    move_aside(stack, function, address);
}

/* What `placeholder` stands for turns out to be `function`. */
static void discover(struct thread_stack *stack, frame_id placeholder, function_id function,
                     uint64_t address, uint64_t start)
{
    frame_tree_discover(&stack->tree, placeholder, function, address, start);
    count_active_function(stack, thread_stack_frame(stack, placeholder)->function);
    stack->root_return_address = 0;
}

void thread_stack_discover(struct thread_stack *stack, function_id function, uint64_t address)
{
    frame_id placeholder = thread_stack_placeholder(stack);
    thread_stack_return(stack, placeholder);
    discover(stack, placeholder, function, address, function_start(stack, address));
}

frame_id thread_stack_learn_caller(struct thread_stack *stack, frame_id frame, function_id function,
                                   uint64_t address, bool interrupted)
{
    struct frame *called = frame_tree_at(&stack->tree, frame);
    called->return_address = address;
    if (interrupted)
        called->kind = FRAME_SIGNAL;
    frame_id caller = thread_stack_parent(stack, frame);
    discover(stack, caller, function, address,
             function_start(stack, interrupted ? address : address - 1));
    return caller;
}
